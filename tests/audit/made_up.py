"""Results that are right by construction, for rules to be quiet on, and from which faults are made by changing one
thing.

A result is made from a shape of latencies and a concurrency: its rate follows from Little's law, its percentiles from
the shape. Numbers are drawn from a seed of their own, so that each result is the same in every run.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import polars as pl

from hotband.data.record.stats import merge, percentile
from hotband.inference.audit import Audited

MS, US = 1e6, 1e3
STANDARD = NormalDist()
PRINTED = (1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99)
EDGES = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000]
"""fio's coarse bins of a unit."""


@dataclass(frozen=True)
class Shape:
    """Latencies as quantiles: a shift and a log-normal part on top, or several such in shares."""

    shift_ns: float
    median_ns: float
    sigma: float = 0.4

    def quantile(self, share: float) -> float:
        """The latency at a share of the I/Os."""
        return self.shift_ns + self.median_ns * math.exp(self.sigma * normal(share))


def normal(share: float) -> float:
    """The standard normal quantile."""
    return STANDARD.inv_cdf(min(max(share, 1e-9), 1 - 1e-9))


def points(shapes: Sequence[tuple[float, Shape]], count: int = 2000) -> list[float]:
    """Return so many latencies that together have the shapes in their shares."""
    return list(sampled(tuple(shapes), count))


@functools.cache
def sampled(shapes: tuple[tuple[float, Shape], ...], count: int) -> tuple[float, ...]:
    """Return the latencies of `points`: many results have the same shapes."""
    found: list[float] = []
    for share, shape in shapes:
        own = max(1, round(count * share))
        found += [shape.quantile((place + 0.5) / own) for place in range(own)]
    return tuple(sorted(found))


# A 7,200 rpm disk at depth 1: positioning of 3 to 25 ms. At depth n each I/O waits for n.
DISK = [(1.0, Shape(3 * MS, 8 * MS))]
SSD = [(1.0, Shape(60 * US, 40 * US, 0.3))]
FAST = [(1.0, Shape(8 * US, 4 * US, 0.2))]
CACHED_WRITE = [(1.0, Shape(100 * US, 50 * US, 0.3))]


def deep(depth: int) -> list[tuple[float, Shape]]:
    """The disk at a depth: it sorts its queue, so a turn takes half as long from 16 on."""
    turn = 1.0 if depth < 16 else 0.5
    return [(1.0, Shape(3 * MS, 10 * MS * depth * turn, 0.6))]


def side(latencies: Sequence[float], count: int, size: int, kind: str, ratio: float = 1.0) -> dict[str, Any]:
    """The reads or writes of a stream; `kind` says what the source printed of them: plus, json, percentiles or mean."""
    mean = sum(latencies) / len(latencies) * ratio
    found: dict[str, Any] = {
        "count": count,
        "bytes": count * size,
        "errors": 0,
        "latency_sum_ns": str(round(mean * count)),
        "latency_min_ns": round(latencies[0]),
        "latency_max_ns": round(latencies[-1] * (1.0 if kind == "plus" else 1.2)),
        "histogram": {"kind": "none", "buckets": []},
    }
    if kind == "plus":
        buckets: dict[int, int] = {}
        for place, value in enumerate(latencies):
            number = (place + 1) * count // len(latencies) - place * count // len(latencies)
            if number:
                buckets[round(value)] = buckets.get(round(value), 0) + number
        found["histogram"] = {"kind": "fio", "buckets": [[value, buckets[value]] for value in sorted(buckets)]}
    if kind in ("json", "percentiles"):
        found["percentiles"] = [[pct, round(at(latencies, pct))] for pct in PRINTED]
    if kind == "json":
        found["latency_bins"] = bins(latencies)
    return found


def at(latencies: Sequence[float], pct: float) -> float:
    """The latency at a percentile."""
    return latencies[min(len(latencies) - 1, math.ceil(round(pct / 100 * len(latencies), 6)) - 1)]


def bins(latencies: Sequence[float]) -> list[list[float]]:
    """fio's coarse bins."""
    edges = [edge * unit for unit in (1.0, US, MS) for edge in EDGES] + [2e9]
    found, low = [], 0.0
    for edge in edges:
        share = sum(low <= value < edge for value in latencies) / len(latencies)
        if share:
            found.append([edge, 100 * share])
        low = edge
    return found


def figures(sides: Sequence[Mapping[str, Any]], seconds: float, latencies: Sequence[float]) -> dict[str, Any]:
    """A block of a summary."""
    count = sum(one["count"] for one in sides)
    if not count:
        return {"iops": 0.0, "bandwidth_bytes_per_s": 0.0, "count": 0, "bytes": 0, "errors": 0}
    sides = [one for one in sides if one["count"]]
    total = sum(int(one["latency_sum_ns"]) for one in sides)
    merged = merge(one["histogram"] for one in sides)
    return {
        "iops": count / seconds,
        "bandwidth_bytes_per_s": sum(one["bytes"] for one in sides) / seconds,
        "count": count,
        "bytes": sum(one["bytes"] for one in sides),
        "errors": 0,
        "latency_mean_ns": total / count,
        "latency_min_ns": min(one["latency_min_ns"] for one in sides),
        "latency_p50_ns": percentile(merged, 50) or round(at(latencies, 50)),
        "latency_p99_ns": percentile(merged, 99) or round(at(latencies, 99)),
        "latency_p999_ns": percentile(merged, 99.9) or round(at(latencies, 99.9)),
        "latency_max_ns": max(one["latency_max_ns"] for one in sides),
        "queue_depth_mean": total / seconds / 1e9,
    }


