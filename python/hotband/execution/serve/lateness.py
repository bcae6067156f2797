"""How late answers of a served machine were, in lines."""

from __future__ import annotations

from collections.abc import Iterator

from hotband.base.text.quantities import span_text
from hotband.data.documents.serving import Serving


def lateness_lines(serving: Serving) -> Iterator[str]:
    """How late answers were, and a warning where that changes what was measured."""
    late = serving.lateness
    if late is None:
        failed = sum(kind.errors for kind in serving.kinds)
        yield f"All answers were errors: {failed:,}." if failed else "Nobody asked for anything."
        return
    yield (
        f"Lateness of answers: p50 {span_text(late.p50_ns)}, p99 {span_text(late.p99_ns)}, "
        f"p99.9 {span_text(late.p99_9_ns)}, largest {span_text(late.max_ns)}; none was early"
    )
