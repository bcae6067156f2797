"""How late answers of a served machine were, in lines."""

from __future__ import annotations

from collections.abc import Iterator

from hotband.base.text import numbers
from hotband.data.documents.serving import Serving


def lateness_lines(serving: Serving) -> Iterator[str]:
    """How late answers were, and a warning where that changes what was measured."""
    late = serving.lateness
    if late is None:
        failed = sum(kind.errors for kind in serving.kinds)
        yield f"All answers were errors: {failed:,}." if failed else "Nobody asked for anything."
        return
    yield (
        f"Lateness of answers: p50 {numbers.span(late.p50_ns)}, p99 {numbers.span(late.p99_ns)}, "
        f"p99.9 {numbers.span(late.p99_9_ns)}, largest {numbers.span(late.max_ns)}; none was early"
    )
