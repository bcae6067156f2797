"""Is a line of a study run as short, as often and at those ends that its I/Os allow?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment.ranges import Range
from hotband.inference.interval import short
from hotband.inference.interval.conformal import FigureSpread
from hotband.inference.interval.distribution import NOMINAL, distribution_of
from hotband.inference.interval.short import cheaper, shortened, with_shorter_warm_up
from hotband.inference.interval.uncertain import Uncertain
from hotband.questions.study.definition import Study
from hotband.questions.study.file import load
from hotband.questions.study.intervals import lines
from hotband.questions.study.intervals.intervalfile import IntervalFile
from hotband.questions.study.intervals.lines import Line, LineResult, ShortRun, plan_of, run_line
from hotband.questions.study.intervals.of_study import _take_over

TINY = Path(__file__).parents[1] / "study" / "tiny"
SPEC = RunSpec("run", "ent-10k", "fio-randread")
MOST = "fifteen/mixed/most"


def record(count: int, seconds: float = 10.0, **more: Any) -> Any:
    return {"summary": {"count": count}, "duration_ns": round(seconds * 1e9), **more}


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model takes what it is given, scales of 256 aside."""
    monkeypatch.setattr(short, "refusal", lambda specs, **_: "no" if ("scale", "256") in specs[0].set else None)


@pytest.mark.parametrize(
    ("count", "more", "duration"),
    [
        (40_000, {}, "2500 ms"),
        (160_000, {}, "625 ms"),
        (10_001, {}, "9999 ms"),
        (10_000, {}, None),
        (9_999, {}, None),
        (0, {}, None),
        (10**9, {}, "625 ms"),
        (40_000, {"steps": [{}, {}, {}, {}]}, "625 ms"),
        (40_000, {"scripts": [{"runs": 1}]}, None),
        (40_000, {"scripts": [{"runs": 0}]}, "2500 ms"),
        (10**9, {"seconds": 0.004}, "1 ms"),
    ],
)
def test_a_run_is_as_long_as_ten_thousand_ios_take(
    taken: None, count: int, more: dict[str, Any], duration: str | None
) -> None:
    assert shortened(SPEC, record(count, **more)).duration == duration


def test_a_run_that_the_model_refuses_shorter_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short, "refusal", lambda specs, **_: "no")
    assert shortened(SPEC, record(40_000)) is SPEC
    assert with_shorter_warm_up(replace(SPEC, workload="fio-randwrite"), 0.25).workload_text is None


def test_phases_that_are_not_measured_are_shortened() -> None:
    found = with_shorter_warm_up(replace(SPEC, workload="fio-randwrite"), 0.25).workload_text or ""
    assert 'duration = "2500.000 ms"' in found
    assert 'duration = "60 s"' in found


def test_a_long_warm_up_is_cut_and_flash_is_smaller(taken: None) -> None:
    spec = replace(SPEC, workload="fio-randwrite")
    dear = cheaper(spec, 100_101, 100)
    assert 'duration = "2500.000 ms"' in (dear.workload_text or "")
    cheap = cheaper(spec, 100_100, 100)
    assert cheap.workload_text is None
    assert cheap.set == dear.set == (("scale", "64"),), "256 is refused"
    said = replace(spec, set=(("scale", "8"),))
    assert cheaper(said, 0, 0) is said
    other = replace(spec, set=(("qd", "8"), ("zones", "20")))
    assert cheaper(other, 0, 0).set == (*other.set, ("scale", "64")), "what else is set says nothing of it"


def value(name: str, low: str = "4.0", nominal: str = "5.0", high: str = "7.0") -> Uncertain:
    of = Range(f"disk: {name}", name, low, high, nominal)
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "disk", "a source", "low", f"disk: {name}")


def line(*values: Uncertain) -> Line:
    """The first line of the tiny study, with these values."""
    return replace(next(one for one in lines.lines_of(tiny()) if one.id == "fifteen.mixed"), values=values)


def tiny() -> Study:
    return load(str(TINY))


@pytest.mark.parametrize(
    ("of", "end"),
    [
        (value("a"), "high"),
        (value("a", "3.0", "5.0", "7.0"), "high"),
        (value("a", "2.9", "5.0", "7.0"), "low"),
        (value("a", "4.0", "7.0", "7.0"), "low"),
        (value("a", "x", "y", "z"), "high"),
        (value("a", "x", "y", "y"), "low"),
    ],
)
def test_of_one_end_the_further_one_is_run(of: Uncertain, end: str) -> None:
    assert lines._further(of) == end


def test_ends_are_run_as_far_as_their_ios_allow() -> None:
    three = line(value("a"), value("b"), value("c", "7.0", "7.0", "9.0"))
    both, notes = lines._ends(three, 1_600_000)
    assert [(one.range.key, end) for one, end in both] == [
        ("a", "low"), ("a", "high"), ("b", "low"), ("b", "high"), ("c", "high")
    ]  # fmt: skip
    assert notes == ()
    one_each, notes = lines._ends(three, 1_600_001)
    assert [(one.range.key, end) for one, end in one_each] == [("a", "high"), ("b", "high"), ("c", "high")]
    assert notes == ("each value at one end only",)
    assert lines._ends(three, 2_666_667) == ([], ("values are only sampled together, because the runs are long",))


