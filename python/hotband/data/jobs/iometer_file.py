"""Iometer's configuration file (.icf): a line that begins with an apostrophe names what the lines after it say.

Sources: what Iometer 1.1 writes (PageSetup, AccessSpecList::SaveFile, ManagerList::SaveFile); versions before
1998.05.21 have one access specification without a name, its numbers with blanks between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hotband.base.errors import UserError
from hotband.data.jobs.loss import Location
from hotband.data.jobs.source import Option

MOST_WORKERS = 1024


@dataclass
class Line:
    """A line of an access specification."""

    option: Option
    size: int
    share: float
    read_pct: float
    random_pct: float
    delay_ms: float
    burst: int
    align: int
    reply: int


@dataclass
class Specification:
    """An access specification."""

    name: str
    default: str
    location: Location
    lines: list[Line] = field(default_factory=list)


@dataclass
class Worker:
    """A worker: its load and its targets."""

    name: Option
    manager: str
    kind: str = "DISK"
    outstanding: Option | None = None
    disk: Option | None = None
    specifications: list[Option] = field(default_factory=list)
    targets: list[Option] = field(default_factory=list)


@dataclass
class Configuration:
    """A whole file."""

    setup: dict[str, Option] = field(default_factory=dict)
    specifications: list[Specification] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)


def read_configuration(text: str, file: str) -> Configuration:
    """Return tests, access specifications and workers. Raises UserError for a mistake or a file that is cut off."""
    configuration = Configuration()
    section, manager = "", ""
    ended: set[str] = set()
    for key, option in _entries(text, file):
        name = key.split("=")[0].strip()
        if name.startswith("end "):
            ended.add(name)
        if name in ("test setup", "access specifications", "manager list", "results display"):
            section = name
        elif section == "test setup" and option.value:
            configuration.setup[key] = option
        elif section == "access specifications" and option.value:
            _specification(configuration, key, option)
        elif section == "manager list":
            manager = option.value if key.startswith("manager id") else manager
            _worker(configuration, key, option, manager)
    if section == "manager list" and "end manager list" not in ended:
        raise UserError(file, "", "", "is cut off: expected 'END manager list at its end")
    if section != "manager list" and "end access specifications" not in ended:
        raise UserError(file, "", "", "is cut off: expected 'END access specifications")
    return configuration


def _entries(text: str, file: str) -> Iterator[tuple[str, Option]]:
    """Yield each key once per line below it; a key without lines has an empty value."""
    key, location, lines = "", Location(file, 1), 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        # A second apostrophe line heads columns: `'	hours      minutes    seconds`.
        if line.startswith("'"):
            head = " ".join(line[1:].strip().lower().split())
            if raw.startswith("'\t") or re.match(r"'\s", raw):
                continue
            if key and not lines:
                yield key, Option(key, "", location)
            key, location, lines = head, Location(file, number), 0
        elif line and key:
            lines += 1
            yield key, Option(key, line, Location(file, number), key.split(",")[0] if "," in key else "")
    if key and not lines:
        yield key, Option(key, "", location)


def _specification(configuration: Configuration, key: str, option: Option) -> None:
    if key.startswith("access specification name"):
        name, _, default = option.value.rpartition(",")
        configuration.specifications.append(Specification((name or default).strip(), default.strip(), option.location))
    elif key.startswith("size"):
        if not configuration.specifications:
            configuration.specifications.append(Specification("", "ALL", option.location))
        configuration.specifications[-1].lines.append(_line(option))


_COLUMNS = ("size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply")


def _line(option: Option) -> Line:
    """Read the numbers of a line by their order; old files lack the last two."""
    numbers = numbers_of(option)
    if not 6 <= len(numbers) <= 8:
        option.refuse(f"expected {', '.join(_COLUMNS)}")
    size, share, reads, random, delay, burst, align, reply = [*numbers, 0.0, 0.0][:8]
    for name, value in zip(_COLUMNS[1:4], (share, reads, random), strict=True):
        if value > 100:
            option.refuse(f"{name} is {value:g}: expected a percentage from 0 to 100")
    if size % 512 or not 512 <= size <= 64 << 20:
        option.refuse(f"size is {size:g}: expected a multiple of 512 bytes up to 64 MiB")
    if align % 512:
        option.refuse(f"align is {align:g}: expected a multiple of 512 bytes, or 0 for sectors")
    return Line(option, int(size), share, reads, random, delay, max(1, int(burst)), int(align), int(reply))


def numbers_of(option: Option) -> list[float]:
    """Return the numbers of a line; words among them (ENABLED) are skipped."""
    parts = [part for part in re.split(r"[,\s]+", option.value) if part]
    numbers = []
    for part in parts:
        if re.fullmatch(r"\d{1,15}(\.\d{1,6})?", part):
            numbers.append(float(part))
        elif not part.isalpha():
            option.refuse(f"{part} is not a number of 0 or more")
    return numbers


def _worker(configuration: Configuration, key: str, option: Option, manager: str) -> None:
    if key == "worker" and option.value:
        configuration.workers.append(Worker(option, manager))
        if len(configuration.workers) > MOST_WORKERS:
            option.refuse(f"more than {MOST_WORKERS} workers; expected fewer in one file")
    if not configuration.workers or not option.value:
        return
    worker = configuration.workers[-1]
    if key == "worker type":
        worker.kind = option.value.upper()
    elif key.startswith("number of outstanding ios"):
        worker.outstanding = option
    elif key.startswith("disk maximum size"):
        worker.disk = option
    elif key == "assigned access specs":
        worker.specifications.append(option)
    elif key == "target":
        worker.targets.append(option)
