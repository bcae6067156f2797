"""Iometer's results CSV as records: one record per test (each `ALL` row), one stream per worker.

Sources: the column names of Iometer 2003 to 1.1 (ManagerList::SaveResults); columns are found by name, since every
version has others. Times are ms. "MBps" meant 2^20 bytes before 1.1, which has both: volumes come from the bytes
columns, or from I/Os of one size.
Left out: CPU, network and transaction columns, rows by disk, seeds (Iometer draws anew), the time zone of its
time stamps.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.separated import separator_of
from hotband.data.documents.sides import Histogram
from hotband.data.documents.source import NS_PER_S, Asked, nothing_asked
from hotband.data.importers import iometer_restated
from hotband.data.importers.cells import LARGEST, Cells
from hotband.data.importers.files import decoded, name_of, read_bytes
from hotband.data.importers.fio.text import shown
from hotband.data.importers.record import ImportedRun, Sides, binned, build, side_of
from hotband.data.record.imported import Imported
from hotband.data.record.stats import DIRECTIONS, Direction

ACCEPTED = "Iometer's results CSV"
_SECTOR = 512
_MIB = 1024 * 1024
_UNITS = {"us": 1_000, "ms": 1_000_000, "s": NS_PER_S}
_BIN = re.compile(r"([\d.]{1,6}) to ([\d.]{1,6}) (us|ms|s)", re.IGNORECASE)
_OPEN_BIN = re.compile(r">=\s*[\d.]{1,6}\s*s", re.IGNORECASE)


@dataclass
class Line:
    """One line of an access specification."""

    size: int
    share: float
    read_pct: float
    random_pct: float


@dataclass
class Test:
    """One test: its `ALL` row and those of its workers."""

    whole: Cells
    workers: list[Cells] = field(default_factory=list)
    managers: list[str] = field(default_factory=list)


@dataclass
class Results:
    """A file: its tests, the access specifications by name, its version."""

    tests: list[Test] = field(default_factory=list)
    specifications: dict[str, list[Line]] = field(default_factory=dict)
    version: str | None = None
    run_time_s: float | None = None
    ramp_s: float | None = None


def recognises(beginning: bytes) -> bool:
    """Return whether the beginning of a file is Iometer's."""
    return re.match(rb"'(Test Type|Target Type|Results\b)", beginning) is not None


def read(paths: Sequence[Path]) -> list[Imported]:
    """Return the records of results, in the order of the files. Raises UserError for a mistake."""
    records = []
    for path in paths:
        file = name_of(path)
        results = _parse(_text_of(read_bytes(path, ACCEPTED, table=True), file), file)
        records += [build(_of_test(test, results, file, n)) for n, test in enumerate(results.tests, 1)]
    return records


def _text_of(data: bytes, file: str) -> str:
    """Decode the text; only names of workers may be in the code page of an old Windows, so they may be replaced."""
    try:
        return decoded(data, file)
    except UserError:
        if not recognises(data):
            raise
        return data.decode("cp1252", "replace")


def _lines(text: str, file: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=separator), 1):
            if row:
                yield number, row
    except csv.Error as error:
        raise UserError(file, "", "", f"not a table: {error}; accepted: {ACCEPTED}") from None


def _parse(text: str, file: str) -> Results:
    results = Results()
    if not recognises(text[:200].encode()):
        raise UserError(file, "", shown(text[:40]), f"not Iometer's; accepted: {ACCEPTED}")
    section, header, specification = "", [""], ""
    separator = separator_of(next((line for line in text.splitlines() if set(line) & set(",;\t")), ""))
    for number, row in _lines(text, file, separator):
        first = row[0].strip()
        if first.startswith("'"):
            section = first.removeprefix("'").strip().lower()
            header = [name.strip().lstrip("'") for name in row] if section == "target type" else header
        elif section == "target type":
            cells = Cells(file, f"line {number}", dict(zip(header, row, strict=False)), separator)
            _add(results, cells, len(header), len(row))
        elif section == "access specification name":
            specification = first
            results.specifications[specification] = []
        elif section == "size" and specification:
            results.specifications[specification].append(_line(row, file, number, separator))
        else:
            values = {str(i): value for i, value in enumerate(row)}
            _setup(results, section, Cells(file, f"line {number}", values, separator))
    if not results.tests:
        raise UserError(file, "", "", f"it has no test result (no ALL row); accepted: {ACCEPTED}")
    return results


