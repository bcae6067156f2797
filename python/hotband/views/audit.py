"""Findings and comparisons on the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotband.base.foreign import marked
from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted, span
from hotband.base.text.table import CHANGE, IOPS, OF_ROW, Cell, Range, Table, Unit, column, interval, numeric
from hotband.data.inputs.kinds import paths_of
from hotband.inference.audit.compare import state_of
from hotband.inference.audit.finding import SEVERITIES, Finding, Rows, Severity, listed
from hotband.inference.audit.headline import headline
from hotband.views.text.screen import DETAILS, LINES, REMARK, Screen, command, folded

if TYPE_CHECKING:
    from rich.text import Text

    from hotband.inference.audit.audited import Side
    from hotband.inference.audit.compare import Comparison
    from hotband.inference.audit.result import AuditResult
    from hotband.questions.audit import AuditQuestion

LABELS: dict[Severity, str] = {"severe": "SEVERE", "warning": "WARNING", "note": "NOTE"}
INDENT = "WARNING  "
HEAD_AND_FOOT = 4
"""Lines of a screen that are not findings: the answer, two blank lines and the next command."""
MOST_ADVICE = 3
"""Most lines of advice; sentences that do not fit move to the evidence."""
MOST_NAMED = 3
"""Most results that the next command names."""
COLOURS = {"severe": "bold red", "warning": "yellow", "note": "cyan"}
UNITS = {"1/s": IOPS, "ms": Unit("ms", 1.0, lambda ms: span(1e6 * ms))}
# Rows of a finding's table on the terminal; JSON and the report have all.
MOST_ROWS = 16


def terminal(result: AuditResult, question: AuditQuestion) -> Screen:
    """Return what the terminal shows of an audit."""
    paths = paths_of(question.results)
    named = paths if len(paths) <= MOST_NAMED else paths[:0]
    details = findings_view(result.subjects, result.findings)
    if not result.findings:
        further = command("report", *named, output="report.html") if named else ""
        return Screen(answer=sentence_of(result), verdict="yes", remarks=result.skipped, next=further, details=details)
    return Screen(
        answer=sentence_of(result),
        verdict="no" if result.is_severe else "likely",
        body=_finding_lines(result),
        remarks=result.skipped,
        next=question if named or question.study else "",
        details=details,
    )


def sentence_of(result: AuditResult) -> str:
    """Return how many findings of each severity there are."""
    counts = [_counted(count, number) for count, number in result.counts.items() if number]
    return f"{counted(len(result.subjects), 'result')}: {', '.join(counts) or 'no finding'}."


def _counted(severity: Severity, number: int) -> str:
    return f"{number} severe" if severity == "severe" else counted(number, severity)


def _finding_lines(result: AuditResult) -> list[Text | str]:
    """Return each finding with its remedy, as many as fit on the screen; findings of one rule for several results share
    a line."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in result.findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    views: list[Text | str] = []
    left = list(groups.values())
    notes = sum(folded(REMARK + words) for words in result.skipped)
    while left:
        lines = _lines_of(left[0], len(result.subjects) > 1)
        if views and sum(map(folded, [*views, *lines])) > LINES - HEAD_AND_FOOT - notes - (len(left) > 1):
            rules = ", ".join(dict.fromkeys(group[0].rule for group in left))
            views.append(f"{counted(sum(map(len, left)), 'more finding')}: {rules} ({DETAILS})")
            break
        views += lines
        left.pop(0)
    return views


def _lines_of(group: Sequence[Finding], several: bool) -> list[Text | str]:
    """Return a finding and its advice; for several of one rule, the first with the number of other results, or of
    further findings for the same result."""
    first = group[0]
    others = {name for finding in group[1:] for name in finding.subject}.difference(first.subject)
    whose = f"{listed(first.subject, 1)}: " if len(first.subject) == 1 and several else ""
    more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
    if others:
        more = f"; also in {counted(len(others), 'other result')}"
    label = f"[{COLOURS[first.severity]}]{LABELS[first.severity]:<7}[/]"
    finding = marked(f"{label}  {{whose}}{{title}}{{more}}", whose=whose, title=first.title, more=more)
    arrow = f"{' ' * len(INDENT)}-> "
    sentences = re.split(r"(?<=[\w)]\.) (?=[A-Z])", first.advice)
    while len(sentences) > 1 and folded(arrow + " ".join(sentences)) > MOST_ADVICE:
        sentences.pop()
    return [finding, *([arrow + " ".join(sentences)] if first.advice else [])]


