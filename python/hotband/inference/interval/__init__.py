"""Prediction intervals: effects of a machine's uncertain values, its seed and model error on a prediction, and their
sources (docs/guides/intervals.md)."""

from __future__ import annotations

from hotband.base.errors import UserError

LEVEL = 90.0
"""Percent of the intervals that studies ship, and the default of others."""
DRAWS = 64
"""Default number of samples of the uncertain values of a run."""
LEAST_DRAWS = 8
"""Fewer do not show a spread: an interrupted call keeps results with at least this many."""
MOST_DRAWS = 4096
DRAWS_OF_MANY = 16
"""Default number of samples for many runs, such as those of a study, a review or the rows of a result: the spread of
sixteen is known to a fifth."""


def check_level(level: object, where: str) -> None:
    """Raise UserError for a level that the figures of studies do not support."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 1 <= level <= 99:
        raise UserError(where, "", str(level), "expected a percentage from 1 to 99, such as 90")
