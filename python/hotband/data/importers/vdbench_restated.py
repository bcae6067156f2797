"""Figures of vdbench that follow from others of the same output: in a row, of an average, and between its files.

Sources: Report and Flat of vdbench (5.04): MB are of 2^20 bytes, or of 10^6 with an option; the response time of all
I/Os is that of reads and writes, weighted by read%.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hotband.base.claim import PRINTED, Claim, near
from hotband.data.importers.cells import Cells
from hotband.data.importers.vdbench_read import Run

_COLUMNS = (
    *("rate", "MB/sec", "MB_decimal", "read%", "bytes/io", "resp", "read_resp", "write_resp"),
    *("resp_max", "read_max", "write_max"),
)
"""Columns that several files have."""


def _step(row: Cells, column: str) -> float:
    """Return a unit of the last digit of a cell: files and versions print other numbers of digits."""
    return float(10 ** -len(row.values.get(column, "").partition(".")[2]))


def claims_of(run: Run, elsewhere: Sequence[Run]) -> Iterator[Claim]:
    """Yield checks of a run; `elsewhere` are its tables in other files."""
    for number, row in _rows(run).items():
        yield from _row(row, f"{_word(number)}: ", run.of_files)
    if run.average is not None and run.measured is not None:
        low, high = run.measured
        measured = [row for row in run.rows if low <= row.needed("Interval") <= high]
        yield from _average(run.average, measured)
    for other in elsewhere:
        others = _rows(other)
        for number, row in _rows(run).items():
            if number in others:
                yield from _between(row, others[number], f"{_word(number)}: ")


def elsewhere(main: Sequence[Run], files: Sequence[Sequence[Run]]) -> Mapping[int, list[Run]]:
    """Return by the identity of a run its tables in other files, matched by name, in order."""
    tables: dict[int, list[Run]] = {id(run): [] for run in main}
    for runs in files:
        left = [run for run in runs if id(run) not in tables]
        for run in main:
            match = next((other for other in left if other.name == run.name), None)
            if match is not None:
                left.remove(match)
                tables[id(run)].append(match)
    return tables


def _rows(run: Run) -> dict[str, Cells]:
    average = {} if run.average is None else {"average": run.average}
    return {**average, **{str(round(row.needed("Interval"))): row for row in run.rows}}


def _word(number: str) -> str:
    return number if number == "average" else f"interval {number}"


def _row(row: Cells, name: str, of_files: bool) -> Iterator[Claim]:
    rate, size, share = (row.number(key) for key in ("rate", "bytes/io", "read%"))
    resp, most = row.number("resp"), row.number("resp_max")
    if not rate or of_files:
        return
    for column, units in (("MB/sec", (2**20, 10**6)), ("MB_decimal", (10**6,))):
        stated = row.number(column)
        if stated is not None and size:
            _, derived = min((abs(stated - rate * size / unit), rate * size / unit) for unit in units)
            step = _step(row, column) + _step(row, "rate") * derived / rate
            yield from near(f"{name}{column}", stated, f"{rate:g} I/Os per second of {size:,.0f} bytes", derived, step)
    if resp is not None and most:
        yield Claim(f"{name}resp in ms", resp, f"resp_max of {most:g}", 0.0, most + _step(row, "resp_max"))
    reads, writes = row.number("read_resp"), row.number("write_resp")
    if resp is not None and share is not None and reads is not None and writes is not None and reads + writes:
        derived = share / 100 * reads + (1 - share / 100) * writes
        step = 2 * _step(row, "resp") + _step(row, "read%") / 100 * abs(reads - writes)
        source = f"{share:g} % reads of {reads:g} and writes of {writes:g}"
        yield from near(f"{name}resp in ms", resp, source, derived, step)


def _average(average: Cells, rows: Sequence[Cells]) -> Iterator[Claim]:
    """Yield that an average is between the smallest and the largest of its intervals."""
    for column in ("rate", "MB/sec", "MB_decimal", "bytes/io", "resp", "read_resp", "write_resp"):
        stated = average.number(column)
        values = [value for row in rows if (value := row.number(column)) is not None and row.number("rate")]
        if stated is None or len(values) < len(rows) or not values:
            continue
        low, high = min(values), max(values)
        # In an interval without reads, or without writes, their response time is 0.
        low = 0.0 if "_resp" in column and not low else low
        slack = max(PRINTED * high, 2 * _step(average, column))
        source = f"its {len(values)} intervals, from {low:g} to {high:g},"
        yield Claim(f"average: {column}", stated, source, low - slack, high + slack)


def _between(row: Cells, other: Cells, name: str) -> Iterator[Claim]:
    for column in _COLUMNS:
        stated, derived = row.number(column), other.number(column)
        step = max(_step(row, column), _step(other, column))
        yield from near(f"{name}{column} in {_file(row)}", stated, f"{_file(other)}, {other.position},", derived, step)


def _file(row: Cells) -> str:
    return row.file.rpartition("/")[2]
