"""Are the draws of a run those of its values, where the run is a formula?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment.ranges import Range
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import Prepared
from hotband.inference.interval import basis, of_record, of_run, short
from hotband.inference.interval.conformal import ARRAYS, Kind, ModelTerm, Residual, Spread
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.of_run import Asked, Drawn, class_of_figure, draw, figures_of, rate_class
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.uncertain import Uncertain

SPEC = RunSpec("run", "ent-10k", "fio-randread", seed=2**64 - 2)
COUNT = 40_000


def value(key: str) -> Uncertain:
    of = Range(f"disk: {key}", key, "4.0", "7.0", "5.0")
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "disk", "a source", "low", f"disk: {key}")


VALUES = [value("rate"), value("idle"), value("tail")]


def run_of(spec: RunSpec) -> Finished:
    """The rate follows one value, the slowest I/Os another; a third moves the rate by 0.2 % in all of its range. Seeds
    3, 2, 1 and 0 beside the nominal one make the rate 1 to 4 % more."""
    at = {key: float(text) / 5 for key, text in spec.set if key != "scale"}
    rate = 100 * at.get("rate", 1) * at.get("idle", 1) ** 0.005 * (1 + ((spec.seed + 2) % 2**64) / 100)
    long = 10e9 if spec.duration is None else float(spec.duration.split()[0]) * 1e6
    sides = {"read": {"count": COUNT}, "write": {"count": 0}}
    summary = {"count": COUNT, "iops": rate, "latency_mean_ns": 1e9 / rate, "queue_depth_mean": 16.0,
               "latency_p99_ns": 2e7 / at.get("tail", 1), **sides}  # fmt: skip
    record = {"summary": summary, "duration_ns": long, "concurrency": 16}
    return Finished(spec, cast("Any", record), "", {}, COUNT)


class Formula:
    """In place of the engine: how many specs ran, in which calls."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def run(self, specs: Sequence[RunSpec]) -> list[Finished]:
        self.calls.append([spec.id for spec in specs])
        return [run_of(spec) for spec in specs]


def refuse(monkeypatch: pytest.MonkeyPatch, above: float) -> None:
    """The model refuses rates above a value, and has no scale."""

    def refusal(specs: Sequence[RunSpec], **_: bool) -> str | None:
        at = dict(specs[0].set)
        return "no" if "scale" in at or float(at.get("rate", 0)) > above else None

    monkeypatch.setattr(short, "refusal", refusal)
    # A disk, whose contents are no other run's.
    run = cast("Any", SimpleNamespace(drives_key=lambda: None))
    monkeypatch.setattr(of_run, "attempt", lambda spec: refusal([spec]) or Prepared(spec, run))


@pytest.fixture
def formula(monkeypatch: pytest.MonkeyPatch) -> Formula:
    made = Formula()
    monkeypatch.setattr(of_run, "of_run", lambda spec: list(VALUES))
    monkeypatch.setattr(of_run._Runner, "run", lambda self, specs, prepared=None: made.run(specs))
    refuse(monkeypatch, 100.0)
    return made


def drawn_of(draws: int = 16, said: list[str] | None = None) -> Drawn:
    say = (said if said is not None else []).append
    return draw(SPEC, run_of(SPEC), Asked(90, draws), None, say, lambda title: nullcontext())


def test_what_moves_no_figure_by_a_fifth_of_a_percent_is_not_drawn(formula: Formula) -> None:
    found = drawn_of()
    assert found.without_effect == ["disk: idle"], "at its ends -0.11 and +0.17 %"
    assert [one.name for one in found.values] == ["disk: rate", "disk: tail"]
    assert found.ends["disk: rate", "low"]["iops"] == pytest.approx(math.log(0.8))
    assert found.ends["disk: tail", "high"]["latency_p99_ns"] == pytest.approx(-math.log(1.4))
    assert found.ends["disk: tail", "high"]["iops"] == 0.0


def test_what_is_run_is_counted_and_announced(formula: Formula) -> None:
    said: list[str] = []
    found = drawn_of(16, said)
    assert [len(call) for call in formula.calls] == [1 + of_run.SEEDS + 6, 16]
    assert (found.runs, found.ios) == (27, 27 * COUNT)
    told = "intervals: 11 runs screen 3 uncertain values, then up to 16 sample those that matter"
    assert said == [f"{told}, each 2500 ms long"], "10,000 of 40,000 I/Os are a quarter of 10 s"