def findings_view(names: Sequence[str], findings: Sequence[Finding]) -> list[Any]:
    """Return a table of findings, then the numbers of each finding that has some for every run."""
    looked = f"{len(names)} result{'s' if len(names) != 1 else ''}"
    if not findings:
        return [marked("[green]{looked}: no finding[/]", looked=looked)]
    columns = [column(name) for name in ("severity", "rule", "results", "what was found, and what to do")]
    table = Table("Findings", columns, lines=True)
    for shown in findings:
        cell = Cell(shown.title, below=shown.advice)
        table.add(Cell(shown.severity, COLOURS[shown.severity]), shown.rule, listed(shown.subject, 3), cell)
    views: list[Any] = [table]
    views += [rows_table(finding.rule, finding.table) for finding in findings if finding.table is not None]
    counts = ((severity, sum(finding.severity == severity for finding in findings)) for severity in SEVERITIES)
    return [*views, f"{looked}: " + ", ".join(f"{count} {severity}" for severity, count in counts if count)]


def rows_table(title: str, rows: Rows, every: bool = False) -> Table:
    """Return the table of a finding."""
    is_number = [all(not isinstance(row[index], str) for row in rows.rows) for index in range(len(rows.columns))]
    table = Table(
        title,
        [(numeric if is_numeric else column)(name) for name, is_numeric in zip(rows.columns, is_number, strict=True)],
    )
    most = len(rows.rows) if every or as_rows() else MOST_ROWS
    for row in rows.rows[:most]:
        table.add(*row)
    if len(rows.rows) > most:
        table.caption = f"and {len(rows.rows) - MOST_ROWS} more (--json has all)"
    return table


def differences_table(result: Comparison) -> Table:
    """Return a row per metric: both values and their difference with its interval."""
    a, b = (_side(side) for side in (result.a, result.b))
    hows = _hows(result)
    columns = [
        column(""),
        numeric("A", OF_ROW),
        numeric("B", OF_ROW),
        numeric("difference", CHANGE),
        interval("95 % interval", CHANGE),
        column("B is"),
        *([column("how")] if len(hows) > 1 else []),
    ]
    table = Table(f"B: {b}, against A: {a}", columns, about={"result": b, "against": a})
    for row in result.differences:
        table.add(
            row.metric,
            row.a,
            row.b,
            row.change_pct,
            Range(row.low_pct, row.high_pct),
            row.verdict,
            *([row.how] if len(hows) > 1 else []),
            unit=UNITS.get(row.unit, Unit(row.unit)),
        )
    return table


def _hows(result: Comparison) -> list[str]:
    """Return how the intervals were made. Rows with equal values become a sentence instead of columns."""
    return list(dict.fromkeys(difference.how for difference in result.differences))


def comparison_view(comparison: Comparison) -> list[Any]:
    """Return the verdict, differing settings, the differences with their intervals, and uncompared figures."""
    hows = _hows(comparison)
    states = ["; ".join(state_of(side)) for side in (comparison.a, comparison.b)]
    verdict = headline(comparison)
    # Differing settings come first: they limit what the verdict is worth.
    first: list[Any] = [marked("[yellow]{words}[/]", words=words) for words in comparison.unequal_state]
    first.append(marked("[bold]{said}[/]", said=verdict))
    first += [f"A: {states[0]}", f"B: {states[1]}"] if states[0] != states[1] else [f"Both: {states[0]}"]
    lines: list[Any] = [f"how: {method}" for method in hows if len(hows) == 1 and method not in verdict]
    if all(run.is_model for side in (comparison.a, comparison.b) for run in side.runs):
        lines.append(
            "This covers differences between runs only; hotband run --interval 90 prints how far the model may be off."
        )
    lines += [marked("[yellow]unlike: {words}[/]", words=words) for words in comparison.unlike]
    lines += [f"not compared: {words}" for words in comparison.unsupported]
    return [*first, differences_table(comparison), *lines]


def overview_table(comparisons: Sequence[Comparison]) -> Table:
    """Return a row per further side compared with the first: the rate, and the median and p99 latency if they are
    compared."""
    rates = [numeric("IOPS", IOPS), numeric("difference", CHANGE), interval("95 % interval", CHANGE)]
    columns = [column(""), *rates, numeric("p50 ms"), numeric("p99 ms"), column("is")]
    table = Table(f"All against {_side(comparisons[0].a)}", columns)
    for n, comparison in enumerate(comparisons):
        by = {row.metric: row for row in comparison.differences}
        rate, p50, p99 = (by.get(name) for name in ("IOPS", "p50", "p99"))
        if n == 0:
            first = [row.a if row else None for row in (rate, p50, p99)]
            table.add(_side(comparison.a), first[0], "", "", *first[1:], "")
        ends = None if rate is None else Range(rate.low_pct, rate.high_pct)
        change = None if rate is None else rate.change_pct
        latencies = [row.b if row else None for row in (p50, p99)]
        table.add(_side(comparison.b), rate.b if rate else None, change, ends, *latencies, comparison.verdict)
    return table


def _side(side: Side) -> str:
    """Return the name of a side, with the number of its repeats if it has several."""
    return side.name if len(side.runs) == 1 else f"{side.name} ({len(side.runs)} runs)"
