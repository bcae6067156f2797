"""Whether records are steady, on a screen: how many of them are, each with its rounds, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted, quantity
from hotband.base.text.table import OF_ROW, SECONDS, Table, View, column, numeric, unit_of
from hotband.views.review import sparkline
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden, with_sign
from hotband.views.text.tables import LIMIT_WORDS, STEADY_FIGURES, steady_lines, steady_table

if TYPE_CHECKING:
    from hotband.data.documents.record import VerdictDoc
    from hotband.data.record.steadiness import Steadiness
    from hotband.questions.steady import SteadyQuestion

CURVE = 16
"""Characters of a curve of rounds."""
MOST_ROWS = 12
MOST_REASONS = 4


def terminal(found: Steadiness, question: SteadyQuestion) -> Screen:
    """Return what the terminal shows of the rule of steady state."""
    verdicts = found.verdicts
    alone = len(verdicts) == 1
    reasons = [
        f"{one['why'][0].upper()}{one['why'][1:]}" if alone else f"{one['name']}: {one['why']}" for one in verdicts
    ]
    return Screen(
        answer=_sentence(verdicts),
        verdict="yes" if found.reached else "no",
        body=[shortened(_table(verdicts), MOST_ROWS)],
        state=with_hidden(reasons, MOST_REASONS, "more reason"),
        remarks=with_hidden(list(_remarks(verdicts)), MOST_REASONS),
        next=question,
        details=evidence(verdicts),
    )


def evidence(verdicts: Sequence[VerdictDoc]) -> list[View]:
    """Return what the rule says: lines, or a table in a format of tables."""
    if as_rows():
        return [steady_table(verdicts)]
    return [line for verdict in verdicts for line in steady_lines(verdict)]


def _sentence(verdicts: Sequence[VerdictDoc]) -> str:
    """Return whether the record is steady, or how many of several are."""
    steady = sum(verdict["reached"] for verdict in verdicts)
    if len(verdicts) > 1:
        return f"{steady} of {len(verdicts)} records reached steady state."
    [one] = verdicts
    figure = STEADY_FIGURES[one["track"]]
    what = LIMIT_WORDS[figure]
    if not one["reached"]:
        return f"{one['name']} did not reach steady state: {_mean_of(what)} in {counted(len(one['rounds']), 'round')}."
    mean = unit_of(figure).shown(one["window_mean"])
    return f"{one['name']} reached steady state in round {one['round']}: {_mean_of(what)} {mean}."


def _mean_of(what: str) -> str:
    return what if what.startswith("mean ") else f"mean {what}"


def _table(verdicts: Sequence[VerdictDoc]) -> Table:
    """Return a row per record: whether it is steady, since which round, its mean, and a curve of its rounds."""
    has_phases = any(verdict["phase"] for verdict in verdicts)
    names = [column(""), *([column("phase")] if has_phases else [])]
    figures = [numeric("in round"), numeric("mean", OF_ROW), numeric("rounds"), numeric("each", SECONDS)]
    table = screen_table([*names, column("steady"), *figures, column("", wrap=False, width=CURVE)])
    for one in verdicts:
        word = with_sign("yes" if one["reached"] else "no", "yes" if one["reached"] else "no")
        values = (one["round"], one["window_mean"], len(one["rounds"]), one["round_ns"])
        phase = [one["phase"] or ""] if has_phases else []
        table.add(
            one["name"],
            *phase,
            word,
            *values,
            sparkline(one["rounds"], CURVE),
            unit=unit_of(STEADY_FIGURES[one["track"]]),
        )
    return table


def _remarks(verdicts: Sequence[VerdictDoc]) -> Iterator[str]:
    """Yield which records left steady state again, and the notes."""
    for one in verdicts:
        if (left := one["left"]) is not None:
            level = f"{quantity(abs(left['level_pct']), '%')} {'higher' if left['level_pct'] > 0 else 'lower'}"
            yield f"{one['name']} left steady state: since round {left['since']} the level is {level}."
        yield from one["notes"]
