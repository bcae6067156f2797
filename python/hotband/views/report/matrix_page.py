"""The page of a folder of results: the fastest drive, the matrix, charts by drive, and the auditor's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.base.text.numbers import ABSENT, counted, number, share
from hotband.base.text.table import IOPS, MBS, Unit
from hotband.data.record import frames
from hotband.data.record.load import LoadedRecord
from hotband.data.record.stats import DIRECTIONS
from hotband.inference.audit import Audited, findings, shapes
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import listed
from hotband.views.draw import charts
from hotband.views.draw.review import Lines, amounts
from hotband.views.report import sections
from hotband.views.report.audit_page import audit_section
from hotband.views.report.colors import machine_colors
from hotband.views.report.matrix import Matrix, answer_of, counts_of, remarks_of
from hotband.views.report.naming import which_is_fastest
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Page, Prose, Section, Table, unchecked
from hotband.views.report.review_topics import bar, bar_frame

MOST_LINES = 12
"""Most lines of a latency chart that can be distinguished."""
MOST_BARS = 60
"""Most bars of a chart."""


@unchecked()
def matrix_page(matrix: Matrix, title: str | None = None, machine: MachineFacts | None = None) -> Page:
    """Return the page; `machine` has known facts about the target of all results."""
    colors = machine_colors(matrix.drives)
    answer: list[Block] = [Prose([answer_of(matrix)], lead=True)]
    remarks = [f"{words.rstrip('.')}." for words in remarks_of(matrix)]
    answer += [Prose([f"! {words}" for words in remarks])] if remarks else []
    answer.append(_matrix_table(matrix, colors))
    drawn = [made for unit in (IOPS, MBS) if (made := _rates(matrix, unit, colors)) is not None]
    pages = [Section("results", "Results", answer)]
    pages += [Section("rates", "Rates by test", [Charts(drawn, width=460)])] if drawn else []
    latencies = [made for drive in matrix.drives if (made := _latencies(matrix, drive)) is not None]
    pages += [Section("latency", "Latency by drive", [Charts(latencies, width=380)])] if latencies else []
    pages.append(_audit(matrix, machine))
    folded = [("figures", "All figures", _figures(matrix)), ("notes", "Notes", _notes(matrix))]
    pages += [Section(name, heading, blocks, folded=True) for name, heading, blocks in folded if blocks]
    return Page(title or question_of(matrix), pages, subtitle=counts_of(matrix), kicker="Hotband results")


def question_of(matrix: Matrix) -> str:
    """Return the question that the page answers."""
    drives = matrix.drives
    if len(drives) == 1:
        return f"How fast is {drives[0]}?"
    return which_is_fastest(drives, "drives")


def _matrix_table(matrix: Matrix, colors: Mapping[str, str]) -> Table:
    """Return a row per test; each rate with its share of the best."""
    limited = matrix.rate_limited
    heads = ["Test", "Unit", *(f"! {drive}" if drive in limited else drive for drive in matrix.drives)]
    rows = []
    for test in matrix.tests:
        unit, values = matrix.unit(test), [matrix.value(drive, test) for drive in matrix.drives]
        best = max((value for value in values if value), default=0.0)
        wrong = [(drive, test) in matrix.contradicted for drive in matrix.drives]
        cells = [
            _rate(value, best, unit, colors[drive], is_wrong)
            for drive, value, is_wrong in zip(matrix.drives, values, wrong, strict=True)
        ]
        rows.append([Cell(test), Cell(unit.name), *cells])
    caption = "The smaller line is the share of the fastest drive." if len(matrix.drives) > 1 else ""
    return Table(heads, [Group(rows)], caption=caption, tight=True)


def _rate(value: float | None, best: float, unit: Unit, color: str, is_wrong: bool) -> Cell:
    if value is None:
        return Cell(ABSENT, numeric=True, muted=True)
    under = share(value / best) if best and value < best else ""
    if is_wrong:
        return Cell(f"! {unit.bare(value)}", numeric=True, under="contradicts itself")
    return Cell(unit.bare(value), numeric=True, under=under, color=color if best and value == best else "")


def _rates(matrix: Matrix, unit: Unit, colors: Mapping[str, str]) -> Chart | None:
    """Return the bars of the tests that are printed in a unit; None if there are none."""
    tests = [test for test in matrix.tests if matrix.unit(test) is unit]
    tests = tests[: max(1, MOST_BARS // len(matrix.drives))]
    left = sum(matrix.unit(test) is unit for test in matrix.tests) - len(tests)
    bars = [
        bar(test, test, unit.of(value), drive)
        for test in tests
        for drive in matrix.drives
        if (value := matrix.value(drive, test))
    ]
    if not bars:
        return None
    view = amounts(bar_frame(bars), unit.name, Lines("Drive", colors), wide=False)
    return Chart(f"{unit.name} by test", view, f"{counted(left, 'more test')} in the table." if left else "")


def _latencies(matrix: Matrix, drive: str) -> Chart | None:
    """Return the latencies of a drive's tests; None if none are known."""
    tests = [test for test in matrix.tests if (drive, test) in matrix.records]
    records: dict[str, LoadedRecord] = {}
    lines = 0
    for test in tests:
        loaded = matrix.records[drive, test]
        lines += sum(bool(loaded.record["summary"][side].get("count")) for side in DIRECTIONS)
        if lines <= MOST_LINES:
            records[test] = loaded
    frame = frames.percentile_frame(records)
    if frame.is_empty():
        return None
    caption, left = sections.percentile_caption(frame), len(tests) - len(records)
    caption += f" {counted(left, 'more test')} in the table of all figures." if left else ""
    return Chart(f"Latency of {drive} by percentile", charts.percentile_chart(frame), caption)


def _audit(matrix: Matrix, machine: MachineFacts | None) -> Section:
    results = []
    for result in matrix.walk.results:
        shapes.check(result.name, result.record.record)
        results.append(Audited(result.name, result.record.record, result.record.series))
    return audit_section(findings(results, machine), len(results))


def _figures(matrix: Matrix) -> list[Block]:
    groups = []
    for drive in matrix.drives:
        results = [result for result in matrix.walk.results if result.series == drive]
        rows = [sections.result_row(result.test, result.record.record["summary"]) for result in results]
        groups.append(Group(rows, drive))
    return [Table(sections.RESULT_COLUMNS, groups, tight=True)]


def _notes(matrix: Matrix) -> list[Block]:
    """Return every note once, with the results that have it."""
    notes: dict[str, list[str]] = {}
    for result in matrix.walk.results:
        texts: Sequence[str] = [*(result.record.record.get("notes") or []), *result.record.remarks]
        for text in dict.fromkeys(texts):
            notes.setdefault(str(text), []).append(result.name)
    rows = [[Cell(text), Cell(number(len(names)), numeric=True), Cell(listed(names))] for text, names in notes.items()]
    return [Table(["Note", "Results", "Of"], [Group(rows)])] if rows else []
