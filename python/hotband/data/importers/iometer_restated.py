"""Figures of Iometer that follow from others of the same test: sums, rates and means of its rows.

Source: SaveResults of Iometer's ManagerList, Manager and Worker: rows of managers and of all are sums of their workers;
a mean response time is weighted by I/Os. "MBps" meant 2^20 bytes before 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hotband.base.claim import EXACT, Claim, equal, near
from hotband.data.importers.cells import Cells

_STEP = 0.01
"""More than a unit of the last digit that Iometer prints."""
_SAVED = 1e-5
"""Share of a sum that a spreadsheet cuts from it and its parts: it saves 123456789012 as 1.23457E+11."""
_DIRECTIONS = {"Read": "Bytes Read", "Write": "Bytes Written"}
_RATES = (("MiBps (Binary)", 2**20), ("MBps (Decimal)", 10**6), ("MBps", 2**20))


def of_test(whole: Cells, workers: Sequence[Cells]) -> Iterator[Claim]:
    """Yield checks of the row of a test and of its workers."""
    names = ["ALL", *(f"worker {worker.values.get('Target Name', '').strip()}" for worker in workers)]
    rows = (whole, *workers)
    for name, row in zip(names, rows, strict=True):
        yield from _within(name, row, rows)
    if len(workers) != whole.count("# Workers"):
        return
    source = f"the sum of its {len(workers)} workers"
    for column in (*_DIRECTIONS.values(), "Read I/Os", "Write I/Os"):
        share = _SAVED if any("E" in row.values.get(column, "").upper() for row in rows) else EXACT
        yield from equal(f"ALL: {column}", whole.number(column), source, _sum(workers, column), share)
    for column in ("IOps", "Read IOps", "Write IOps"):
        slack = len(rows) * _step(rows, column)
        yield from near(f"ALL: {column}", whole.number(column), source, _sum(workers, column), slack)


def _step(rows: Sequence[Cells], column: str) -> float:
    """Return what the last digit of a column counts: a spreadsheet cuts digits of all, and zeros that end single
    cells."""
    return max(_STEP, min((step for row in rows if (step := row.step(column))), default=0.0))


def _within(name: str, row: Cells, rows: Sequence[Cells]) -> Iterator[Claim]:
    """Yield checks of one row of `rows`, whose columns have the same digits."""
    rates = [row.number(f"{word} IOps") for word in _DIRECTIONS]
    if None not in rates:
        slack = sum(_step(rows, column) for column in ("IOps", "Read IOps", "Write IOps"))
        yield from near(
            f"{name}: IOps", row.number("IOps"), "reads and writes", sum(rate or 0.0 for rate in rates), slack
        )
    for word, volume in _DIRECTIONS.items():
        rate, count, moved = row.number(f"{word} IOps"), row.number(f"{word} I/Os"), row.number(volume)
        for unit, size in _RATES:
            if rate and count and moved is not None:
                column, source = f"{word} {unit}", f"{moved:,.0f} bytes in {count:,.0f} I/Os at {rate:,.6g} a second"
                each = moved / count / size
                slack = _step(rows, column) + each * _step(rows, f"{word} IOps")
                yield from near(f"{name}: {column}", row.number(column), source, each * rate, slack)
    counts = [row.number(f"{word} I/Os") or 0.0 for word in _DIRECTIONS]
    means = [row.number(f"Average {word} Response Time") or 0.0 for word in _DIRECTIONS]
    if sum(counts):
        mean = sum(count * mean for count, mean in zip(counts, means, strict=True)) / sum(counts)
        column = "Average Response Time"
        parts = max(_step(rows, f"Average {word} Response Time") for word in _DIRECTIONS)
        slack = _step(rows, column) + parts
        yield from near(f"{name}: {column} in ms", row.number(column), "reads and writes", mean, slack)


def _sum(rows: Sequence[Cells], column: str) -> float | None:
    """Return the sum of a column; None if a row does not have it."""
    values = [row.number(column) for row in rows]
    return None if None in values else sum(value or 0.0 for value in values)
