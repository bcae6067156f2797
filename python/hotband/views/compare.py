"""Comparisons on a screen: the verdict, a row per metric with what it means, and what the verdict may hang on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from hotband.base.text.formats import PRINTED
from hotband.base.text.table import CHANGE, OF_ROW, PLAIN, Cell, Range, Table, Unit, View, column, interval, numeric
from hotband.data.inputs.kinds import paths_of
from hotband.inference.audit.compare import state_of
from hotband.inference.audit.difference import FASTER, NONE, SLOWER, TOO_SHORT
from hotband.inference.audit.headline import verdict_of
from hotband.views.audit import UNITS, comparison_view, overview_table
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import DETAILS, Screen, command, screen_table, signed

if TYPE_CHECKING:
    from hotband.inference.audit.audited import Side
    from hotband.inference.audit.compare import Comparison
    from hotband.questions.compare import Compared, CompareQuestion

NAME = 12
"""Characters of a side's name above its column."""
BAR = 10
MOST_AUDITED = 3
"""Results that the next command names."""


def terminal(found: Compared, asked: CompareQuestion) -> Screen:
    """Return what the terminal shows of a comparison, or of several with the first side."""
    several = found.comparisons
    paths = [path for side in asked.sides for path in paths_of(side)]
    model = all(run.is_model for pair in several for side in (pair.a, pair.b) for run in side.runs)
    alone = several[0] if len(several) == 1 else None
    sentence, *more = [_overview(several)] if alone is None else verdict_of(alone)
    return Screen(
        answer=sentence,
        more=more,
        body=[_overview_table(several) if alone is None else _table(alone)],
        state=[] if alone is None else _state(alone),
        remarks=[
            *dict.fromkeys(words for pair in several for words in [*pair.unequal_state, *_unlike(pair)]),
            *(["These are predictions: model error comes on top of these intervals."] if model else []),
        ],
        next=command("audit", *paths) if len(paths) <= MOST_AUDITED else "",
        details=_evidence(several),
    )


def _evidence(several: Sequence[Comparison]) -> list[View]:
    """Return every side against the first; an overview of several."""
    # CSV has every comparison in one table of its own shape.
    overview = [overview_table(several), ""] if len(several) > 1 and PRINTED.form != "csv" else []
    return [*overview, *(view for pair in several for view in comparison_view(pair))]


def _unlike(pair: Comparison) -> list[str]:
    return [f"Not the same load: {words}." for words in pair.unlike]


def _table(pair: Comparison) -> Table:
    """Return a row per metric: both values, the change with its interval, and what that means."""
    ends = [interval("95 % interval", CHANGE)] if any(row.low_pct is not None for row in pair.differences) else []
    names = [numeric(_short(side), OF_ROW) for side in (pair.a, pair.b)]
    table = screen_table([column(""), *names, numeric("change", CHANGE), *ends, column("")])
    for row in pair.differences:
        unit = PLAIN if row.metric == "IOPS" else UNITS.get(row.unit, Unit(row.unit))
        between = [Range(row.low_pct, row.high_pct)] if ends else []
        table.add(row.metric, row.a, row.b, row.change_pct, *between, _verdict(row.verdict), unit=unit)
    return table


def _verdict(word: str) -> Cell:
    if word in (NONE, TOO_SHORT):
        return signed({NONE: "no difference", TOO_SHORT: "not enough data"}[word], None)
    return signed(word, word == FASTER)


def _short(side: Side) -> str:
    """Return a side's name above a column: of a path the last part."""
    name = PurePath(side.name).name or side.name
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"


def _state(pair: Comparison) -> list[str]:
    """Return how the drives were set where that is the same, and what could not be compared."""
    a, b = (state_of(side) for side in (pair.a, pair.b))
    alike = [f"Both: {'; '.join(a)}."] if a and a == b else []
    missing = ", ".join(words.partition(":")[0] for words in pair.unsupported)
    return [*alike, *([f"Not compared for lack of data: {missing} ({DETAILS})."] if missing else [])]


def _overview(several: Sequence[Comparison]) -> str:
    """Return how many sides are faster than the first, slower, or neither."""
    counts = Counter(pair.verdict if pair.verdict in (FASTER, SLOWER) else NONE for pair in several)
    words = {FASTER: "faster", SLOWER: "slower", NONE: "without a clear difference"}
    be = {verdict: "is" if count == 1 else "are" for verdict, count in counts.items()}
    parts = [f"{count} {be[verdict]} {words[verdict]}" for verdict in words if (count := counts[verdict])]
    return f"Of {len(several)} results compared with {several[0].a.name}, {', '.join(parts)}."


def _overview_table(several: Sequence[Comparison]) -> Table:
    """Return a row per side: the rate as a number and a bar, median and p99 latency, and what they mean."""
    rows = [{row.metric: row for row in pair.differences} for pair in several]
    first = {name: row.a for by in reversed(rows) for name, row in by.items()}
    times = [numeric(name, UNITS["ms"]) for name in ("p50", "p99")]
    table = screen_table([column(""), numeric("IOPS"), bar_column(BAR), numeric("change", CHANGE), *times, column("")])
    rates = [first.get("IOPS"), *(by["IOPS"].b if "IOPS" in by else None for by in rows)]
    drawn = bars(rates, BAR)
    table.add(several[0].a.name, rates[0], drawn[0], None, first.get("p50"), first.get("p99"), "")
    for at, (pair, by) in enumerate(zip(several, rows, strict=True), 1):
        latencies = [by[name].b if name in by else None for name in ("p50", "p99")]
        change = by["IOPS"].change_pct if "IOPS" in by else None
        table.add(pair.b.name, rates[at], drawn[at], change, *latencies, _verdict(pair.verdict))
    return table
