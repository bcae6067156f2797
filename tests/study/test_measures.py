"""Do measures read what they say, and say what they cannot read?"""

from __future__ import annotations

from typing import Any

import pytest

from hotband.base.text.quantities import span_ns
from hotband.questions.study.cellrows import why
from hotband.questions.study.comparisons import compare
from hotband.questions.study.measures import Parameters, Reading, Value, curve, read


def summary(iops: float, latency_ms: float | None) -> dict[str, Any]:
    mean = None if latency_ms is None else latency_ms * 1e6
    return {"iops": iops, "latency_mean_ns": mean, "bandwidth_bytes_per_s": iops * 4096}


def stepped(*points: tuple[int, float, float]) -> dict[int, Reading]:
    """One run of steps: threads, IOPS, latency in ms."""
    steps = [{"name": f"t{n}", "threads": n, "clients": None, "summary": summary(i, ms)} for n, i, ms in points]
    return {0: Reading({"summary": summary(1.0, 1.0), "steps": steps})}


def swept(*points: tuple[int, float, float]) -> dict[int, Reading]:
    """A run per queue depth."""
    return {depth: Reading({"summary": summary(iops, ms), "concurrency": depth}) for depth, iops, ms in points}


def test_bandwidth_is_read_in_either_unit() -> None:
    runs = {0: Reading({"summary": summary(1000.0, 1.0)})}
    assert read("bandwidth_mb_per_s", runs, Parameters()) == Value(4.096)
    assert read("bandwidth_mib_per_s", runs, Parameters()) == Value(3.90625)


POINTS = ((8, 900.0, 8.0), (1, 200.0, 2.0), (4, 600.0, 4.0))


@pytest.mark.parametrize("runs", [stepped(*POINTS), swept(*POINTS)])
def test_iops_at_a_latency_lie_on_the_line_between_two_points(runs: dict[int, Reading]) -> None:
    # Between 4 ms (600 IOPS) and 8 ms (900 IOPS), a quarter of the way.
    assert read("iops_at_latency", runs, Parameters(at_ns=5e6)) == Value(675.0)
    assert [point.concurrency for point in curve(runs)] == [1, 4, 8]


def test_a_point_at_the_latency_is_the_answer() -> None:
    assert read("iops_at_latency", stepped(*POINTS), Parameters(at_ns=4e6)).number == 600.0


def test_a_curve_that_begins_slower_has_no_iops_at_that_latency() -> None:
    value = read("iops_at_latency", stepped(*POINTS), Parameters(at_ns=1e6))
    assert value.number is None
    assert "already 2 ms" in value.note


def test_a_curve_that_never_gets_so_slow_gives_its_highest_iops_and_says_so() -> None:
    value = read("iops_at_latency", stepped(*POINTS), Parameters(at_ns=9e6))
    assert value.number == 900.0
    assert "highest IOPS" in value.note


def test_the_first_crossing_from_below_counts() -> None:
    # The curve dips below 5 ms again; what counts is where it first gets slower.
    runs = stepped((1, 100.0, 4.0), (2, 200.0, 6.0), (3, 300.0, 4.0), (4, 400.0, 6.0))
    assert read("iops_at_latency", runs, Parameters(at_ns=5e6)).number == 150.0


def test_steps_are_read_by_name_or_the_last() -> None:
    runs = stepped(*POINTS)
    assert read("max_step_iops", runs).number == 900.0
    assert read("step_latency_ms", runs).number == 4.0
    assert read("step_latency_ms", runs, Parameters(step="t8")).number == 8.0
    assert read("iops", runs, Parameters(step="t1")).number == 200.0
    missing = read("step_latency_ms", runs, Parameters(step="t9"))
    assert missing.number is None
    assert "t8, t1, t4" in missing.note


@pytest.mark.parametrize(("pick", "expected"), [("first", 200.0), ("last", 900.0), ("max", 900.0), ("min", 200.0)])
def test_a_sweep_is_picked_from_in_the_order_of_its_depths(pick: str, expected: float) -> None:
    assert read("iops", swept(*POINTS), Parameters(pick)).number == expected


def test_concurrency_is_littles_law() -> None:
    assert read("concurrency", swept((4, 500.0, 8.0))).number == pytest.approx(4.0)


SCRIPTS = [
    {"name": "page", "per_second": 12.5, "duration_mean_ns": 80e6, "first_begin_ns": 1, "last_end_ns": None},
    {"name": "boot", "per_second": 2.0, "duration_mean_ns": 9e9, "first_begin_ns": 5 * 10**8, "last_end_ns": 9 * 10**9},
]


