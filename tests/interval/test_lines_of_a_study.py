"""Which values are uncertain in which lines of a study, and what does it say of intervals that are kept?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.ranges import Range
from hotband.inference.interval.conformal import ARRAYS, FigureSpread, Kind, ModelTerm, Residual, Spread
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.of_run import _announced
from hotband.inference.interval.residuals import RESIDUALS_FILE, ResidualFile
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.uncertain import Uncertain
from hotband.questions.study.asked import StudyIntervalsQuestion
from hotband.questions.study.definition import Study, Swing
from hotband.questions.study.file import load
from hotband.questions.study.intervals import all_studies, listing, of_study
from hotband.questions.study.intervals.intervalfile import IntervalFile, Value
from hotband.questions.study.intervals.lines import LineResult, figure_key, lines_of, values_of
from hotband.questions.study.intervals.of_study import Work, figures_of
from hotband.questions.study.intervals.spreads import AllIntervals
from hotband.views.interval import all_terminal
from ways import quiet

TINY = Path(__file__).parents[1] / "study" / "tiny"
MOST = figure_key("fifteen", "mixed", "most")


@pytest.fixture(scope="module")
def tiny() -> Study:
    return load(str(TINY))


def names(study: Study, config: str, name: str) -> dict[str, Uncertain]:
    """The values of one cell by name."""
    pair = next((c, one) for c, one in study.pairs() if (c.id, one.id) == (config, name))
    return {one.name: one for one in values_of(study, [pair])}


def test_a_key_that_an_assumption_is_about_is_not_drawn_twice(tiny: Study) -> None:
    keys = [one.range.key for one in names(tiny, "fifteen", "read").values()]
    assert keys.count("queue_tags") == 1
    assert "study: tags" in names(tiny, "fifteen", "read")
    assert "study: tags" not in names(tiny, "fifteen", "mixed"), "it is of one load"


def test_an_assumption_has_its_own_source_and_group(tiny: Study) -> None:
    other = tiny.assumptions[0] | {"key": "a first one", "source": "of the first"}
    study = replace(tiny, assumptions=(cast("Any", other), *tiny.assumptions))
    one = names(study, "fifteen", "mixed")["study: size of the data"]
    assert (one.part, one.source, one.confidence, one.group) == ("study", "made for the tests", "", one.name)


def test_an_assumption_without_loads_is_of_those_that_are_swung(tiny: Study) -> None:
    assert "study: size of the data" in names(tiny, "fifteen", "mixed")
    assert "study: size of the data" not in names(tiny, "fifteen", "read")
    everywhere = replace(tiny, swing_loads=())
    swing = Swing("study: x", "zones", "10", "30", "20")
    study = replace(everywhere, swings=(swing, replace(swing, name="study: y", configs=("ten",))))
    assert "study: x" in names(study, "fifteen", "read")
    assert "study: y" not in names(study, "fifteen", "read")
    assert "study: y" in names(study, "ten", "mixed")
    assert "exos-15e900-512n: zones" not in names(study, "fifteen", "read")


def test_an_assumption_without_width_is_not_drawn(tiny: Study) -> None:
    study = replace(tiny, swings=(Swing("study: x", "zones", "20", "20", "20", loads=("read",)),))
    found = names(study, "fifteen", "read")
    assert "study: x" not in found
    assert "exos-15e900-512n: zones" not in found, "the study has said what it is"


def test_what_ifs_have_lines_where_something_is_compared_with_them(tiny: Study) -> None:
    loads = tuple(replace(one, what_if=one.id == "mixed") for one in tiny.loads)
    study = replace(tiny, loads=loads)
    assert [one.id for one in lines_of(study)] == ["fifteen.mixed", "fifteen.read", "ten.mixed", "ten.read"]
    alone = replace(study, comparisons=())
    assert [one.id for one in lines_of(alone)] == ["fifteen.read", "ten.read"]
    configs = tuple(replace(one, what_if=one.id == "ten") for one in tiny.configs)
    assert [one.id for one in lines_of(replace(tiny, configs=configs, comparisons=()))] == [
        "fifteen.mixed", "fifteen.read"
    ]  # fmt: skip


def test_loads_of_a_sequence_are_one_line(tiny: Study) -> None:
    configs = tuple(replace(one, sequence=("mixed", "read") if one.id == "ten" else ()) for one in tiny.configs)
    found = {one.id: [name.id for _, name in one.pairs] for one in lines_of(replace(tiny, configs=configs))}
    assert found == {"fifteen.mixed": ["mixed"], "fifteen.read": ["read"], "ten": ["mixed", "read"]}


def value(name: str) -> Uncertain:
    of = Range(name, name, "4.0", "6.0", "5.0")
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "part", "source", "low", name)


def rests(
    study: Study, kept: IntervalFile | None, *, predicted: float = 10.0, stale: bool = False, seed: int = 1
) -> dict[str, Any]:
    return cast("dict[str, Any]", listing._rests_on(study, kept, stale, {"f": predicted}, seed, 90.0))


def test_what_listed_intervals_rest_on_is_said(tiny: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    line = replace(lines_of(tiny)[0], values=tuple(value(name) for name in "abcd"))
    monkeypatch.setattr(listing, "lines_of", lambda study: [line])
    kept = IntervalFile("tiny", "1", "", {name: Value.of(value(name)) for name in "abcd"}, {}, {"f": FigureSpread(10)})
    text = "Each figure has its 90 % interval; the model error comes from the other studies."
    assert rests(tiny, kept) == {"level": 90.0, "text": text, "stale": False, "changed": []}
    make = "sample and store them again (study intervals tiny)"
    drawn = rests(tiny, None)
    assert drawn["text"] == f"{text} No value has been sampled yet, so intervals contain only the model error: {make}"
    assert drawn["stale"]
    changed = rests(tiny, kept, predicted=11.0)
    assert changed["text"] == f"{text} The predictions have changed since the values were sampled: {make}"
    assert not rests(tiny, kept, predicted=11.0, seed=2)["stale"], "another seed predicts something else"
    new = rests(tiny, IntervalFile("tiny", "1", "", {}, {}, {}))
    assert new["text"] == f"{text} 4 values have changed since (a, b, c): {make}"
    assert new["changed"] == ["a", "b", "c", "d"]
    stale = rests(tiny, kept, stale=True)
    assert stale["text"].endswith("was estimated (residuals.json): estimate it again from all studies")
    assert stale["stale"]


def row(name: str, predicted: float | None) -> Any:
    return {"id": name, "config": "15K", "label": "random reads", "metric": "IOPS", "unit": "IOPS", "workload": None,
            "predicted": predicted}  # fmt: skip


def work(study: Study, *rows: Any) -> Work:
    """Of one value, two draws and the places -1 and 1."""
    values = {"v": value("v")}
    made = Work(study, [], values, {}, np.array([[1.0], [-1.0]]), np.array([[-1.0], [1.0]]))
    made.rows, made.keys = list(rows), {"cell": MOST, "base": figure_key("ten", "mixed", "most")}
    return made


def test_draws_of_a_study_are_those_of_its_seed_and_samples_of_the_next(tiny: Study) -> None:
    made = Work.of(tiny)
    values = list(made.values.values())
    sampler, other = Sampler(values, tiny.seed), Sampler(values, tiny.seed + 1)
    shares = sampler.shares(16)
    assert [made.shares[one.name] for one in values] == [list(map(float, own)) for own in shares.T]
    assert np.array_equal(made.places, sampler.places(shares))
    assert np.array_equal(made.samples, other.places(other.shares(of_study.SAMPLES)))
    assert made.columns([values[2].name, values[0].name]) == [2, 0]


def test_every_figure_is_outlined_and_has_a_spread_where_its_cells_were_run(tiny: Study) -> None:
    lines = {"fifteen.mixed": LineResult("", ["v"], {MOST: 0.03}, {}, {}, [{MOST: 0.1}, {MOST: -0.2}])}
    made = IntervalFile("tiny", "1", "", {}, lines)
    found = figures_of(work(tiny, row("cell", 600.0), row("words", 3.0), row("tiny-own", 5.0)), made)
    outline = FigureSpread(600.0, "15K", "15K, random reads, IOPS", "IOPS", "random rate", "", {MOST: 1.0})
    spread = Spread.of([0.1, -0.2], 0.03)
    assert found["cell"] == replace(outline, low=round(spread.low, 5), high=round(spread.high, 5), seed=0.03)
    assert found["words"] == replace(outline, predicted=3.0, cells={})
    assert found["words"].spread == Spread(0.0, 0.0)
    assert found["tiny-own"].scored_as == "gain_pct"
    assert found["tiny-own"].cells == {MOST: 1.0, figure_key("ten", "mixed", "most"): -1.0}
    assert found["tiny-own"].spread == Spread(0.0, 0.0), "the other side was not run"


def test_evidence_of_a_figure_is_its_draws_at_their_places(tiny: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    term = ModelTerm([Residual("s", f"m{n}", "f", Kind(FigureClass.RANDOM), n / 100) for n in range(1, 20)])
    monkeypatch.setattr(of_study, "model_term", lambda: term)
    line = LineResult("", ["v"], {MOST: 0.03}, {"v low": {MOST: -0.2}}, {}, [None, {MOST: -0.2}])
    of = FigureSpread(100.0, "15K", "label", "IOPS", "random rate", "", {MOST: 1.0}, 0.1, 0.2, 0.03, 0.04)
    found = of_study._evidence(work(tiny), "cell", of, of_study.Combined({MOST: 1.0}, {"one": line}), 80)
    low, high = term.bounds(Kind(FigureClass.RANDOM, ARRAYS), Spread(0.1, 0.2), 80)
    assert found.interval["low"] == pytest.approx(100 * np.exp(low))
    assert found.interval["high"] == pytest.approx(100 * np.exp(high))
    assert (found.figure, found.label, found.unit, found.predicted) == ("cell", "label", "IOPS", 100.0)
    assert (found.seed, found.unexplained, found.size) == (0.03, 0.04, pytest.approx(0.1))
    assert (found.places.tolist(), found.seen.tolist()) == ([[-1.0]], [-0.2])
    assert [(one.low, one.high) for one in found.effects] == [(-0.2, None)]


@pytest.mark.parametrize(("out", "save"), [(True, False), (False, True), (True, True), (False, False)])
def test_residuals_of_all_studies_are_written_where_they_are_asked_for(
    out: bool, save: bool, tiny: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(asked: StudyIntervalsQuestion, _: Any) -> tuple[IntervalFile, Sequence[Any]]:
        name = str(asked.study)
        listed = row(f"{name}-f", 80.0) | {"published": 100.0, "error_pct": -20.0, "counted": True, "blind": None}
        return IntervalFile(name, "1", ""), [listed]

    kept, folder = tmp_path / "residuals.json", tmp_path / "out"
    folder.mkdir()
    monkeypatch.setattr(all_studies, "run_study_intervals", made)
    monkeypatch.setattr(all_studies, "RESIDUALS_FILE", kept)
    monkeypatch.setattr(all_studies.file, "whole_names", lambda: ["b", "a"])
    monkeypatch.setattr(all_studies.file, "load", lambda name: tiny)
    asked = StudyIntervalsQuestion(every=True, out=folder if out else None, save=save)
    found = all_studies.run_all(asked, quiet())
    assert found["studies"] == ["b", "a"]
    assert [(one["figures"], one["predicted"]) for one in found["coverage"]] == [(2, "seen"), (2, "seen")]
    assert [(one["figure_class"], one["studies"]) for one in found["terms"]] == [("random rate", 2)]
    for path, wanted in ((kept, save), (folder / kept.name, out)):
        assert path.is_file() is wanted
        if wanted:
            figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
            assert [one["figure"] for one in figures] == ["a-f", "b-f"]
    screen = all_terminal(AllIntervals(found), asked)
    assert screen.state == ["Each of 2 studies is left out in turn."]
    assert len(screen.details) == 3
    assert kept != RESIDUALS_FILE
    assert ResidualFile("", "").figures == []


def test_what_a_run_is_about_to_draw_is_counted() -> None:
    told = _announced(6, 3, 16, RunSpec("r", "m", "w"))
    assert told == "intervals: 11 runs screen 3 uncertain values, then up to 16 sample those that matter"
