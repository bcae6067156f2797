"""Steady state of records on a screen: the number of steady ones, each with its rounds, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted, quantity
from hotband.base.text.table import OF_ROW, SECONDS, Table, View, column, numeric, unit_of
from hotband.base.text.words import capitalized
from hotband.views.review import sparkline
from hotband.views.text.screen import Screen, Verdict, screen_table, shortened, with_hidden, with_sign
from hotband.views.text.tables import LIMIT_WORDS, STEADY_FIGURES, STEADY_WORDS, steady_lines, steady_table

if TYPE_CHECKING:
    from hotband.data.documents.record import VerdictDoc
    from hotband.data.record.steadiness import Steadiness
    from hotband.questions.steady import SteadyQuestion

CURVE = 16
"""Most characters of a curve of rounds."""
VERDICTS: dict[bool | None, Verdict] = {True: "yes", False: "no", None: "likely"}
"""Colours and signs; too few rounds leave it open."""
MOST_ROWS = 12
MOST_REASONS = 4


def terminal(result: Steadiness, question: SteadyQuestion) -> Screen:
    """Return what the terminal shows of the rule of steady state."""
    verdicts = result.verdicts
    alone = len(verdicts) == 1
    reasons = [capitalized(verdict["why"]) if alone else f"{verdict['name']}: {verdict['why']}" for verdict in verdicts]
    if alone and result.reached is None:
        reasons = []
    return Screen(
        answer=_sentence(verdicts),
        verdict=VERDICTS[result.reached],
        body=[shortened(_table(verdicts), MOST_ROWS)],
        state=with_hidden(reasons, MOST_REASONS, "more reason"),
        remarks=with_hidden(list(_remarks(verdicts)), MOST_REASONS),
        next=question,
        details=evidence(verdicts),
    )


def evidence(verdicts: Sequence[VerdictDoc]) -> list[View]:
    """Return the verdicts of the rule: lines, or a table in a table format."""
    if as_rows():
        return [steady_table(verdicts)]
    return [line for verdict in verdicts for line in steady_lines(verdict)]


def _sentence(verdicts: Sequence[VerdictDoc]) -> str:
    """Return whether the record is steady, or how many of several are."""
    steady = sum(verdict["reached"] is True for verdict in verdicts)
    if len(verdicts) > 1:
        return f"{steady} of {len(verdicts)} records reached steady state."
    [first] = verdicts
    figure = STEADY_FIGURES[first["track"]]
    what = LIMIT_WORDS[figure]
    if first["reached"] is None:
        return f"{first['name']} is too short for a verdict. {capitalized(first['why'])}."
    if not first["reached"]:
        return (
            f"{first['name']} did not reach steady state: {_mean_of(what)} in {counted(len(first['rounds']), 'round')}."
        )
    mean = unit_of(figure).shown(first["window_mean"])
    return f"{first['name']} reached steady state in round {first['round']}: {_mean_of(what)} {mean}."


def _mean_of(what: str) -> str:
    return what if what.startswith("mean ") else f"mean {what}"


def _table(verdicts: Sequence[VerdictDoc]) -> Table:
    """Return a row per record: whether it is steady, since which round, its mean, and a curve of its rounds."""
    has_phases = any(verdict["phase"] for verdict in verdicts)
    names = [column(""), *([column("phase")] if has_phases else [])]
    figures = [numeric("in round"), numeric("mean", OF_ROW), numeric("rounds"), numeric("each", SECONDS)]
    table = screen_table([*names, column("steady"), *figures, column("", wrap=False, width=CURVE)])
    for verdict in verdicts:
        reached = verdict["reached"]
        values = (verdict["round"], verdict["window_mean"], len(verdict["rounds"]), verdict["round_ns"])
        phase = [verdict["phase"] or ""] if has_phases else []
        table.add(
            verdict["name"],
            *phase,
            with_sign(STEADY_WORDS[reached], VERDICTS[reached]),
            *values,
            sparkline(verdict["rounds"], CURVE),
            unit=unit_of(STEADY_FIGURES[verdict["track"]]),
        )
    return table


def _remarks(verdicts: Sequence[VerdictDoc]) -> Iterator[str]:
    """Yield the records that left steady state again, and the notes."""
    for verdict in verdicts:
        if (left := verdict["left"]) is not None:
            level = f"{quantity(abs(left['level_pct']), '%')} {'higher' if left['level_pct'] > 0 else 'lower'}"
            yield f"{verdict['name']} left steady state: since round {left['since']} the level is {level}."
        yield from verdict["notes"]
