"""Whether the points of a sweep meet an objective: the first sentence, and a column per condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.base.text.numbers import counted
from hotband.base.text.table import Cell
from hotband.base.text.words import enumerated
from hotband.data.inputs.rate import KEY as RATE
from hotband.data.results.sweep_rows import TRANSACTIONS
from hotband.questions.slo import (
    Judged,
    Verdict,
    at_rate,
    met_text,
    missed_text,
    slo_text,
    spare_text,
    verdict_of,
)
from hotband.questions.sweeps.frames import judged_row, names_of
from hotband.questions.sweeps.sweep import Sweep
from hotband.views.sweeps.curves import Curves, Dot
from hotband.views.text.screen import Verdict as ScreenVerdict
from hotband.views.text.screen import with_sign

MOST_NAMED = 3
"""Most machines that a sentence names."""


def slo_sentence(sweep: Sweep) -> str:
    """Return which machines meet the objective, or up to which value; nothing without an objective."""
    curves = Curves(sweep)
    if not sweep.slo or not curves.panels:
        return ""
    lines = {line: curve for panel in curves.panels.values() for line, curve in panel.items()}
    judged = {line: [(dot, judged_row(sweep.slo, _row(dot))) for dot in curve] for line, curve in lines.items()}
    if len(curves.panels) > 1:
        return _over_points(sweep)
    if curves.along is None:
        return _of_lines({line: verdicts[0][1] for line, verdicts in judged.items()}, _at_rate(sweep))
    slo, title = slo_text(sweep.slo), curves.along.title
    if len(judged) > MOST_NAMED:
        return _over_points(sweep)
    if len(judged) == 1:
        return f"{slo} {_where(next(iter(judged.values())), title)}."
    return f"{slo} {'; '.join(f'{_where(verdicts, title)} on {line}' for line, verdicts in judged.items())}."


def _row(dot: Dot) -> dict[str, float | None]:
    """Return the figures of a point with the ends of their intervals, by the names of columns."""
    row: dict[str, float | None] = dict(dot.figures)
    for name, (low, high) in dot.ends.items():
        row |= {f"{name}_low": low, f"{name}_high": high}
    return row


def _at_rate(sweep: Sweep) -> str:
    """Return the requested rate that all points share, in words."""
    return at_rate(_only_rate(sweep), "TPS" if TRANSACTIONS in names_of(sweep) else "IOPS")


def _only_rate(sweep: Sweep) -> str | None:
    """Return the rate that all points share; None if they share none."""
    rates = {str(at[RATE]) for at in sweep.points if RATE in at}
    return rates.pop() if len(rates) == 1 else None


def _of_lines(judged: Mapping[str, Sequence[Judged]], at: str) -> str:
    """Return which of several machines meet the objective."""
    if len(judged) == 1:
        name, only = next(iter(judged.items()))
        return met_text(name, only, at)
    slo = slo_text(condition.condition for condition in min(judged.values(), key=len))
    met = [name for name, verdicts in judged.items() if verdict_of(verdicts) != "no"]
    missed = {name: verdicts for name, verdicts in judged.items() if name not in met}
    if not missed:
        who = "Both" if len(judged) == 2 else f"All {counted(len(judged), 'machine')}"
        return f"{who} meet {slo}{at}, {spare_text(verdict for verdicts in judged.values() for verdict in verdicts)}."
    nearest = max(missed, key=lambda name: min(verdict.spare for verdict in missed[name]))
    if not met:
        who = "Neither meets" if len(judged) == 2 else f"None of {len(judged)} machines meets"
        return f"{who} {slo}{at}; {missed_text(missed[nearest])} on {nearest}."
    others = enumerated(list(missed), MOST_NAMED)
    verb, does = ("meets" if len(met) == 1 else "meet"), ("does" if len(missed) == 1 else "do")
    those = f"{enumerated(met, MOST_NAMED)} {verb} {slo}{at}"
    return f"{those}; {others} {does} not: {missed_text(missed[nearest])} on {nearest}."


def _where(judged: Sequence[tuple[Dot, Sequence[Judged]]], title: str) -> str:
    """Return the range along the axis in which an objective holds."""
    holds = [verdict_of(verdicts) != "no" for _, verdicts in judged]
    texts = [dot.text for dot, _ in judged]
    if all(holds):
        return f"holds at every {title}, {texts[0]} to {texts[-1]}"
    if not any(holds):
        return f"holds at no {title} from {texts[0]} to {texts[-1]}"
    first, last = holds.index(True), len(holds) - 1 - holds[::-1].index(True)
    if not all(holds[first : last + 1]):
        return f"holds at {sum(holds)} of {len(holds)} values of {title}"
    if first == 0:
        return f"holds up to {title} {texts[last]} but not at {texts[last + 1]}"
    end = "on" if last == len(holds) - 1 else f"to {texts[last]}"
    return f"holds from {title} {texts[first]} {end}"


def _over_points(sweep: Sweep) -> str:
    """Return the number of points at which the objective holds."""
    rows = list(sweep.means.iter_rows(named=True))
    met = sum(verdict_of(judged_row(sweep.slo, row)) != "no" for row in rows)
    return f"{slo_text(sweep.slo)} holds at {met:,} of {counted(len(rows), 'point')}."


def verdict_cell(row: Mapping[str, object], name: str) -> Cell:
    """Return the cell of a condition: yes, likely or no."""
    verdict: Verdict = row[name]  # type: ignore[assignment]
    return with_sign(verdict, verdict)


def slo_verdict(sweep: Sweep) -> ScreenVerdict:
    """Return whether all points meet the objective; nothing if only some do."""
    rows = sweep.means.iter_rows(named=True) if sweep.slo else ()
    verdicts = {verdict_of(judged_row(sweep.slo, row)) for row in rows}
    return verdicts.pop() if len(verdicts) == 1 else ""
