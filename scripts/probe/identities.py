"""What must hold within one record of a model, whatever the figures are: what is counted twice is counted alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from hotband.data.record.record import Record
from hotband.inference.audit import audited_record, findings

ROUNDING = 1e-6
"""Sums of doubles, and nanoseconds cut off."""
BUCKET = 2**-11
"""Width of a bucket of the histogram, of its value: a percentile is the middle of one."""
ACTUATORS = 4
"""The most that a disk has; all are counted as one drive's time."""
OF_LENGTH = ("percentile-support",)
"""Rules of the auditor that say no more than that a run is short."""
COPIES = {"raid0": 1, "concat": 1, "raid1": 2, "raid10": 2}
"""How often a layout that keeps no parity writes each byte."""
ORDER = ("latency_min_ns", "latency_p50_ns", "latency_p99_ns", "latency_p999_ns", "latency_max_ns")


def accusations(record: Record) -> list[str]:
    """A line for each finding of the auditor, but that a run is short."""
    audited = audited_record(record.document, record.series)
    return [f"audit: {one.rule}: {one.title}" for one in findings([audited], None) if one.rule not in OF_LENGTH]


def contradictions(record: Record, layout: str | None, depth: int, largest: int) -> list[str]:
    """A line for each identity that does not hold in a record of a closed loop with `depth` outstanding, of I/Os up to
    `largest` bytes, on a layout of that name ("" for one drive; None where something above the drives keeps data)."""
    document: Mapping[str, Any] = record.document
    seconds = document["duration_ns"] / 1e9
    summary = document["summary"]
    sides = {side: summary[side] for side in ("read", "write") if summary.get(side)}
    found = [f"{name}: {line}" for name, side in {"all": summary, **sides}.items() for line in of_side(side, seconds)]
    for key in ("count", "bytes", "errors", "iops", "queue_depth_mean"):
        found += unlike(f"{key} of reads and writes", sum(side[key] for side in sides.values()), summary[key])
    if summary["queue_depth_mean"] > depth * (1 + ROUNDING):
        found.append(f"{summary['queue_depth_mean']:g} outstanding on average, {depth} at most")
    # Little's law: what the ends of the time cut off is the only error.
    failed_ns = summary.get("error_latency_mean_ns", 0)
    longest = max(summary["latency_max_ns"] or 0, 2 * failed_ns)
    cut_off = 2 * depth * longest / document["duration_ns"] if summary["count"] else depth
    spent = summary["count"] * (summary["latency_mean_ns"] or 0) + summary["errors"] * failed_ns
    little = spent / document["duration_ns"]
    if abs(little - summary["queue_depth_mean"]) > cut_off + ROUNDING:
        found.append(f"{summary['queue_depth_mean']:g} outstanding on average, {little:g} by rate and latency")
    found += of_streams(document["streams"], summary)
    found += of_steps(document)
    found += of_series(record)
    found += of_repair(document)
    found += of_energy(document)
    found += of_drives(document, layout, depth * largest)
    return found


def unlike(what: str, one: float, other: float, tolerance: float = ROUNDING) -> list[str]:
    """A line where two figures differ."""
    return [f"{what}: {one:.9g}, not {other:.9g}"] if abs(one - other) > tolerance * max(abs(one), abs(other)) else []


def of_side(side: Mapping[str, Any], seconds: float) -> Iterator[str]:
    """One direction, or both together."""
    count = side["count"]
    yield from unlike("I/Os a second", side["iops"], count / seconds)
    yield from unlike("bytes a second", side["bandwidth_bytes_per_s"], side["bytes"] / seconds)
    if not count:
        return
    for one, other in pairwise(ORDER):
        if side[one] > side[other] * (1 + BUCKET):
            yield f"{one} {side[one]} is above {other} {side[other]}"
    mean = side["latency_mean_ns"]
    if not side["latency_min_ns"] * (1 - ROUNDING) <= mean <= side["latency_max_ns"] * (1 + ROUNDING):
        yield f"mean latency {mean:g} lies outside of the least and greatest"
    times = side["times_mean_ns"]
    yield from unlike("parts of the mean latency", sum(times.values()), mean)
    yield from (f"{name} takes {span:g} ns" for name, span in times.items() if span < 0)


def of_streams(streams: list[Mapping[str, Any]], summary: Mapping[str, Any]) -> Iterator[str]:
    """Streams, and their histograms, against the summary."""
    for direction in ("read", "write"):
        sides = [stream[direction] for stream in streams if stream.get(direction)]
        have = summary.get(direction) or {"count": 0, "bytes": 0, "latency_mean_ns": None}
        yield from unlike(f"{direction}s of streams", sum(side["count"] for side in sides), have["count"])
        yield from unlike(f"bytes of {direction}s of streams", sum(side["bytes"] for side in sides), have["bytes"])
        for side in sides:
            held = sum(count for _, count in side["histogram"]["buckets"])
            yield from unlike(f"{direction}s in the histogram", held, side["count"])
        if have["count"]:
            total = sum(int(side["latency_sum_ns"]) for side in sides)
            yield from unlike(f"mean of {direction}s", total / have["count"], have["latency_mean_ns"])