@pytest.mark.parametrize(("before", "is_cut"), [(100_000, False), (100_001, True)])
def test_a_warm_up_is_what_was_run_and_not_measured(
    before: int, is_cut: bool, formula: Formula, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[RunSpec] = []

    def run(self: Any, specs: Sequence[RunSpec], prepared: object) -> list[Finished]:
        ran.extend(specs)
        return formula.run(specs)

    monkeypatch.setattr(of_run._Runner, "run", run)
    spec = replace(SPEC, workload="fio-randwrite")
    whole = replace(run_of(spec), ios=COUNT + before)
    draw(spec, whole, Asked(90, 8), None, lambda text: None, lambda title: nullcontext())
    assert {one.workload_text is not None for one in ran} == {is_cut}


def test_the_spread_by_seeds_is_less_by_the_root_of_what_is_left_of_the_time(formula: Formula) -> None:
    found = drawn_of()
    logs = [math.log(1 + n / 100) for n in range(5)]
    assert found.seed["iops"] == pytest.approx(float(np.std(logs, ddof=1)) * 0.5)
    assert found.seed["latency_p99_ns"] == 0.0
    assert found.duration_ns == 2.5e9


def test_draws_are_those_of_the_sampler(formula: Formula) -> None:
    found = drawn_of(16)
    sampler = Sampler([VALUES[0], VALUES[2]], SPEC.seed)
    shares = sampler.shares(16)
    assert np.array_equal(found.places, sampler.places(shares))
    rates = [math.log(float(VALUES[0].at(share)) / 5) for share in shares[:, 0]]
    assert found.log_ratios("iops") == pytest.approx(rates)
    assert found.log_ratios("latency_mean_ns") == pytest.approx([-one for one in rates])
    assert found.refused == 0
    assert found.notes == []


def test_a_refused_draw_is_drawn_again(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, 5.5)
    monkeypatch.setattr(of_run, "takes_steps", lambda *arguments: False)
    found = drawn_of(16)
    drawn = [float(VALUES[0].at(share)) for share in Sampler([VALUES[0], VALUES[2]], SPEC.seed).shares(64)[:, 0]]
    taken = [at for at in drawn if at <= 5.5][:16]
    assert found.log_ratios("iops") == pytest.approx([math.log(at / 5) for at in taken])
    assert found.refused == drawn.index(taken[-1]) - 15 > 0
    assert found.notes == []
    assert found.refused_ends == {("disk: rate", "high"): "no"}
    assert ("disk: rate", "high") not in found.ends


def test_four_times_as_many_draws_are_tried_and_no_more(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, 4.4)
    monkeypatch.setattr(of_run, "takes_steps", lambda *arguments: False)
    found = drawn_of(16)
    drawn = [float(VALUES[0].at(share)) for share in Sampler([VALUES[0], VALUES[2]], SPEC.seed).shares(64)[:, 0]]
    taken = sum(at <= 4.4 for at in drawn)
    assert 0 < taken < 16
    assert (len(found.draws), found.refused) == (taken, 64 - taken)
    assert found.notes == [f"the model refused {64 - taken} samples: {taken} of 16 were run"]


def test_a_value_that_is_refused_mostly_is_not_drawn(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, 4.01)
    found = drawn_of(8)
    assert [one.name for one in found.values] == ["disk: tail"]
    assert found.notes == ["not sampled, because the model changes only in steps: disk: rate"]
    assert found.places.shape == (8, 1)


@pytest.mark.parametrize(("above", "steps"), [(5.0, True), (5.2, False), (6.0, False)])
def test_steps_are_what_two_of_three_draws_are_refused_of(
    above: float, steps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, above)
    shares = [0.45, 0.5, 0.1, 0.99, 0.99]
    assert [round(float(VALUES[0].at(share)), 1) for share in shares[:3]] == [5.2, 5.3, 4.5]
    assert short.takes_steps(VALUES[0], SPEC, shares) is steps


def test_an_interrupt_with_fewer_than_eight_draws_is_one(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: Any, specs: Sequence[RunSpec], prepared: object) -> list[Finished]:
        if specs[0].id.startswith("draw "):
            raise RunsInterrupted(formula.run(specs[:kept]))
        return formula.run(specs)

    monkeypatch.setattr(of_run._Runner, "run", stopped)
    kept = 8
    assert drawn_of(16).notes == ["interrupted: 8 of 16 samples were run"]
    kept = 7
    with pytest.raises(RunsInterrupted):
        drawn_of(16)


def test_without_values_nothing_is_drawn(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_run, "of_run", lambda spec: [VALUES[1]])
    found = drawn_of()
    assert (found.values, found.draws, len(formula.calls)) == ([], [], 1)
    assert found.log_ratios("iops").shape == (0,)


def rest_on(monkeypatch: pytest.MonkeyPatch, drawn: Drawn) -> ModelTerm:
    """Rest every figure on studies with the errors 1 to 19 %."""
    term = ModelTerm([Residual("s", f"m{n}", "f", Kind(FigureClass.RANDOM), n / 100) for n in range(1, 20)])
    monkeypatch.setattr(basis, "model_term", lambda: term)
    drawn.bases = dict.fromkeys(basis.METRICS, basis.Basis("from studies", is_of_studies=True))
    return term


def test_an_interval_is_made_of_draws_seed_and_term(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn_of(16)
    term = rest_on(monkeypatch, found)
    logs = found.log_ratios("iops")
    spread = Spread.of(logs, found.seed["iops"])
    assert of_record.spread_of("iops", found) == spread
    low, high = term.bounds(Kind(FigureClass.RANDOM), spread, 80, Spread.farthest(logs, found.seed["iops"]))
    document = of_record._document(SPEC, run_of(SPEC), Asked(80, 16), found)
    one = document["figures"][0]
    assert (one["figure"], one["figure_class"], one["predicted"], one["level"]) == ("iops", "random rate", 100.0, 80)
    assert (one["low"], one["high"]) == (pytest.approx(100 * math.exp(low)), pytest.approx(100 * math.exp(high)))
    ends = [100 * math.exp(float(end)) for end in np.percentile(logs, (10, 90))]
    assert (one["values_low"], one["values_high"]) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    assert (document["draws"], document["runs"], document["refused"]) == (16, 27, 0)
    assert (document["values"], document["seed"]) == (["disk: rate", "disk: tail"], str(2**64 - 2))


def test_without_draws_values_alone_move_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn({"iops": 100.0}, duration_ns=5)
    rest_on(monkeypatch, drawn)
    one = of_record._figure("iops", Kind(FigureClass.RANDOM), 80, drawn)
    assert (one["values_low"], one["values_high"]) == (pytest.approx(100), pytest.approx(100))
    assert (one["low"], one["high"]) == (pytest.approx(100 * math.exp(-0.16)), pytest.approx(100 * math.exp(0.16)))


def test_where_a_figure_comes_from_is_told_of_each(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn_of(16)
    rest_on(monkeypatch, found)
    whys = {one["figure"]: one for one in of_record._whys(SPEC, run_of(SPEC), Asked(80, 16), found)}
    assert {name: one["unit"] for name, one in whys.items()} == {
        "iops": "IOPS", "latency_mean_ns": "ns", "latency_p99_ns": "ns"
    }  # fmt: skip
    assert [row["key"] for row in whys["iops"]["values"]] == ["rate", "tail"]
    assert [row["key"] for row in whys["latency_p99_ns"]["values"]] == ["tail", "rate"]
    assert whys["iops"]["values"][0]["low_pct"] == pytest.approx(-20.0)
    assert whys["iops"]["unexplained"] == 0.0
    assert whys["iops"]["label"] == "fio-randread on ent-10k"


def test_intervals_go_into_the_record_and_its_text() -> None:
    whole = run_of(SPEC)
    of_record.keep(whole, cast("Any", {"level": 90.0}))
    assert json.loads(whole.text)["intervals"] == whole.record["intervals"] == {"level": 90.0}


@pytest.mark.parametrize(("busy", "of"), [(15.84, FigureClass.RANDOM), (15.83, FigureClass.TIME)])
def test_a_mean_time_is_as_certain_as_the_rate_of_a_closed_loop(busy: float, of: FigureClass) -> None:
    whole = run_of(SPEC)
    whole.record["summary"]["queue_depth_mean"] = busy
    found = of_record.kinds_of(SPEC, whole.record, ["iops", "latency_mean_ns"])
    assert found == {"iops": Kind(FigureClass.RANDOM, ARRAYS), "latency_mean_ns": Kind(of, ARRAYS)}


@pytest.mark.parametrize(
    ("name", "closed", "open_"),
    [
        ("iops", FigureClass.SEQUENTIAL, FigureClass.SEQUENTIAL),
        ("read.bandwidth_bytes_per_s", FigureClass.SEQUENTIAL, FigureClass.SEQUENTIAL),
        ("read.latency_mean_ns", FigureClass.SEQUENTIAL, FigureClass.TIME),
        ("latency_p50_ns", FigureClass.P50, FigureClass.P50),
        ("write.latency_p99_ns", FigureClass.P99, FigureClass.P99),
        ("latency_p999_ns", FigureClass.P999, FigureClass.P999),
    ],
)
def test_the_class_of_a_runs_figure(name: str, closed: FigureClass, open_: FigureClass) -> None:
    assert class_of_figure(name, FigureClass.SEQUENTIAL, True) is closed
    assert class_of_figure(name, FigureClass.SEQUENTIAL, False) is open_


@pytest.mark.parametrize(
    ("workload", "said", "of"),
    [
        ("fio-randread", (), FigureClass.RANDOM),
        ("fio-randread", (("random_pct", "0 %"),), FigureClass.SEQUENTIAL),
        ("fio-read", (), FigureClass.SEQUENTIAL),
        ("fio-read", (("random_pct", "1"),), FigureClass.RANDOM),
        ("oltp", (), FigureClass.APPLICATION),
    ],
)
def test_the_class_of_a_rate_is_that_of_its_load(workload: str, said: Any, of: FigureClass) -> None:
    assert rate_class(RunSpec("run", "ent-10k", workload, said)) is of


def test_figures_of_both_directions_are_told_where_there_are_both() -> None:
    side = {"count": 5, "iops": 3.0, "latency_mean_ns": None}
    summary = {"count": 10, "iops": 6, "latency_p50_ns": 0.0, "latency_p99_ns": 7.5, "read": side, "write": side}
    both = figures_of(cast("Any", {"summary": summary}))
    assert both == {"iops": 6.0, "latency_p99_ns": 7.5, "read.iops": 3.0, "write.iops": 3.0}
    alone = figures_of(cast("Any", {"summary": {**summary, "write": {"count": 0}}}))
    assert alone == {"iops": 6.0, "latency_p99_ns": 7.5}


def test_figures_are_named_short_and_long() -> None:
    known = ["iops", "latency_p99_ns", "read.latency_p99_ns"]
    names = [of_record.figure_name(one, known) for one in ("iops", "p99", "read.p99", "latency_p99_ns")]
    assert names == ["iops", "latency_p99_ns", "read.latency_p99_ns", "latency_p99_ns"]
    with pytest.raises(UserError, match=r"expected one of iops, p99, read\.p99$"):
        of_record.figure_name("write.p99", known)


@pytest.mark.parametrize("draws", [7, 4097, 8.0, True, "8"])
def test_a_number_of_draws_that_is_none_is_named(draws: Any) -> None:
    with pytest.raises(UserError, match="expected a whole number from 8 to 4096"):
        Asked(90, draws)


@pytest.mark.parametrize("draws", [8, 4096])
def test_eight_to_4096_draws_are_taken(draws: int) -> None:
    assert Asked(90, draws).draws == draws


def test_where_nothing_is_said_64_draws_make_intervals_of_90_percent() -> None:
    assert Asked() == Asked(90.0, 64)


def test_nothing_has_run_before_it_is_drawn() -> None:
    none = Drawn({"iops": 100.0})
    assert (none.runs, none.ios, none.refused, none.duration_ns) == (0, 0, 0, 0)
    assert (none.places.shape, none.log_ratios("iops").shape) == ((0, 0), (0,))
