"""Do the files of intervals and residuals keep what was found, and say when it holds no more?"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import pytest

from hotband.base.errors import UserError
from hotband.execution.experiment.ranges import Range
from hotband.inference.interval import check_level
from hotband.inference.interval.conformal import ARRAYS, POOLS, FigureSpread, Kind, Spread
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.residuals import Kept, ResidualFile, kept_of, read_residuals
from hotband.inference.interval.uncertain import Uncertain
from hotband.questions.study.intervals.intervalfile import IntervalFile, Value, read_intervals
from hotband.questions.study.intervals.lines import LineResult
from hotband.questions.study.intervals.of_study import announced


def uncertain(low: object = "4 ms", nominal: str = "5 ms", high: object = "6 ms", group: str = "g") -> Uncertain:
    of = Range("disk: x", "x", low, high, nominal)
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "disk", "a source", "low", group)


def kept_file() -> IntervalFile:
    return IntervalFile(
        "tiny",
        "1",
        "a command",
        {"w": Value.of(uncertain(), [0.123456, -1.0]), "v": Value.of(uncertain())},
        {"two": LineResult("k", ["w"], {"f": 0.01}, {"w low": {"f": 0.1}}, {}, [None, {"f": 0.2}], 9, 99, ["note"])},
        {"g": FigureSpread(10.0, low=0.1, high=0.2, seed=0.03, unexplained=0.04), "f": FigureSpread(None)},
    )


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "intervals.json"
    path.write_text(kept_file().text(), encoding="utf-8")
    assert read_intervals(path) == kept_file()
    assert read_intervals(tmp_path / "none.json") is None


def test_what_a_file_does_not_say_is_nothing(tmp_path: Path) -> None:
    table = json.loads(kept_file().text())
    table["figures"], table["lines"] = {"f": {"predicted": 3.0}}, {"l": {"key": "k", "values": []}}
    path = tmp_path / "intervals.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    found = read_intervals(path)
    assert found is not None
    one, line = found.figures["f"], found.lines["l"]
    assert (one.low, one.high, one.seed, one.unexplained, one.cells) == (0, 0, 0, 0, {})
    assert (line.runs, line.ios, line.seed, line.ends, line.refused, line.draws) == (0, 0, {}, {}, {}, [])


def test_a_file_has_a_line_for_each_value_line_part_and_figure_by_name() -> None:
    text = kept_file().text()
    lines = text.splitlines()
    starts = [line.split(":")[0] for line in lines]
    assert starts[:6] == ["{", ' "study"', ' "seed"', ' "command"', ' "values"', '  "v"']
    assert starts.index('  "v"') < starts.index('  "w"')
    assert starts.index('  "f"') < starts.index('  "g"')
    assert '   "ends": {"w low": {"f": 0.1}},' in lines
    assert text.endswith("}\n")
    assert kept_file().text() == text


def test_places_are_kept_with_four_digits() -> None:
    of = Value.of(uncertain(), [0.123456, -1.0])
    assert of.places == [0.1235, -1.0]
    assert (of.key, of.part, of.low, of.nominal, of.high, of.group) == ("x", "disk", "4 ms", "5 ms", "6 ms", "g")
    assert (of.source, of.confidence) == ("a source", "low")


def test_the_spread_of_a_figure_is_of_both_sides() -> None:
    assert FigureSpread(1.0, low=0.1, high=0.2).spread == Spread(0.1, 0.2)


@pytest.mark.parametrize(
    "other",
    [uncertain("3 ms"), uncertain(nominal="4.5 ms"), uncertain(high="7 ms"), uncertain(group="h"),
     uncertain("0.5 ms", "5 ms", "6 ms")],
)  # fmt: skip
def test_a_value_that_is_drawn_otherwise_is_changed(other: Uncertain) -> None:
    assert Value.of(uncertain()).is_as(Value.of(uncertain(), [0.5]))
    assert not Value.of(uncertain()).is_as(Value.of(other))
    assert kept_file().changed({"v": other, "w": uncertain()}) == ["v"]


def test_values_that_are_new_or_gone_are_changed() -> None:
    assert kept_file().changed({"w": uncertain(), "v": uncertain()}) == []
    assert kept_file().changed({"w": uncertain(), "u": uncertain()}) == ["u", "v"]


def test_a_file_is_stale_where_a_prediction_is_another() -> None:
    of = kept_file()
    assert not of.is_stale({"f": None, "g": 10.0})
    assert of.is_stale({"f": None, "g": 10.1})
    assert of.is_stale({"f": 1.0, "g": 10.0})
    assert not of.is_stale({"g": 10.0, "h": 3.0}), "a part of the study says nothing of the others"


@pytest.mark.parametrize("name", ["low", "high", "seed", "unexplained"])
@pytest.mark.parametrize("number", [-0.01, math.inf, math.nan, "0.1", None])
def test_a_spread_that_is_none_is_named(tmp_path: Path, name: str, number: object) -> None:
    table = json.loads(kept_file().text())
    table["figures"]["g"][name] = number
    path = tmp_path / "intervals.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(UserError, match="is not a file of intervals"):
        read_intervals(path)


def test_what_is_about_to_be_run_is_counted() -> None:
    def plan(sets: int, short: int, ios: float) -> Any:
        return type("Plan", (), {"sets": [()] * sets, "short": [()] * short, "ios": ios})

    plans = [plan(40, 30, 2.6e6), plan(3, 2, 0.8e6)]
    assert announced("tiny", plans, plans) == "tiny: 1,206 shortened runs in 2 lines, about 3,400,000 I/Os"
    said = "tiny: 6 shortened runs in 1 lines, about 800,000 I/Os, 1 lines have not changed"
    assert announced("tiny", plans, plans[1:]) == said


def kept(**more: Any) -> Kept:
    one = Kept("s", "m", "f", "p99", POOLS, 100.0, 80.0, -20.0, None, None, (0.1, 0.2))
    return replace(one, **more)


def test_a_residual_is_the_logarithm_of_published_over_predicted() -> None:
    (one,) = kept().residuals()
    assert (one.study, one.machine, one.figure, one.was, one.weight) == ("s", "m", "f", "seen", 1.0)
    assert one.kind == Kind(FigureClass.P99, POOLS)
    assert one.log_ratio == pytest.approx(math.log(100 / 80))
    assert one.spread == Spread(0.1, 0.2)


def test_a_blind_prediction_and_todays_count_half_each() -> None:
    found = kept(blind=150.0, blind_error_pct=50.0).residuals()
    assert [(one.was, one.weight) for one in found] == [("seen", 0.5), ("blind", 0.5)]
    assert found[1].log_ratio == pytest.approx(-math.log(1.5))


def test_an_error_of_everything_has_no_residual() -> None:
    assert kept(error_pct=-100.0).residuals() == []
    (one,) = kept(error_pct=-100.0, blind_error_pct=0.0).residuals()
    assert (one.was, one.weight, one.log_ratio) == ("blind", 1.0, 0.0)
    assert kept(error_pct=math.inf).residuals() == []
    (one,) = kept(error_pct=-99.5).residuals()
    assert one.log_ratio == pytest.approx(math.log(200))


def test_residuals_are_read_as_they_were_written_by_study_and_figure(tmp_path: Path) -> None:
    of = ResidualFile("9", "made up", [kept(study="t"), kept(figure="g"), kept()])
    path = tmp_path / "residuals.json"
    path.write_text(of.text(), encoding="utf-8")
    found = read_residuals(path)
    assert found is not None
    assert (found.version, found.command) == ("9", "made up")
    assert found.figures == [kept(), kept(figure="g"), kept(study="t")]
    assert [line[:13] for line in of.text().splitlines()[1:4]] == ['  {"study": "'] * 3
    assert read_residuals(tmp_path / "none.json") is None
    assert len(found.term().residuals) == 3


def test_residuals_are_stale_where_their_study_predicts_something_else() -> None:
    of = ResidualFile("9", "made up", [kept(), kept(study="t", predicted=5.0)])
    assert not of.is_stale("s", {"f": 80.0, "new": 1.0})
    assert of.is_stale("s", {"f": 81.0})
    assert of.is_stale("t", {"f": 80.0})
    assert not of.is_stale("s", {"new": 1.0}), "a part of the study"


def test_a_figure_of_no_class_is_no_residual(tmp_path: Path) -> None:
    path = tmp_path / "residuals.json"
    table = {"version": "1", "command": "c", "figures": [asdict(kept(figure_class="speed"))]}
    path.write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(UserError, match="not a file of residuals"):
        read_residuals(path)


def row(**more: Any) -> Any:
    of = {"id": "f", "config": "m", "label": "random reads", "metric": "IOPS", "unit": "IOPS", "workload": None,
          "published": 100.0, "predicted": 80.0, "error_pct": -20.0, "counted": True, "blind": None}  # fmt: skip
    return cast("Any", of | more)


def test_what_is_published_and_predicted_is_kept_once() -> None:
    spreads = {"f": FigureSpread(80.0, low=0.1, high=0.2)}
    (one,) = kept_of("s", [row()], spreads, {"m": POOLS})
    assert one == Kept("s", "m", "f", "random rate", POOLS, 100.0, 80.0, -20.0, None, None, (0.1, 0.2))
    (one,) = kept_of("s", [row(blind={"predicted": 150.0, "error_pct": 50.0})], {}, {})
    assert (one.system, one.spread, one.blind, one.blind_error_pct) == (ARRAYS, (0.0, 0.0), 150.0, 50.0)
    for missing in ({"published": None}, {"predicted": None}, {"error_pct": None}, {"counted": False}):
        assert kept_of("s", [row(**missing)], spreads, {}) == []


@pytest.mark.parametrize("level", [0.99, 99.01, 0, 100, -90, "90", None, True])
def test_a_level_outside_of_1_to_99_is_named(level: object) -> None:
    with pytest.raises(UserError, match="expected a percentage from 1 to 99"):
        check_level(level, "--interval")


@pytest.mark.parametrize("level", [1, 99, 1.0, 50.5])
def test_a_level_from_1_to_99_is_taken(level: float) -> None:
    check_level(level, "--interval")
