"""Findings and comparisons on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotband.base.foreign import marked
from hotband.base.text.formats import About, Between, Figure, as_rows
from hotband.base.text.numbers import number
from hotband.inference.audit.finding import SEVERITIES, Finding, Number, Rows, listed

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.inference.audit.audited import Side
    from hotband.inference.audit.compare import Comparison

COLOURS = {"severe": "bold red", "warning": "yellow", "note": "cyan"}
# Rows of a finding's own table that the terminal shows; JSON and the report have all.
MOST_ROWS = 16


def plain_number(value: Number) -> str:
    """A number with up to four digits, or the text."""
    return value if isinstance(value, str) else Figure(number(float(value)), float(value))


def findings_view(names: Sequence[str], findings: Sequence[Finding]) -> list[Any]:
    """A table of findings, then the numbers of those that have some for every run."""
    from rich.table import Table

    looked = f"{len(names)} result{'s' if len(names) != 1 else ''}"
    if not findings:
        return [marked("[green]{looked}: no finding[/]", looked=looked)]
    table = Table(title="Findings", title_justify="left", show_lines=True)
    for name in ("severity", "rule", "results", "what was found, and what to do"):
        table.add_column(name, overflow="fold")
    for one in findings:
        said = marked("{title}\n[dim]{advice}[/]", title=one.title, advice=one.advice)
        severity = marked(f"[{COLOURS[one.severity]}]{one.severity}[/]")
        table.add_row(severity, one.rule, listed(one.subject, 3), said)
    views: list[Any] = [table]
    views += [_rows_view(one.rule, one.table) for one in findings if one.table is not None]
    counts = ((severity, sum(one.severity == severity for one in findings)) for severity in SEVERITIES)
    return [*views, f"{looked}: " + ", ".join(f"{count} {severity}" for severity, count in counts if count)]


def _rows_view(title: str, rows: Rows) -> Any:
    """A finding's own table."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, name in enumerate(rows.columns):
        numeric = all(not isinstance(row[place], str) for row in rows.rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    most = len(rows.rows) if as_rows() else MOST_ROWS
    for row in rows.rows[:most]:
        table.add_row(*(plain_number(value) for value in row))
    if len(rows.rows) > most:
        table.caption = f"and {len(rows.rows) - MOST_ROWS} more (--json has all)"
    return table


def comparison_view(found: Comparison) -> list[Any]:
    """The verdict first, then what is not alike, the differences with their intervals, and what was not compared."""
    from rich.table import Table

    from hotband.inference.audit.compare import state_of
    from hotband.inference.audit.headline import headline

    a, b = (_side(side) for side in (found.a, found.b))
    table = Table(title=About(f"B: {b}, against A: {a}", {"result": b, "against": a}), title_justify="left")
    # What is alike in all rows is said once, below: as a column it would be most of the table at 80 columns.
    hows = dict.fromkeys(one.how for one in found.differences)
    for name in ("", "A", "B", "difference", "95 % interval", "B is", *(["how"] if len(hows) > 1 else [])):
        table.add_column(
            name, justify="right" if name in ("A", "B", "difference", "95 % interval") else "left", overflow="fold"
        )
    for one in found.differences:
        unit = "" if one.metric == "IOPS" else f" {one.unit}"
        known = one.low_pct is not None and one.high_pct is not None
        table.add_row(
            one.metric,
            Figure(f"{number(one.a)}{unit}", one.a, unit.strip() or one.metric),
            Figure(f"{number(one.b)}{unit}", one.b, unit.strip() or one.metric),
            Figure(f"{one.change_pct:+.2f} %", one.change_pct, "%"),
            Between(f"{one.low_pct:+.2f} to {one.high_pct:+.2f} %" if known else "–", one.low_pct, one.high_pct, "%"),
            one.verdict,
            *([one.how] if len(hows) > 1 else []),
        )
    states = ["; ".join(state_of(side)) for side in (found.a, found.b)]
    verdict = headline(found)
    # What is not alike comes first: it changes what the verdict is worth.
    first: list[Any] = [marked("[yellow]{words}[/]", words=words) for words in found.unequal_state]
    first.append(marked("[bold]{said}[/]", said=verdict))
    first += [f"A: {states[0]}", f"B: {states[1]}"] if states[0] != states[1] else [f"Both: {states[0]}"]
    lines: list[Any] = [f"how: {how}" for how in hows if len(hows) == 1 and how not in verdict]
    if all(run.is_model for side in (found.a, found.b) for run in side.runs):
        lines.append("of the model's runs alone: how far the model may be off is what hotband run --interval 90 says")
    lines += [marked("[yellow]unlike: {words}[/]", words=words) for words in found.unlike]
    lines += [f"not compared: {words}" for words in found.unsupported]
    return [*first, table, *lines]


def overview_table(found: Sequence[Comparison]) -> Table:
    """Every side against the first, a line each: the rate, and the median and p99 latency where they are compared."""
    from rich.table import Table

    table = Table(title=f"All against {_side(found[0].a)}", title_justify="left")
    table.add_column("", overflow="fold")
    for name in ("IOPS", "difference", "95 % interval", "p50 ms", "p99 ms"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("is", overflow="fold")
    for n, one in enumerate(found):
        by = {row.metric: row for row in one.differences}
        rate, p50, p99 = (by.get(name) for name in ("IOPS", "p50", "p99"))
        if n == 0:
            first = (_figure(row.a if row else None) for row in (rate, p50, p99))
            table.add_row(_side(one.a), next(first), "", "", *first, "")
        change = Figure("–", None) if rate is None else Figure(f"{rate.change_pct:+.1f} %", rate.change_pct, "%")
        ends = Between("–", None, None)
        if rate is not None and rate.low_pct is not None and rate.high_pct is not None:
            ends = Between(f"{rate.low_pct:+.1f} to {rate.high_pct:+.1f} %", rate.low_pct, rate.high_pct, "%")
        latencies = (_figure(row.b if row else None) for row in (p50, p99))
        table.add_row(_side(one.b), _figure(rate.b if rate else None), change, ends, *latencies, one.verdict)
    return table


def _figure(value: float | None) -> str:
    return Figure(number(value), value)


def _side(side: Side) -> str:
    """Its name, and how many repeats it has where it has several."""
    return side.name if len(side.runs) == 1 else f"{side.name} ({len(side.runs)} runs)"
