"""Which events are supported on what, row by row."""

from __future__ import annotations

from typing import TypedDict

import hotband._core as _core


class EventDoc(TypedDict):
    """An event and a part; `why` is why it is not supported there, None if it is."""

    event: str
    group: str
    on: str
    supported: bool
    why: str | None


def event_rows() -> list[EventDoc]:
    """What `hotband keys --events --json` prints."""
    return [
        {"event": one.event, "group": one.group, "on": one.on, "supported": not one.why, "why": one.why}
        for one in _core.event_table()
    ]
