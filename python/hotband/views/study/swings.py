"""The sensitivity to the assumptions of a study on the terminal: those that change a prediction, with bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted
from hotband.base.text.table import CHANGE, Table, column, numeric
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden
from hotband.views.text.tables import swings_table

if TYPE_CHECKING:
    from hotband.data.documents.study import SwingsDoc
    from hotband.questions.study.asked import StudySwingsQuestion
    from hotband.questions.study.swung import Swings

BAR = 8
MOST_ROWS = 14
MOST_REMARKS = 2


def terminal(swings: Swings, question: StudySwingsQuestion) -> Screen:
    """Return the screen of `study swings`."""
    summary = swings.summary
    refused = [f"Refused: {row['name']} at its {row['end']} end: {row['text']}" for row in summary["refused"]]
    warnings = [
        marked("[yellow]Refused:[/] {what}", what=line.removeprefix("Refused: ")) for line in refused
    ]  # fmt: skip
    moved = len(summary["moved"])
    return Screen(
        answer=f"{counted(moved, 'assumption')} {'moves' if moved == 1 else 'move'} a prediction by more than 10 %.",
        body=[shortened(_table(summary), MOST_ROWS, "more assumption")] if moved else [],
        state=[summary["text"].partition(" Made by: ")[0]],
        remarks=with_hidden(refused, MOST_REMARKS),
        next=question,
        details=[swings_table(summary), summary["text"], *warnings],
    )


def _table(document: SwingsDoc) -> Table:
    """Return a row per assumption: its range, the effects of both ends with a bar, and the figure that changes most."""
    moves = [numeric("at low", CHANGE), numeric("at high", CHANGE)]
    table = screen_table([column("assumption"), column("range"), *moves, bar_column(BAR), column("most of all")])
    drawn = bars([abs(row["largest_pct"]) for row in document["moved"]], BAR)
    for row, picture in zip(document["moved"], drawn, strict=True):
        ends = f"{row['low']} to {row['high']}"
        table.add(row["name"], ends, row["low_pct"], row["high_pct"], picture, row["label"])
    return table
