"""What a record says of a trace that was replayed, in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, number, percent, share, span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text

    from hotband.data.documents.record import (
        ComparedClassDoc,
        ComparedDoc,
        ComparisonDoc,
        RecordDoc,
        TraceDoc,
        TraceSideDoc,
    )

DIRECTIONS = ("read", "write", "flush", "trim")
SHOWN = (10.0, 50.0, 90.0, 99.0)
"""Percentiles that a line has room for."""


def trace_lines(record: RecordDoc) -> list[str | Text]:
    """How each trace was replayed, how long it took beside the recording, and latencies of both. Nothing where none was
    replayed."""
    lines: list[str | Text] = []
    for trace in traces_in(record):
        lines += [_issued(trace), _length(trace)]
        sides = cast("Mapping[str, TraceSideDoc]", trace)
        lines += [_side(direction, sides[direction]) for direction in DIRECTIONS if direction in sides]
    return lines + (comparison_lines(found) if (found := record.get("comparison")) else [])


def traces_in(record: RecordDoc) -> list[TraceDoc]:
    """All traces that were replayed: one is a section of its own, several are a list."""
    one = record.get("trace")
    return list(record.get("traces", [])) if one is None else [one]


def comparison_lines(comparison: ComparisonDoc) -> list[str | Text]:
    """How far the replay is from what was measured: as a whole, and by class of I/O."""
    measured, replayed = (span(comparison[key]) for key in ("mean_measured_ns", "mean_replayed_ns"))
    head = f"  replayed beside measured: mean {_error(comparison)}, {span(comparison['rms_ns'])} RMS an I/O"
    whole = f"    {counted(comparison['ios'], 'I/O')}: {measured} measured, {replayed} replayed"
    ranks = [percentile for percentile in comparison["percentiles"] if percentile["percentile"] in SHOWN]
    both = (f"p{rank['percentile']:g} {span(rank['measured_ns'])} and {span(rank['replayed_ns'])}" for rank in ranks)
    percentiles = f"    percentiles, measured and replayed: {', '.join(both)}"
    return [head, whole, *(f"    {_class(one)}" for one in comparison["classes"]), percentiles]


def _class(one: ComparedClassDoc) -> str:
    measured, replayed = (span(one[key]) for key in ("mean_measured_ns", "mean_replayed_ns"))
    what = counted(one["ios"], f"{one['distance']} {one['direction']}")
    return f"{what}: {measured} measured, {replayed} replayed; {_error(one)}"


def _error(figures: ComparedDoc) -> str:
    """The error of the mean and the demerit, where they are shares of anything."""
    mean, demerit = figures["mean_error_pct"], figures["demerit_pct"]
    if mean is None or demerit is None:
        return f"demerit {span(figures['demerit_ns'])}"
    return f"{percent(mean)}, demerit {percent(demerit, signed=False)}"


def _issued(trace: TraceDoc) -> Text:
    """What was replayed, and how."""
    how: str = trace["issue"]
    if trace["depth"] is not None:
        how += f", {trace['depth']} outstanding"
    if trace["speed"] not in (None, 1.0):
        how += f", times divided by {number(trace['speed'])}"
    if "beyond" in trace:
        how += f", {counted(trace['beyond']['moved'], 'I/O')} moved to fit (beyond = {trace['beyond']['how']})"
    late = trace["issue_error"]
    error = "" if late is None else f"; issued late by {span(late['p99_ns'])} (p99)"
    return marked(f"Trace: {counted(trace['ios'], 'I/O')} of {{file}}, {how}{error}", file=trace["file"])


def _length(trace: TraceDoc) -> str:
    """How long it took, beside the recording."""
    now = trace["replayed_ns"]
    if not trace["recorded_ns"]:
        return f"  replayed in {span(now)}"
    part = share(now / trace["recorded_ns"])
    return f"  recorded in {span(trace['recorded_ns'])}, replayed in {span(now)} ({part})"


def _side(direction: str, side: TraceSideDoc) -> str:
    """Latencies of one direction."""
    figures = (("mean", "mean_ns"), ("p50", "p50_ns"), ("p99", "p99_ns"))
    recorded, replayed = cast("Mapping[str, float]", side["recorded"]), cast("Mapping[str, float]", side["replayed"])
    both = (f"{name} {span(recorded[key])} recorded, {span(replayed[key])} replayed" for name, key in figures)
    return f"  {direction}: {'; '.join(both)}"
