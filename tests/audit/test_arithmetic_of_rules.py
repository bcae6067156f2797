"""Are the numbers of single rules those of their definitions, at small numbers?"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from made_up import DISK, changed, deep, result

from hotband.base.text.order import natural
from hotband.data.catalog import capacity
from hotband.inference.audit import Audited, bandwidth, caches, lengths, levels, littles_law, steadiness
from hotband.inference.audit.audited import Printed
from hotband.inference.audit.consistency import rates
from hotband.inference.audit.distribution import Distribution, of, sides_of
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding, audit_data, kept, listed, ordered
from hotband.inference.audit.littles_law import HOST_NS, Cell, factor_of, is_idle, outstanding_of_failed, submission_ns


def cell(outstanding: float, declared: int = 10, run: Audited | None = None, **more: Any) -> Cell:
    one = Cell(run or result("a", DISK), declared, outstanding, outstanding, outstanding, 1000.0, 1e6, "ms")
    return replace(one, **more)


@pytest.mark.parametrize(
    ("outstanding", "power"),
    [
        (10.0, 0), (10.5, 0), (10.6, 0), (10_500.0, 1), (10_501.0, 0), (0.5e3, 1), (499.0, 0), (0.499e6, 0), (0.5e6, 2),
        (10.5e6, 2), (10.51e6, 0), (0.0105, -1), (0.01, -1), (0.009, -1), (0.0089, 0), (0.0106, 0), (1e-5, -2),
        (0.89e-5, 0), (5.0, 0),
    ],
)  # fmt: skip
def test_a_wrong_unit_is_a_power_of_a_thousand(outstanding: float, power: int) -> None:
    assert factor_of(cell(outstanding)) == power


def test_a_unit_finding_names_the_worst_of_its_cells() -> None:
    cells = [cell(9e3), cell(18e3, 20), cell(9.5e3)]
    found = littles_law._unit_finding(cells, "ms", 1)
    assert found.title == "The latency of 3 results is wrong by a factor of 1,000"
    assert found.numbers["declared_concurrency"] == 10, "950 times the declared, against 900"
    assert (found.numbers["most_outstanding_as_printed"], found.numbers["most_outstanding_corrected"]) == (18e3, 18.0)
    assert (found.numbers["printed_unit"], found.numbers["real_unit"], found.numbers["factor"]) == ("ms", "us", 1e3)
    assert found.table is not None
    assert list(found.table.rows[0]) == ["a", 1000.0, 1.0, 10, 9e3, 9.0]
    printed = replace(result("a", DISK), printed={"latency": Printed(1.0, 0.1, "ms")})
    (one,) = [littles_law._unit_finding([cell(9e3, run=printed)], "ms", 1)]
    assert one.title == "1 result labels latency in milliseconds, but the values are microseconds"
    assert littles_law._unit_finding([cell(0.01, run=printed)], "s", -1).numbers["real_unit"] == "s"


def test_printed_numbers_have_half_of_their_last_digit_on_either_side() -> None:
    run = replace(
        changed(result("a", DISK), "summary", "iops", to=1000.0),
        printed={"latency": Printed(8.0, 1.0, "msec"), "iops": Printed(1000.0, 100.0, "")},
    )
    (one,) = littles_law.cells_of([run])
    assert (one.least, one.middle, one.most) == pytest.approx((950 * 7.5e-3, 8.0, 1050 * 8.5e-3))
    assert (one.unit, one.latency_ns, one.declared) == ("ms", 8e6, 1)
    (plain,) = littles_law.cells_of([replace(run, printed={})])
    assert plain.least == plain.middle == plain.most
    assert plain.unit == "ns"


def test_failed_ios_were_outstanding_too() -> None:
    run = changed(result("a", DISK), "summary", "error_latency_mean_ns", to=30e9)
    assert outstanding_of_failed(run) == 0.0
    assert outstanding_of_failed(changed(run, "summary", "errors", to=5)) == pytest.approx(5 * 30 / 300)


def test_submission_is_the_mean_of_all_ios() -> None:
    run = result("a", DISK, DISK, read_pct=75.0)
    reads = run.record["streams"][0]["read"]["count"]
    writes = run.record["streams"][0]["write"]["count"]
    run = changed(run, "streams", 0, "read", "submission_mean_ns", to=1000.0)
    assert submission_ns(run) == pytest.approx(1000 * reads / (reads + writes))
    assert submission_ns(changed(run, "streams", to=[])) == 0.0


@pytest.mark.parametrize(("outstanding", "idle"), [(9.5, False), (9.49, True), (3.0, True)])
def test_fewer_outstanding_than_declared_by_a_twentieth_is_idle(outstanding: float, idle: bool) -> None:
    # 10 of them in a cycle of 10 ms.
    assert is_idle(cell(outstanding), 0) is idle
    assert is_idle(cell(1000 * outstanding, least=1.0), 1) is idle


def test_what_the_host_may_take_is_no_idleness() -> None:
    # A cycle of ten I/Os of one job has 200 us for the host, of ten jobs 20 us.
    for jobs, within in ((1, 10 * HOST_NS), (10, HOST_NS)):
        for outside, idle in ((within - 1, False), (within + 1, True)):
            run = changed(result("a", DISK), "source", "asked", "jobs", to=jobs)
            latency = 1e5
            of_cell = cell(9.0, run=run, iops=10 / (latency + outside) * 1e9, latency_ns=latency)
            assert is_idle(of_cell, 0) is idle


LATENCIES = Distribution("histogram", [1e6, 2e6, 4e6], [0.25, 0.5, 1.0], 100)
PRINTED = Distribution("percentiles", [1e6, 2e6, 8e6], [0.5, 0.9, 0.99], 100)


@pytest.mark.parametrize(("share", "at"), [(0.0, 1e6), (0.25, 1e6), (0.26, 2e6), (0.5, 2e6), (0.51, 4e6), (1.0, 4e6)])
def test_a_quantile_of_a_histogram_is_a_bucket(share: float, at: float) -> None:
    assert LATENCIES.quantile(share) == at


@pytest.mark.parametrize(("share", "at"), [(0.49, None), (0.5, 1e6), (0.7, 2e6 / math.sqrt(2)), (0.9, 2e6),
                                           (0.945, 4e6), (0.99, 8e6), (0.991, None)])  # fmt: skip
def test_a_quantile_of_printed_ones_lies_between_them(share: float, at: float | None) -> None:
    assert PRINTED.quantile(share) == (None if at is None else pytest.approx(at))


def test_shares_and_edges_are_those_at_or_below_a_cut() -> None:
    assert [LATENCIES.share_below(cut) for cut in (0.9e6, 1e6, 1.9e6, 2e6, 9e6)] == [0.0, 0.25, 0.25, 0.5, 1.0]
    assert [LATENCIES.edge_below(cut) for cut in (0.9e6, 1e6, 1.9e6, 2e6, 9e6)] == [0.0, 1e6, 1e6, 2e6, 4e6]


def streams(*sides: dict[str, Any]) -> Any:
    return [{"name": "main", "read": one, "write": {"count": 0}} for one in sides]


def test_histograms_of_streams_are_added() -> None:
    one, two = ({"count": count, "histogram": {"kind": kind, "buckets": buckets}} for count, kind, buckets in
                ((4, "fio", [[10, 1], [20, 3]]), (6, "fio", [[20, 1], [30, 5]])))  # fmt: skip
    assert of(streams(one, two), None, ["histogram"]) == Distribution(
        "histogram", [10, 20, 30], [0.1, 0.5, 1.0], 10, 1 / 128
    )
    assert of(streams(one, two | {"histogram": {"kind": "hdr3", "buckets": [[1, 1]]}}), None, ["histogram"]) is None
    assert of(streams(one), "write", ["histogram"]) is None
    found = of(streams(two | {"histogram": {"kind": "hdr3", "buckets": [[1, 1]]}}), "read", ["histogram"])
    assert found is not None
    assert found.resolution == 0.0005
    assert len(sides_of(streams(one, two, {"count": 0}))) == 2


def test_coarse_bins_of_streams_are_weighed_by_their_ios() -> None:
    one, two = ({"count": count, "latency_bins": bins} for count, bins in
                ((30, [[2000.0, 50.0], [None, 50.0]]), (10, [[4000.0, 100.0]])))  # fmt: skip
    found = of(streams(one, two), None, ["bins"])
    assert found == Distribution("bins", [2000.0, 4000.0, math.inf], [0.375, 0.625, 1.0], 40)


def test_printed_percentiles_are_known_to_half_a_bucket_of_fio() -> None:
    one = {"count": 30, "percentiles": [[99.0, 500], [50.0, 100], [1.0, 0]]}
    found = of(streams(one), None, ["histogram", "percentiles"])
    assert found == Distribution("percentiles", [100.0, 500.0], [0.5, 0.99], 30, 1 / 128)
    assert of(streams(one, one), None, ["percentiles"]) is None, "those of two do not merge"


def test_a_noise_is_found_from_second_differences() -> None:
    # Bends of 4, 4 and 16: the median of the squares is 16, their mean 96.
    values = [10.0, 12.0, 10.0, 12.0, 30.0]
    squares = [(-4.0) ** 2, 4.0**2, 16.0**2]
    mean = 74 / 5
    assert steadiness.noise_of(values) == pytest.approx(math.sqrt(squares[1] / 6 / 0.4549) / mean)
    assert steadiness.noise_of(values, "latency") == pytest.approx(math.sqrt(sum(squares) / 3 / 6) / mean)
    assert steadiness.noise_of([5.0, 6.0, 7.0, 8.0]) == 0.0, "a drift is no noise"
    assert steadiness.noise_of([0.0] * 5) == math.inf


def test_the_noise_of_white_noise_is_its_standard_deviation() -> None:
    values = 100 + 3 * np.random.default_rng(1).standard_normal(20_000)
    assert steadiness.noise_of([float(one) for one in values]) == pytest.approx(0.03, rel=0.03)
    assert NormalDist().inv_cdf(0.75) ** 2 == pytest.approx(0.4549, abs=1e-4)


def test_a_step_is_where_two_means_leave_the_least_squares() -> None:
    values = [10.0] * 8 + [5.0] * 8
    found = levels.one_step(values, 3)
    assert found == levels.Step(8, 10.0, 5.0)
    assert found.fall == pytest.approx(0.5)
    assert levels.one_step([10.0] * 8 + [7.0] + [5.0] * 8, 3) in (levels.Step(8, 10.0, 5.0), levels.Step(9, 10.0, 5.0))
    assert levels.cut([1.0] * 5, 3) is None
    assert levels.cut([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], 3) == 3
    assert levels.one_step([float(n) for n in range(1, 17)], 3) is None, "a slope is no step"
    assert levels.Step(1, 0.0, 5.0).fall == 0.0


@pytest.mark.parametrize(("outside", "even"), [(0, True), (1, True), (2, False)])
def test_one_of_eight_samples_may_leave_a_level(outside: int, even: bool) -> None:
    assert levels.is_even([10.0, 11.0, 9.0, 10.5, 9.5, 10.0, 10.0, 10.0][outside:] + [11.1] * outside, 10.0) is even
    assert not levels.is_even([], 10.0)


def test_samples_are_smoothed_into_so_many_pieces() -> None:
    assert levels.smoothed([1.0, 3.0, 5.0, 7.0, 9.0], 2) == [2.0, 6.0]
    assert levels.smoothed([1.0, 3.0], 5) == [1.0, 3.0]


@pytest.mark.parametrize(
    ("kind", "count", "options", "drives"),
    [
        ("single", 1, {}, 1.0), ("concat", 4, {}, 4.0), ("raid0", 4, {}, 4.0), ("raid1", 4, {}, 1.0),
        ("raid10", 6, {}, 3.0), ("raid5", 4, {}, 3.0), ("raid6", 4, {}, 2.0), ("raid50", 8, {}, 6.0),
        ("raid60", 8, {}, 4.0), ("raid60", 9, {"groups": 3}, 3.0), ("raid50", 8, {"groups": 0}, 6.0),
        ("replicated", 6, {}, 0.7 * 2), ("replicated", 6, {"replicas": 2}, 0.7 * 3),
        ("erasure", 6, {}, 0.7 * 3), ("erasure", 6, {"k": 4, "m": 2}, 0.7 * 4), ("controller", 2, {}, 1.0),
        ("raid6", 2, {}, None), ("raid9", 4, {}, None), ("raid5", 0, {}, None), ("raidz2", 2, {}, None),
    ],
)  # fmt: skip
def test_a_layout_gives_so_many_drives(kind: str, count: int, options: dict[str, Any], drives: float | None) -> None:
    found = capacity.usable_bytes(kind, [1e12] * count, options)
    assert found == (None if drives is None else pytest.approx(drives * 1e12))


def test_a_record_of_raid_z_has_parity_for_every_row_and_padding() -> None:
    # 32 sectors of data on 4 + 1 drives are 8 rows: 40 sectors, a multiple of 2.
    assert capacity.usable_bytes("raidz1", [1e12] * 5, {}) == pytest.approx(5e12 * 32 / 40 * 0.8)
    # On 4 + 2 of them 8 rows of two: 48, a multiple of 3. On 5 + 2 of them 7 rows: 46, and 2 of padding.
    assert capacity.usable_bytes("raidz2", [1e12] * 6, {}) == pytest.approx(6e12 * 32 / 48 * 0.8)
    assert capacity.usable_bytes("raidz2", [1e12] * 7, {}) == pytest.approx(7e12 * 32 / 48 * 0.8)
    small = {"record": "8 KiB", "filled": "50 %"}
    assert capacity.usable_bytes("raidz1", [1e12] * 5, small) == pytest.approx(5e12 * 2 / 4 * 0.5)


@pytest.mark.parametrize(
    ("size", "pattern", "share"),
    [
        (2e9, "random", 50),
        (0.5e9, "mixed", 100),
        (20e9, "random", None),
        (19e9, "random", 5),
        (2e9, "sequential", None),
    ],
)
def test_a_read_cache_that_holds_a_twentieth_is_told(size: float, pattern: str, share: int | None) -> None:
    facts = MachineFacts("a disk", "--on", "hdd", 1, read_cache_bytes=1e9, write_cache_bytes=0.0)
    found = caches.check([result("a", DISK, working_set_bytes=size, pattern=pattern)], [facts])
    assert [round(float(one.numbers["share_pct"])) for one in found] == ([] if share is None else [share])
    assert [one.severity for one in found] == ([] if share is None else ["severe" if share >= 50 else "warning"])
    assert all(one.numbers["working_set_needed_bytes"] == pytest.approx(20e9) for one in found)


def flow(ratio: float, printed: Printed | None = None) -> bandwidth.Flow:
    run = replace(result("a", DISK), printed={} if printed is None else {"bandwidth": printed})
    return bandwidth.Flow(run, ratio * 100e6, 100e6, 1e6, "MB/s")


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (2**20 / 1e6, "MB is MiB (2^20 bytes)"), (1e6 / 2**20, "MiB is MB (10^6 bytes)"), (8.0, "bytes are bits"),
        (0.125, "bits are bytes"), (1000.0, "a factor of 1,000"), (1024.0, "a factor of 1,024"), (1.5, ""),
        (8.03, "bytes are bits"), (8.04, ""),
    ],
)  # fmt: skip
def test_a_factor_of_bandwidth_is_named(ratio: float, words: str) -> None:
    assert bandwidth.factor_of(flow(ratio)) == words


def test_usual_distances_are_the_median_of_those_in_time() -> None:
    ends = ("20:00", "20:10", "20:10", "20:40", "22:00")
    runs = [result(f"{n}", DISK, ended=f"2020-01-05T{end}:00Z") for n, end in enumerate(ends)]
    assert lengths.usual_distance(runs) == 30 * 60
    assert lengths.usual_distance(runs[:1]) == 0.0


def test_findings_stand_by_severity_rule_and_subject() -> None:
    given = [
        Finding("one-repeat", "note", ("a",), "t"),
        Finding("drift", "warning", ("qd16",), "t"),
        Finding("bandwidth", "severe", ("a",), "t"),
        Finding("drift", "warning", ("qd2",), "t"),
        Finding("littles-law", "severe", ("b",), "t"),
    ]
    assert [(one.rule, one.subject[0]) for one in ordered(given)] == [
        ("littles-law", "b"), ("bandwidth", "a"), ("drift", "qd2"), ("drift", "qd16"), ("one-repeat", "a")
    ]  # fmt: skip
    assert audit_data(["a"], given)["counts"] == {"severe": 2, "warning": 2, "note": 1}
    assert natural("read-16b") == [(-1, "read-"), (16, ""), (-1, "b")]


def test_names_are_listed_up_to_four() -> None:
    assert listed(["a", "b", "c", "d"]) == "a, b, c, d"
    assert listed(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"
    assert listed(["a" * 61, "b"]) == f"{'a' * 61} and 1 more"
    assert listed(["a" * 60, "b"]) == f"{'a' * 60}, b"


@pytest.mark.parametrize(
    ("value", "found"),
    [(1.0, 1), (1.2345678901234567, 1.23456789012346), (math.inf, "inf"), ("x", "x"), (1e15, 1e15), (1e14, 10**14)],
)
def test_a_number_is_kept_with_fifteen_digits(value: float | str, found: float | str) -> None:
    assert (kept(value), type(kept(value))) == (found, type(found))


def test_sweeps_have_a_concurrency_each() -> None:
    assert [one.concurrency for one in (result("a", DISK), result("b", deep(4), concurrency=4))] == [1, 4]


def test_one_io_in_flight_at_an_end_is_no_contradiction() -> None:
    """A desktop writes now and then: the last write began in the time, and ends after it."""
    seldom = {"queue_depth_mean": 0.0546, "latency_mean_ns": 100_000, "latency_max_ns": 400_000, "count": 1094}
    assert all(claim.holds for claim in rates("", seldom, 2e9))
    assert not all(claim.holds for claim in rates("", {**seldom, "queue_depth_mean": 0.0642}, 2e9))
