"""Errors of studies on a screen: the typical error, and a row per class of figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, percent
from hotband.base.text.table import PERCENT, Table, column, numeric
from hotband.views.accuracy.tables import blind_table, evidence
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, Verdict, screen_table, shortened, yes_or_no

if TYPE_CHECKING:
    from hotband.data.documents.study import ClassErrorsDoc, GoalDoc
    from hotband.questions.study.accounted import Accuracy, AllBlindErrors, BlindErrors
    from hotband.questions.study.asked import StudyAccuracyQuestion, StudyBlindQuestion

BAR = 8
MOST_ROWS = 16
ALL = "all"
"""Name of the rows of all studies together."""


def accuracy(result: Accuracy, question: StudyAccuracyQuestion) -> Screen:
    """Return what `study accuracy` shows."""
    account = result.to_dict()
    goals = [goal for goal in account["goals"] if goal["holds"] is not None]
    reached = sum(bool(goal["holds"]) for goal in goals)
    return Screen(
        answer=_sentence(account["totals"], len(account["studies"])),
        verdict=_reached(reached, len(goals)),
        body=[shortened(_classes_table(account["totals"]), MOST_ROWS // 2, "more class"), *_goals(goals)],
        next=question,
        details=evidence(account),
    )


def _reached(reached: int, total: int) -> Verdict:
    return "" if not total else "yes" if reached == total else "likely" if reached else "no"


def _sentence(totals: Sequence[ClassErrorsDoc], studies: int) -> str:
    """Return the typical error of the class with the most measurements."""
    most = max(totals, key=lambda row: row["seen"]["measurements"] + row["blind"]["measurements"], default=None)
    if most is None:
        return "No figure of these studies is published, so no error is known."
    is_blind = bool(most["blind"]["measurements"])
    errors = most["blind"] if is_blind else most["seen"]
    studied = "" if studies == 1 else f" of {studies} studies"
    what = f"{counted(errors['measurements'], 'figure')}{studied} ({most['figure_class']})"
    typical, largest = (percent(errors[key], signed=False) for key in ("median_pct", "largest_pct"))
    if not is_blind:
        return f"The median error of {what} is {typical}, the largest {largest}."
    today = percent(most["now"]["median_pct"], signed=False)
    return (
        f"Predicted before they were seen, {what} were off by {typical} at the median, {largest} at most; "
        f"today's model, which has seen them, is off by {today}."
    )


def _classes_table(totals: Sequence[ClassErrorsDoc]) -> Table:
    """Return a row per class and set of figures: how many, the median with a bar, and the largest error."""
    rows = [
        (row["figure_class"], name, errors)
        for row in totals
        for name, errors in (
            ("fitted with it in view", row["seen"]),
            ("predicted first, then", row["blind"]),
            ("predicted first, today", row["now"]),
        )
        if errors["measurements"]
    ]
    errors = [numeric("median", PERCENT), numeric("p90", PERCENT), numeric("largest", PERCENT)]
    table = screen_table([column("figures", once=True), column(""), numeric("n"), *errors, bar_column(BAR)])
    drawn = bars([counts["median_pct"] for _, _, counts in rows], BAR)
    for (name, which, counts), picture in zip(rows, drawn, strict=True):
        figures = (counts["median_pct"], counts["p90_pct"], counts["largest_pct"])
        table.add(name, which, counts["measurements"], *figures, picture)
    return table


def _goals(goals: Sequence[GoalDoc]) -> list[Table | str]:
    """Return the goals of the project, and whether they are met."""
    if not goals:
        return []
    bounds = [numeric("at most", PERCENT), numeric("reached", PERCENT)]
    table = screen_table([column("goal"), numeric("n"), column("error"), *bounds, column("")])
    for goal in goals:
        word = yes_or_no(bool(goal["holds"]))
        table.add(
            goal["figures"], goal["measurements"], goal["statistic"], goal["most_pct"], goal["reached_pct"], word
        )  # fmt: skip
    return ["", shortened(table, MOST_ROWS // 2, "more goal")]


def blind(result: AllBlindErrors, question: StudyBlindQuestion) -> Screen:
    """Return what `study blind` shows."""
    totals = [row for row in result.errors if row.study == ALL]
    most = max(totals, key=lambda row: row.measurements, default=None)
    return Screen(
        answer="No prediction was made before its figure was seen."
        if most is None
        else f"{counted(most.measurements, 'figure')} ({most.figures}) predicted before they were seen are off by "
        f"{percent(most.median_pct, signed=False)} at the median, {percent(most.largest_pct, signed=False)} at most.",
        body=[shortened(_blind_table([*totals, *(row for row in result.errors if row.study != ALL)]), MOST_ROWS)],
        next=question,
        details=[blind_table(result)],
    )


def _blind_table(errors: Sequence[BlindErrors]) -> Table:
    """Return a row per study and class of figures, all studies first."""
    figures = [numeric("median", PERCENT), numeric("p90", PERCENT), numeric("largest", PERCENT)]
    table = screen_table([column("study", once=True), column("figures"), numeric("n"), *figures, bar_column(BAR)])
    drawn = bars([row.median_pct for row in errors], BAR)
    for row, picture in zip(errors, drawn, strict=True):
        table.add(row.study, row.figures, row.measurements, row.median_pct, row.p90_pct, row.largest_pct, picture)
    return table
