"""Is a function told how far runs are, and can it stop them? And comparisons, reviews, keys and layouts from Python."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import hotband as hb

LONG: dict[str, Any] = {"on": "raid10:8xexos-15e900-512n", "duration": "90000 s"}


def test_the_intervals_that_are_told_are_those_of_the_series() -> None:
    told: list[hb.Progress] = []
    record = hb.run("iometer-database", on="ent-10k", qd=4, duration="30 s", progress=told.append)
    assert [one.share for one in told] == sorted(one.share for one in told)
    assert told[-1].share == 1.0
    intervals = [interval for one in told for interval in one.intervals]
    ios = pl.col("iops") * pl.col("latency_mean_ns").fill_null(0.0)
    series = record.series.group_by("time_ns", maintain_order=True).agg(pl.col("iops").sum(), ios.sum().alias("ns"))
    assert [at for at, _, _ in intervals] == series["time_ns"].to_list()
    assert [rate for _, rate, _ in intervals] == pytest.approx(series["iops"].to_list())
    assert [mean for _, _, mean in intervals] == pytest.approx((series["ns"] / series["iops"]).to_list())


def stop(told: hb.Progress) -> None:
    if told.ios:
        raise KeyboardInterrupt


def test_a_function_that_raises_stops_the_run() -> None:
    with pytest.raises(KeyboardInterrupt):
        hb.run("fio-randread", **LONG, progress=stop)


def test_of_a_sweep_that_is_stopped_the_rest_can_be_run() -> None:
    seen = 0

    def some(told: hb.Progress) -> None:
        nonlocal seen
        seen += told.done > 0
        if seen > 1:
            raise KeyboardInterrupt

    swept = hb.sweep("fio-randread", on="ent-10k", qd="1..60/1", duration="20 s", jobs=1, progress=some)
    assert 0 < len(swept) < 60


def test_a_progress_that_is_nothing_of_it_is_a_mistake() -> None:
    with pytest.raises(hb.UserError, match="True, False, None or a function"):
        hb.run("fio-randread", on="ent-10k", duration="1 s", progress="yes")  # type: ignore[arg-type]


def test_a_comparison_is_that_of_the_command(tmp_path: Any, hotband: Any) -> None:
    import json

    sides = [hb.run("fio-randread", on=one, duration="20 s") for one in ("ent-10k", "ent-15k")]
    paths = [one.save(tmp_path / str(number)) for number, one in enumerate(sides)]
    of_records, of_files = hb.compare(*sides), hb.compare(*paths)
    assert of_records.comparisons[0].verdict == "faster"
    assert of_records.verdicts == ["fio-randread on ent-15k is faster than fio-randread on ent-10k"]
    assert of_records.frame["metric"].to_list() == ["IOPS", "p50", "p90", "p99"]
    assert of_records.frame.select(pl.col("low_pct")).equals(of_files.frame.select(pl.col("low_pct")))
    assert json.loads(hotband("compare", *map(str, paths), "--json").stdout) == of_files.to_dict()
    with pytest.raises(hb.UserError, match="at least two sides"):
        hb.compare(sides[0])
    with pytest.raises(hb.UserError, match="equal loads"):
        hb.compare(sides[0], hb.run("fio-randread", on="ent-10k", qd=4, duration="5 s"))


def test_repeats_of_a_side_are_taken_together() -> None:
    runs = {seed: hb.run("fio-randread", on="ent-10k", duration="2 s", seed=seed) for seed in range(4)}
    found = hb.compare([runs[0], runs[1]], [runs[2], runs[3]])
    assert [len(side.runs) for side in (found.comparisons[0].a, found.comparisons[0].b)] == [2, 2]


def test_a_review_is_that_of_the_command(hotband: Any) -> None:
    import json

    done = hb.review("ent-10k", only=["access"], quick=True, seed=3)
    words = ("review", "ent-10k", "--only", "access", "--quick", "--seed", "3", "--json")
    assert json.loads(json.dumps(done.reviews[0])) == json.loads(hotband(*words).stdout)
    with pytest.raises(hb.UserError, match="expected one of"):
        hb.review("ent-1ok")
    with pytest.raises(hb.UserError, match="name of a machine"):
        hb.review([])


def test_keys_and_layouts_are_those_of_the_engine() -> None:
    keys = hb.keys("fio-randread", on="ent-10k", set={"qd": 4})
    assert keys.filter(key="qd")["value"].item() == "4"
    assert {"single", "raid5", "replicated"} <= set(hb.layouts())
