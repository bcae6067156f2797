"""Iometer's configuration file (.icf): a line that begins with an apostrophe names what the lines after it say.

Sources: what Iometer 1.1 writes (PageSetup, AccessSpecList::SaveFile, ManagerList::SaveFile); versions before
1998.05.21 have one access specification without a name, its numbers with blanks between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hotband.base.errors import UserError
from hotband.data.jobs.loss import Place
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
    place: Place
    lines: list[Line] = field(default_factory=list)


@dataclass
class Worker:
    """A worker: what it asks and where."""

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
    """The tests, access specifications and workers. UserError names what is wrong or cut off."""
    found = Configuration()
    section, manager = "", ""
    ended: set[str] = set()
    for key, option in _entries(text, file):
        name = key.split("=")[0].strip()
        if name.startswith("end "):
            ended.add(name)
        if name in ("test setup", "access specifications", "manager list", "results display"):
            section = name
        elif section == "test setup" and option.value:
            found.setup[key] = option
        elif section == "access specifications" and option.value:
            _specification(found, key, option)
        elif section == "manager list":
            manager = option.value if key.startswith("manager id") else manager
            _worker(found, key, option, manager)
    if section == "manager list" and "end manager list" not in ended:
        raise UserError(file, "", "", "is cut off: expected 'END manager list at its end")
    if section != "manager list" and "end access specifications" not in ended:
        raise UserError(file, "", "", "is cut off: expected 'END access specifications")
    return found


def _entries(text: str, file: str) -> Iterator[tuple[str, Option]]:
    """Every key with each line below it; one without lines with an empty value."""
    key, place, lines = "", Place(file, 1), 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        # A second apostrophe line heads columns: `'	hours      minutes    seconds`.
        if line.startswith("'"):
            head = " ".join(line[1:].strip().lower().split())
            if raw.startswith("'\t") or re.match(r"'\s", raw):
                continue
            if key and not lines:
                yield key, Option(key, "", place)
            key, place, lines = head, Place(file, number), 0
        elif line and key:
            lines += 1
            yield key, Option(key, line, Place(file, number), key.split(",")[0] if "," in key else "")
    if key and not lines:
        yield key, Option(key, "", place)


def _specification(found: Configuration, key: str, option: Option) -> None:
    if key.startswith("access specification name"):
        name, _, default = option.value.rpartition(",")
        found.specifications.append(Specification((name or default).strip(), default.strip(), option.place))
    elif key.startswith("size"):
        if not found.specifications:
            found.specifications.append(Specification("", "ALL", option.place))
        found.specifications[-1].lines.append(_line(option))


_COLUMNS = ("size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply")


def _line(option: Option) -> Line:
    """Numbers of a line, by their order; the last two are missing in old files."""
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
    """The numbers of a line; words among them (ENABLED) are left out."""
    parts = [part for part in re.split(r"[,\s]+", option.value) if part]
    found = []
    for part in parts:
        if re.fullmatch(r"\d{1,15}(\.\d{1,6})?", part):
            found.append(float(part))
        elif not part.isalpha():
            option.refuse(f"{part} is no number of 0 or more")
    return found


def _worker(found: Configuration, key: str, option: Option, manager: str) -> None:
    if key == "worker" and option.value:
        found.workers.append(Worker(option, manager))
        if len(found.workers) > MOST_WORKERS:
            option.refuse(f"more than {MOST_WORKERS} workers; expected fewer in one file")
    if not found.workers or not option.value:
        return
    worker = found.workers[-1]
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
