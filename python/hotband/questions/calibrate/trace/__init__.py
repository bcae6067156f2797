"""A disk fitted to a trace with latencies: its I/Os replayed on the product's model, class by class beside what was
measured. `replay.py` replays, `unknowns.py` says what may be found, `fit.py` finds it, `calibrate.py` makes the answer
of it, with the second half of the trace as the test.
"""
