"""The ends of measured phases with a `precision`, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import span

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc, StoppedDoc

LEAST_SHOWN = 0.1
"""Half width in percent below which no difference is shown."""


def stopped_words(record: RecordDoc) -> list[str]:
    """Return when the run stopped, for a line on its state; nothing if a phase was measured as a whole."""
    phases = record.get("stopped", [])
    if not phases or any(phase["by"] != "precision" for phase in phases):
        return []
    precisions = dict.fromkeys(f"{phase['precision_pct']:g} %" for phase in phases)
    return [f"stopped after {span(record['duration_ns'])} at {' and '.join(precisions)} precision"]


def stopped_lines(record: RecordDoc) -> list[str]:
    """Return the end of each phase, and the precision of its figures."""
    return [_line(phase) for phase in record.get("stopped", [])]


def _line(phase: StoppedDoc) -> str:
    ended = f"{phase['precision_pct']:g} % precision" if phase["by"] == "precision" else "its time or number of I/Os"
    line = f"Phase {phase['phase']} ended by {ended}"
    if "iops_pct" not in phase:
        return f"{line}, with too few I/Os for confidence intervals."
    widths = {"IOPS": phase["iops_pct"], "MB/s": phase["bandwidth_pct"], "mean": phase["latency_mean_pct"]}
    widths["p99"] = phase["latency_p99_pct"]
    known = ", ".join(f"{name} ±{max(width, LEAST_SHOWN):.1f} %" for name, width in widths.items())
    return f"{line}: {known} (95 % confidence, {phase['batches']} batches of {phase['batch_ios']:,} I/Os)."
