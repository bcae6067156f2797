"""Do the histogram functions give what pencil and paper give?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotband.base.errors import UserError
from hotband.data.documents.sides import Histogram, Side
from hotband.data.record.stats import idle_side, mean, merge, percentile, rates_of, summary_of, total


def histogram(*buckets: tuple[int, int], kind: str = "fio") -> Histogram:
    return {"kind": kind, "buckets": [list(bucket) for bucket in buckets]}


def side(count: int, sum_ns: int | None, *buckets: tuple[int, int], kind: str = "fio") -> Side:
    return {
        "count": count,
        "bytes": count * 512,
        "errors": 0,
        "latency_sum_ns": None if sum_ns is None else str(sum_ns),
        "latency_min_ns": None if sum_ns is None else 10,
        "latency_max_ns": None if sum_ns is None else 90,
        "histogram": histogram(*buckets, kind=kind),
    }


def test_merge_adds_counts_and_sorts() -> None:
    merged = merge([histogram((30, 1), (50, 2)), histogram((10, 4), (30, 5))])
    assert merged == {"kind": "fio", "buckets": [[10, 4], [30, 6], [50, 2]]}


def test_merge_with_unknown_buckets_is_unknown() -> None:
    assert merge([histogram((30, 1)), histogram(kind="none")]) == {"kind": "none", "buckets": []}


def test_merge_refuses_two_kinds() -> None:
    with pytest.raises(ValueError, match="fio, hdr3"):
        merge([histogram((1, 1)), histogram((1, 1), kind="hdr3")])


@pytest.mark.parametrize(("q", "value"), [(0, 10), (25, 10), (25.1, 20), (50, 20), (75, 30), (75.01, 40), (100, 40)])
def test_percentile_of_four_is_tight_at_the_rank(q: float, value: int) -> None:
    assert percentile(histogram((10, 1), (20, 1), (30, 1), (40, 1)), q) == value


def test_percentile_rank_is_decimal() -> None:
    # ceil(99.9/100 * 1000) is 999; with the binary 99.9 it would be 1000.
    assert percentile(histogram((1, 999), (2, 1)), 99.9) == 1


def test_percentile_of_nothing_is_none() -> None:
    assert percentile(histogram(), 50) is None


def test_percentile_refuses_101() -> None:
    with pytest.raises(UserError, match="101"):
        percentile(histogram((1, 1)), 101)


def test_mean_weighs_by_count() -> None:
    assert mean(histogram((10, 3), (50, 1))) == 20.0


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60), st.integers(1, 1000))
def test_percentile_is_the_sorted_list_at_the_rank(values: list[int], permille: int) -> None:
    whole = merge(histogram((value, 1)) for value in values)
    rank = -(-permille * len(values) // 1000)
    assert total(whole) == len(values)
    assert percentile(whole, permille / 10) == sorted(values)[rank - 1]


def test_summary_by_hand() -> None:
    reads, writes = side(4, 200, (40, 2), (60, 2)), side(1, 100, (100, 1))
    summary = summary_of([{"read": reads, "write": writes}], 1_000_000_000)
    assert summary["iops"] == 5.0
    assert summary["bandwidth_bytes_per_s"] == 2560.0
    assert summary["latency_mean_ns"] == 60.0
    assert (summary["latency_p50_ns"], summary["latency_p99_ns"]) == (60, 100)
    assert summary["queue_depth_mean"] == 300 / 1e9
    assert (summary["read"]["latency_mean_ns"], summary["write"]["latency_mean_ns"]) == (50.0, 100.0)


def test_summary_of_an_idle_direction_has_no_latency() -> None:
    block = rates_of([idle_side("fio")], 1_000_000_000)
    assert (block["iops"], block["queue_depth_mean"]) == (0.0, 0.0)
    assert all(value is None for key, value in block.items() if key.startswith("latency_"))


def test_idle_sides_of_another_kind_do_not_spoil_the_merge() -> None:
    block = rates_of([side(1, 40, (40, 1)), idle_side("none")], 1_000_000_000)
    assert block["latency_p50_ns"] == 40


def test_unmeasured_latency_makes_the_whole_unknown() -> None:
    block = rates_of([side(1, 40, (40, 1)), side(1, None, kind="none")], 1_000_000_000)
    assert block["iops"] == 2.0
    assert (block["latency_mean_ns"], block["latency_max_ns"], block["queue_depth_mean"]) == (
        None,
        None,
        None,
    )


def test_io_in_no_time_has_no_rate() -> None:
    with pytest.raises(ValueError, match="no rate"):
        rates_of([side(1, 40, (40, 1))], 0)
