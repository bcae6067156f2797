"""Real devices: what they are, what keeps them from being written, what is around a run on them, what they count.

Everything is read through a `Host`: this machine, or a tree of files recorded from another (docs/guides/devices.md).
"""
