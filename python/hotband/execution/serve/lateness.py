"""Emulation delay of a served machine, in lines."""

from __future__ import annotations

from collections.abc import Iterator

from hotband.base.text import numbers
from hotband.data.documents.serving import Serving


def lateness_lines(serving: Serving) -> Iterator[str]:
    """Yield the emulation delay, and a warning if it affects the measurement."""
    late = serving.lateness
    if late is None:
        failed = sum(kind.errors for kind in serving.kinds)
        yield f"All replies were errors: {failed:,}." if failed else "No client connected."
        return
    yield (
        f"Emulation delay: p50 {numbers.span(late.p50_ns)}, p99 {numbers.span(late.p99_ns)}, "
        f"p99.9 {numbers.span(late.p99_9_ns)}, largest {numbers.span(late.max_ns)}; no I/O completed early"
    )
