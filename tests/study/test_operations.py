"""Do measures of operations and of wear read what a tester would, and say what is not there?"""

from __future__ import annotations

from typing import Any

import pytest

from hotband.questions.study.comparisons import compare, error_of, mean
from hotband.questions.study.measures import Parameters, Reading, Value, read

READ = {"name": "read", "count": 600, "ops_per_s": 10.0, "latency_mean_ns": 2e6}
UPDATE = {"name": "update", "count": 300, "ops_per_s": 5.0, "latency_mean_ns": 8e6}
NONE = {"name": "scan", "count": 0, "ops_per_s": 0.0, "latency_mean_ns": None}
APP = {
    "kind": "btree",
    "operations": [READ, UPDATE, NONE],
    "requested_ops_per_s": 20.0,
    "achieved_ops_per_s": 15.0,
}


def drive(host: tuple[int, int], flash: tuple[int, int], endurance: int | None = 9 * 10**12) -> dict[str, Any]:
    ends = zip(("at_begin", "at_end"), host, flash, strict=True)
    return {name: {"host_bytes": h, "flash_bytes": f} for name, h, f in ends} | {"endurance_bytes": endurance}


def runs(**keys: Any) -> dict[int, Reading]:
    return {0: Reading({"summary": {"iops": 1.0, "latency_mean_ns": 1e6}, **keys})}


def test_operations_of_one_name_or_of_all() -> None:
    found = runs(app=APP)
    assert read("ops_per_s", found).number == 15.0
    assert read("ops_per_s", found, Parameters(operation="update")).number == 5.0
    assert read("requested_ops_per_s", found).number == 20.0
    assert read("operation_mean_ms", found, Parameters(operation="read")).number == 2.0
    # 600 of 2 ms and 300 of 8 ms.
    assert read("operation_mean_ms", found).number == pytest.approx(4.0)


def test_the_time_of_a_job_is_its_operations_over_the_rate() -> None:
    assert read("operations_total_s", runs(app=APP), Parameters(operations=1500)).number == pytest.approx(100.0)


def test_steps_have_operations_of_their_own() -> None:
    step = {"name": "late", "app": {**APP, "achieved_ops_per_s": 7.0}}
    found = runs(app=APP, steps=[{**step, "summary": {}}])
    assert read("ops_per_s", found, Parameters(step="late")).number == 7.0
    assert 'step "later"' in read("ops_per_s", found, Parameters(step="later")).note


@pytest.mark.parametrize(
    ("of", "keys", "words"),
    [
        ("ops_per_s", {}, "no app in the record"),
        ("operation_mean_ms", {}, "no app in the record"),
        ("operations_total_s", {}, "no app in the record"),
        ("write_amplification", {}, "SMART"),
        ("write_amplification_total", {"smart": []}, "SMART"),
        ("endurance_tb", {}, "SMART"),
        ("write_amplification", {"smart": [drive((5, 5), (5, 9))]}, "the host wrote nothing"),
    ],
)
def test_what_is_not_there_is_none_and_a_note(of: str, keys: dict[str, Any], words: str) -> None:
    value = read(of, runs(**keys), Parameters(operations=1.0))
    assert value.number is None
    assert words in value.note


def test_an_unknown_operation_names_those_there_are() -> None:
    value = read("ops_per_s", runs(app=APP), Parameters(operation="insert"))
    assert value.number is None
    assert "read, update, scan" in value.note


def test_amplification_is_of_the_measured_time_over_all_drives() -> None:
    # 10 and 30 written by the host, 25 and 55 to flash; since new 110 and 130, 225 and 155.
    found = runs(smart=[drive((100, 110), (200, 225)), drive((100, 130), (100, 155))])
    assert read("write_amplification", found).number == pytest.approx(2.0)
    assert read("write_amplification_total", found).number == pytest.approx(380 / 240)
    assert read("endurance_tb", found).number == pytest.approx(18.0)
    assert read("endurance_tb", runs(smart=[drive((0, 1), (0, 1), None)])).number is None


def test_service_times_have_no_part_of_beginning_late() -> None:
    counters = {"operations": 1000, "service_time_ns": 5 * 10**9}
    kept, late = ({**APP, "requested_ops_per_s": asked, "counters": counters} for asked in (15.0, 30.0))
    assert read("service_mean_ms", runs(app=kept)) == Value(5.0)
    value = read("service_mean_ms", runs(app=late))
    assert (value.number, "every client is always busy" in value.note) == (5.0, True)
    assert read("service_mean_ms", runs(app={**APP, "counters": {}})).number is None


def test_the_mean_of_several_needs_all_of_them() -> None:
    assert mean([Value(2.0), Value(4.0)]) == Value(3.0)
    assert mean([Value(2.0), Value(None, "no app")]) == Value(None, "no app")


def test_a_third_less() -> None:
    found = compare("reduction_pct", Value(2.0), Value(3.0)).number
    assert found == pytest.approx(100 / 3)


@pytest.mark.parametrize(
    ("kind", "published", "predicted", "expected"),
    [
        ("gain_pct", 50.0, 20.0, -20.0),  # 1.2 for 1.5
        ("gain_pct", 0.0, 10.0, 10.0),  # a gain of nothing has an error too
        ("gain_pct", -2.0, -2.0, 0.0),
        ("reduction_pct", 50.0, 60.0, -20.0),  # 0.4 for 0.5
        ("ratio", 0.5, 0.4, -20.0),
        ("difference", 50.0, 60.0, 20.0),
    ],
)
def test_a_gain_is_scored_by_its_ratio(kind: str, published: float, predicted: float, expected: float) -> None:
    assert error_of(kind, published, predicted) == pytest.approx(expected)
    assert error_of(kind, None, predicted) is None
