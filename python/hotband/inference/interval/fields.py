"""Fields of questions whose answers have intervals."""

from __future__ import annotations

from typing import Any

from hotband.base.question import asks
from hotband.inference.interval import DRAWS, LEAST_DRAWS, LEVEL, MOST_DRAWS

HOLDS = "Confidence level of the interval in percent, 1 to 99."


def level(default: float | None = LEVEL, text: str = HOLDS) -> Any:
    """Return the field `interval`: the level in percent."""
    takes = "a percentage from 1 to 99, such as 90"
    return asks(text, default=default, metavar="PERCENT", least=1, most=99, takes=takes)


def draws(default: int | None, text: str = "Samples of the uncertain values.") -> Any:
    """Return the field `draws`."""
    return asks(text, default=default, least=LEAST_DRAWS, most=MOST_DRAWS)


def level_of() -> Any:
    """Return the field `interval`, which requests intervals."""
    return level(None, f"Print intervals. {HOLDS}")


def draws_of(usual: int = DRAWS) -> Any:
    """Return the field `draws` of such a question, with the default `usual`."""
    return draws(None, f"Samples of the uncertain values for question.interval. Default: {usual}.")
