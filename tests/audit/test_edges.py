"""Does each tolerance end where its rule says it does: quiet just within, a finding just beyond?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from faulty import half, lasting, pair
from made_up import CACHED_WRITE, DISK, SSD, Shape, changed, clock, deep, result, scaled, series

from hotband.inference.audit import Audited, findings
from hotband.inference.audit.facts import MachineFacts, of_machine, of_media

MEAN, FLOW = ("summary", "latency_mean_ns"), ("summary", "bandwidth_bytes_per_s")
SEVENTY_TWO = of_media("7200rpm")
SMALL_SSD = MachineFacts("an SSD", "--on", "ssd", 1, capacity_bytes=1e9, raw_bytes=1e9)


def counted(ios: int) -> list[Audited]:
    """A result of so many I/Os, as its summary has them."""
    one = changed(result("a", DISK, kind="json"), "summary", "count", to=ios)
    return [changed(one, "summary", "read", "count", to=ios)]


def written(share: float) -> list[Audited]:
    """A result that writes a share of 1 GB."""
    return [changed(result("a", None, SSD, read_pct=0.0), "summary", "write", "bytes", to=round(share * 1e9))]


def late(hours: float) -> list[Audited]:
    """Six depths twice, an hour apart, of which the second was made again so much after the last."""
    depths = (1, 2, 4, 8, 16, 32)
    ends = [clock(place if depth != 2 else 5 + hours) for place, depth in enumerate(depths)]
    return [result(f"qd{d}", deep(d), concurrency=d, ended=e) for d, e in zip(depths, ends, strict=True)]


def with_slat(share: float) -> list[Audited]:
    """fio with submission that takes a share of its completion latency."""
    one = result("a", SSD, concurrency=4, busy=1 / (1 + share))
    mean = one.record["summary"]["latency_mean_ns"]
    return [changed(one, "streams", 0, "read", "submission_mean_ns", to=share * mean)]


def levels(first: float) -> list[Audited]:
    """A result whose first 24 of 300 s are at another level."""
    return [result("a", SSD, concurrency=32, over_time=series([first] * 2 + [100.0] * 23, 300, 9e4, 0.0))]


Edge = tuple[str, Callable[[float], Sequence[Audited]], float, float, MachineFacts | None]
EDGES: list[Edge] = [
    ("littles-law", lambda by: [scaled(result("a", deep(8), concurrency=8), *MEAN, by=by)], 1.04, 1.06, None),
    ("idle-concurrency", lambda busy: [result("a", deep(8), concurrency=8, busy=busy)], 0.96, 0.94, None),
    ("latency-unit", lambda by: [scaled(result("a", DISK), *MEAN, by=by)], 1.0, 1000.0, None),
    ("bandwidth", lambda by: [scaled(result("a", DISK), *FLOW, by=by)], 1.009, 1.012, None),
    ("bandwidth-unit", lambda by: [scaled(result("a", DISK), *FLOW, by=1 / by)], 1.005, 1.0485, None),
    ("cache-served", lambda share: [result("a", slow_and(share))], 0.14, 0.16, SEVENTY_TWO),
    ("cache-served", lambda share: [result("a", half(share))], 0.025, 0.035, SEVENTY_TWO),
    ("cache-served", lambda share: [result("a", half(share), kind="json")], 0.09, 0.11, None),
    (
        "below-half-revolution",
        lambda ms: [result("a", None, [(1.0, Shape(0.0, ms * 1e6, 0.1))], read_pct=0.0)],
        2.1,
        1.9,
        of_machine("cheetah-15k4"),
    ),
    ("short-run", lambda s: [result("a", DISK, seconds=s, duration_ns=300 * 10**9, ramp_ns=0)], 295.0, 293.0, None),
    ("shorter-than-others", lambda s: lasting(300, s, 300), 151.0, 149.0, None),
    ("percentile-support", lambda ios: counted(round(ios)), 3688, 3687, None),
    ("out-of-sequence", late, 2.9, 3.1, None),
    ("warm-up-measured", levels, 94.0, 85.0, None),
    ("not-preconditioned", written, 1.01, 0.99, SMALL_SSD),
    (
        "working-set-in-cache",
        lambda gb: [result("a", DISK, working_set_bytes=round(gb * 1e9))],
        2.6,
        2.5,
        of_machine("ent-10k"),
    ),
    (
        "unequal-data",
        lambda part: pair({"working_set_bytes": 10**12}, {"working_set_bytes": round(part * 1e12)}),
        0.96,
        0.94,
        None,
    ),
    ("tool-version", with_slat, 0.09, 0.11, None),
    ("working-set-in-cache", lambda mb: writes_over(mb), 33.0, 32.0, of_machine("ent-10k")),
]


def slow_and(share: float) -> list[tuple[float, Shape]]:
    """A disk with a share of reads between an eighth and a quarter of a revolution."""
    return [(share, Shape(1.2e6, 0.3e6, 0.2)), (1 - share, Shape(4.5e6, 8e6))]


def writes_over(megabytes: float) -> list[Audited]:
    """Random writes to a cached disk over so much."""
    return [result("a", None, CACHED_WRITE, read_pct=0.0, working_set_bytes=round(megabytes * 1e6))]


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge[0]} {edge[2]} {edge[3]}")
def test_a_tolerance_ends_there(edge: Edge) -> None:
    rule, make, within, beyond, machine = edge
    assert rule not in {one.rule for one in findings(make(within), machine)}
    assert rule in {one.rule for one in findings(make(beyond), machine)}


@pytest.mark.parametrize("spec", [{}, {"global": {}, "jobs": {}}, {"global": {}, "jobs": {"a": {}}}])
def test_options_that_are_not_known_are_not_taken_for_defaults(spec: dict[str, Any]) -> None:
    run = result("a", SSD, direct=None)
    assert [one.title for one in findings([changed(run, "spec", to=spec)], None) if one.rule == "tool-version"] == []
    known = changed(run, "spec", to={"global": {}, "jobs": {"a": {"rw": "randread"}}})
    assert [one.numbers["trap"] for one in findings([known], None) if one.rule == "tool-version"] == ["buffered"]


@pytest.mark.parametrize(("ios", "most"), [(3235, "p99.8"), (2000, "p99.8"), (36, "p90.2"), (3, "p29.2")])
def test_the_percentile_to_quote_at_most_is_cut_not_rounded(ios: int, most: str) -> None:
    # 3,235 I/Os support p99.886: p99.9 needs 3,688.
    [one] = [one for one in findings(counted(ios), None) if one.rule == "percentile-support"]
    assert f"quote {most} at most" in one.advice


@pytest.mark.parametrize("ended", ["2023-11-14T22:23:20Z", "2023-11-14T23:23:20+01:00", "2023-11-14T22:23:20"])
def test_times_of_any_zone_are_compared_as_utc(ended: str) -> None:
    run = changed(result("a", DISK), "source", "began", to="2023-11-14T22:13:20Z")
    run = changed(run, "source", "ended", to=ended)
    assert run.ended is not None
    assert run.ended.isoformat() == "2023-11-14T22:23:20"
    assert "contradiction" not in {finding.rule for finding in findings([run], None)}
