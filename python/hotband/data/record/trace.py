"""Lines of a record about a replayed trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, number, percent, share, span
from hotband.data.documents.record import KIND_REAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text

    from hotband.data.documents.record import (
        ComparedClassDoc,
        ComparedDoc,
        RecordDoc,
        TraceDoc,
        TraceSideDoc,
    )

DIRECTIONS = ("read", "write", "flush", "trim")
SHOWN = (10.0, 50.0, 90.0, 99.0)
"""Percentiles on a line."""


def trace_lines(record: RecordDoc) -> list[str | Text]:
    """Return the mode of each replay, its length next to that of the recording, and latencies of both. Empty if no
    trace was replayed."""
    lines: list[str | Text] = []
    for trace in traces_in(record):
        lines += [_issued(trace), _length(trace)]
        sides = cast("Mapping[str, TraceSideDoc]", trace)
        lines += [_side(direction, sides[direction]) for direction in DIRECTIONS if direction in sides]
    return lines + comparison_lines(record)


def delay_lines(record: RecordDoc) -> list[str]:
    """Return how late the I/Os of a trace were issued on the wall clock, one line per trace. Empty on a model, which
    issues them in time."""
    delays = [trace["issue_error"] for trace in traces_in(record)]
    return [
        f"I/Os of the trace were issued {span(delay['mean_ns'])} late on average, p99 {span(delay['p99_ns'])}, "
        f"at most {span(delay['max_ns'])}"
        for delay in delays
        if delay is not None and delay["max_ns"]
    ]


def traces_in(record: RecordDoc) -> list[TraceDoc]:
    """Return all replayed traces: a record has a single one as a section, several as a list."""
    trace = record.get("trace")
    return list(record.get("traces", [])) if trace is None else [trace]


def comparison_lines(record: RecordDoc) -> list[str | Text]:
    """Return the difference between the recorded drive and that of the replay: as a whole, and by class of I/O; nothing
    if the trace has no latencies. Traces do not state the product that was recorded."""
    comparison = record.get("comparison")
    if comparison is None:
        return []
    measured, replayed = (span(comparison[key]) for key in ("mean_measured_ns", "mean_replayed_ns"))
    errors = f"mean {_error(comparison)}, {span(comparison['rms_ns'])} RMS per I/O"
    head = f"  difference between the recorded drive and this one: {errors}"
    is_real = record["target"].get("kind", "model") == KIND_REAL
    doubt = "" if is_real else "; an error of the model only if both are the same drive"
    ios, left_out = comparison["ios"], sum(trace["ios"] for trace in traces_in(record)) - comparison["ios"]
    others = f" ({left_out:,} others failed when they were recorded, or have no latency)" if left_out > 0 else ""
    whole = f"    {counted(ios, 'I/O')}{others}: {measured} measured, {replayed} replayed{doubt}"
    ranks = [percentile for percentile in comparison["percentiles"] if percentile["percentile"] in SHOWN]
    both = (f"p{rank['percentile']:g} {span(rank['measured_ns'])} and {span(rank['replayed_ns'])}" for rank in ranks)
    percentiles = f"    percentiles, measured and replayed: {', '.join(both)}"
    return [head, whole, *(f"    {_class(class_)}" for class_ in comparison["classes"]), percentiles]


def _class(class_: ComparedClassDoc) -> str:
    measured, replayed = (span(class_[key]) for key in ("mean_measured_ns", "mean_replayed_ns"))
    what = counted(class_["ios"], f"{class_['distance']} {class_['direction']}")
    return f"{what}: {measured} measured, {replayed} replayed; {_error(class_)}"


def _error(figures: ComparedDoc) -> str:
    """Return the error of the mean and the demerit, if they are defined."""
    mean, demerit = figures["mean_error_pct"], figures["demerit_pct"]
    if mean is None or demerit is None:
        return f"demerit {span(figures['demerit_ns'])}"
    return f"{percent(mean)}, demerit {percent(demerit, signed=False)}"


def _issued(trace: TraceDoc) -> Text:
    """Return the number of replayed I/Os and the mode of replay."""
    text: str = trace["issue"]
    if trace["depth"] is not None:
        text += f", {trace['depth']} outstanding"
    if trace["speed"] not in (None, 1.0):
        text += f", times divided by {number(trace['speed'])}"
    if "beyond" in trace:
        text += f", {counted(trace['beyond']['moved'], 'I/O')} moved to fit (beyond = {trace['beyond']['how']})"
    late = trace["issue_error"]
    error = "" if late is None else f"; issue delay {span(late['p99_ns'])} (p99)"
    return marked(f"Trace: {counted(trace['ios'], 'I/O')} of {{file}}, {text}{error}", file=trace["file"])


def _length(trace: TraceDoc) -> str:
    """Return the length of the replay next to that of the recording."""
    now = trace["replayed_ns"]
    if not trace["recorded_ns"]:
        return f"  replayed in {span(now)}"
    part = share(now / trace["recorded_ns"])
    return f"  recorded in {span(trace['recorded_ns'])}, replayed in {span(now)} ({part})"


def _side(direction: str, side: TraceSideDoc) -> str:
    """Return latencies of one direction."""
    figures = (("mean", "mean_ns"), ("p50", "p50_ns"), ("p99", "p99_ns"))
    recorded, replayed = cast("Mapping[str, float]", side["recorded"]), cast("Mapping[str, float]", side["replayed"])
    both = (f"{name} {span(recorded[key])} recorded, {span(replayed[key])} replayed" for name, key in figures)
    return f"  {direction}: {'; '.join(both)}"
