"""The section `hosts` of a record: other hosts that issued I/Os."""

from typing import TypedDict


class HostDoc(TypedDict):
    """A host that issued I/Os: its fio, the range in seconds by which its clock is ahead of ours, and its context,
    which is unknown."""

    host: str
    version: str
    clock_s: list[float]
    context: None
