"""Are the intervals of a study made, kept, found stale and explained?"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.questions.study.asked import StudyIntervalsQuestion
from hotband.questions.study.file import load
from hotband.questions.study.intervals import of_study
from hotband.questions.study.intervals.combine import Combined, of_comparison
from hotband.questions.study.intervals.intervalfile import IntervalFile, read_intervals
from hotband.questions.study.intervals.lines import LineResult, lines_of
from ways import quiet

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
TINY = Path(__file__).parents[1] / "study" / "tiny"
MOST = "tiny/fifteen/mixed/most"


def copy_of(folder: Path) -> Path:
    """The tiny study with one queue depth."""
    copy = Path(shutil.copytree(TINY, folder / "tiny"))
    file = copy / "study.toml"
    file.write_text(file.read_text().replace("sweep = [1, 8]", 'set = { qd = "8" }'))
    return copy


def make(folder: Path, *only: str, out: Path | None = None) -> tuple[IntervalFile, list[str]]:
    said: list[str] = []
    asked = StudyIntervalsQuestion(study=str(folder), out=out, save=True, only=only, jobs=2)
    return of_study.run_study_intervals(asked, quiet(said.append))[0], said


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study with its intervals, in a folder that no test changes."""
    folder = copy_of(tmp_path_factory.mktemp("made"))
    make(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "study"))


def kept(folder: Path) -> IntervalFile:
    found = read_intervals(folder / "intervals.json")
    assert found is not None
    return found


def test_every_line_has_its_own_values() -> None:
    lines = {line.id: [one.name for one in line.values] for line in lines_of(load(str(TINY)))}
    assert set(lines) == {"fifteen.mixed", "fifteen.read", "ten.mixed", "ten.read"}
    assert "study: share of the reads" in lines["fifteen.mixed"]
    assert "study: share of the reads" not in lines["ten.mixed"]
    assert "exos-15e900-512n: head_skew" in lines["fifteen.read"]
    assert not any(name.startswith("exos-15e900-512n") for name in lines["ten.read"])


def test_every_predicted_figure_has_a_spread(made: Path) -> None:
    figures = kept(made).figures
    assert figures[MOST].low > 0
    assert figures[MOST].high > 0
    assert figures["tiny-own"].low > 0, "a comparison follows from its sides"
    assert set(figures["tiny-own"].cells.values()) == {1.0, -1.0}


def test_every_figure_of_the_result_has_an_interval(folder: Path) -> None:
    result = hb.study(str(folder)).run(progress=False).to_dict()
    intervals = result["intervals"]
    assert intervals is not None
    assert not intervals["stale"], intervals["text"]
    row = next(one for one in result["figures"] if one["id"] == MOST)
    found = row["interval"]
    assert found is not None
    assert row["predicted"] is not None
    assert found["level"] == 90
    assert found["low"] < row["predicted"] < found["high"]


def test_what_is_there_is_not_run_again(folder: Path) -> None:
    again, said = make(folder)
    assert any("0 shortened runs in 0 lines" in one and "4 lines have not changed" in one for one in said)
    assert again.text() == (folder / "intervals.json").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_file_is_the_same_however_it_was_made(made: Path, tmp_path: Path) -> None:
    folder = copy_of(tmp_path)
    make(folder, "read")
    assert set(kept(folder).lines) == {"fifteen.read", "ten.read"}
    make(folder)
    ours, theirs = (json.loads(kept(one).text()) for one in (folder, made))
    assert ours["lines"] == theirs["lines"]
    assert ours["figures"] == theirs["figures"]


def test_a_line_with_a_value_that_is_drawn_no_more_is_run_again(folder: Path) -> None:
    file = folder / "intervals.json"
    table = json.loads(file.read_text(encoding="utf-8"))
    table["lines"]["ten.read"]["values"].append("ten: a value that was exact since")
    file.write_text(json.dumps(table), encoding="utf-8")
    again, said = make(folder)
    assert any("in 1 lines" in one and "3 lines have not changed" in one for one in said)
    assert "ten: a value that was exact since" not in again.lines["ten.read"].values


