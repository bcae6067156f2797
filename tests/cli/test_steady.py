"""Does `hotband audit --steady` follow the rule, and does `hotband run` print limits and steady phases?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hotband as hb
from hotband import _core
from hotband.base.errors import UserError
from hotband.data.record.rounds import judge, round_values
from hotband.data.record.steady import Rounds, verdict, why

SECOND = 1_000_000_000
FLAT = [100.0, 101.0, 99.0, 100.0, 100.0]


def side(count: int = 0) -> dict[str, Any]:
    return {"count": count, "histogram": {"kind": "hdr3", "buckets": []}}


def record(**more: Any) -> dict[str, Any]:
    return {
        "schema": "hotband-record",
        "schema_version": 1,
        "name": "made",
        "target": {"kind": "model", "machine": "m"},
        "duration_ns": 60 * SECOND,
        "summary": {"iops": 100.0, "bandwidth_bytes_per_s": 409600.0, "latency_mean_ns": 1e6},
        "streams": [{"name": "main", "read": side(), "write": side()}],
        "parts": [],
        "series": None,
    } | more


def rows(values: Sequence[float], stream: str = "main", direction: str = "read") -> pl.DataFrame:
    """One row a second: IOPS of 4 KiB, latency such that one I/O is outstanding."""
    return pl.DataFrame(
        {
            "time_ns": [n * SECOND for n in range(len(values))],
            "stream": stream,
            "direction": direction,
            "iops": values,
            "bandwidth_bytes_per_s": [4096 * value for value in values],
            "latency_mean_ns": [SECOND / value if value else None for value in values],
            "latency_p99_ns": [1 if value else None for value in values],
            "queue_depth": 1.0,
        },
        strict=False,
    )


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Writes a record, with a series a second where `series` is given."""

    def save(place: str, series: pl.DataFrame | None = None, **more: Any) -> Path:
        folder = tmp_path / place
        folder.mkdir()
        if series is not None:
            seconds = series["time_ns"].n_unique()
            more = {"duration_ns": seconds * SECOND, "series": {"interval_ns": SECOND, "file": "series.parquet"}} | more
            series.write_parquet(folder / "series.parquet")
        (folder / "record.json").write_text(json.dumps(record(**more)))
        return folder

    return save


def test_a_flat_series_is_steady_in_round_five(saved) -> None:
    [found] = judge([saved("a", rows(FLAT * 12))], "10 s", None)
    assert (found["reached"], found["round"], found["left"]) == (True, 5, None)
    assert found["rounds"] == [100.0] * 6
    assert "at most 20 %" in found["why"]


def test_the_bounds_are_those_of_the_rule(saved) -> None:
    at = [100.0, 110.0, 100.0, 90.0, 100.0]
    [passes] = judge([saved("at", rows(at))], "1 s", None)
    assert (passes["reached"], passes["range_pct"]) == (True, 20.0)
    over = [100.0, 110.01, 100.0, 90.0, 99.99]
    [fails] = judge([saved("over", rows(over))], "1 s", None)
    assert (fails["reached"], fails["round"]) == (False, None)
    assert "more than 20 %" in fails["why"]
    assert "slope excursion" in fails["why"]
    assert "at most 10 %" in fails["why"]


def test_streams_and_directions_are_added_up(saved) -> None:
    series = pl.concat([rows([30.0, 10.0] * 5), rows([10.0, 30.0] * 5, "other", "write")]).sort("time_ns")
    [found] = judge([saved("a", series)], "1 s", "iops")
    assert found["rounds"] == [40.0] * 10
    [bytes_] = judge([saved("b", series)], "2 s", "bandwidth")
    assert bytes_["rounds"] == [4096 * 40.0] * 5
    [latency] = judge([saved("c", series)], "1 s", "latency")
    # Each I/O waited: two outstanding at all times, 40 I/Os a second.
    assert latency["rounds"] == pytest.approx([2 * SECOND / 40] * 10)
    assert latency["unit"] == "ns"