def of_steps(document: Mapping[str, Any]) -> Iterator[str]:
    """Measured phases, which are all of the time and of the I/Os."""
    steps = document.get("steps") or []
    if not steps:
        return
    for key in ("count", "bytes", "errors"):
        yield from unlike(f"{key} of steps", sum(step["summary"][key] for step in steps), document["summary"][key])
    yield from unlike("time of steps", sum(step["duration_ns"] for step in steps), document["duration_ns"])
    for step in steps:
        yield from (f"{step['name']}: {line}" for line in of_side(step["summary"], step["duration_ns"] / 1e9))


def of_series(record: Record) -> Iterator[str]:
    """Each second, or what a measured phase leaves of it, against the whole: I/Os, bytes, and what was outstanding."""
    document, series = record.document, record.series
    all_ns = document["duration_ns"]
    if series is None:
        return
    if series.is_empty():
        yield from ["no rows in the series"] * bool(document["summary"]["count"])
        return
    if series["time_ns"].max() >= all_ns:
        yield f"a row of the series begins at {series['time_ns'].max()} ns of {all_ns}"
    begins = series["time_ns"].unique().sort().to_list()
    length = {begin: (end - begin) / 1e9 for begin, end in pairwise([*begins, all_ns])}
    spans = series["time_ns"].replace_strict(length)
    of = {"iops": "count", "bandwidth_bytes_per_s": "bytes"}
    for column, key in of.items():
        yield from unlike(f"{key} of the series", (series[column] * spans).sum(), document["summary"][key])
    outstanding = (series["queue_depth"] * spans).sum() / (all_ns / 1e9)
    yield from unlike("outstanding in the series", outstanding, document["summary"]["queue_depth_mean"], 1e-5)


def of_repair(document: Mapping[str, Any]) -> Iterator[str]:
    """Times before, without and after a drive, which are all of the time."""
    repair = document.get("repair")
    if not repair:
        return
    service = repair["service"]
    yield from unlike("count of states", sum(one["count"] for one in service), document["summary"]["count"])
    if (errors := sum(one["errors"] for one in service)) < document["summary"]["errors"]:
        yield f"{errors} errors in all states, less than {document['summary']['errors']}"
    yield from unlike("time of states", sum(one["duration_ns"] for one in service), document["duration_ns"])
    for one in repair["rebuilds"]:
        if one["ended_ns"] is not None and not one["began_ns"] <= one["ended_ns"] <= document["duration_ns"]:
            yield f"a rebuild ends at {one['ended_ns']} ns, begun at {one['began_ns']}"
        if one["bytes"] > one["of_bytes"]:
            yield f"a rebuild of {one['of_bytes']} B has rebuilt {one['bytes']}"


def of_energy(document: Mapping[str, Any]) -> Iterator[str]:
    """Energy, which is power times time, of all drives and of each."""
    seconds = document["duration_ns"] / 1e9
    energy = document.get("energy")
    failed = {one["drive"] for one in (document.get("repair") or {}).get("failures", ())}
    powers = [(part["id"], part["power"]) for part in document["parts"] if part.get("power")]
    if not energy:
        return
    yield from unlike("energy of the drives", sum(power["energy_j"] for _, power in powers), energy["energy_j"])
    for name, power in [("all drives", energy), *powers]:
        yield from unlike(f"energy of {name}", power["mean_w"] * seconds, power["energy_j"])
        if not power["energy_low_j"] * (1 - ROUNDING) <= power["energy_j"] <= power["energy_high_j"] * (1 + ROUNDING):
            yield f"energy of {name} lies outside of its range"
        has_failed = name in failed or (failed and power is energy)
        if power["mean_w"] < power["idle_w"] * (1 - ROUNDING) and not has_failed:
            yield f"{name}: {power['mean_w']:g} W, less than at rest"
        for state in power.get("states", ()):
            if state["time_ns"] > document["duration_ns"] * ACTUATORS:
                yield f"{name}: {state['state']} for longer than the run, on {ACTUATORS} actuators"


def of_drives(document: Mapping[str, Any], layout: str | None, under_way: int) -> Iterator[str]:
    """Bytes that drives wrote against those of the host; `under_way` may be counted on one side alone."""
    drives = [part["counters"] for part in document["parts"] if "written_bytes" in part["counters"]]
    host = (document["summary"].get("write") or {"bytes": 0})["bytes"]
    written = sum(drive["written_bytes"] for drive in drives)
    copies = 1 if layout == "" else COPIES.get(layout or "")
    has_failed = bool((document.get("repair") or {}).get("failures"))
    if copies is not None and not has_failed and abs(written - copies * host) > copies * under_way:
        yield f"drives wrote {written} B, {copies} times {host} B were asked for"
    if copies is None and layout is not None and written < host - under_way:
        yield f"drives wrote {written} B of {host} B"
    for drive in drives:
        if drive.get("busy_ns", 0) > document["duration_ns"] * ACTUATORS:
            yield f"a drive was busy for longer than the run, on {ACTUATORS} actuators"
