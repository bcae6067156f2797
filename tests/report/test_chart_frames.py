"""Are the numbers that charts draw those of the record?"""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest
import synthetic

from hotband.data.record import frames
from hotband.views.report.page import pack


def stream(kind: str, buckets: list[list[int]]) -> dict[str, object]:
    return {"name": "s", "read": {"histogram": {"kind": kind, "buckets": buckets}}, "write": None}


def test_streams_merge_by_adding_counts() -> None:
    record = {"streams": [stream("hdr3", [[10, 1], [20, 2]]), stream("hdr3", [[20, 3], [30, 4]])]}
    assert frames.merged_buckets(record, "read") == [(10, 1), (20, 5), (30, 4)]
    assert frames.merged_buckets(record, "write") == []


def test_different_kinds_do_not_merge_and_say_so() -> None:
    record = {"streams": [stream("hdr3", [[10, 1]]), stream("fio", [[20, 2]])]}
    assert frames.merged_buckets(record, "read") is None
    assert "different kinds" in frames.histogram_remarks(record)[0]


@pytest.mark.parametrize(("fraction", "value"), [(0.0, 1), (0.9, 1), (0.901, 2), (0.99, 2), (0.991, 3), (1.0, 3)])
def test_a_percentile_is_the_first_bucket_that_reaches_it(fraction: float, value: int) -> None:
    assert frames.value_at([(1, 900), (2, 90), (3, 10)], fraction) == value


def test_a_percentile_line_steps_where_the_histogram_does() -> None:
    points = frames.percentile_points([(1, 9000), (2, 900), (3, 100)], points=2000)
    first = {value: min(place for place, found in points if found == value) for value in (1, 2, 3)}
    assert first[1] == 0
    assert first[2] == pytest.approx(1, abs=0.002)
    assert first[3] == pytest.approx(2, abs=0.002)
    assert points[-1] == (pytest.approx(3), 3)


def test_a_line_ends_where_ten_ios_are_left() -> None:
    points = frames.percentile_points([(1, 900), (2, 80), (3, 11), (4, 9)])
    assert points[-1] == (pytest.approx(2), 3)
    assert frames.last_place(12) == pytest.approx(math.log10(2))  # never less than the median


def test_coarse_bins_are_points_at_their_edges() -> None:
    points = frames.edge_points([(1000, 500), (2000, 400), (4000, 90), (8000, 10)])
    assert points == [(pytest.approx(math.log10(2)), 1000), (pytest.approx(1), 2000), (pytest.approx(2), 4000)]


def test_one_io_is_a_line() -> None:
    assert {value for _, value in frames.percentile_points([(7, 1)])} == {7}


def test_printed_percentiles_stand_in_for_a_missing_histogram() -> None:
    made = synthetic.record()
    made["streams"][0]["read"]["histogram"] = {"kind": "none", "buckets": []}
    made["summary"]["read"]["count"] = 100_000
    frame = frames.percentile_frame({"run": replace(synthetic.loaded(), record=made)})
    printed = frame.filter("printed")
    assert printed["percentile"].to_list() == [50, 99, 99.9]
    assert printed["line"].unique().to_list() == ["read"]


def test_all_printed_percentiles_are_drawn_that_the_sample_supports() -> None:
    made = synthetic.record()
    side = made["streams"][0]["read"]
    side["histogram"] = {"kind": "none", "buckets": []}
    made["summary"]["read"]["count"] = side["count"] = 1000
    side["percentiles"] = [[25.0, 1_000_000], [90.0, 2_000_000], [99.0, 3_000_000], [99.9, 4_000_000]]
    frame = frames.percentile_frame({"run": replace(synthetic.loaded(), record=made)})
    drawn = frame.filter("printed")
    assert drawn["latency_ms"].to_list() == [1, 2, 3]
    assert drawn["percentile"].to_list() == pytest.approx([25, 90, 99])


