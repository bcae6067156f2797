"""Prediction intervals: what the ranges of a machine's values, its seed and what the model leaves out do to a
prediction, and where that comes from (docs/guides/intervals.md)."""

from __future__ import annotations

from hotband.base.errors import UserError

LEVEL = 90.0
"""Percent of the intervals that studies ship, and of others where nothing else is said."""
DRAWS = 64
"""Draws of the uncertain values of a run, where nothing else is said."""
LEAST_DRAWS = 8
"""Fewer say nothing of a spread: an interrupted call keeps what has at least so many."""
MOST_DRAWS = 4096
DRAWS_OF_MANY = 16
"""Draws where many runs are drawn, as those of a study, a review or the rows of a result: the spread of sixteen is
known to a fifth."""


def check_level(level: object, where: str) -> None:
    """Raises UserError for what is no level that figures of studies can speak for."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 1 <= level <= 99:
        raise UserError(where, "", str(level), "expected a percentage from 1 to 99, such as 90")
