"""Prediction intervals: what the ranges of a machine's values, its seed and what the model leaves out do to a
prediction, and where that comes from (docs/guides/intervals.md)."""

DRAWS = 64
"""Draws of the uncertain values of a run, where nothing else is said."""
LEAST_DRAWS = 8
"""Fewer say nothing of a spread: an interrupted call keeps what has at least so many."""
MOST_DRAWS = 4096
