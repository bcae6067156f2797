"""Are assumptions run at both ends of their ranges, kept, and told by how much they move a prediction?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.questions.study import swings
from hotband.questions.study.asked import StudySwingsQuestion
from hotband.questions.study.file import load
from hotband.questions.study.planned import plan
from hotband.questions.study.swingfile import Entry, SwingFile, read_swings, summary
from ways import quiet

TINY = Path(__file__).parent / "tiny"
READS, TAGS, SIZE = "study: share of the reads", "study: tags", "study: size of the data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tiny study with one queue depth, so that a swing is few runs."""
    copy = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    file = copy / "study.toml"
    file.write_text(file.read_text().replace("sweep = [1, 8]", 'set = { qd = "8" }'))
    return copy


def swing(folder: Path, out: Path | None, *only: str, save: bool = False) -> tuple[SwingFile, list[str]]:
    said: list[str] = []
    asked = StudySwingsQuestion(study=str(folder), out=out, save=save, only=only, jobs=2)
    return swings.run_swings(asked, quiet(said.append)), said


def test_the_studys_own_and_every_drive_value_with_a_range_are_planned() -> None:
    planned = {one.swing.name: one for one in plan(load(str(TINY)))}
    assert {READS, TAGS, SIZE, "exos-15e900-512n: head_skew", "exos-10e2400-512n: zones"} <= set(planned)
    assert "exos-15e900-512n: queue_tags" not in planned, "the study swings it itself"
    assert [(config.id, one.id) for config, one in planned[READS].pairs] == [("fifteen", "mixed")]
    assert [(config.id, one.id) for config, one in planned[TAGS].pairs] == [("fifteen", "read"), ("ten", "read")]
    assert [config.id for config, _ in planned["exos-10e2400-512n: zones"].pairs] == ["ten"]


def test_a_value_that_the_study_sets_is_not_swung(folder: Path) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace('label = "15K"', 'label = "15K"\nset = { zones = "20" }'))
    names = {one.swing.name for one in plan(load(str(folder)))}
    assert "exos-15e900-512n: zones" not in names
    assert "exos-10e2400-512n: zones" in names


def test_a_swing_moves_what_it_touches_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    made, _ = swing(folder, tmp_path / "out", READS)
    entry = made.entries[0]
    assert (entry.low, entry.high) == ("0", "100")
    assert all("/ten/" not in name for name in entry.nominal)
    assert "tiny-own" in entry.nominal, "a comparison with a touched cell is touched"
    most = "tiny/fifteen/mixed/most"
    assert entry.ends["low"][most] != entry.nominal[most]
    assert entry.ends["high"][most] != entry.ends["low"][most]
    nominal = {row["id"]: row["predicted"] for row in hb.study(str(folder)).run(progress=False).to_dict()["figures"]}
    assert entry.nominal == {name: nominal[name] for name in entry.nominal}


def test_the_machines_text_and_the_settings_are_swung(folder: Path, tmp_path: Path) -> None:
    made, _ = swing(folder, tmp_path / "out", SIZE, TAGS)
    by_name = {entry.name: entry for entry in made.entries}
    most = "tiny/ten/mixed/most"
    assert by_name[SIZE].ends["low"][most] > (by_name[SIZE].ends["high"][most] or 0), "shorter seeks are faster"
    assert set(by_name[TAGS].nominal) == {"tiny/fifteen/read/response", "tiny/ten/read/response", "tiny-2"}


def test_what_is_there_and_still_holds_is_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    swing(folder, out, READS)
    before = (out / "swings.json").read_text()
    executed: list[int] = []
    original = swings._execute
    monkeypatch.setattr(swings, "_execute", lambda runs, *more: executed.append(len(runs)) or original(runs, *more))
    _, said = swing(folder, out, READS)
    assert said == [f"{READS}: done before"]
    assert executed == [2], "the nominal runs alone"
    assert (out / "swings.json").read_text() == before
    # The model predicts something else now: what was kept does not hold.
    changed = json.loads(before)
    changed["entries"][0]["nominal"]["tiny/fifteen/mixed/most"] += 1
    (out / "swings.json").write_text(json.dumps(changed))
    assert swing(folder, out, READS)[1] == []
    assert (out / "swings.json").read_text() == before


