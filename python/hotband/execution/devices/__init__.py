"""Real devices: identity, reasons not to write them, surroundings of a run on them, and counters.

Everything is read through a `Host`: this machine, or a tree of files recorded from another (docs/guides/measure.md).
"""
