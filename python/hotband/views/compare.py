"""Comparisons on a screen: the verdict, a row per metric with its meaning, and what could change the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from hotband.base.folders import real_path
from hotband.base.text.formats import PRINTED
from hotband.base.text.numbers import counted
from hotband.base.text.table import CHANGE, OF_ROW, PLAIN, Cell, Range, Table, Unit, View, column, interval, numeric
from hotband.base.text.words import cut
from hotband.data.inputs.kinds import paths_of
from hotband.inference.audit.audited import Side
from hotband.inference.audit.compare import Comparison, state_of
from hotband.inference.audit.difference import FASTER, NONE, SLOWER, TOO_SHORT
from hotband.inference.audit.headline import UNKNOWN_SPREAD, verdict_of
from hotband.questions.compare import Compared, CompareQuestion
from hotband.views.audit import UNITS, comparison_view, overview_table
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import DETAILS, LINES, REMARK, Screen, command, folded, screen_table, signed, with_hidden

NAME = 12
"""Most characters of a side's name above its column."""
BAR = 10
MOST_TROUBLES = 3
MOST_AUDITED = 3
"""Most results that the next command names."""


def terminal(result: Compared, question: CompareQuestion) -> Screen:
    """Return what the terminal shows of a comparison, or of several with the first side."""
    several = result.comparisons
    if result.tests:
        return _by_test(result, question)
    paths = [path for side in question.sides for path in paths_of(side)]
    alone = several[0] if len(several) == 1 else None
    sentence, *more = [_overview(several)] if alone is None else verdict_of(alone)
    return Screen(
        answer=sentence,
        more=[*_troubles(several), *more],
        body=[_overview_table(several) if alone is None else _table(alone)],
        state=[] if alone is None else _state(alone),
        remarks=[
            *dict.fromkeys(words for pair in several for words in [*pair.unequal_state, *_unlike(pair)]),
            *predicted_words(several),
        ],
        next=command("audit", *paths) if len(paths) <= MOST_AUDITED else "",
        details=_evidence(several),
    )


def _by_test(result: Compared, question: CompareQuestion) -> Screen:
    """Return the screen of compared folders: how many tests are faster, and a row for each."""
    several = result.comparisons
    first, *others = [paths_of(side)[0] for side in question.sides]
    remarks = [
        *dict.fromkeys(f"Not the same load: {words}." for pair in several for words in pair.unlike),
        *result.remarks,
    ]
    room = LINES - 5 - sum(folded(REMARK + words) for words in remarks)
    shown = len(several) if len(several) <= room else room - 1
    hidden = [f"and {counted(len(several) - shown, 'more test')} ({DETAILS})"] if shown < len(several) else []
    unknown = any(pair.deciding is not None and pair.deciding.low_pct is None for pair in several)
    return Screen(
        answer=_tests_sentence(result, real_path(first).name, [real_path(path).name for path in others]),
        more=[*_troubles(several), *([UNKNOWN_SPREAD] if unknown else [])],
        body=[by_test_table(result, shown), *hidden],
        remarks=remarks,
        next=command("report", first, *others, output="compare.html"),
        details=_evidence(several),
    )


def sentence_of(result: Compared) -> str:
    """Return in how many tests the other folders are faster than the first."""
    first, *others = dict.fromkeys(folder_of(side) for pair in result.comparisons for side in (pair.a, pair.b))
    return _tests_sentence(result, first, others)


def _tests_sentence(result: Compared, first: str, others: Sequence[str]) -> str:
    by_folder: dict[str, list[str]] = {}
    for comparison in result.comparisons:
        verdict = comparison.verdict if comparison.verdict in (FASTER, SLOWER) else NONE
        by_folder.setdefault(folder_of(comparison.b), []).append(verdict)
    names = others if len(others) == len(by_folder) else list(by_folder)
    sentences = [_verdicts(name, first, outcomes) for name, outcomes in zip(names, by_folder.values(), strict=True)]
    return f"{'; '.join(sentences)}."


