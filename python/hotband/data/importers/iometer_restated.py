"""Figures of Iometer that follow from others of the same test: sums, rates and means of its rows.

Source: SaveResults of Iometer's ManagerList, Manager and Worker: rows of managers and of all are sums of their workers;
a mean response time is weighted by I/Os. "MBps" meant 2^20 bytes before 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hotband.base.claim import Claim, equal, near
from hotband.data.importers.cells import Cells

_STEP = 0.01
"""More than a unit of the last digit that is printed or survives a spreadsheet."""
_DIRECTIONS = {"Read": "Bytes Read", "Write": "Bytes Written"}
_RATES = (("MiBps (Binary)", 2**20), ("MBps (Decimal)", 10**6), ("MBps", 2**20))


def of_test(whole: Cells, workers: Sequence[Cells]) -> Iterator[Claim]:
    """Yield checks of the row of a test and of its workers."""
    names = ["ALL", *(f"worker {worker.values.get('Target Name', '').strip()}" for worker in workers)]
    for name, row in zip(names, (whole, *workers), strict=True):
        yield from _within(name, row)
    if not workers:
        return
    source = f"the sum of its {len(workers)} workers"
    for column in (*_DIRECTIONS.values(), "Read I/Os", "Write I/Os"):
        yield from equal(f"ALL: {column}", whole.number(column), source, _sum(workers, column))
    for column in ("IOps", "Read IOps", "Write IOps"):
        yield from near(f"ALL: {column}", whole.number(column), source, _sum(workers, column), _STEP)


def _within(name: str, row: Cells) -> Iterator[Claim]:
    """Yield checks of one row."""
    rates = [row.number(f"{word} IOps") for word in _DIRECTIONS]
    if None not in rates:
        yield from near(
            f"{name}: IOps", row.number("IOps"), "reads and writes", sum(rate or 0.0 for rate in rates), _STEP
        )
    for word, volume in _DIRECTIONS.items():
        rate, count, moved = row.number(f"{word} IOps"), row.number(f"{word} I/Os"), row.number(volume)
        for unit, size in _RATES:
            if rate and count and moved is not None:
                column, source = f"{word} {unit}", f"{moved:,.0f} bytes in {count:,.0f} I/Os at {rate:,.6g} a second"
                yield from near(f"{name}: {column}", row.number(column), source, moved / count * rate / size, _STEP)
    counts = [row.number(f"{word} I/Os") or 0.0 for word in _DIRECTIONS]
    means = [row.number(f"Average {word} Response Time") or 0.0 for word in _DIRECTIONS]
    if sum(counts):
        mean = sum(count * mean for count, mean in zip(counts, means, strict=True)) / sum(counts)
        column = "Average Response Time"
        yield from near(f"{name}: {column} in ms", row.number(column), "reads and writes", mean, _STEP)


def _sum(rows: Sequence[Cells], column: str) -> float | None:
    """Return the sum of a column; None if a row does not have it."""
    values = [row.number(column) for row in rows]
    return None if None in values else sum(value or 0.0 for value in values)
