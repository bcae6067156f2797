"""Comparison of a prediction with a run on hardware."""
