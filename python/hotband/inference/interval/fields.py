"""Fields of questions whose answers have intervals."""

from __future__ import annotations

from typing import Any

from hotband.base.question import asks
from hotband.inference.interval import LEAST_DRAWS, LEVEL, MOST_DRAWS

HOLDS = "Percent of such predictions that the interval is to hold, 1 to 99."


def level(default: float | None = LEVEL, text: str = HOLDS) -> Any:
    """Return the field `interval`: the level in percent."""
    takes = "a percentage from 1 to 99, such as 90"
    return asks(text, default=default, metavar="PERCENT", least=1, most=99, takes=takes)


def draws(default: int | None) -> Any:
    """Return the field `draws`."""
    return asks("Draws of the uncertain values.", default=default, least=LEAST_DRAWS, most=MOST_DRAWS)