@pytest.mark.parametrize(("count", "ends"), [(30, 60), (31, 31)])
def test_of_more_than_sixty_ends_one_each_is_run(count: int, ends: int) -> None:
    assert len(lines._ends(line(*[value(f"v{n}") for n in range(count)]), 0.0)[0]) == ends


def whole(spec: RunSpec, ios: int = 20_000, count: int = 20_000) -> Finished:
    return Finished(spec, record(count), "", {}, ios)


def test_a_short_run_says_what_is_left_of_it(taken: None) -> None:
    found = lines.short_run(SPEC, whole(SPEC))
    assert (found.spec.duration, found.left, found.ios) == ("2500 ms", 0.25, 5000.0)
    steps = Finished(SPEC, record(20_000, steps=[{}, {}]), "", {}, 20_000)
    assert lines.short_run(SPEC, steps).left == pytest.approx(0.25)
    writes = replace(SPEC, workload="fio-randwrite")
    assert lines.short_run(writes, whole(writes, 28_000)).ios == 5000 + 8000 / 8, "an eighth of the warm-up"
    few = lines.short_run(SPEC, whole(SPEC, 7000, 5000))
    assert (few.spec.duration, few.left) == (None, 1.0)


def plan(monkeypatch: pytest.MonkeyPatch, *values: Uncertain, ios: int = 20_000, held: Sequence[str] = ()) -> Any:
    """Of runs that take a quarter of so many I/Os each."""
    study = tiny()
    monkeypatch.setattr(lines, "takes_steps", lambda one, spec, shares: one.range.key in held)
    specs = [spec for pair in line().pairs for spec in lines.specs_of(study, pair, None, study.seed)]
    done = {spec.id: whole(spec, ios, ios) for spec in specs}
    shares = {one.name: [n / 100 for n in range(1, 17)] for one in values}
    return plan_of(study, line(*values), done, shares)


