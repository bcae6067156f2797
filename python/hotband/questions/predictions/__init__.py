"""Predictions of the figures of a corpus from data sheets, and how far they are off."""