def series(
    levels: Sequence[float], seconds: float, latency_ns: float, noise: float = 0.01, seed: int = 1, reads: float = 1.0
) -> pl.DataFrame:
    """A row a second and direction: rates at levels that share the time, with noise."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for second in range(int(seconds)):
        level = levels[second * len(levels) // int(seconds)] * (1 + noise * draw.gauss(0, 1))
        for direction, share in (("read", reads), ("write", 1 - reads)):
            if share:
                rows.append(
                    {
                        "time_ns": second * 1e9,
                        "stream": "main",
                        "direction": direction,
                        "iops": level * share,
                        "bandwidth_bytes_per_s": level * share * 4096,
                        "latency_mean_ns": latency_ns * (1 + noise * draw.gauss(0, 1)),
                        "latency_p99_ns": None,
                        "queue_depth": None,
                    }
                )
    return pl.DataFrame(rows, schema_overrides={"latency_p99_ns": pl.Float64, "queue_depth": pl.Float64})


ASKED: dict[str, Any] = {
    "duration_ns": 300 * 10**9,
    "ramp_ns": 10 * 10**9,
    "concurrency": 1,
    "jobs": 1,
    "block_bytes": 4096,
    "read_pct": 100.0,
    "pattern": "random",
    "working_set_bytes": None,
    "offset_begin_bytes": 0,
    "direct": True,
    "seed": "fresh",
    "seed_text": None,
    "rate_iops": None,
    "group_reporting": False,
    "time_based": True,
}


def result(
    name: str,
    reads: Sequence[tuple[float, Shape]] | None = None,
    writes: Sequence[tuple[float, Shape]] | None = None,
    *,
    tool: str = "fio",
    version: str | None = "3.33",
    target: str = "/dev/sdb",
    concurrency: int | None = 1,
    seconds: float = 300,
    size: int = 4096,
    read_pct: float = 100.0,
    kind: str = "plus",
    ended: str | None = None,
    busy: float = 1.0,
    over_time: pl.DataFrame | None = None,
    spec: Mapping[str, Any] | None = None,
    rate: float | None = None,
    slower: float = 1.0,
    **asked: Any,
) -> Audited:
    """One result of a tool: a closed loop that keeps its concurrency, or an open one of a rate."""
    shapes = {"read": reads, "write": writes}
    shares = {"read": read_pct / 100, "write": 1 - read_pct / 100}
    values = {key: [slower * v for v in points(own)] if own else [] for key, own in shapes.items()}
    mean = sum(shares[key] * sum(own) / len(own) for key, own in values.items() if own)
    iops = rate if rate is not None else busy * (concurrency or 1) * 1e9 / mean
    whole = iops * seconds
    sides = {
        key: side(own, round(whole * shares[key]), size, kind) if own else {**EMPTY} for key, own in values.items()
    }
    both = sorted(values["read"] * round(10 * shares["read"]) + values["write"] * round(10 * shares["write"]))
    given = ASKED | {"duration_ns": round(seconds * 1e9), "concurrency": concurrency, "block_bytes": size}
    given |= {"read_pct": read_pct, "rate_iops": rate} | asked
    summary = figures(list(sides.values()), seconds, both)
    summary |= {key: figures([sides[key]], seconds, values[key] or [0.0]) for key in sides}
    options = {"global": {"ioengine": "libaio", "direct": "1"}, "jobs": {"job": {"rw": "randread"}}}
    record = {
        "schema": "hotband-record",
        "schema_version": 1,
        "versions": {"hotband": "0.1.0"},
        "name": f"job on {target}",
        "target": {"kind": tool, "machine": target},
        "source": {
            "tool": tool,
            "version": version,
            "file": f"{name}.json",
            "began": None,
            "ended": ended,
            "asked": given,
            "target": target,
            "host": None,
        },
        "seed": None,
        "spec": dict(spec) if spec is not None else (options if tool == "fio" else {}),
        "duration_ns": round(seconds * 1e9),
        "concurrency": None if rate is not None else concurrency,
        "summary": summary,
        "streams": [{"name": "main", **sides}],
        "parts": [],
        "series": None if over_time is None else {"interval_ns": 10**9, "file": "series.parquet"},
        "notes": [],
    }
    return Audited(name, record, over_time)


EMPTY: dict[str, Any] = {
    "count": 0,
    "bytes": 0,
    "errors": 0,
    "latency_sum_ns": "0",
    "latency_min_ns": None,
    "latency_max_ns": None,
    "histogram": {"kind": "fio", "buckets": []},
}


def changed(one: Audited, *path: str | int, to: Any) -> Audited:
    """The same with one value of its record changed."""
    import copy

    record = copy.deepcopy(dict(one.record))
    place: Any = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return replace(one, record=record)


def scaled(one: Audited, *path: str | int, by: float) -> Audited:
    """The same with one number of its record multiplied."""
    place: Any = one.record
    for key in path:
        place = place[key]
    return changed(one, *path, to=place * by)


def clock(hour: float) -> str:
    """A time of an evening and the night after it, in hours from 20:00."""
    from datetime import datetime, timedelta

    return (datetime(2020, 1, 5, 20) + timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%SZ")


TABLE = "id,study,config,workload,metric,value,unit,kind,caveat\n"


def table(*cells: tuple[str, str, Mapping[str, tuple[str, str, str]]]) -> str:
    """A published table: cells of (configuration, workload, metric -> (value, unit, caveat))."""
    rows = [
        f't-{number},t,{config},"{workload}",{metric},{value},{unit},measured,{caveat}'
        for number, (config, workload, metrics) in enumerate(cells)
        for metric, (value, unit, caveat) in metrics.items()
    ]
    return TABLE + "\n".join(rows) + "\n"