def test_rows_that_a_step_cut_are_shared_between_rounds() -> None:
    # Steps of 1.5 s in rounds of 1 s: rows at 0, 1, 1.5 and 2.5 s; the third lies in rounds 1 and 2.
    series = rows([10.0, 20.0, 40.0, 80.0]).with_columns(
        pl.Series("time_ns", [0, SECOND, 3 * SECOND // 2, 5 * SECOND // 2])
    )
    values = round_values(series, 3 * SECOND, SECOND, SECOND, "iops")
    assert values == pytest.approx([10.0, 20 * 0.5 + 40 * 0.5, 40 * 0.5 + 80 * 0.5])


def test_time_without_rows_is_time_without_io() -> None:
    late = rows([50.0] * 4).with_columns(pl.col("time_ns") + 3 * SECOND)
    assert round_values(late, 7 * SECOND, SECOND, SECOND, "iops") == [0.0] * 3 + [50.0] * 4
    assert round_values(late, 7 * SECOND, SECOND, SECOND, "latency")[:3] == [0.0] * 3


def test_a_drop_after_steady_state_is_a_departure(saved) -> None:
    [found] = judge([saved("a", rows([100.0] * 8 + [80.0] * 4))], "1 s", None)
    assert found["left"] == {"round": 9, "since": 9, "level_pct": pytest.approx(-20.0)}


def test_too_few_rounds_say_what_to_do(saved) -> None:
    [found] = judge([saved("a", rows(FLAT * 20))], None, None)
    assert (found["reached"], len(found["rounds"])) == (None, 1)
    assert found["why"] == "100 s are 1 round of 60 s: 5 are needed (a shorter round gives more)"
    assert found["notes"] == ["the last 40 s are not a whole round and are ignored"]


def test_records_without_a_series_are_a_round_each(saved) -> None:
    paths = [saved(f"r{n}", summary={"iops": value}) for n, value in enumerate([300.0, *FLAT])]
    [found] = judge(paths, None, None)
    assert (found["rounds"], found["round"], found["round_ns"]) == ([300.0, *FLAT], 6, 60 * SECOND)
    assert "6 records, one round each" in found["name"]
    [alone] = judge(paths[:1], None, None)
    assert "pass the records of all rounds" in alone["why"]


def test_records_of_different_loads_are_no_rounds_of_one_run(saved) -> None:
    """Reads at two depths, writes, and one result on another target, in turns and under one name."""
    loads = [(16, 100.0, 1000.0), (64, 100.0, 2000.0), (16, 0.0, 500.0)]
    paths = []
    for n, factor in enumerate((1.0, 1.01, 0.99, 1.0, 1.0)):
        for depth, read_pct, iops in loads:
            asked = {"concurrency": depth, "read_pct": read_pct, "pattern": "random", "block_bytes": 4096}
            source = {"file": f"{depth}-{read_pct:g}-{n}.json", "target": "/dev/sda", "asked": asked}
            paths.append(saved(f"{depth}-{read_pct:g}-{n}", summary={"iops": factor * iops}, source=source))
    other = {"file": "other.json", "target": "/dev/sdb", "asked": asked}
    *found, alone = judge([*paths, saved("other", source=other)], None, None)
    assert [(entry["reached"], entry["window_mean"]) for entry in found] == [(True, iops) for *_, iops in loads]
    assert found[0]["name"] == "16-100-0.json .. 16-100-4.json (5 records, one round each)"
    assert (alone["name"], alone["rounds"]) == ("other.json", [100.0])
    assert alone["why"].startswith("the only record of its load without a series is one round")


def test_directions_part_results_whose_options_are_unknown(saved) -> None:
    source = {"file": "a", "target": None, "asked": dict.fromkeys(("concurrency", "read_pct"))}
    paths = [
        saved(f"{name}{n}", summary={"iops": 1.0, name: {"count": 9}}, source=source)
        for name in ("read", "write")
        for n in range(5)
    ]
    assert len(judge(paths, None, None)) == 2


def test_rounds_of_different_length_are_noted(saved) -> None:
    paths = [saved(f"r{n}", duration_ns=(60 + n) * SECOND) for n in range(5)]
    [found] = judge(paths, "60 s", None)
    assert "the rounds took 60 s to 64 s" in found["notes"]
    assert any("the requested length does not apply" in note for note in found["notes"])


def test_the_samples_that_fio_kept_are_its_rounds(saved) -> None:
    samples = {"interval_ns": SECOND, "iops": [90.0, 110.0] * 5, "bandwidth_bytes_per_s": [1.0] * 10}
    path = saved("fio", samples=samples)
    [found] = judge([path], "2 s", None)
    assert (found["rounds"], found["reached"]) == ([100.0] * 5, True)
    [bytes_] = judge([path], "1 s", "bandwidth")
    assert bytes_["rounds"] == [1.0] * 10
    with pytest.raises(UserError, match="iops and bandwidth only"):
        judge([path], "1 s", "latency")


def test_nothing_done_is_not_steady(saved) -> None:
    [found] = judge([saved("a", rows([0.0] * 5))], "1 s", None)
    assert (found["reached"], found["range_pct"]) == (False, None)
    assert "no I/O in" in found["why"]


def test_why_names_how_many_rounds_were_looked_at() -> None:
    state = _core.steady_state([50.0, 150.0] * 15)
    assert "in none of 25 of 30 rounds examined" in why(state)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_the_extension_refuses_what_is_no_number(value: float) -> None:
    for rule in (_core.steady_state, _core.departure):
        with pytest.raises(_core.SpecError) as refused:
            rule([1.0, value])
        assert refused.value.args[:2] == ("rounds", "[1]")


def test_a_broken_series_is_the_users_mistake(saved) -> None:
    with pytest.raises(UserError, match="expected finite numbers of 0 or more"):
        judge([saved("a", rows([1.0, -5.0, 1.0, 1.0, 1.0]))], "1 s", None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--round", "60"], "--round = '60': expected a time with its unit"),
        (["--round", "500 ms"], "expected a multiple of 1 s"),
        (["--round", "1.5 s"], "expected a multiple of 1 s"),
        (["--track", "ops"], "expected one of iops, bandwidth, latency"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(hotband, saved, arguments: list[str], words: str) -> None:
    done = hotband("audit", "--steady", str(saved("a", rows(FLAT))), *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_reached_or_not_the_exit_code_is_0(hotband, saved) -> None:
    steady, other = saved("steady", rows(FLAT)), saved("[b]other", rows([1.0, 100.0] * 15), name="[b]other")
    done = hotband("audit", "--steady", str(steady), str(other), "--round", "1 s")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 of 2 records reached steady state.\n")
    evidence = hotband("audit", "--steady", str(steady), str(other), "--round", "1 s", "--details").stdout
    assert "reached in round 5" in evidence
    assert "not reached" in evidence
    assert "[b]other: measured time" in evidence
    data = json.loads(hotband("audit", "--steady", str(steady), str(other), "--round", "1 s", "--json").stdout)
    assert [entry["reached"] for entry in data] == [True, False]


WORKLOAD = """
[load]
closed = { threads = 4 }
[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"
[[phases]]
name = "settle"
until_steady = true
round = "2 s"
track = "latency"
[[phases]]
duration = "20 s"
measure = true
[[limits]]
op = "read"
latency_mean = "{mean}"
[[limits]]
stream = "main"
iops_at_least = 1
"""


@pytest.mark.parametrize(("mean", "passed"), [("20 ms", True), ("1 ms", False)])
def test_a_run_prints_its_limits_and_its_steady_phases(hotband, tmp_path: Path, mean: str, passed: bool) -> None:
    (tmp_path / "w.toml").write_text(WORKLOAD.replace("{mean}", mean))
    done = hotband("run", "w.toml", "--on", "ent-15k", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert f"Limits: {'passed' if passed else 'failed'}" in done.stdout
    assert f"at most {'20' if passed else '1'} ms: {'passed' if passed else 'failed'}" in done.stdout
    assert "IOPS of reads and writes of main" in done.stdout
    assert "phase settle, mean latency in 5 rounds of 2 s" in done.stdout
    found = json.loads((tmp_path / "out" / "record.json").read_text())
    assert found["passed"] is passed
    # The report has both.
    assert hotband("report", "out", "-o", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    for words in ("mean latency of reads of all streams", "settle", "mean latency, 5 rounds of 2 s", "round 5"):
        assert words in page
    # What the run said of its phase is said again, and the measured time is judged in the same rounds.
    verdicts = json.loads(hotband("audit", "--steady", "out", "--json").stdout)
    assert [entry["phase"] for entry in verdicts] == ["settle", None]
    assert verdicts[0]["rounds"] == found["steady_state"]["rounds"]
    assert (verdicts[1]["track"], verdicts[1]["round_ns"], len(verdicts[1]["rounds"])) == ("latency", 2 * SECOND, 10)


def test_a_measured_phase_is_judged_alike_by_the_run_and_from_its_record(tmp_path: Path, hotband) -> None:
    text = WORKLOAD.split("[[phases]]")[0]
    (tmp_path / "w.toml").write_text(f'{text}[[phases]]\nmeasure = true\nuntil_steady = true\nround = "2 s"\n')
    assert hotband("run", "w.toml", "--on", "ent-15k", "--out", "out").returncode == 0
    [own, again] = judge([tmp_path / "out"], None, None)
    assert own["rounds"] == pytest.approx(again["rounds"], rel=1e-12)
    for key in ("reached", "round", "track", "unit"):
        assert own[key] == again[key]
    assert own["slope_pct"] == pytest.approx(again["slope_pct"])


def test_a_verdict_names_what_it_is_of() -> None:
    with pytest.raises(UserError, match=r"mine: rounds\[0\]"):
        verdict(Rounds("mine", "iops", SECOND, [float("nan")]))


def test_fewer_rounds_than_a_window_have_no_verdict(saved, hotband) -> None:
    folder = saved("short", rows(FLAT[:3]))
    [found] = judge([folder], "1 s", None)
    assert (found["reached"], found["window_mean"]) == (None, None)
    result = hb.steady([folder], round="1 s")
    assert (result.reached, result.frame["reached"].to_list()) == (None, [None])
    assert repr(result) == "<Steadiness of made: too short>"
    flat = saved("flat", rows(FLAT * 2))
    falling = saved("falling", rows([100.0 - 9 * n for n in range(10)]))
    assert [hb.steady([folder, other], round="1 s").reached for other in (flat, falling)] == [None, False]
    done = hotband("audit", "--steady", "short", "--round", "1 s")
    assert "too short for a verdict" in done.stdout
    assert re.search(r"~ too short  .*  3  ", done.stdout)
    as_csv = hotband("audit", "--steady", "short", "--round", "1 s", "--format", "csv")
    assert ",too short," in as_csv.stdout
