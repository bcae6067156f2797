"""The matrix of a folder of results on a terminal: a row per test, with a rate and a bar for each drive."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from hotband.base.text.numbers import counted
from hotband.base.text.table import IOPS, MBS, MS, OF_ROW, PERCENT, PLAIN, Column, Table, View, column, numeric
from hotband.base.text.words import cut
from hotband.views.report.matrix import Matrix, counts_of, remarks_of
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import DETAILS, LINES, WIDTH, Screen, folded, screen_table

BAR = 8
MOST_WITH_BARS = 3
"""Most drives for which a bar each fits."""
MOST_DRIVES = 6
"""Most drives for which a column each fits."""
NAME, TEST = 12, 30
"""Most characters of a drive's name above its column, and of a test's name."""


def matrix_screen(matrix: Matrix, written: str = "", further: str = "") -> Screen:
    """Return the screen: results and written files, the matrix, and reasons why drives are incomparable."""
    notes = remarks_of(matrix)
    room = LINES - 5 - sum(folded(f"! {note}") for note in notes) - bool(further)
    wide = len(matrix.drives) > MOST_DRIVES
    body: list[View] = [_by_drive(matrix) if wide else _by_test(matrix, room)]
    hidden = 0 if wide else len(matrix.tests) - len(_shown(matrix, room))
    if hidden:
        body.append(f"and {counted(hidden, 'more test')} ({DETAILS})")
    answer, more = f"{counts_of(matrix)}.", [written] if written else []
    if written and len(answer) + len(written) + 2 <= WIDTH:
        answer, more = f"{answer}  {written}", []
    return Screen(answer=answer, more=more, body=body, remarks=notes, next=further, details=[long_table(matrix)])


def _shown(matrix: Matrix, room: int) -> Sequence[str]:
    """Return the tests that fit; a line that counts the others replaces one of them."""
    return matrix.tests if len(matrix.tests) <= room else matrix.tests[: room - 1]


def _by_test(matrix: Matrix, room: int) -> Table:
    """Return a row per test, with bars if they fit."""
    table = _rates(matrix, room, len(matrix.drives) <= MOST_WITH_BARS)
    least = [max(len(each.name), each.width or 0) for each in table.columns]
    widths = [max(least, *map(len, cells)) for least, *cells in zip(least, *table.texts(), strict=True)]
    fits = sum(widths) + 2 * (len(widths) - 1) <= WIDTH
    return table if fits else _rates(matrix, room, False)


def _rates(matrix: Matrix, room: int, drawn: bool) -> Table:
    columns = [column("", wrap=False)]
    for drive in matrix.drives:
        columns += [numeric(cut(drive, NAME), OF_ROW), *([bar_column(BAR)] if drawn else [])]
    table = screen_table(columns)
    shown = _shown(matrix, room)
    every = {test: [matrix.value(drive, test) for drive in matrix.drives] for test in shown}
    alone = len(matrix.drives) == 1
    for test, values in every.items():
        unit = matrix.unit(test)
        # With one drive, its tests are compared with each other if they have the same unit.
        alike = [every[drive][0] for drive in shown if matrix.unit(drive) is unit]
        pictures = [bars([values[0], *alike], BAR)[0]] if alone else bars(values, BAR)
        printed = [
            f"! {unit.bare(value)}" if (drive, test) in matrix.contradicted else value
            for drive, value in zip(matrix.drives, values, strict=True)
        ]
        cells = [
            cell
            for value, rate in zip(printed, pictures, strict=True)
            for cell in ((value, rate) if drawn else (value,))
        ]
        table.add(cut(test, TEST), *cells, unit=PLAIN if unit is IOPS else unit)
    return table


def _by_drive(matrix: Matrix) -> Table:
    """Return a row per drive, if there are too many for columns: its rate relative to the best of each test."""
    relative = numeric("of the best", PERCENT)
    table = screen_table([column("drive"), numeric("tests"), relative, bar_column(BAR), numeric("fastest in")])
    best = {test: max((matrix.value(drive, test) or 0.0) for drive in matrix.drives) for test in matrix.tests}
    shares: list[float | None] = []
    for drive in matrix.drives:
        parts = [value / best[test] for test in matrix.tests if (value := matrix.value(drive, test))]
        shares.append(100 * geometric_mean(parts) if parts else None)
    leads = matrix.leads()
    for drive, share, drawn in zip(matrix.drives, shares, bars(shares, BAR), strict=True):
        table.add(drive, sum(key == drive for key, _ in matrix.records), share, drawn, leads[drive])
    return table


def long_table(matrix: Matrix) -> Table:
    """Return a row per result: its drive, test, rates and latencies."""
    columns: list[Column] = [column("drive"), column("test"), numeric("IOPS"), numeric("MB/s", MBS)]
    columns += [numeric(name, MS) for name in ("mean (ms)", "p99 (ms)")]
    table = Table("Results by drive and test", columns)
    for result in matrix.walk.results:
        summary = result.record.record["summary"]
        latencies = [summary.get("latency_mean_ns"), summary.get("latency_p99_ns")]
        table.add(result.series, result.test, summary.get("iops"), summary.get("bandwidth_bytes_per_s"), *latencies)
    return table
