"""What became of a workload or a trace in another form, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.base.question import Question
    from hotband.data.jobs.converted import Converted
    from hotband.inference.traces.convert import TraceConverted


def terminal(converted: Converted | TraceConverted, _: Question) -> list[str]:
    """Return what is not as it was, a line each."""
    return converted.lines()
