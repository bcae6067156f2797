"""Fit a disk to a trace with latencies: replay its I/Os on the product's model and compare class by class. `replay.py`
replays, `unknowns.py` has the values to fit, `fit.py` fits them, `calibrate.py` validates on the second half of the
trace and returns the result.
"""