def _verdicts(whose: str, first: str, outcomes: Sequence[str]) -> str:
    """Return in how many tests a folder is faster or slower than the first."""
    counts = Counter(outcomes)
    words = {FASTER: "faster than", SLOWER: "slower than", NONE: "not clearly different from"}
    leading, *less = sorted((verdict for verdict in words if counts[verdict]), key=lambda verdict: -counts[verdict])
    more = "".join(f", {words[verdict].rpartition(' ')[0]} in {counts[verdict]}" for verdict in less)
    return f"{whose} is {words[leading]} {first} in {counts[leading]} of {counted(len(outcomes), 'test')}{more}"


def by_test_table(result: Compared, most: int | None = None) -> Table:
    """Return a row per test, or the first rows: the rates of both sides, the changes of rate and p99 latency, and the
    verdict."""
    several = len({folder_of(comparison.b) for comparison in result.comparisons}) > 1
    pair = result.comparisons[0]
    names = ["first", "other"] if several else [cut(folder_of(side), NAME) for side in (pair.a, pair.b)]
    columns = [column("", wrap=False), *(numeric(name) for name in names), numeric("IOPS change", CHANGE)]
    table = screen_table([*columns, numeric("p99 change", CHANGE), column("")])
    for test, comparison in list(zip(result.tests, result.comparisons, strict=True))[:most]:
        rate = comparison.difference("IOPS")
        label = f"{'! ' if comparison.contradicted else ''}{comparison.b.name if several else test}"
        values = [rate.a, rate.b, rate.change_pct] if rate else [None, None, None]
        table.add(label, *values, _changed(comparison, "p99"), _verdict(comparison.verdict))
    return table


def _changed(pair: Comparison, metric: str) -> float | None:
    return next((row.change_pct for row in pair.differences if row.metric == metric), None)


def folder_of(side: Side) -> str:
    """Return the name of the folder of a test."""
    return side.name.partition("/")[0] or side.name


def names_of(sides: Sequence[Side]) -> list[str]:
    """Return the names of sides; for paths the last part, if that distinguishes them."""
    short = [PurePath(side.name).name or side.name for side in sides]
    return short if len(set(short)) == len(short) else [side.name for side in sides]


def _evidence(several: Sequence[Comparison]) -> list[View]:
    """Return every further side compared with the first; for several an overview."""
    # CSV has every comparison in one table with its own columns.
    overview = [overview_table(several), ""] if len(several) > 1 and PRINTED.form != "csv" else []
    return [*overview, *(view for pair in several for view in comparison_view(pair))]


def predicted_words(several: Sequence[Comparison]) -> list[str]:
    """Return what the intervals of predictions leave out; nothing for measured results."""
    model = all(run.is_model for pair in several for side in (pair.a, pair.b) for run in side.runs)
    return ["These are predictions: model error comes on top of these intervals."] if model else []


def _troubles(several: Sequence[Comparison]) -> list[str]:
    """Return the tools' reports of failed I/Os and other trouble, by side."""
    leading = several[0].contradicted[:1] if len(several) == 1 else []
    sentences = [f"! {words}." for pair in several for words in pair.troubles if words not in leading]
    sentences = list(dict.fromkeys(sentences))
    return with_hidden(sentences, MOST_TROUBLES)


def _unlike(pair: Comparison) -> list[str]:
    return [f"Not the same load: {words}." for words in pair.unlike]


def _table(pair: Comparison) -> Table:
    """Return a row per metric: both values, the change with its interval, and the verdict."""
    ends = [interval("95 % interval", CHANGE)] if any(row.low_pct is not None for row in pair.differences) else []
    names = [numeric(cut(name, NAME), OF_ROW) for name in names_of([pair.a, pair.b])]
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


def _state(pair: Comparison) -> list[str]:
    """Return the settings of the drives if both sides share them, and what could not be compared."""
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
    """Return a row per side: the rate as a number and a bar, median and p99 latency, and the verdict."""
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
