"""Prediction intervals: what the ranges of a machine's values, its seed and what the model leaves out do to a
prediction, and where that comes from (docs/guides/intervals.md)."""
