"""`hotband expect` on the terminal: the verdict first, then measured next to predicted figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.formats import as_rows
from hotband.base.text.table import (
    OF_ROW,
    PLAIN,
    TIMES,
    Cell,
    Column,
    Range,
    Table,
    View,
    column,
    interval,
    numeric,
    unit_of,
)
from hotband.data.record.expected import sentence_of

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.questions.expect.expected import Expected
    from hotband.questions.expect.judge import Judged
    from hotband.questions.expect.nearest import Ranking

LABELS = {
    "iops": "IOPS",
    "bandwidth_bytes_per_s": "MB/s",
    "latency_mean_ns": "mean",
    "latency_p50_ns": "p50",
    "latency_p99_ns": "p99",
    "latency_p999_ns": "p99.9",
}
COLOURS = {"inside": "green", "undecided": "yellow", "better": "cyan", "worse": "red"}
MOST_DRIVES = 10
FEW = 3
"""Most rows whose figures are all shown."""


def label_of(figure: str) -> str:
    """Return the printed name of a figure."""
    side, _, name = figure.rpartition(".")
    return f"{side} {LABELS.get(name, name)}".strip()


def views(expected: Expected) -> list[View]:
    """Return the printed output."""
    on = f"On {expected.machine}: " if expected.machine else ""
    printed: list[View] = [marked("[bold]{on}{verdict}[/]", on=on, verdict=expected.verdict)]
    printed += [f"! {words}." for words in expected.troubles]
    if expected.explanations:
        printed += ["Possible causes:", *(f"  - {text}" for text in expected.explanations)]
    if expected.ranking is not None:
        printed += _ranking_views(expected.ranking)
    else:
        printed.append(rows_table(expected))
    printed += [f"  state: {line}" for line in expected.state]
    printed += [f"  {text}" for text in expected.rests_on]
    printed += [
        f"  {row.name}: {label_of(others.figure)}: {others.words}"
        for row in expected.rows
        for others in expected.others(row)
    ]
    printed += [f"  not rebuilt: {row.name}: {row.why_not}" for row in expected.rows if row.why_not]
    if expected.assumed:
        printed += ["Assumed, because the result does not state it:", *(f"  - {text}" for text in expected.assumed)]
    losses = list(dict.fromkeys(text for row in expected.rows if row.load for text in row.load.losses))
    printed += ["Different from its options:", *(f"  - {text}" for text in losses[:6])] if losses else []
    return [*printed, *(f"  note: {note}" for note in expected.notes)]


def figure_columns(level: float) -> list[Column]:
    """Return the columns of a figure, measured and predicted, with its interval."""
    return [
        column("figure"),
        numeric("measured", OF_ROW),
        numeric("predicted", OF_ROW),
        interval(f"{level:g} % interval", OF_ROW),
        column("is"),
    ]


def rows_table(expected: Expected) -> Table:
    """Return measured next to predicted values, a line per figure; with many rows a line per row, for the deciding
    figure."""
    several, many = len(expected.rows) > 1, len(expected.rows) > FEW and not as_rows()
    columns = [*([column("run", once=True)] if several else []), *figure_columns(expected.level)]
    table = Table("Measured beside predicted", columns)
    for row in expected.rows:
        figures = expected.figures(row)
        shown = figures[:1] if many else figures
        for index, entry in enumerate(shown):
            table.add(
                *([row.name] if several else []),
                label_of(entry.figure),
                entry.measured,
                entry.predicted,
                Range(entry.low, entry.high),
                _verdict(entry, figures if many else []),
                unit=unit_of(entry.figure),
                ends=index == len(shown) - 1 and not many and row is not expected.rows[-1],
            )
    if many:
        table.caption = "the deciding figure, and how many others of the row are outside; --json has all"
    return table


def _verdict(judged: Judged, others: Sequence[Judged]) -> Cell:
    """Return a verdict, with the other figures of its row that are outside."""
    besides = [other for other in others if other.verdict in ("better", "worse") and other.verdict != judged.verdict]
    more = f", {len(besides)} not" if besides else ""
    return Cell(f"{judged.verdict or '–'}{more}", COLOURS.get(judged.verdict or "", ""))


def _ranking_views(ranking: Ranking) -> list[View]:
    figures = [numeric("measured", OF_ROW), numeric("predicted", OF_ROW)]
    columns = [column("drive"), numeric("off by", TIMES), numeric("figures"), *figures]
    table = Table("Drives of the catalog, the nearest first", columns)
    for drive in ranking.drives if as_rows() else ranking.drives[:MOST_DRIVES]:
        first = drive.figures[0] if drive.figures else None
        values = (None, None) if first is None else (first.measured, first.predicted)
        unit = PLAIN if first is None else unit_of(first.figure)
        table.add(drive.machine, math.exp(drive.distance), len(drive.figures), *values, unit=unit)
    words = f"Compared: all figures of {', '.join(ranking.rows)}"
    printed: list[View] = [table, f"  {words}; from the ninth drive on, only figures of the first row"]
    if ranking.left_out:
        names = ", ".join(list(ranking.left_out)[:4])
        why = next(iter(ranking.left_out.values()))
        printed.append(f"  {len(ranking.left_out)} drives are left out ({names} ...): {why}")
    return printed


def expected_views(record: RecordDoc) -> list[View]:
    """Return the printed prediction next to the measurement; nothing if there is none."""
    expected = record.get("expected")
    if expected is None:
        return []
    machine, level = str(expected["machine"]), expected["level"]
    table = Table(f"Measured beside {machine}", figure_columns(level))
    for row in expected["rows"]:
        for figure in row["figures"]:
            verdict = figure["verdict"] or "–"
            table.add(
                label_of(figure["figure"]),
                figure["measured"],
                figure["predicted"],
                Range(figure["low"], figure["high"]),
                Cell(verdict, COLOURS.get(verdict, "")),
                unit=unit_of(figure["figure"]),
            )
    printed: list[View] = [sentence_of(expected), table]
    return [*printed, *(f"  - {text}" for text in expected["explanations"])]
