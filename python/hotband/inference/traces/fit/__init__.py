"""Fit a workload to the properties of a trace, and compare both.

`ios.py` has a trace's I/Os as columns; `streams.py` divides them by direction and area and describes each stream, with
`areas.py` (areas) and `popularity.py` (choice of places); `arrivals.py` describes the times. `text.py` writes that as a
workload. `made.py` generates as many I/Os with it, `table.py` compares the properties of both, `replay.py` runs both on
a machine; `fit.py` does all of it.
"""
