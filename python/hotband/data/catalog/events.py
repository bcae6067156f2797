"""Events supported by each kind of part, row by row."""

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
    """Return the output of `hotband keys --events --json`."""
    return [
        {"event": event.event, "group": event.group, "on": event.on, "supported": not event.why, "why": event.why}
        for event in _core.event_table()
    ]