def test_a_line_is_run_nominal_with_other_seeds_at_ends_and_in_draws(
    taken: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = plan(monkeypatch, value("zones"), value("head_skew"))
    ends = [f"disk: {key} {end}." for key in ("zones", "head_skew") for end in ("low", "high")]
    draws = [f"draw {n}." for n in range(16)]
    assert list(of.sets) == ["nominal.", "seed 1.", "seed 2.", *ends, *draws]
    assert [spec.seed for spec in of.sets["nominal."] + of.sets["seed 1."] + of.sets["seed 2."]] == [1, 1, 2, 2, 3, 3]
    assert [spec.id for spec in of.sets["seed 2."]] == ["seed 2.fifteen.mixed.qd1", "seed 2.fifteen.mixed.qd8"]
    assert dict(of.sets["disk: zones low."][0].set)["zones"] == "4.0"
    assert "head_skew" not in dict(of.sets["disk: zones low."][0].set)
    drawn = [dict(of.sets[name][1].set) for name in draws]
    assert [one["zones"] for one in drawn] == [value("zones").at(n / 100) for n in range(1, 17)]
    assert {"zones", "head_skew"} <= set(drawn[0])
    assert of.ios == 2 * 5000 * 23
    assert of.notes == ()


def test_long_runs_are_drawn_eight_times(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two runs of 312 of 10,000 ms each: 16 draws of 750,000 I/Os are the 12 million that draws may take.
    few = plan(monkeypatch, value("zones"), ios=12_000_000)
    assert few.ios / len(few.sets) == pytest.approx(2 * 0.0312 * 12_000_000)
    assert sum(name.startswith("draw ") for name in few.sets) == 16
    more = plan(monkeypatch, value("zones"), ios=12_100_000)
    assert sum(name.startswith("draw ") for name in more.sets) == 8


def test_a_line_without_values_is_not_drawn(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(plan(monkeypatch).sets) == ["nominal.", "seed 1.", "seed 2."]


def test_a_value_of_steps_is_not_drawn_and_said(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    of = plan(monkeypatch, value("zones"), value("head_skew"), held=["zones"])
    assert "zones" not in dict(of.sets["draw 0."][0].set)
    assert "head_skew" in dict(of.sets["draw 0."][0].set)
    assert "disk: zones low." in of.sets
    assert of.notes == ("not sampled, because the model changes only in steps: disk: zones",)


def test_what_a_choice_keeps_is_not_set(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = value("zones", "10", "20 or so", "30")
    assert choice.at(0.5) == NOMINAL
    of = plan(monkeypatch, choice)
    drawn = [dict(of.sets[f"draw {n}."][0].set).get("zones") for n in range(16)]
    assert drawn == ["10"] * 16, "shares up to 0.16 are the low end"


def ran(monkeypatch: pytest.MonkeyPatch, of: Any, logs: dict[str, dict[str, float]]) -> LineResult:
    """A line whose sets have these logarithms."""
    done = [whole(spec) for specs in of.sets.values() for spec in specs]
    monkeypatch.setattr(lines, "_run", lambda sets, jobs, tick: [one for one in done if _has(sets, one.spec)])
    monkeypatch.setattr(lines, "_logs", lambda study, line, finished, name: logs.get(name, {MOST: 5.0}))
    return run_line(tiny(), of, None, None)


def _has(sets: dict[str, list[RunSpec]], spec: RunSpec) -> bool:
    return any(spec is one for own in sets.values() for one in own)


def test_a_line_keeps_log_ratios_to_its_nominal_run(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    of = plan(monkeypatch, value("zones"))
    logs = {"seed 1.": {MOST: 5.02}, "seed 2.": {MOST: 4.97}, "disk: zones low.": {MOST: 4.87654}}
    found = ran(monkeypatch, of, logs | {"draw 1.": {MOST: 5.3}, "draw 2.": {}})
    assert found.key == of.key
    assert found.values == ["disk: zones"]
    # A quarter of the time is left: half of the standard deviation.
    assert found.seed == {MOST: pytest.approx(float(np.std([0, 0.02, -0.03], ddof=1)) / 2)}
    assert found.ends == {"disk: zones low": {MOST: -0.1235}, "disk: zones high": {}}, "zeros are not kept"
    assert found.draws == [{MOST: 0.0}, {MOST: 0.3}, {}, *[{MOST: 0.0}] * 13]
    assert (found.runs, found.ios) == (2 * 21, 2 * 21 * 20_000)
    assert (found.refused, found.notes) == ({}, [])


def test_a_figure_that_another_seed_has_not_is_taken_not_to_move(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ran(monkeypatch, plan(monkeypatch), {"seed 1.": {}, "seed 2.": {MOST: 4.97}})
    assert found.seed == {MOST: pytest.approx(float(np.std([0, 0, -0.03], ddof=1)) / 2)}


def test_sets_that_the_model_refuses_are_left_out(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    of = plan(monkeypatch, value("zones"))
    refused = {"disk: zones low.", "draw 1."}
    done = [whole(spec) for specs in of.sets.values() for spec in specs]

    def run(sets: dict[str, list[RunSpec]], jobs: object, tick: object) -> list[Finished]:
        if refused & set(sets):
            raise UserError("x", "", "", "no")
        return [one for one in done if _has(sets, one.spec)]

    monkeypatch.setattr(lines, "_run", run)
    monkeypatch.setattr(lines, "_logs", lambda study, line, finished, name: {MOST: 5.0})
    monkeypatch.setattr(
        lines, "refusal", lambda specs, **_: "no" if any(specs is of.sets[name] for name in refused) else None
    )
    found = run_line(tiny(), of, None, None)
    assert found.refused == {"disk: zones low": "no", "draw 1": "no"}
    assert [one is None for one in found.draws] == [False, True, *[False] * 14]
    assert "disk: zones low" not in found.ends
    assert found.runs == 2 * 19
    refused.add("nominal.")
    with pytest.raises(UserError):
        run_line(tiny(), of, None, None)


def test_the_key_of_a_line_follows_from_its_runs(taken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    one, again, other = (plan(monkeypatch, value("zones", high=high)) for high in ("7.0", "7.0", "7.1"))
    assert one.key == again.key != other.key
    assert len(one.key) == 64


def test_what_is_left_is_that_of_the_run_of_the_load() -> None:
    of = line()
    runs = (
        ShortRun(replace(SPEC, id="fifteen.mixed.qd1"), 0.5, 1.0),
        ShortRun(replace(SPEC, id="fifteen.mixed.qd8"), 0.1, 1.0),
    )
    found = lines._lefts(cast("Any", lines.Plan(of, runs, {}, ())), {MOST: 5.0})
    assert found == {MOST: 0.5}


def test_a_zero_ratio_has_no_sign() -> None:
    found = lines._ratios({"a": 1.0, "b": 1.0, "c": 2.0}, {"a": 0.99999, "b": 1.23456})
    assert found == {"a": 0.0, "b": 0.2346}
    assert math.copysign(1, found["a"]) == 1.0


def test_lines_and_figures_of_an_earlier_call_are_taken_over(tmp_path: Path) -> None:
    done = {name: LineResult(name, values) for name, values in
            {"one": ["v"], "two": ["v", "gone"], "three": []}.items()}  # fmt: skip
    earlier = IntervalFile("tiny", "1", "c", {}, done, {"f": FigureSpread(1.0)})
    path = tmp_path / "intervals.json"
    path.write_text(earlier.text(), encoding="utf-8")
    work = type("Work", (), {"lines": [Line(name, (), ()) for name in ("one", "two")], "values": {"v": 1}})
    for seed, kept in (("1", ["one"]), ("2", [])):
        made = IntervalFile("tiny", seed, "c")
        _take_over(made, [tmp_path / "none.json", path], cast("Any", work))
        assert (list(made.lines), list(made.figures)) == (kept, ["f"] if kept else [])


def test_a_choice_takes_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short, "refusal", lambda specs: "no")
    assert not short.takes_steps(value("zones", "x", "y", "z"), SPEC, [0.1, 0.5, 0.9])
    assert short.takes_steps(value("zones"), SPEC, [0.1, 0.5, 0.9])
