"""Planted faults of rule group 0, and of rates that are of no moment or above the wire."""

from __future__ import annotations

from typing import Any

from faulty import Fault
from made_up import DISK, MS, SSD, Shape, changed, deep, result, series

from hotband.base.guess import Guess
from hotband.inference.audit import Audited
from hotband.inference.audit.facts import of_machine

PRINTED = ("streams", 0, "read", "printed")
LAST = 17_112_760_320


def printed(one: Audited, **figures: Any) -> Audited:
    """The same with what fio printed of its reads, of which some figures are changed."""
    side = one.record["streams"][0]["read"]
    right = {
        "count": side["count"],
        "iops": one.record["summary"]["iops"],
        "bandwidth_bytes_per_s": one.record["summary"]["bandwidth_bytes_per_s"],
        "runtime_ns": one.record["duration_ns"],
        "samples": side["count"],
        "iops_min": None,
        "iops_mean": None,
        "iops_max": None,
        "iops_samples": None,
        "short_ios": 0,
        "dropped_ios": 0,
    }
    return changed(one, *PRINTED, to=right | figures)


def failing(errors: int, *ended: str) -> Audited:
    """A result of which so many I/Os failed."""
    one = changed(result("a", SSD, concurrency=4), "source", "job_errors", to=list(ended))
    for path in (("summary",), ("summary", "read"), ("streams", 0, "read")):
        one = changed(one, *path, "errors", to=errors)
    return one


def engine(name: str) -> Audited:
    """A result of an engine of fio's."""
    return result("a", SSD, spec={"global": {}, "jobs": {"job": {"ioengine": name, "rw": "randread"}}})


def cut(value: int, pct: float) -> Audited:
    """A result with a percentile in the last bucket, and a longer maximum."""
    one = result("a", [(1.0, Shape(3 * MS, 8 * MS, 1.0))], kind="json")
    points = [point for point in one.record["streams"][0]["read"]["percentiles"] if point[0] < pct]
    for path in (("summary",), ("summary", "read"), ("streams", 0, "read")):
        one = changed(one, *path, "latency_max_ns", to=3 * value)
    return changed(one, "streams", 0, "read", "percentiles", to=[*points, [pct, value]])


def guessed(*others: str) -> Audited:
    """A result whose files leave readings open."""
    guesses = [Guess("a.log: values are read in ns", other, "set unit").to_dict() for other in others]
    return changed(result("a", DISK), "source", "guesses", to=guesses)


def overloaded(requested: float, reached: float, tool: str = "fio") -> Audited:
    """An open loop that does not reach its rate."""
    return changed(
        result("a", SSD, tool=tool, rate=reached, concurrency=None), "source", "asked", "rate_iops", to=requested
    )


def gap(*empty: int) -> Audited:
    """A disk at depth 16 without I/O in some seconds of 300."""
    over_time = series([190.0], 300, 84e6, 0.01)
    kept = over_time.filter(~(over_time["time_ns"] / 1e9).is_in([float(second) for second in empty]))
    return result("a", deep(16), concurrency=16, over_time=kept)


def moved(megabytes_per_s: float, size: int, **more: Any) -> Audited:
    """Direct reads of a size at a bandwidth, 32 at a time."""
    latency = 32 * size / megabytes_per_s * 1e3
    return result("a", [(1.0, Shape(latency * 0.98, latency * 0.02))], concurrency=32, size=size, **more)


