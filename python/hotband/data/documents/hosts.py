"""The section `hosts` of a record: who asked beside this host."""

from __future__ import annotations

from typing import TypedDict


class HostDoc(TypedDict):
    """A host that asked, as the section `hosts` of a record: its fio, between which seconds its clock is ahead of ours,
    and its context, which is not known."""

    host: str
    version: str
    clock_s: list[float]
    context: None
