"""The page of a comparison: which side is faster and by how much, in charts and a table, and the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text.numbers import ABSENT, counted, number
from hotband.inference.audit.compare import Comparison, state_of
from hotband.inference.audit.difference import Difference
from hotband.inference.audit.headline import UNKNOWN_SPREAD, verdict_of
from hotband.questions.compare import Compared
from hotband.views.audit import differences_table
from hotband.views.compare import by_test_table, folder_of, names_of, predicted_words, sentence_of
from hotband.views.draw.review import Lines, amounts, palette
from hotband.views.report.naming import which_is_fastest
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Page, Prose, Section, Table, plain, unchecked
from hotband.views.report.review_intervals import Row
from hotband.views.report.review_topics import bar, bar_frame

MOST_BARS = 60
"""Most bars of a chart."""
FIGURES = (("IOPS", "IOPS"), ("p50", "Median latency (ms)"), ("p99", "p99 latency (ms)"))
"""Metrics with a chart of both sides each."""
RATIO = "With 95 % intervals if runs are repeated. More is better for IOPS, less for latencies."


@unchecked()
def compare_page(result: Compared) -> Page:
    """Return the page of a comparison of two sides, of several with the first, or of folders test by test."""
    several = result.comparisons
    names = names_of([several[0].a, *(pair.b for pair in several)])
    drawn = _charts_by_test(result) if result.tests else _charts(several, names)
    sections = [Section("answer", "Answer", [*_answer(result), *([Charts(drawn, width=460)] if drawn else [])])]
    if result.tests:
        sections.append(Section("tests", "Tests", [Table.of(by_test_table(result))]))
    differences = [Table.of(table, table.title) for table in map(differences_table, several)]
    sections.append(Section("differences", "Differences", differences, folded=bool(result.tests)))
    sections.append(Section("basis", "Basis of the verdict", _basis(several), folded=True))
    runs = sum(len(side.runs) for side in {id(side): side for pair in several for side in (pair.a, pair.b)}.values())
    about = counted(len(result.tests), "test") if result.tests else counted(runs, "run")
    return Page(_question(result, names), sections, about, "Hotband comparison")


def _question(result: Compared, names: Sequence[str]) -> str:
    """Return the question that the page answers."""
    if result.tests:
        first, *others = dict.fromkeys(folder_of(side) for pair in result.comparisons for side in (pair.a, pair.b))
        return f"Is {others[0]} faster than {first}?" if len(others) == 1 else f"Which is faster than {first}?"
    return which_is_fastest(names)


def _answer(result: Compared) -> list[Block]:
    """Return the verdict, and below it differences that limit its validity."""
    several = result.comparisons
    verdicts = [sentence_of(result)] if result.tests else [verdict_of(pair)[0] for pair in several]
    is_unknown = any(pair.deciding is not None and pair.deciding.low_pct is None for pair in several)
    unlike = [f"{words}." for pair in several for words in pair.troubles]
    unlike += [f"Not the same load: {words}." for pair in several for words in pair.unlike]
    unlike += [f"{words.rstrip('.')}." for pair in several for words in pair.unequal_state]
    remarks = [
        *dict.fromkeys(unlike),
        *result.remarks,
        *([UNKNOWN_SPREAD] if is_unknown else []),
        *predicted_words(several),
    ]
    return [Prose(verdicts, lead=True), *([Prose([f"! {words}" for words in remarks])] if remarks else [])]


def _charts(several: Sequence[Comparison], labels: Sequence[str]) -> list[Chart]:
    """Return a chart per metric with a bar per side, and one of the ratios with their intervals."""
    lines = palette("Side", labels)
    charts = []
    for metric, title in FIGURES:
        rows = [pair.difference(metric) for pair in several]
        values = [
            next((row.a for row in rows if row is not None), None),
            *(None if row is None else row.b for row in rows),
        ]
        bars = [bar(metric, title, value, label) for label, value in zip(labels, values, strict=True) if value]
        if len(bars) > 1:
            charts.append(Chart(title, amounts(bar_frame(bars), title, lines, wide=False)))
    pairs = [(row, label) for pair, label in zip(several, labels[1:], strict=True) for row in pair.differences]
    ratios = [_ratio(row.metric, row, label) for row, label in pairs if row.a > 0]
    if ratios and len(ratios) <= MOST_BARS:
        title = f"Ratio to {labels[0]}"
        of_others = Lines("Side", {label: lines.colors[label] for label in labels[1:]})
        charts.append(Chart(title, amounts(bar_frame(ratios), title, of_others, rule=1.0, wide=False), RATIO))
    return charts


def _charts_by_test(result: Compared) -> list[Chart]:
    """Return the ratio of the rates in each test, for every other folder."""
    pairs = list(zip(result.tests, result.comparisons, strict=True))[:MOST_BARS]
    rows = [(test, pair, pair.difference("IOPS")) for test, pair in pairs]
    bars = [_ratio(test, row, folder_of(pair.b)) for test, pair, row in rows if row is not None and row.a > 0]
    if not bars:
        return []
    title = f"IOPS, ratio to {folder_of(result.comparisons[0].a)}"
    lines = palette("Folder", dict.fromkeys(str(pair["line"]) for pair in bars))
    return [Chart(title, amounts(bar_frame(bars), title, lines, rule=1.0))]


def _ratio(label: str, row: Difference, line: str) -> Row:
    ends: Row | None = None
    if row.low_pct is not None and row.high_pct is not None:
        ends = {"low": 1 + row.low_pct / 100, "high": 1 + row.high_pct / 100}
    return bar(label, label, row.b / row.a, line, f"{number(row.b / row.a)}×", ends)


def _basis(several: Sequence[Comparison]) -> list[Block]:
    """Return the settings of the drives, the methods of the intervals, and what was not compared."""
    states = {side.name: "; ".join(state_of(side)) or ABSENT for pair in several for side in (pair.a, pair.b)}
    blocks: list[Block] = [Table(["Side", "State of the drives"], [Group([plain(pair) for pair in states.items()])])]
    methods = dict.fromkeys(row.how for pair in several for row in pair.differences)
    missing = dict.fromkeys(words for pair in several for words in pair.unsupported)
    rows = [[Cell("Interval"), Cell(method)] for method in methods] + [
        [Cell("Not compared"), Cell(text)] for text in missing
    ]
    return [*blocks, *([Table(["", "Method"], [Group(rows)])] if rows else [])]