def test_an_interrupt_keeps_the_lines_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, run, done = copy_of(tmp_path), of_study.run_line, []

    def stopped(*arguments: object) -> object:
        if len(done) == 1:
            raise RunsInterrupted([])
        done.append(1)
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(of_study, "run_line", stopped)
    said: list[str] = []
    with pytest.raises(RunsInterrupted):
        of_study.run_study_intervals(StudyIntervalsQuestion(study=str(folder), save=True, jobs=2), quiet(said.append))
    assert said[-1].startswith("interrupted; 1 of 4 lines are done, stored in ")
    assert len(kept(folder).lines) == 1


def test_a_changed_prediction_is_found_stale(folder: Path) -> None:
    file = folder / "intervals.json"
    table = json.loads(file.read_text(encoding="utf-8"))
    table["figures"][MOST]["predicted"] *= 1.01
    file.write_text(json.dumps(table), encoding="utf-8")
    intervals = hb.study(str(folder)).run(only="mixed", progress=False).to_dict()["intervals"]
    assert intervals is not None
    assert intervals["stale"]
    assert "predictions have changed" in intervals["text"]


def test_a_changed_range_is_found_stale(folder: Path) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace('label = "15K"', 'label = "15K"\nset = { zones = "20" }'))
    intervals = hb.study(str(folder)).run(only="read", progress=False).to_dict()["intervals"]
    assert intervals is not None
    assert intervals["changed"] == ["exos-15e900-512n: zones"]
    with pytest.raises(UserError, match="has other values"):
        hb.study(str(folder)).why(MOST)


def test_where_a_figure_comes_from_is_told_without_runs(made: Path) -> None:
    found = hb.study(str(made)).why(MOST).to_dict()
    assert found["of_values"] + found["of_seed"] + found["of_model"] == pytest.approx(1.0)
    assert found["values"][0]["total"] >= found["values"][-1]["total"]
    assert any(row["meaning"] for row in found["values"])


def test_the_commands_print_tables_and_json(hotband: Hotband, folder: Path) -> None:
    done = hotband("study", "intervals", str(folder), "--save", "--details")
    assert done.returncode == 0, done.stderr
    assert "effects of uncertain values on its figures" in done.stdout
    done = hotband("study", "why", str(folder), MOST)
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("Next: "))
    assert json.loads(hotband("study", "why", str(folder), MOST, "--json").stdout)["figure"] == MOST


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("study", "intervals"), "expected the name of a study, or --all"),
        (("study", "intervals", "content-hdd", "--all"), "expected the name of a study, or --all"),
        (("study", "intervals", "--all", "--only", "x"), "applies to one study"),
        (("study", "intervals", str(TINY), "--only", "nothing"), "--only"),
        (("study", "why", str(TINY), MOST), "is missing"),
        (("study", "why", str(TINY), MOST, "--interval", "100"), "--interval"),
    ],
)
def test_mistakes_are_one_line(hotband: Hotband, arguments: tuple[str, ...], told: str) -> None:
    done = hotband(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_figure_and_a_damaged_file_are_named(hotband: Hotband, folder: Path) -> None:
    done = hotband("study", "why", str(folder), "tiny/fifteen/mixed/mist")
    assert done.returncode == 2
    assert MOST in done.stderr, "the nearest one"
    (folder / "intervals.json").write_text('{"study": 1}', encoding="utf-8")
    for command in (("study", "why", str(folder), MOST), ("study", "run", str(folder), "--only", "read")):
        done = hotband(*command)
        assert done.returncode == 2
        assert "is not a file of intervals" in done.stderr


def test_a_comparison_is_a_sum_of_logarithms() -> None:
    study = load(str(TINY))
    one = study.comparisons[0]
    weights = of_comparison(one, lambda key: 100.0)
    assert sum(weights.values()) == pytest.approx(0.0)
    cells = list(weights)
    line = LineResult("", ["v"], dict.fromkeys(cells, 0.03), {"v high": {cells[0]: 0.2, cells[1]: 0.1}})
    combined = Combined(weights, {"a": line})
    assert combined.ends() == {("v", "high"): pytest.approx(weights[cells[0]] * 0.2 + weights[cells[1]] * 0.1)}
    assert combined.seed == pytest.approx(0.03 * 2**0.5)
