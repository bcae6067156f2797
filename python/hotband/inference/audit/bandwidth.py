"""Rule group 2: bandwidth = IOPS x size of an I/O. Names MB against MiB.

Left out: workloads of several sizes, whose mean is not known in advance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotband.base.text.numbers import number, rate
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.finding import Finding, Number, Rows
from hotband.inference.audit.littles_law import mixed

TOLERANCE = 0.01
"""Share by which a record's bandwidth may differ: sources compute IOPS and bandwidth over runtimes cut to milliseconds,
and count short I/Os. The rounding of a table is added: one unit of the last digit, because some tables truncate."""
NAMED = 0.002
"""Share within which a factor of unrounded figures is recognised: half of the least distance between two factors."""
UNITS = {"kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "kib/s": 2.0**10, "mib/s": 2.0**20, "gib/s": 2.0**30, "b/s": 1.0}
FACTORS = {
    "MB is MiB (2^20 bytes)": 2**20 / 1e6,
    "MiB is MB (10^6 bytes)": 1e6 / 2**20,
    "KB is KiB (2^10 bytes)": 1.024,
    "KiB is KB (10^3 bytes)": 1 / 1.024,
    "bytes are bits": 8.0,
    "bits are bytes": 1 / 8,
    "a factor of 1,000": 1e3,
    "a factor of 1/1,000": 1e-3,
    "a factor of 1,024": 1024.0,
    "a factor of 1/1,024": 1 / 1024,
}
"""Explanations of the ratio (IOPS x size) / bandwidth."""
PREFIXES = 1.1
"""Largest factor between prefixes: with the right unit, such figures are correct."""


@dataclass(frozen=True)
class Flow:
    """IOPS x size, the printed bandwidth and the rounding of the latter, in bytes per second."""

    run: Audited
    moved: float
    printed: float
    rounding: float
    unit: str


def flow_of(run: Audited) -> Flow | None:
    """Return the flow of a run whose I/Os all have one size; None for other runs and unknown figures."""
    size, summary = run.asked.block_bytes, run.summary()
    iops, bandwidth = summary.get("iops"), summary.get("bandwidth_bytes_per_s")
    if not size or not iops or not bandwidth or mixed(run):
        return None
    printed = run.printed.get("bandwidth")
    if printed is None:
        return Flow(run, iops * size, bandwidth, TOLERANCE * bandwidth, "B/s")
    scale = UNITS.get(unit_of(printed.unit))
    if scale is None:
        return None
    # IOPS are rounded, too.
    step = run.printed["iops"].step * size if "iops" in run.printed else 0.0
    return Flow(run, iops * size, printed.value * scale, printed.step * scale * 1.0001 + step, printed.unit)


def unit_of(text: str) -> str:
    """Return the usual form of a unit of bandwidth."""
    return text.strip().lower().replace("/sec", "/s").replace("ps", "/s")


def factor_of(flow: Flow) -> str:
    """Return the explanation that is nearest to the ratio; empty if none fits."""
    ratio = flow.moved / flow.printed
    near = NAMED + flow.rounding / flow.printed if flow.run.printed else 2 * NAMED
    nearest = min(FACTORS.items(), key=lambda item: abs(ratio / item[1] - 1))
    return nearest[0] if abs(ratio / nearest[1] - 1) <= near else ""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings of the group, one per file and reason."""
    flows = [flow for run in runs if (flow := flow_of(run)) is not None]
    wrong = [flow for flow in flows if abs(flow.moved - flow.printed) > flow.rounding]
    findings = []
    for (origin, why), alike in grouped(wrong, lambda flow: (flow.run.origin or flow.run.name, factor_of(flow))):
        whole = sum((flow.run.origin or flow.run.name) == origin for flow in flows)
        findings.append(_finding(alike, why, whole))
    return findings


def _finding(flows: Sequence[Flow], why: str, checked: int) -> Finding:
    first = flows[0]
    ratio = first.moved / first.printed
    rows: list[list[Number]] = [
        [flow.run.name, flow.printed / 1e6, flow.moved / 1e6, flow.moved / 2**20] for flow in flows
    ]
    numbers: dict[str, Number] = {
        "results": len(flows),
        "results_checked": checked,
        "ratio": ratio,
        "printed_unit": first.unit,
    }
    names = tuple(flow.run.name for flow in flows)
    table = Rows(["result", "printed, 10^6 B/s", "IOPS x size, 10^6 B/s", "IOPS x size, 2^20 B/s"], rows)
    if why and 1 / PREFIXES < FACTORS[why] < PREFIXES:
        title = f"{len(flows)} of {checked} results print bandwidth in another unit than they label: {why}"
        advice = "Quote it in the other unit, which IOPS and I/O size confirm."
        return Finding("bandwidth-unit", "note", names, title, {**numbers, "reason": why}, advice, table)
    explained = f", as if {why}" if why else ""
    printed = f"the bandwidth printed is {rate(first.printed)}: off by a factor of {number(ratio)}"
    title = f"IOPS x size is {rate(first.moved)}, but {printed}{explained}"
    advice = "Bandwidth, IOPS or I/O size belongs to another run: compute two of them from the tool's own counts."
    return Finding("bandwidth", "severe", names, title, {**numbers, "reason": why or "none known"}, advice, table)