def _setup(results: Results, section: str, cells: Cells) -> None:
    """Read the settings above the results."""
    if section == "version":
        results.version = cells.values["0"].strip() or None
    elif section == "run time" and "2" in cells.values:
        results.run_time_s = _run_time(cells)
    elif section.startswith("ramp up time"):
        results.ramp_s = cells.number("0")


def _line(row: Sequence[str], file: str, number: int, separator: str) -> Line:
    names = ("size", "% of size", "% reads", "% random")
    cells = Cells(file, f"line {number}", dict(zip(names, row, strict=False)), separator)
    size = cells.count("size") or 0
    return Line(size, *(cells.number(name) or 0.0 for name in names[1:]))


def _run_time(cells: Cells) -> float:
    hours, minutes, seconds = (cells.number(str(column)) or 0.0 for column in range(3))
    return hours * 3600 + minutes * 60 + seconds


def _add(results: Results, cells: Cells, expected: int, columns: int) -> None:
    kind = cells.values.get("Target Type", "").strip().upper()
    if kind not in ("ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK"):
        return
    # Rows end with a comma or not; one that ends before its I/Os is cut.
    if columns < min(expected, 20):
        raise UserError(cells.file, cells.position, "", f"a row of {columns} columns, cut short; accepted: {ACCEPTED}")
    if kind == "ALL":
        results.tests.append(Test(cells))
    elif results.tests and kind == "WORKER":
        results.tests[-1].workers.append(cells)
    elif results.tests and kind == "MANAGER":
        results.tests[-1].managers.append(cells.values.get("Target Name", "").strip())


def _of_test(test: Test, results: Results, file: str, number: int) -> ImportedRun:
    specification = test.whole.values.get("Access Specification Name", "").strip() or f"test {number}"
    lines = results.specifications.get(specification, [])
    duration_ns = _duration_ns(test, results)
    notes = ["not carried over: CPU, network and transaction columns; time stamps, whose zone is not in the file"]
    missing = (test.whole.count("# Workers") or 0) - len(test.workers)
    if test.workers and missing > 0:
        notes.append(f"figures are of the row ALL: rows of its workers are missing ({missing})")
        test = replace(test, workers=[])
    rows = test.workers or [test.whole]
    names = _names(rows)
    streams = [(name, _sides(row, lines, notes)) for name, row in zip(names, rows, strict=True)]
    if not _bins(test.whole):
        notes.append("no percentiles: this Iometer has no latency bins")
    elif all(_count(test.whole, direction) for direction in DIRECTIONS):
        notes.append("no percentiles: Iometer's latency bins hold reads and writes together")
    requested = _asked(test, results, lines)
    host = test.managers[0] if len(test.managers) == 1 else None
    return ImportedRun(
        name=f"{Path(file).stem} {number} {specification}" if len(results.tests) > 1 else specification,
        machine=host or "iometer",
        source={
            "tool": "iometer",
            "version": results.version,
            "file": file,
            "began": None,
            "ended": None,
            "asked": requested,
            "target": None,
            "host": host,
        },
        duration_ns=duration_ns,
        concurrency=requested["concurrency"],
        streams=streams,
        spec={"access_specification": specification, "lines": [vars(line) for line in lines]},
        notes=list(dict.fromkeys(notes)),
        claims=list(iometer_restated.of_test(test.whole, test.workers)),
    )


def _names(rows: Sequence[Cells]) -> list[str]:
    """Return the workers' names, numbered if several have the same."""
    seen: Counter[str] = Counter()
    names = []
    for row in rows:
        base = row.values.get("Target Name", "").strip() or "all"
        seen[base] += 1
        names.append(base if seen[base] == 1 else f"{base}#{seen[base]}")
    return names


def _count(row: Cells, direction: Direction) -> int:
    return row.count("Read I/Os" if direction == "read" else "Write I/Os") or 0


