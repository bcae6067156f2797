"""Has a rate that the load asks for the ends of what it gets of slower and faster machines?"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from hotband.base.text.tomltable import loads
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import Load
from hotband.execution.experiment.experiment import execute
from hotband.inference.interval import asked_rate
from hotband.inference.interval.asked_rate import NOTE, at_speed, ends_of
from hotband.inference.interval.of_record import explained_intervals_of
from hotband.inference.interval.of_run import Asked
from hotband.inference.interval.why import GIVEN

STREAM = '[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "8 KiB"\n'
PHASES = '[[phases]]\nduration = "1 s"\n[[phases]]\nduration = "8 s"\nmeasure = true\n'
FIXED = '[load]\nopen = {{ rate_iops = {}, arrival = "fixed" }}\n'
RATES = ("iops", "bandwidth_bytes_per_s")


def spec_of(load: str, said: tuple[tuple[str, str], ...] = (), duration: str | None = None) -> RunSpec:
    text = f'title = "t"\nsource = "here"\n{load}{STREAM}{PHASES}'
    return RunSpec("run", "ent-10k", "asked.toml", said, duration=duration, workload_text=text)


def made(spec: RunSpec) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The intervals of a run, where they come from, and what is noted."""
    whole = execute([spec])[0]
    document, whys = explained_intervals_of(spec, whole, Asked(90, 8), None, lambda _: None, lambda _: nullcontext())
    figures = {one["figure"]: dict(one) for one in document["figures"]}
    return figures, {one["figure"]: one for one in whys}, document["notes"]


def test_a_rate_that_a_slower_machine_keeps_up_with_is_the_one_that_was_asked_for() -> None:
    figures, whys, notes = made(spec_of(FIXED.format(40)))
    assert figures["iops"]["predicted"] == pytest.approx(40, rel=0.01)
    for name in RATES:
        one = figures[name]
        assert (one["low"], one["high"]) == (pytest.approx(one["predicted"]), pytest.approx(one["predicted"]))
        assert (whys[name]["advice"], whys[name]["of_model"]) == (GIVEN, 0.0)
    assert NOTE in notes
    # Its latency is a figure of the machine.
    assert figures["latency_mean_ns"]["low"] < 0.9 * figures["latency_mean_ns"]["predicted"]
    assert "Model error is" in whys["latency_p99_ns"]["advice"]


def test_a_rate_that_replaces_a_closed_loop_is_made_faster() -> None:
    closed = "[load]\nclosed = { threads = 1, depth = 4 }\n"
    faster = at_speed(spec_of(closed, (("rate_iops", "40"),)), 2.0)
    assert faster is not None
    assert dict(faster.set)["rate_iops"] == "80.0"
    assert at_speed(spec_of(closed), 2.0) is None


def test_a_rate_that_a_slower_machine_does_not_keep_up_with_may_be_less_and_not_more() -> None:
    most = execute([spec_of(FIXED.format(5_000))])[0].record["summary"]["iops"]
    assert most is not None
    figures, whys, _ = made(spec_of(FIXED.format(round(0.9 * most))))
    one = figures["iops"]
    assert one["predicted"] == pytest.approx(0.9 * most, rel=0.02)
    assert one["low"] < 0.95 * one["predicted"]
    assert one["high"] <= 1.01 * round(0.9 * most)
    assert 0 < whys["iops"]["of_model"] <= 1


@pytest.mark.long
def test_a_machine_that_does_not_keep_up_has_the_ends_of_its_own_rate() -> None:
    ends = []
    for rate in (2_000, 100_000):
        one = made(spec_of(FIXED.format(rate)))[0]["iops"]
        ends.append((one["low"] / one["predicted"], one["high"] / one["predicted"]))
    assert ends[0] == (pytest.approx(ends[1][0], rel=0.05), pytest.approx(ends[1][1], rel=0.05))
    assert ends[0][0] < 0.85
    assert ends[0][1] > 1.15


@pytest.mark.long
def test_pauses_leave_what_the_machine_has_of_the_rate() -> None:
    loop = '[load]\nclosed = {{ threads = 1, think = "{} ms" }}\n'
    ends = [made(spec_of(loop.format(think)))[0]["iops"] for think in (0, 5, 100)]
    widths = [math.log(one["high"] / one["low"]) for one in ends]
    assert widths[0] > widths[1] > 4 * widths[2] > 0


