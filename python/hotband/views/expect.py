"""`hotband expect` on the terminal: the verdict on top, then measured beside predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.formats import Between, Figure, Repeated, as_rows
from hotband.questions.expect.judge import value_of
from hotband.questions.targets.expected import sentence_of

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

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
COLOURS = {"inside": "green", "better": "cyan", "worse": "red"}
MOST_DRIVES = 10
FEW = 3
"""Rows of which all figures are shown."""


def exact_of(figure: str, value: float) -> Figure:
    """A cell with the figure: in CSV the value itself, in IOPS, MB/s or ms."""
    name = figure.rpartition(".")[2]
    unit, scale = {"iops": ("IOPS", 1.0), "bandwidth_bytes_per_s": ("MB/s", 1e-6)}.get(name, ("ms", 1e-6))
    return Figure(value_of(figure, value), value * scale, unit)


def label_of(figure: str) -> str:
    """The name of a figure."""
    side, _, name = figure.rpartition(".")
    return f"{side} {LABELS.get(name, name)}".strip()


def views(of: Expected) -> list[Table | Text | str]:
    """What is printed."""
    on = f"On {of.machine}: " if of.machine else ""
    found: list[Table | Text | str] = [marked("[bold]{on}{verdict}[/]", on=on, verdict=of.verdict)]
    if of.explanations:
        found += ["What could explain it:", *(f"  - {text}" for text in of.explanations)]
    if of.ranking is not None:
        found += _ranking_views(of.ranking)
    else:
        found.append(rows_table(of))
    found += [f"  state: {line}" for line in of.state]
    found += [f"  not rebuilt: {row.name}: {row.why_not}" for row in of.rows if row.why_not]
    if of.assumed:
        found += ["Assumed, because the result does not say it:", *(f"  - {text}" for text in of.assumed)]
    losses = list(dict.fromkeys(text for row in of.rows if row.load for text in row.load.losses))
    found += ["Not as its options say:", *(f"  - {text}" for text in losses[:6])] if losses else []
    return [*found, *(f"  note: {note}" for note in of.notes)]


def rows_table(of: Expected) -> Table:
    """Measured beside predicted: a line a figure; of many rows a line each, with the figure that decides."""
    from rich.table import Table

    table = Table(title="Measured beside predicted", title_justify="left")
    several, many = len(of.rows) > 1, len(of.rows) > FEW and not as_rows()
    if several:
        table.add_column("run", overflow="fold")
    table.add_column("figure", overflow="fold")
    for name in ("measured", "predicted", f"{of.level:g} % interval"):
        table.add_column(name, justify="right")
    table.add_column("is", overflow="fold")
    for row in of.rows:
        figures = of.figures(row)
        shown = figures[:1] if many else figures
        for place, one in enumerate(shown):
            ends = [exact_of(one.figure, end) for end in (one.low, one.high) if end is not None]
            head = [Repeated(row.name, place != 0)] if several else []
            table.add_row(
                *head,
                label_of(one.figure),
                exact_of(one.figure, one.measured),
                exact_of(one.figure, one.predicted),
                between(ends),
                _verdict(one, figures if many else []),
                end_section=place == len(shown) - 1 and not many,
            )
    if many:
        table.caption = "the figure that decides, and how many others of the row are not so; --json has all"
    return table


def _verdict(one: Judged, others: Sequence[Judged]) -> Text:
    """A verdict, with what else of its row is outside."""
    verdict = one.verdict or "–"
    besides = [other for other in others if other is not one and other.verdict not in (one.verdict, "inside", None)]
    more = f", {len(besides)} not" if besides else ""
    return marked(f"[{COLOURS.get(verdict, 'default')}]{verdict}[/]{more}")


def between(ends: Sequence[Figure]) -> Between:
    """Both ends; in CSV a column each."""
    low, high = ends if len(ends) == 2 else (Figure("–", None), Figure("–", None))
    return Between(range_of(ends), low.value, high.value, low.unit)


def range_of(ends: Sequence[str]) -> str:
    """Two ends, their unit once where it is the same."""
    if len(ends) < 2:
        return "–"
    low, high = ends
    unit = low.rpartition(" ")[2]
    return f"{low.rpartition(' ')[0]} to {high}" if high.endswith(f" {unit}") else f"{low} to {high}"


def _ranking_views(ranking: Ranking) -> list[Table | Text | str]:
    from rich.table import Table

    table = Table(title="Drives of the catalog, the nearest first", title_justify="left")
    table.add_column("drive", overflow="fold")
    for name in ("off by", "figures", "measured", "predicted"):
        table.add_column(name, justify="right")
    for one in ranking.drives if as_rows() else ranking.drives[:MOST_DRIVES]:
        first = one.figures[0] if one.figures else None
        cells = ("–", "–") if first is None else (
            exact_of(first.figure, first.measured),
            exact_of(first.figure, first.predicted),
        )  # fmt: skip
        off = math.exp(one.distance)
        table.add_row(one.machine, Figure(f"x {off:.3g}", off), str(len(one.figures)), *cells)
    words = f"Compared: all figures of {', '.join(ranking.rows)}"
    views: list[Table | Text | str] = [table, f"  {words}; drives beyond the eighth of the first alone"]
    if ranking.left_out:
        names = ", ".join(list(ranking.left_out)[:4])
        why = next(iter(ranking.left_out.values()))
        views.append(f"  {len(ranking.left_out)} drives are left out ({names} ...): {why}")
    return views


def expected_views(record: RecordDoc) -> list[Table | Text | str]:
    """The prediction beside what was measured, as it is printed; nothing where there is none."""
    from rich.table import Table

    from hotband.base.foreign import marked
    from hotband.views.expect import COLOURS, between, exact_of, label_of

    expected = record.get("expected")
    if expected is None:
        return []
    machine, level = str(expected["machine"]), expected["level"]
    table = Table(title=f"Measured beside {machine}", title_justify="left")
    table.add_column("figure", overflow="fold")
    for name in ("measured", "predicted", f"{level:g} % interval"):
        table.add_column(name, justify="right")
    table.add_column("is", overflow="fold")
    for row in expected["rows"]:
        for one in row["figures"]:
            ends = [exact_of(one["figure"], end) for end in (one["low"], one["high"]) if end is not None]
            verdict = one["verdict"] or "–"
            table.add_row(
                label_of(one["figure"]),
                exact_of(one["figure"], one["measured"]),
                exact_of(one["figure"], one["predicted"]),
                between(ends),
                marked(f"[{COLOURS.get(verdict, 'default')}]{verdict}[/]"),
            )
    said: list[Table | Text | str] = [sentence_of(expected), table]
    return [*said, *(f"  - {text}" for text in expected["explanations"])]
