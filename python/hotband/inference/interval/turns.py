"""The physical bounds of the latency of lone random reads of one disk, by its seek and its rotation.

A read waits for at least the rotation, whose share of a turn is uniform, and for at most the longest seek, that
rotation and the overhead. Therefore a share `q` of such reads lasts at least `q` turns and at most the full stroke with
`q` turns, and the mean has half a turn in both. Reads that a cache serves wait for neither: there are no bounds if they
may be more than few. Left out: retries of a read, which make single reads longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.text.quantities import address_bytes, size_bytes, span_ns
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.entries import product
from hotband.execution.experiment.ranges import machine_text, workload_text

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec

TURNS = {"latency_mean_ns": 0.5, "latency_p50_ns": 0.5, "latency_p99_ns": 0.99, "latency_p999_ns": 0.999}
"""Turns of a figure's rotation."""
RETRIED = ("latency_p999_ns",)
"""Figures without an upper bound: the slowest reads of a thousand may be retries."""
SLACK = 1.05
"""Factor of the upper bounds for links and settling, which no figure of a disk states."""
MOST_OF_A_TURN = 0.25
"""Longest transfer in turns: longer ones cross tracks."""
MOST_HITS = 0.01
"""Largest share of reads that a cache may serve: of the region that is read, at most this share fits into it."""


def latency_bounds(spec: RunSpec, record: RecordDoc) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest value of latencies, and of the rates that are their inverse, by figure; none
    unless the run has lone random reads of one disk. Raises UserError for an unreadable machine or workload."""
    if record.get("concurrency") != 1:
        return {}
    count, size = record["summary"]["count"], record["summary"]["bytes"]
    if not count or size is None or not _is_random_read(spec, record):
        return {}
    values = _values(spec)
    if not {"rpm", "seek_read_full", "sustained_inner"} <= values.keys():
        return {}
    turn, stroke = 60e9 / _core.quantity("speed", values["rpm"][0]), span_ns(values["seek_read_full"][1])
    if stroke is None:
        return {}
    if _are_hits_possible(spec, values) or _has_hits(record):
        return {}
    transfer = size / count / _core.quantity("rate", values["sustained_inner"][0]) * 1e9
    if transfer > MOST_OF_A_TURN * turn:
        return {}
    longest = stroke + (span_ns(values.get("command_overhead", ("", ""))[1]) or 0.0) + transfer
    bounds = {name: (turns * turn, SLACK * (longest + turns * turn)) for name, turns in TURNS.items()}
    bounds |= {name: (bounds[name][0], math.inf) for name in RETRIED}
    fastest, slowest = (1e9 / bound for bound in bounds["latency_mean_ns"])
    bounds["iops"] = slowest, fastest
    bounds["bandwidth_bytes_per_s"] = slowest * size / count, fastest * size / count
    return {f"{side}{name}": ends for side in ("", "read.") for name, ends in bounds.items()}


def bounded(predicted: float, ends: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a figure's interval as log-ratios, within its bounds. A prediction beyond a bound shows that
    it does not apply, as do ends that lie beyond it."""
    least, most = (math.log(bound / predicted) for bound in bounds)
    low, high = ends
    low = max(low, least) if least <= 0 and least <= high else low
    return low, (min(high, most) if most >= 0 and most >= low else high)


def _are_hits_possible(spec: RunSpec, values: Mapping[str, tuple[str, str]]) -> bool:
    """Return whether the drive's cache may hold more than a few of the data that a stream reads."""
    capacity, cache = (size_bytes(values[key][1]) if key in values else None for key in ("capacity", "cache_size"))
    span = dict(spec.set).get("span")
    regions = []
    for stream in _table(spec).get("streams") or []:
        begin, end = ("0 %", span) if span else stream.get("range", ("0 %", "100 %"))
        is_even = not any(key in stream for key in ("offsets", "per_client"))
        begins, ends = (address_bytes(text, capacity or 0.0) or 0.0 for text in (begin, end))
        regions.append(ends - begins if is_even else 0.0)
    return (cache or 0.0) >= MOST_HITS * min(regions, default=0.0)


def _has_hits(record: RecordDoc) -> bool:
    """Return whether a cache served more than a few of the reads, so that they did not reach the medium."""
    reads = sum(part["counters"].get("media_reads", 0) for part in record["parts"] if part["kind"] == "disk")
    return reads < (1 - MOST_HITS) * (record["summary"]["count"] or 0)


def _table(spec: RunSpec) -> Mapping[str, Any]:
    """Return the workload of a run as a table. Raises UserError for an unreadable one."""
    with mistakes_of(spec.workload):
        return _core.workload(workload_text(spec), spec.workload)["table"]


def _is_random_read(spec: RunSpec, record: RecordDoc) -> bool:
    """Return whether all I/Os are reads at random offsets of a closed loop."""
    summary = record["summary"]
    others = [summary[name] for name in ("write", "flush", "trim") if summary.get(name)]
    if any(figures["count"] for figures in others):
        return False
    table = _table(spec)
    streams = table.get("streams") or []
    changed = dict(spec.set).get("random_pct")
    shares = {str(changed if changed is not None else stream.get("random_pct", 0)) for stream in streams}
    is_closed = "closed" in (table.get("load") or {}) and "rate_iops" not in dict(spec.set)
    return is_closed and bool(shares) and all(share.rstrip(" %") in ("100", "100.0") for share in shares)


def _values(spec: RunSpec) -> dict[str, tuple[str, str]]:
    """Return the values of a machine's only drive, each with the end of its range; none for other machines."""
    with mistakes_of(spec.machine):
        machine = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))
    if len(machine["drives"]) != 1 or machine["drives"][0]["set"]:
        return {}
    changed = dict(spec.set)
    name = machine["drives"][0]["product"]
    known = (machine["own_products"].get(name) or product(name))["values"]
    return {
        value["key"]: (changed[value["key"]],) * 2
        if value["key"] in changed
        else (str(value["value"]), str((value["range"] or [value["value"]])[-1]))
        for value in known
    }
