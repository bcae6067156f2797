"""Files dropped on the page: written into the store as they are read, with a limit, under names chosen by the page;
then the API detects their type.

Other files than drives, machines, workloads and results are removed.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tomli

import hotband as hb
from hotband.base.errors import UserError
from hotband.base.text.regular import LARGEST_TEXT, opened, text_in
from hotband.base.text.write import replacing
from hotband.data.catalog import JOB_ENDINGS, TRACE_ENDINGS
from hotband.data.traces.files import is_trace, rows_of, trace_text
from hotband.faces.ui.named_files import expect_no_other_files, expect_no_paths, expect_none_in
from hotband.questions.fleet.asked import FleetQuestion
from hotband.questions.fleet.run import spec_of

if TYPE_CHECKING:
    from hotband.data.record.record import Record

LARGEST_FILE = LARGEST_TEXT
"""Most bytes of a file: the API reads no longer text."""
LARGEST_STORE, MOST_FILES = 1 << 30, 1000
"""Most bytes and files dropped into a store: sixteen of the largest, and more than a page lists."""
LONGEST_NAME = 80
"""Most characters of a name: at up to 3 bytes each (UTF-8, all but rare ones) they fit into the 255 of file systems."""
PREFIX = "dropped/"
"""Prefix of such a file's name in a form."""
BESIDE = ("exos-15e900-512n", "fio-randread")
"""The machine and the workload of the catalog with which a dropped workload or machine is checked."""
What = Literal["drive", "machine", "workload", "result", "prices", "fleet"]
PRICES = re.compile(rb"\s*(?=[^\n]*\bdrive\b)(?=[^\n]*\bprice\b)[\w\s,;]+\n")
"""The heading of a table of prices (docs/guides/advise.md)."""


@dataclass(frozen=True)
class Seen:
    """The type of a file; for a result, its records."""

    kind: What
    title: str
    notes: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()


def safe_name(given: str) -> str:
    """Return a name without folders, leading dots, control characters, and characters with a meaning in shells."""
    last = re.split(r"[/\\]", given)[-1]
    plain = re.sub(r"[^\w.+-]+", "-", last).strip(".-")
    stem, dot, ending = plain.rpartition(".")
    room = LONGEST_NAME - len(dot + ending[:12])
    return f"{stem[:room]}{dot}{ending[:12]}" if stem else plain[:LONGEST_NAME] or "file"


def free_path(folder: Path, name: str) -> Path:
    """Return a free path in the folder: NAME, NAME-2 and so on, before the suffix."""
    path, again = folder / name, 2
    while path.exists():
        path, again = folder / f"{Path(name).stem}-{again}{Path(name).suffix}", again + 1
    return path


async def receive(folder: Path, given: str, body: AsyncIterator[bytes]) -> Path:
    """Write received bytes to a file of the folder. Raises UserError above the limit, and removes the file."""
    held = [path.stat().st_size for path in folder.iterdir()]
    room = min(LARGEST_FILE, LARGEST_STORE - sum(held))
    if len(held) >= MOST_FILES or room <= 0:
        raise UserError("file", "", given, "is one too many: the store is full")
    path, size = free_path(folder, safe_name(given)), 0
    with replacing(path) as file:
        async for piece in body:
            size += len(piece)
            if size > room:
                raise UserError("file", "", given, f"is larger than {room:,} bytes")
            file.write(piece)
        if not size:
            raise UserError("file", "", given, "is empty")
    return path


def look_at(path: Path) -> Seen:
    """Return the type of a file. Raises UserError if Hotband does not recognise it, or it is damaged."""
    if path.suffix.lower() == ".toml":
        return _of_toml(path)
    if path.suffix.lower() in JOB_ENDINGS:
        return _workload(path)
    with opened(path) as file:
        is_prices = PRICES.match(file.read(4096)) is not None
    if is_prices:
        expect_no_paths(path)
        return Seen("prices", path.name)
    try:
        records = tuple(hb.load_all(path))
    except UserError as error:
        # A job file with another name; an error about a result is more useful than one that it is no job.
        if "not a result that Hotband recognises" not in str(error):
            raise
        return _other(path)
    for record in records:
        expect_none_in(record.document, path.parent)
    count = f" ({len(records)} results)" if len(records) > 1 else ""
    return Seen("result", f"{records[0].name}{count}", (), records)


def _other(path: Path) -> Seen:
    """Return the type of a trace, or of a job file with another name. Raises UserError for neither."""
    if is_trace(path):
        rows_of(str(path), trace_text(path))
        return Seen("workload", f"{path.name} (trace)")
    try:
        return _workload(path)
    except UserError as error:
        if path.name.lower().endswith(TRACE_ENDINGS):
            raise
        accepted = (
            "is not a file type Hotband recognises. Accepted: drives, machines, workloads and fleets (.toml), job "
            "files, traces, price tables, and results of fio, vdbench, DiskSpd, Iometer, HdrHistogram or Hotband"
        )
        raise UserError("file", "", path.name, accepted) from error


def _of_toml(path: Path) -> Seen:
    """Return the type of a TOML file: a fleet has groups, a drive has a mechanism or is a variant, a machine has
    drives; others are workloads."""
    try:
        table = tomli.loads(text_in(path, "drive, machine or workload"))
    except UserError as error:
        raise UserError("file", "", path.name, f"is not valid TOML: {error.accepted}") from None
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UserError("file", "", path.name, f"is not valid TOML: {error}") from None
    expect_no_other_files(path, "fleet" if "group" in table else "file")
    rows = table.get("drives")
    if isinstance(rows, list) and rows and isinstance(rows[0], dict) and "price" in rows[0]:
        return Seen("prices", path.name)
    if "group" in table:
        return Seen("fleet", spec_of(FleetQuestion(fleet=path)).name)
    if "variant_of" in table or ("kind" in table and "values" in table):
        return Seen("drive", hb.drive(str(path)).title)
    if "drives" in table or "layouts" in table:
        hb.keys(BESIDE[1], on=str(path))
        return Seen("machine", str(table.get("title", path.name)))
    return _workload(path)


def _workload(path: Path) -> Seen:
    """Return the type of a workload, or of a job of another tool."""
    hb.keys(str(path), on=BESIDE[0])
    made = hb.convert(path)
    notes = tuple(made.lines())
    title = tomli.loads(made.text).get("title", path.name)
    return Seen("workload", str(title), notes)