def test_scripts_are_read_by_name_or_the_first() -> None:
    runs = {0: Reading({"summary": summary(1.0, 1.0), "scripts": SCRIPTS})}
    assert read("scripts_per_second", runs).number == 12.5
    assert read("script_total_s", runs, Parameters(script="boot")).number == 8.5
    assert read("script_mean_ms", runs, Parameters(script="page")).number == 80.0
    assert read("script_total_s", runs, Parameters(script="page")).number is None
    assert "page, boot" in read("scripts_per_second", runs, Parameters(script="log")).note


@pytest.mark.parametrize("of", ["scripts_per_second", "script_total_s", "flash_hit_ratio", "peak_interval_iops"])
def test_what_a_record_does_not_have_is_none_and_a_note(of: str) -> None:
    value = read(of, swept((1, 100.0, 1.0)), Parameters(window_ns=1e9))
    assert value.number is None
    assert value.note


def burst(*rates: float) -> dict[int, Reading]:
    """A run of one-second intervals, half of each rate read, half written."""
    times = [second * 10**9 for second in range(len(rates))] * 2
    series = {"time_ns": times, "iops": [rate / 2 for rate in rates] * 2}
    return {0: Reading({"summary": summary(1.0, 1.0), "series": {"interval_ns": 10**9}}, series)}


def test_the_peak_is_the_best_window_not_the_best_interval() -> None:
    runs = burst(0, 900, 0, 600, 600, 0)
    assert read("peak_interval_iops", runs, Parameters(window_ns=1e9)).number == 900.0
    assert read("peak_interval_iops", runs, Parameters(window_ns=2e9)).number == 600.0
    assert read("peak_interval_iops", runs, Parameters(window_ns=4e9)).number == 525.0
    short = read("peak_interval_iops", runs, Parameters(window_ns=60e9))
    assert short.number == 350.0
    assert "shorter than 60 s" in short.note


def test_an_interval_that_a_step_cuts_counts_once() -> None:
    # 640 IOPS all the time; a step ends after 1.5 s, so the second interval has two rows of half a second.
    series = {"time_ns": [0, 10**9, 1_500_000_000, 2_500_000_000], "iops": [640.0, 640.0, 640.0, 640.0]}
    record = {"summary": summary(1.0, 1.0), "series": {"interval_ns": 10**9}, "duration_ns": 3 * 10**9}
    runs = {0: Reading(record, series)}
    assert read("peak_interval_iops", runs, Parameters(window_ns=1e9)).number == 640.0
    assert read("peak_interval_iops", runs, Parameters(window_ns=3e9)).number == 640.0


@pytest.mark.parametrize(
    ("kind", "expected"), [("ratio", 2.0), ("inverse_ratio", 0.5), ("gain_pct", 100.0), ("difference", 100.0)]
)
def test_comparisons(kind: str, expected: float) -> None:
    assert compare(kind, Value(200.0), Value(100.0)) == Value(expected)


def test_a_comparison_with_nothing_is_nothing() -> None:
    assert compare("ratio", Value(200.0), Value(None, "no step")) == Value(None, "no step")
    assert compare("ratio", Value(200.0), Value(0.0)).number is None
    assert compare("inverse_ratio", Value(0.0), Value(5.0)).number is None
    assert compare("difference", Value(5.0), Value(0.0)).number == 5.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5 ms", 5e6), ("10s", 1e10), ("1.5 min", 9e10), ("5", None), ("0 ms", None), ("-1 ms", None), ("5 MB", None)],
)
def test_times_have_units(text: str, expected: float | None) -> None:
    assert span_ns(text) == expected


def test_why_counts_drives_and_neither_links_nor_layouts() -> None:
    drive = {"media_reads": 1, "command_ns": 30 * 10**9, "busy_ns": 5 * 10**9, "destages": 40}
    record = {
        "duration_ns": 10 * 10**9,
        "parts": [
            {"kind": "disk", "counters": drive, "at_end": {"write_cache_extents": 4}},
            {"kind": "disk", "counters": drive, "at_end": {"write_cache_extents": 8}},
            {"kind": "link", "counters": {"busy_ns": 10**12}},
        ],
    }
    found = why(record)
    assert found.pop("flash_hit_ratio") is None
    assert found.pop("flash_written_bytes") is None
    expected = {"destages_per_s": 8, "queue_per_drive": 3, "write_cache_extents_per_drive": 6, "busy_pct": 50}
    assert found == pytest.approx(expected)


def test_a_drive_with_two_actuators_is_busy_when_both_are() -> None:
    second = 10**9
    counters = {"media_reads": 1, "busy_ns": 3 * second, "actuator_0_busy_ns": second, "actuator_1_busy_ns": 2 * second}
    record = {"duration_ns": 2 * second, "parts": [{"kind": "disk", "counters": counters}]}
    assert why(record)["busy_pct"] == 75
