"""Over which time are rates taken, and how many I/Os does a fio result declare outstanding?"""

from __future__ import annotations

from typing import Any

import fio_documents as build
import pytest

from hotband.data.importers.fio.documents import read_fio

MS = 1_000_000


def record(*jobs: dict[str, Any]) -> dict[str, Any]:
    [only] = read_fio(build.text(*jobs), "x.json")
    return only


def reading(name: str = "a", runtime_ms: int = 1000, **extra: Any) -> dict[str, Any]:
    return build.job(name, read=build.reads({1000: 4}, runtime_ms=runtime_ms), **extra)


def with_options(**values: str) -> dict[str, Any]:
    return reading(**{"job options": build.options(**values)})


def test_jobs_together_take_the_longest_time() -> None:
    found = record(reading("a", 1000), reading("b", 4000))
    assert (found["duration_ns"], found["summary"]["iops"]) == (4000 * MS, 2.0)
    assert any("1 s to 4 s" in note for note in found["notes"])


def test_each_direction_has_rates_over_its_own_time() -> None:
    write = build.reads({1000: 4}, runtime_ms=2000)
    summary = record(build.job(read=build.reads({1000: 4}), write=write))["summary"]
    assert (summary["read"]["iops"], summary["write"]["iops"], summary["iops"]) == (4.0, 2.0, 4.0)


def test_groups_that_fit_one_after_another_are_taken_in_turn() -> None:
    found = record(reading("a", elapsed=3), reading("b", groupid=1, elapsed=3))
    assert (found["duration_ns"], found["concurrency"]) == (2000 * MS, None)
    assert any("in turn" in note for note in found["notes"])


def test_groups_that_do_not_fit_one_after_another_are_taken_together() -> None:
    found = record(reading("a", elapsed=1), reading("b", groupid=1, elapsed=1))
    assert (found["duration_ns"], found["concurrency"]) == (1000 * MS, 8)


@pytest.mark.parametrize(("option", "duration_ms"), [("stonewall", 2000), ("new_group", 1000)])
def test_a_printed_option_decides_over_elapsed_time(option: str, duration_ms: int) -> None:
    later = reading("b", groupid=1, **{"job options": build.options(iodepth="4", **{option: "1"})})
    elapsed = 1 if option == "stonewall" else 9
    found = record(reading("a", elapsed=elapsed), {**later, "elapsed": elapsed})
    assert found["duration_ns"] == duration_ms * MS


@pytest.mark.parametrize(("start_ms", "duration_ms"), [(1000, 2000), (100, 1000)])
def test_start_times_decide_over_elapsed_time(start_ms: int, duration_ms: int) -> None:
    begin = 1_700_000_000_000
    later = reading("b", groupid=1, job_start=begin + start_ms, elapsed=9)
    assert record(reading("a", job_start=begin, elapsed=9), later)["duration_ns"] == duration_ms * MS


def test_groups_of_two_hosts_run_together() -> None:
    found = record(reading(hostname="x"), reading(hostname="y", groupid=5))
    assert found["duration_ns"] == 1000 * MS


def test_concurrency_is_iodepth() -> None:
    assert record(with_options(iodepth="16"))["concurrency"] == 16


def test_concurrency_of_a_group_reported_as_one_is_times_numjobs() -> None:
    assert record(with_options(iodepth="16", numjobs="3"))["concurrency"] == 48


def test_concurrency_of_numjobs_reported_one_by_one_is_not_counted_twice() -> None:
    entries = [with_options(iodepth="16", numjobs="3") for _ in range(3)]
    assert record(*entries)["concurrency"] == 48


def test_entries_that_do_not_match_numjobs_have_no_concurrency() -> None:
    entries = [with_options(iodepth="16", numjobs="3") for _ in range(2)]
    assert record(*entries)["concurrency"] is None


@pytest.mark.parametrize("option", ["rate", "rate_iops", "thinktime"])
def test_a_rate_limited_job_has_no_concurrency(option: str) -> None:
    found = record(with_options(iodepth="16", **{option: "100k,5"}))
    assert found["concurrency"] is None
    assert any(f"({option}=100k,5)" in note for note in found["notes"])


def test_a_limit_of_zero_is_no_limit() -> None:
    assert record(with_options(iodepth="16", thinktime="0"))["concurrency"] == 16


@pytest.mark.parametrize("engine", ["sync", "psync", "pvsync2"])
def test_a_synchronous_engine_has_one_io_outstanding(engine: str) -> None:
    found = record(with_options(iodepth="16", numjobs="2", ioengine=engine))
    assert found["concurrency"] == 2
    assert any("iodepth=16 counts as 1" in note for note in found["notes"])


def test_a_depth_that_is_no_number_has_no_concurrency() -> None:
    assert record(with_options(iodepth="${DEPTH}"))["concurrency"] is None


def test_a_measured_queue_depth_refutes_the_declared_one() -> None:
    # 4 I/Os of 2 s each within 1 s are 8 outstanding; iodepth declares 4
    read = build.reads({2_000_000_000: 4})
    read["clat_ns"]["mean"] = 2e9
    found = record(build.job(read=read))
    assert (found["summary"]["queue_depth_mean"], found["concurrency"]) == (8.0, None)


def test_a_job_without_io_adds_nothing() -> None:
    assert record(with_options(iodepth="4"), build.job("idle"))["concurrency"] == 4
