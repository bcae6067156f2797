"""Faults planted in right results: each changes one thing, and says by which rule and with which numbers it is
found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from made_up import DISK, MS, SSD, US, Shape, changed, clock, deep, result, series

from hotband.data.record.stats import SUMMARY_PERCENTILES, percentile
from hotband.inference.audit import Audited
from hotband.inference.audit.facts import MachineFacts, of_media

SEVENTY_TWO = of_media("7200rpm")
SMALL_SSD = MachineFacts("an SSD", "--on", "ssd", 1, capacity_bytes=1e12, raw_bytes=1e12, read_time_ns=60e3)
HITS = Shape(250 * US, 350 * US, 0.25)
SLOW_SSD = [(1.0, Shape(200 * US, 600 * US, 0.3))]
WHOLE = ("summary", "latency_mean_ns")


@dataclass(frozen=True)
class Fault:
    """Results with a fault, its rule, some of the numbers that name it, and rules that may speak of it, too."""

    rule: str
    name: str
    make: Callable[[], Sequence[Audited]]
    numbers: dict[str, Any]
    machine: MachineFacts | None = None
    severity: str = ""
    also: frozenset[str] = field(default_factory=frozenset)


def half(share: float) -> list[tuple[float, Shape]]:
    """A disk of which a cache answers a share."""
    return [(share, HITS), (1 - share, Shape(4.5 * MS, 8 * MS))]


def sweep(**more: Any) -> list[Audited]:
    """Three repeats of four depths, in the order of depth."""
    return [
        result(f"qd{depth}-{again}", deep(depth), concurrency=depth, ended=clock(3 * place + again), **more)
        for place, depth in enumerate((1, 4, 16, 64))
        for again in range(3)
    ]


def points(*late: int, depths: Sequence[int] = (1, 2, 4, 8, 16, 32)) -> list[Audited]:
    """A sweep an hour apart of which some depths were made again a night later, each depth once."""
    return [
        result(f"qd{depth}", deep(depth), concurrency=depth, ended=clock(place + (12 if depth in late else 0)))
        for place, depth in enumerate(depths)
    ]


def lasting(*seconds: float) -> list[Audited]:
    """Repeats of one load for so many seconds each."""
    return [result(f"run{place}", SSD, seconds=own, slower=1 + place / 300) for place, own in enumerate(seconds)]


def pair(first: dict[str, Any], second: dict[str, Any]) -> list[Audited]:
    """Two targets, three repeats each, the second half as fast."""
    return [
        result(
            f"{target[-1]}{again}", deep(4), target=target, **({"concurrency": 4} | more), slower=slower + again / 300
        )
        for target, slower, more in (("/dev/sda", 1.0, first), ("/dev/sdb", 2.0, second))
        for again in range(3)
    ]


def equal(ratio: float, noise: float, repeats: int) -> list[Audited]:
    """Two targets whose rates differ by little, one run each with samples, or several without."""
    found = []
    for target, rate in (("/dev/sda", 200.0), ("/dev/sdb", 200.0 * ratio)):
        for again in range(repeats):
            seed = again + 10 * (target == "/dev/sdb")
            own = series([rate], 300, 80 * MS, noise, seed) if repeats == 1 else None
            slower = 200.0 / rate * (1 + noise * (again - 1))
            found.append(
                result(f"{target[-1]}{again}", deep(16), concurrency=16, target=target, slower=slower, over_time=own)
            )
    return found


def with_streams(*shapes: list[tuple[float, Shape]], weights: Sequence[float], pct: str, plain: bool) -> Audited:
    """A result of several clients whose quoted percentile is the mean of theirs."""
    parts = [result(f"c{n}", shape, concurrency=4) for n, shape in enumerate(shapes)]
    streams = []
    for number, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        own = {**part.record["streams"][0], "name": f"client {number}"}
        one = own["read"]
        factor = weight * 20000 / one["count"]
        buckets = [[v, max(1, round(c * factor))] for v, c in one["histogram"]["buckets"]]
        count = sum(c for _, c in buckets)
        own["read"] = one | {"count": count, "bytes": 4096 * count, "histogram": {"kind": "fio", "buckets": buckets}}
        streams.append(own)
    counts = [stream["read"]["count"] for stream in streams]
    histograms = [stream["read"]["histogram"] for stream in streams]
    quoted = [percentile(histogram, SUMMARY_PERCENTILES[pct]) or 0 for histogram in histograms]
    mean = sum(quoted) / len(quoted) if plain else sum(q * c for q, c in zip(quoted, counts, strict=True)) / sum(counts)
    found = changed(parts[0], "streams", to=streams)
    for scope in ((), ("read",)):
        found = changed(found, "summary", *scope, pct, to=round(mean))
    return changed(changed(found, "concurrency", to=None), "source", "asked", "concurrency", to=None)


def fio_group(asked: dict[str, Any], **more: Any) -> Audited:
    """A fio group whose entry carries the options of its first job."""
    one = result("group", DISK, **({"group_reporting": True, "jobs": 4, "concurrency": 4} | more))
    for key, value in asked.items():
        one = changed(one, "source", "asked", key, to=value)
    return one


def smart(fills: float) -> list[Audited]:
    """A model's record of an SSD of 1 TB that hosts had written so many times over."""
    one = changed(result("ssd", None, SSD, read_pct=0.0, concurrency=32), "target", "kind", to="model")
    begin = {"host_bytes": fills * 1e12}
    return [changed(one, "smart", to=[{"drive": "d0", "at_begin": begin, "at_end": begin}])]


def with_spec(one: Audited, **options: str) -> Audited:
    """With other options of fio's."""
    return changed(one, "spec", to={"global": options, "jobs": {}})


def slow_submission(share: float) -> Audited:
    """fio's completion latency, with submission that takes a share of it on top."""
    one = result("slat", SSD, concurrency=8, busy=1 / (1 + share))
    mean = one.record["summary"]["latency_mean_ns"]
    return changed(one, "streams", 0, "read", "submission_mean_ns", to=share * mean)