ITSELF = [
    Fault("contradiction", "a mean above the maximum", lambda: [
        changed(result("a", DISK, kind="json"), "streams", 0, "read", "latency_max_ns", to=9_000_000)],
        {}, None, "severe", frozenset({"littles-law"})),
    Fault("contradiction", "p99 below the median", lambda: [
        changed(result("a", DISK, kind="json"), "streams", 0, "read", "percentiles", to=[[50, 9e6], [99, 8e6]])],
        {}, None, "severe", frozenset({"percentile-support"})),
    Fault("contradiction", "it ran longer than its process", lambda: [
        changed(result("a", DISK, kind="json"), "source", "elapsed_ns", to=120 * 10**9)],
        {"contradictions": 1, "stated": 300e9}, None, "severe"),
    Fault("contradiction", "it ran longer than between its timestamps", lambda: [
        changed(result("a", DISK, ended="2020-01-05T20:01:00Z"), "source", "began", to="2020-01-05T20:00:00Z")],
        {"contradictions": 1, "stated": 300e9}, None, "severe"),
    Fault("contradiction", "a printed rate of another run", lambda: [printed(result("a", DISK), iops=1200.0)],
        {"contradictions": 1, "stated": 1200.0}, None, "severe"),
    Fault("failed-ios", "half of them", lambda: [failing(100_000)],
        {"failed": 100_000, "jobs_ended_with_errors": 0}, None, "severe"),
    Fault("failed-ios", "the first ended the job", lambda: [failing(1, "a: error 5 (EIO)")],
        {"failed": 1, "jobs_ended_with_errors": 1}, None, "severe"),
    Fault("failed-ios", "none counted, two jobs ended", lambda: [
        failing(0, "a: error 5 (EIO)", "b: error 28 (ENOSPC)")],
        {"failed": 0, "jobs_ended_with_errors": 2}, None, "severe"),
    Fault("no-storage", "null", lambda: [engine("null")], {"engine": "null"}, None, "severe"),
    Fault("no-storage", "processor time", lambda: [engine("cpuio")], {"engine": "cpuio"}, None, "severe"),
    Fault("no-storage", "creating files", lambda: [engine("filecreate")], {"engine": "filecreate"}, None, "severe"),
    Fault("percentile-cut", "p99.9", lambda: [cut(LAST, 99.9)], {"percentile": 99.9}, None, "severe"),
    Fault("percentile-cut", "p95 of a device that hangs", lambda: [cut(LAST, 95.0)],
        {"percentile": 95.0}, None, "severe"),
    Fault("percentile-cut", "p99.99", lambda: [cut(LAST, 99.99)],
        {"bucket_s": 17.1, "latency_max_s": 51.3}, None, "severe"),
    Fault("overload", "a disk", lambda: [overloaded(20_000, 718)],
        {"requested_iops": 20_000, "iops": 718, "share_pct": 3.59}, None, "warning"),
    Fault("overload", "a tenth is missing", lambda: [overloaded(1000, 900)], {"share_pct": 90.0}, None, "warning"),
    Fault("overload", "vdbench", lambda: [overloaded(5000, 4000, "vdbench")], {"share_pct": 80.0}, None, "warning"),
    Fault("guessed-reading", "a unit", lambda: [guessed("us")], {"guesses": 1}, None, "warning"),
    Fault("guessed-reading", "the order of jobs", lambda: [guessed("in turn")], {"guesses": 1}, None, "warning"),
    Fault("guessed-reading", "two readings", lambda: [guessed("us", "2 s")], {"guesses": 2}, None, "warning"),
    Fault("tool-warning", "short I/Os", lambda: [printed(result("a", DISK), short_ios=7)],
        {"short": 7}, None, "warning"),
    Fault("tool-warning", "dropped I/Os", lambda: [printed(result("a", DISK), dropped_ios=3)], {"dropped": 3}),
    Fault("tool-warning", "a line before the result", lambda: [
        changed(result("a", DISK), "notes", to=["warning of fio: queue depth will be capped at 1"])], {"warnings": 1}),
    Fault("invalid-emulation", "late completions", lambda: [
        changed(result("a", DISK), "notes", to=["INVALID: I/Os completed late: p99 of the emulation delay is 2 ms"])],
        {"reasons": 1}, None, "severe"),
    Fault("invalid-emulation", "a client that waited", lambda: [
        changed(result("a", DISK), "notes", to=["state", "INVALID: the client waited longer than the server took"])],
        {"reasons": 1}, None, "severe"),
    Fault("invalid-emulation", "two reasons", lambda: [
        changed(result("a", DISK), "notes", to=["INVALID: the host is too busy", "INVALID: flushes differ"])],
        {"reasons": 2}, None, "severe"),
    Fault("stall", "a second of five minutes", lambda: [gap(100)], {"intervals_without_io": 1, "intervals": 300}),
    Fault("stall", "ten seconds in a row", lambda: [gap(*range(200, 210))],
        {"intervals_without_io": 10}, None, "warning",
        frozenset({"drift", "warm-up-measured", "no-steady-state"})),
    Fault("stall", "a sample of fio's", lambda: [
        printed(result("a", DISK), iops_min=0, iops_mean=83.0, iops_max=120, iops_samples=600)],
        {"samples": 600}, None, "warning"),
    Fault("jobs-ended-apart", "samples above the whole", lambda: [
        printed(result("a", DISK), iops_min=50, iops_mean=115.0, iops_max=150, iops_samples=600)], {"ratio": 1.36}),
    Fault("jobs-ended-apart", "samples below the whole", lambda: [
        printed(result("a", DISK), iops_min=5, iops_mean=42.0, iops_max=90, iops_samples=600)], {"ratio": 0.5}),
    Fault("jobs-ended-apart", "a quarter more", lambda: [
        printed(result("a", SSD, concurrency=8), iops_min=9000, iops_mean=95_500.0, iops_max=2e5, iops_samples=600)],
        {"ratio": 1.25}),
    Fault("faster-than-link", "a SATA disk", lambda: [moved(5300, 1 << 20, pattern="sequential")],
        {"bound_bytes_per_s": 600e6, "bound_by": "ports"}, of_machine("exos-x16-16tb"), "severe"),
    Fault("faster-than-link", "the media of a disk", lambda: [moved(400, 1 << 20, pattern="sequential")],
        {"bound_bytes_per_s": 261e6, "bound_by": "media"}, of_machine("exos-x16-16tb"), "severe"),
    Fault("faster-than-link", "random reads of an SSD on PCI Express 4.0 x4", lambda: [moved(9000, 4096)],
        {"bound_bytes_per_s": 7.876e9, "bound_by": "ports"}, of_machine("7450-pro-3840"), "severe",
        frozenset({"cache-served"})),
]  # fmt: skip