def _duration_ns(test: Test, results: Results) -> int:
    """Return counts over rates; the requested time if no I/O was done."""
    rate = test.whole.number("IOps")
    count = sum(_count(test.whole, direction) for direction in DIRECTIONS)
    if rate and count:
        return min(round(count / rate * NS_PER_S), LARGEST)
    if results.run_time_s:
        return round(results.run_time_s * NS_PER_S)
    raise UserError(test.whole.file, test.whole.position, "", f"a test without I/Os; accepted: {ACCEPTED} with results")


def _sides(row: Cells, lines: Sequence[Line], notes: list[str]) -> Sides:
    bins = _bins(row)
    counts = {direction: _count(row, direction) for direction in DIRECTIONS}
    alone = [direction for direction in DIRECTIONS if counts[direction]]
    sides: Sides = {}
    for direction in DIRECTIONS:
        word = direction.capitalize()
        mean = row.number(f"Average {word} Response Time")
        histogram: Histogram | None = None
        largest = row.milliseconds(f"Maximum {word} Response Time")
        if bins and alone == [direction]:
            histogram = binned(bins, largest)
        sides[direction] = side_of(
            counts[direction],
            _volume(row, direction, counts[direction], lines, notes),
            None if mean is None else mean * 1e6,
            high_ns=largest,
            errors=row.count(f"{word} Errors") or 0,
            histogram=histogram,
        )
    return sides


def _volume(row: Cells, direction: Direction, count: int, lines: Sequence[Line], notes: list[str]) -> int:
    exact = row.count("Bytes Read" if direction == "read" else "Bytes Written")
    if exact is not None:
        return exact
    sizes = {line.size for line in lines}
    if len(sizes) == 1:
        return count * sizes.pop()
    word = direction.capitalize()
    rate, whole = row.number(f"{word} IOps"), row.number(f"{word} MBps")
    if rate and whole is not None:
        notes.append("bytes come from MBps, taken as 2^20 bytes a second, as in Iometer before 1.1")
        return round(whole * _MIB / rate * count)
    return 0


def _bins(row: Cells) -> list[tuple[int | None, int]]:
    """Return [upper edge in ns, count]; the last has no edge."""
    bins: list[tuple[int | None, int]] = []
    for name in row.values:
        closed = _BIN.fullmatch(name.strip())
        if closed is not None:
            edge = round(float(closed[2]) * _UNITS[closed[3].lower()])
            bins.append((edge, row.count(name) or 0))
        elif _OPEN_BIN.fullmatch(name.strip()):
            bins.append((None, row.count(name) or 0))
    return bins if any(count for _, count in bins) else []


def _asked(test: Test, results: Results, lines: Sequence[Line]) -> Asked:
    requested = nothing_asked()
    if results.run_time_s:
        requested["duration_ns"] = round(results.run_time_s * NS_PER_S)
    if results.ramp_s is not None:
        requested["ramp_ns"] = round(results.ramp_s * NS_PER_S)
    requested["jobs"] = test.whole.count("# Workers")
    requested["concurrency"] = _concurrency(test)
    if lines:
        sizes = {line.size for line in lines}
        requested["block_bytes"] = sizes.pop() if len(sizes) == 1 else None
        weight = sum(line.share for line in lines)
        if weight > 0:
            requested["read_pct"] = sum(line.share * line.read_pct for line in lines) / weight
        randoms = {line.random_pct for line in lines}
        requested["pattern"] = (
            {100.0: "random", 0.0: "sequential"}.get(randoms.pop(), "mixed") if len(randoms) == 1 else "mixed"
        )
    sizes_asked = [row.number("Maximum Size") for row in test.workers]
    if sizes_asked and all(sizes_asked) and len(set(sizes_asked)) == 1:
        requested["working_set_bytes"] = round((sizes_asked[0] or 0) * _SECTOR)
    begins = {row.count("Starting Sector") for row in test.workers}
    begin = begins.pop() if len(begins) == 1 else None
    requested["offset_begin_bytes"] = None if begin is None else begin * _SECTOR
    requested["direct"] = True
    requested["seed"] = None
    return requested


def _concurrency(test: Test) -> int | None:
    """Outstanding I/Os are per worker and disk."""
    whole = 0
    for row in test.workers:
        depth, disks = row.count("Queue Depth"), row.count("# Disks")
        if not depth:
            return None
        whole += depth * max(1, disks or 1)
    return whole or None
