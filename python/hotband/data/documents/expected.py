"""Measured next to predicted figures, as in `hotband expect --json` and in records."""

from typing import Literal, TypedDict

Verdict = Literal["inside", "better", "worse", "undecided"]
"""Where a measured figure lies; undecided if it lies inside an interval that holds nearly any drive of the class."""


class FigureDoc(TypedDict):
    """A figure of a row: measured, predicted, the interval, and the verdict (None if there is no interval)."""

    figure: str
    measured: float
    predicted: float
    low: float | None
    high: float | None
    verdict: Verdict | None


class ExpectedRowDoc(TypedDict):
    """A run of the result: kind of loop, verdict, figures (IOPS, bytes per second, ns), or why it could not be
    rebuilt."""

    name: str
    file: str
    asks: str | None
    verdict: Verdict | None
    why_not: str
    figures: list[FigureDoc]
    workload: str | None
    set: dict[str, str]
