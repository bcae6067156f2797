"""A workload with the properties of a trace, and how near it comes.

`ios.py` has a trace's I/Os as columns; `streams.py` divides them by direction and area and says of each stream what it
asks for, with `areas.py` (where), `popularity.py` (how often the same), `near.py` and `sizes.py`; `arrivals.py` says
when. `text.py` writes that as a workload. `made.py` asks for as many I/Os by it, `table.py` puts the properties of
both side by side, `replay.py` runs both on a machine; `fit.py` is all of it.
"""