def test_a_short_series_is_kept_as_it_is() -> None:
    loaded = synthetic.loaded(seconds=60)
    assert loaded.series is not None
    frame, width_s = frames.series_frame({"run": loaded})
    assert width_s == 1
    read = loaded.series.filter(pl.col("direction") == "read")
    drawn = frame.filter(pl.col("line") == "read")
    assert drawn["iops"].to_list() == read["iops"].to_list()
    assert drawn["latency_p99_ms"].to_list() == pytest.approx((read["latency_p99_ns"] / 1e6).to_list())
    assert drawn["latency_mean_ms"].null_count() == 6


def test_a_long_series_is_binned() -> None:
    loaded = synthetic.loaded(seconds=5000)
    assert loaded.series is not None
    frame, width_s = frames.series_frame({"run": loaded})
    drawn = frame.filter(pl.col("line") == "read")
    assert drawn.height <= frames.SERIES_POINTS
    assert width_s == 9
    first = loaded.series.filter((pl.col("direction") == "read") & (pl.col("time_ns") < width_s * 1e9))
    total = first["iops"].sum()
    mean = (first["latency_mean_ns"] * first["iops"]).sum() / total / 1e6
    assert drawn["iops"][0] == pytest.approx(total / first.height)
    assert drawn["latency_mean_ms"][0] == pytest.approx(mean)
    assert drawn["latency_p99_ms"][0] == pytest.approx(max(first["latency_p99_ns"]) / 1e6)


def test_a_direction_without_any_io_is_not_drawn() -> None:
    loaded = replace(synthetic.loaded(), series=synthetic.series(write=False))
    frame, _ = frames.series_frame({"run": loaded})
    assert frame["line"].unique().to_list() == ["read"]


def test_streams_keep_lines_of_their_own() -> None:
    loaded = replace(synthetic.loaded(), series=synthetic.series(streams=("db", "log"), write=False))
    frame, _ = frames.series_frame({"run": loaded})
    assert sorted(frame["line"].unique()) == ["db · read", "log · read"]


def test_no_series_is_an_empty_frame() -> None:
    frame, _ = frames.series_frame({"run": replace(synthetic.loaded(), series=None)})
    assert frame.is_empty()


def test_time_is_a_mean_over_parts_and_busy_beyond_it_is_other() -> None:
    frame = frames.time_frame({"run": synthetic.loaded()})
    shares = dict(zip(frame["activity"], frame["share"], strict=True))
    expected = {"seek": 25 / 60, "rotation": 20 / 60, "transfer": 1 / 60, "other busy": 9 / 60}
    assert shares == pytest.approx(expected)
    assert set(frame["parts"]) == {2}


def test_kinds_of_parts_are_not_averaged_together() -> None:
    made = synthetic.record()
    made["parts"].append({"id": "sas", "kind": "link", "counters": {"busy_ns": 6 * 10**9}})
    made["parts"].append({"id": "data", "kind": "raid5", "counters": {"stripes": 3}})
    frame = frames.time_frame({"run": replace(synthetic.loaded(), record=made)})
    assert set(frame["row"]) == {"run · disk", "run · link"}


def test_lines_of_several_runs_name_their_run() -> None:
    records = {"a": synthetic.loaded("a"), "b": synthetic.loaded("b")}
    lines = {"a · read", "a · write", "b · read", "b · write"}
    assert set(frames.percentile_frame(records)["line"]) == lines
    assert set(frames.series_frame(records)[0]["line"]) == lines


def test_equal_labels_are_numbered() -> None:
    assert list(frames.unique_labels([synthetic.loaded("a")] * 3)) == ["a", "a (2)", "a (3)"]


def test_packing_loses_no_row() -> None:
    rows = [
        {"run": "a", "x": 1.0, "ok": True},
        {"run": "a", "x": None, "ok": True},
        {"run": "b", "x": 2 / 3, "ok": False},
    ]
    packed = pack(rows)
    assert packed["count"] == 3
    assert packed["columns"] == [
        {"name": "run", "repeats": [["a", 2], ["b", 1]]},
        {"name": "x", "values": [1, None, 0.66667]},
        {"name": "ok", "repeats": [[True, 2], [False, 1]]},
    ]
