"""The answer to the question of real-disks: demerits by what is known of a drive."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from hotband.questions.study.answer import said

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import AnswerDoc
    from hotband.questions.study.answer import Figures

WAYS = {
    "sheet": "from its data sheet alone",
    "bus": "with the rate of the test rig's bus",
    "ahead": "reading ahead as it does, too",
    "extracted-overlap": "with values extracted from it",
}
"""Ways that the answer names, in the order of what is known."""


def answer(of: Figures) -> AnswerDoc:
    """The median and the largest demerit in each way, and below them means of each disk."""
    parts = [f"{_demerits(of, load)} {words}" for load, words in WAYS.items()]
    return {
        "text": "A disk's response times are off by this share of the measured mean (demerit: median of disks, "
        f"and the largest): {', '.join(parts)}.",
        "further": f"The mean is off by {_means(of, 'sheet')} from the data sheet, "
        f"by {_means(of, 'extracted-overlap')} with extracted values.",
        "chart": {
            "title": "Mean response time, measured and modelled",
            "quantity": "Mean latency (ms)",
            "caption": "",
            "points": [of.point(disk, row, load, "mean") for load, row in ROWS.items() for disk in _disks(of)],
            "rule": None,
        },
    }


ROWS = {"sheet": "data sheet", "ahead": "and bus, read-ahead", "extracted-overlap": "extracted"}
"""Ways that the chart has."""


def _disks(of: Figures) -> list[str]:
    return list(dict.fromkeys(config for config, _, _ in of.cells))


def _demerits(of: Figures, load: str) -> str:
    values = [value for disk in _disks(of) if (value := of.predicted(disk, load, "demerit")) is not None]
    if not values:
        return "an unknown share"
    return f"{said(statistics.median(values))} % ({said(max(values))} %)"


def _means(of: Figures, load: str) -> str:
    errors = [abs(error) for disk in _disks(of) if (error := of.cells[disk, load, "mean"]["error_pct"]) is not None]
    return f"at most {said(max(errors))} %" if errors else "an unknown share"
