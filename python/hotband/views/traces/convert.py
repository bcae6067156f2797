"""A trace that was converted, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.inference.traces.convert import ConvertTraceQuestion, TraceConverted


def terminal(converted: TraceConverted, _: ConvertTraceQuestion) -> list[str]:
    """Return what was written, what was lost, and the notes."""
    return converted.lines()