@pytest.mark.parametrize(
    "load",
    [
        '[load]\nbursts = { ios = 8, every = "200 ms" }\n',
        '[load.arrivals]\ngaps = { "5 ms" = 50, "50 ms" = 50 }\nevery = "1 s"\nrates = [1.5, 0.5]\n',
    ],
)
def test_bursts_and_arrivals_are_asked_for(load: str) -> None:
    figures, whys, notes = made(spec_of(load))
    assert NOTE in notes
    # What is left is the chance of the arrivals, where they are at random.
    assert whys["iops"]["advice"] == GIVEN
    assert whys["iops"]["of_model"] == 0.0
    assert figures["iops"]["low"] <= figures["iops"]["predicted"] <= figures["iops"]["high"]


def test_a_faster_load_is_the_same_in_less_time() -> None:
    faster = at_speed(spec_of(FIXED.format(40), (("rate_iops", "50"),), "10 s"), 2.0)
    assert faster is not None
    table: Any = loads(faster.workload_text or "", "")
    assert (table["load"]["open"]["rate_iops"], dict(faster.set)["rate_iops"]) == (80.0, "100.0")
    assert [one["duration"] for one in table["phases"]] == ["500000000 ns", "4000000000 ns"]
    assert faster.duration == "5000000000 ns"
    counts = [execute([one])[0].record["summary"]["count"] for one in (spec_of(FIXED.format(40)), faster)]
    assert counts[1] / counts[0] == pytest.approx(50 * 10 / (40 * 8), rel=0.01)


def test_times_of_all_loads_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_rate, "refusal", lambda _: None)
    text = """
trace = [{ file = "a", speed = 2 }, { file = "b", issue = "as-fast-as-possible" }]
[load]
arrivals = { gaps = { "1 ms" = 3, "20 ms" = 1 }, every = "10 s", rates = [1, 2] }
[[streams]]
load = { bursts = { ios = 4, every = "100 ms" } }
[[streams]]
load = { closed = { threads = 2, think = "4 ms" } }
[[phases]]
until = ["1e6 I/Os", "10 min"]
measure = true
"""
    found = at_speed(RunSpec("run", "ent-10k", "w", (("think", "6 ms"),), workload_text=text), 2.0)
    assert found is not None
    table: Any = loads(found.workload_text or "", "")
    assert [one.get("speed") for one in table["trace"]] == [4.0, None]
    assert table["load"]["arrivals"]["gaps"] == {"500000 ns": 3, "10000000 ns": 1}
    assert table["load"]["arrivals"]["every"] == "5000000000 ns"
    assert table["streams"][0]["load"] == {"bursts": {"ios": 4, "every": "50000000 ns"}}
    assert table["streams"][1]["load"]["closed"] == {"threads": 2, "think": "2000000 ns"}
    assert table["phases"][0]["until"] == ["1e6 I/Os", "300000000000 ns"]
    assert found.set == (("think", "3000000 ns"),)


@pytest.mark.parametrize(
    "text",
    [
        "[load]\nclosed = { threads = 8 }",
        'trace = { file = "a", issue = "as-fast-as-possible" }',
        "[load]\nopen = { rate_iops = 9 }\n[[scripts]]\nclients = 2",
        '[app]\nkind = "btree"',
    ],
)
def test_what_asks_as_fast_as_it_is_answered_or_has_other_times_is_left_as_it_is(text: str) -> None:
    assert at_speed(RunSpec("run", "ent-10k", "w", workload_text=text), 2.0) is None


def test_a_pause_that_is_set_to_nothing_is_none() -> None:
    spec = spec_of('[load]\nclosed = { threads = 1, think = "5 ms" }\n')
    assert at_speed(spec, 2.0) is not None
    assert at_speed(replace(spec, set=(("think", "0 ms"),)), 2.0) is None
    assert at_speed(spec, 1e6) is None, "no machine is a million times as fast as its model"


def test_ends_hold_the_prediction_and_no_more_than_was_asked_for() -> None:
    factors = {"low": 2.0, "high": 0.5}
    assert ends_of(100.0, 100.0, {"low": 200.0, "high": 50.0}, factors) == (0.0, 0.0)
    low, high = ends_of(101.0, 100.0, {"low": 120.0, "high": 90.0}, factors)
    assert (math.exp(low), math.exp(high)) == (pytest.approx(0.6), pytest.approx(180 / 101))
    assert ends_of(100.0, 0.0, {"low": 0.0, "high": 0.0}, factors) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("load", "is_open"),
    [
        (FIXED.format(9), True),
        ('[load]\nin_a_row = 2\nbursts = { ios = 8, every = "1 s" }\n', True),
        ("[load]\nclosed = { threads = 1 }\n", False),
        ("", False),
    ],
)
def test_a_load_that_does_not_wait_for_answers_is_open(load: str, is_open: bool) -> None:
    assert Load(load, "w").is_open is is_open
    beside = Load(f"{load}[[streams]]\nload = {{ closed = {{ threads = 1 }} }}\n", "w")
    assert not beside.is_open