def test_an_interruption_keeps_what_was_finished(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, original, calls = tmp_path / "out", swings._execute, [0]

    def stop_at_the_third(runs: list[object], *more: object) -> list[object]:
        calls[0] += 1
        if calls[0] == 3:
            raise RunsInterrupted([])
        return original(runs, *more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(swings, "_execute", stop_at_the_third)
        with pytest.raises(RunsInterrupted):
            swing(folder, out, READS, TAGS)
    kept = read_swings(out / "swings.json")
    assert kept is not None
    assert [entry.name for entry in kept.entries] == [READS]
    made, said = swing(folder, out, READS, TAGS)
    assert said == [f"{READS}: done before"]
    assert [entry.name for entry in made.entries] == [READS, TAGS]


def test_an_end_that_the_model_refuses_is_noted(folder: Path, tmp_path: Path) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace('low = "1", high', 'low = "0", high'))
    made, _ = swing(folder, tmp_path / "out", TAGS)
    assert "queue_tags" in made.entries[0].refused["low"]
    assert list(made.entries[0].ends) == ["high"]
    assert summary(made)["refused"][0]["end"] == "low"


def test_what_a_study_ships_is_in_its_result(folder: Path) -> None:
    swing(folder, None, READS, save=True)
    found = hb.study(str(folder)).run(progress=False).to_dict()["swings"]
    assert [row["name"] for row in found["moved"]] == [READS]
    assert "hotband study swings" in found["text"]
    assert not found["stale"]
    shipped = json.loads((folder / "swings.json").read_text())
    shipped["entries"][0]["nominal"]["tiny/fifteen/mixed/most"] += 1
    (folder / "swings.json").write_text(json.dumps(shipped))
    found = hb.study(str(folder)).run(progress=False).to_dict()["swings"]
    assert found["stale"]
    assert found["text"].startswith("1 assumption was run at both ends")
    assert " assumptions were not run yet: " in found["text"]
    assert found["text"].endswith(". The predictions have changed since: run it again")
    assert ".." not in found["text"]


def test_only_what_moves_by_more_than_ten_percent_is_listed() -> None:
    made = SwingFile("s", "1", "command", {"a": "the figure"})
    made.put(Entry("small", "1", "2", {"a": 100.0}, {"low": {"a": 95.0}, "high": {"a": 105.0}}))
    made.put(Entry("large", "1", "2", {"a": -100.0, "b": 1.0}, {"low": {"a": -111.0, "b": 1.0}, "high": {"a": None}}))
    made.put(Entry("empty", "1", "2", {"a": None, "b": 0.0}, {"low": {"a": 1.0, "b": 1.0}}))
    (row,) = summary(made)["moved"]
    assert (row["name"], row["label"], row["figures_moved"]) == ("large", "the figure", 1)
    assert (row["low_pct"], row["high_pct"]) == (pytest.approx(-11), None)


@pytest.mark.parametrize("text", ["", "[]", '{"entries": 3}', '{"entries": [], "what": 1}', '{"entries": [{"a": 1}]}'])
def test_a_broken_file_is_the_users_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / "swings.json").write_text(text)
    with pytest.raises(UserError, match="is not a file of swings"):
        read_swings(tmp_path / "swings.json")


def test_an_unknown_key_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match=r"question\.only"):
        swing(TINY, None, "head_skw")


def test_nothing_to_swing_is_the_users_mistake(folder: Path) -> None:
    file = folder / "study.toml"
    text = file.read_text().replace('swing_loads = ["mixed"]\n', "")
    file.write_text("\n".join(line for line in text.splitlines() if not line.startswith("swing =")))
    with pytest.raises(UserError, match="swing_loads"):
        swing(folder, None)


def test_what_moves_a_little_both_ways_moves_across_the_range() -> None:
    made = SwingFile("s", "1", "command", {"a": "the figure"})
    made.put(Entry("both", "1", "2", {"a": 100.0}, {"low": {"a": 93.0}, "high": {"a": 108.0}}))
    (row,) = summary(made)["moved"]
    assert row["name"] == "both"
    assert row["spread_pct"] == pytest.approx(15.0)
