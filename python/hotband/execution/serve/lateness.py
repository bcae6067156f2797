"""Emulation delay of a served machine, and whether its host kept up with it, in words."""

from __future__ import annotations

from collections.abc import Iterator

from hotband.base.text import numbers
from hotband.data.documents.serving import Serving

PRIORITIES = {
    "real-time": "real-time priority while it waits 1 ms or longer, else the highest other",
    "first": "the highest priority that is not real-time",
    "short turns": "short turns, but no priority",
    "usual": "no priority",
}
"""The priority of the server's threads, in words."""


def priority(serving: Serving) -> str:
    """Return the priority that the host granted the server's threads, in words."""
    return PRIORITIES.get(serving.priority, "unknown priority")


def lateness_lines(serving: Serving) -> Iterator[str]:
    """Yield the emulation delay, and a warning if it affects the measurement."""
    late = serving.lateness
    if late is None:
        failed = sum(kind.errors for kind in serving.kinds)
        yield f"All replies were errors: {failed:,}." if failed else "No client connected."
        return
    yield (
        f"Emulation delay: p50 {numbers.span(late.p50_ns)}, p99 {numbers.span(late.p99_ns)}, "
        f"p99.9 {numbers.span(late.p99_9_ns)}, largest {numbers.span(late.max_ns)}; no I/O completed early; "
        f"{priority(serving)}"
    )
