"""Connections of the page: few at a time, each with a time limit, so that no other user of this computer can block the
page.

Any user may connect to a port of loopback, without the token. When there are too many connections, the oldest that
waits for a request is closed; a request that does not arrive in time is dropped. A connection with a response in
progress is never closed: only requests with the token get long responses.
"""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""Time for the head of a request: a browser sends it at once."""
BODY_S = 120.0
"""Time for a body: 64 MiB on loopback take less than a second, from a slow disk some ten."""
MOST_CONNECTIONS = 200
"""A browser has 6 per page and host (Chromium and Firefox), so this is for some thirty pages."""
BACKLOG = 32
"""Connections that are accepted at a time, before old ones can be closed."""


def most_connections() -> int:
    """Return the limit of simultaneous connections: a quarter of the files that may be open, as jobs need some."""
    return min(MOST_CONNECTIONS, max(8, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4))


class Connection(H11Protocol):
    """A connection with a time limit for each request."""

    _limit: asyncio.TimerHandle | None = None
    _is_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._within(HEAD_S)
        idle = [other for other in self.connections if isinstance(other, Connection) and other.is_waiting()]
        for other in sorted(idle, key=lambda each: each.made)[: max(0, len(self.connections) - most_connections())]:
            self.connections.discard(other)
            other.drop()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.made = self.loop.time()

    def data_received(self, data: bytes) -> None:
        if self._limit is None:
            self._within(HEAD_S)
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self._is_body:
            self._is_body = True
            self._within(BODY_S)
        elif state not in (h11.IDLE, h11.SEND_BODY):
            self._is_body = False
            self._within(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._within(None)
        super().connection_lost(exc)

    def is_waiting(self) -> bool:
        """Return whether the connection waits for a request: none has come, or the response to the last is complete."""
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        """Close the connection without a response."""
        with suppress(OSError):
            self.transport.abort()

    def _within(self, seconds: float | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._limit = None if seconds is None else self.loop.call_later(seconds, self.drop)
