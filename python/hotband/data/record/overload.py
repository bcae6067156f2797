"""Open loops that a machine does not keep up with: the rate that they request, and a note on a run that misses it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.text.numbers import number

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

SLACK = {True: 0.01, False: 0.05}
"""Share of a requested rate that may be missing: of a model's exact time, as in `hotband find`; of a tool, which begins
and ends within its windows."""


def open_rate(workload: Mapping[str, object], changed: Mapping[str, str]) -> float | None:
    """Return the rate that open loops request together, with changed settings; None for other loads."""
    listed = workload.get("streams")
    streams = listed if isinstance(listed, list) else []
    loads = [workload.get("load"), *(stream.get("load") for stream in streams if isinstance(stream, dict))]
    loops = [load.get("open") for load in loads if isinstance(load, dict)]
    try:
        rates = [float(changed.get("rate_iops") or dict(loop or {})["rate_iops"]) for loop in loops]
    except (KeyError, TypeError, ValueError):
        return None
    return sum(rates) if rates and min(rates) > 0 else None


def misses(requested: float | None, iops: float | None, count: int | None, is_model: bool) -> bool:
    """Return whether a run missed the rate that its load requests; arrivals at random vary by their root."""
    if not requested or iops is None or not count:
        return False
    return iops < (1 - max(SLACK[is_model], 4 / math.sqrt(count))) * requested


def overload_notes(record: RecordDoc) -> list[str]:
    """Return a note for a model's run that misses the rate of its open loop."""
    spec, summary = record["spec"], record["summary"]
    iops, text = summary["iops"], spec["workload"]
    # A rate that is set makes an open loop of a closed one.
    may_be_open = "open" in text or ("rate_iops" in (spec.get("set") or {}) and text.count("closed") == 1)
    if iops is None or len(record.get("steps") or []) > 1 or not may_be_open:
        return []
    requested = open_rate(_core.workload(spec["workload"])["table"], spec.get("set") or {})
    if requested is None:
        return []
    if not misses(requested, iops, summary["count"], is_model=True):
        return []
    return [f"{missed_words(requested, iops)}; latencies grow as long as it runs"]


def missed_words(requested: float, iops: float) -> str:
    """Return how far a rate was missed."""
    return f"does not keep up: {number(iops)} of {number(requested)} IOPS"
