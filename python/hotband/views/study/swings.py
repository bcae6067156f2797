"""The sensitivity to the assumptions of a study, on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.views.text.tables import swings_table

if TYPE_CHECKING:
    from hotband.base.text.table import View
    from hotband.questions.study.asked import StudySwingsQuestion
    from hotband.questions.study.swung import Swings


def terminal(swings: Swings, _: StudySwingsQuestion) -> Iterator[View]:
    """Yield the views of `study swings`."""
    summary = swings.summary
    yield swings_table(summary)
    yield summary["text"]
    for row in summary["refused"]:
        yield marked("[yellow]Refused:[/] {what}", what=f"{row['name']} at its {row['end']} end: {row['text']}")
