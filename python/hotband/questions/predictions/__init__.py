"""Predictions of the figures of a corpus from data sheets, and their errors."""
