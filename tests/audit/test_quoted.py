"""Is a figure marked where it is printed, if others of its result contradict it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_restated import RIGHT

from command_line import run_hotband
from hotband.data.record.rounds import _new_drives


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A right result of a drive, and one whose bandwidth is in another unit."""
    for name, bandwidth in (("right", RIGHT["read"]["bw"]), ("wrong", 4)):
        job = json.loads(json.dumps(RIGHT))
        job["read"]["bw"] = bandwidth
        text = json.dumps({"fio version": "fio-3.33", "jobs": [job]})
        (tmp_path / "drive").mkdir(exist_ok=True)
        (tmp_path / "drive" / f"{name}.json").write_text(text)
    return tmp_path / "drive"


def printed(*words: str) -> str:
    """What a command prints, in one line."""
    return " ".join(run_hotband(*words).stdout.split())


def test_a_report_marks_it_in_its_first_table_and_names_the_contradiction(folder: Path) -> None:
    shown = printed("report", str(folder), "-o", str(folder.parent / "page.html"))
    assert "right 1,000" in shown
    assert "wrong ! 1,000" in shown
    assert "! drive/wrong: Its figures contradict each other: reads reads: bw is 4" in shown
    page = (folder.parent / "page.html").read_text()
    assert page.count("contradicts itself") == 1
    assert "! drive/wrong: Its figures contradict each other" in page


def test_the_screen_of_a_comparison_begins_with_it(folder: Path) -> None:
    shown = printed("compare", str(folder / "right.json"), str(folder / "wrong.json"))
    assert "No verdict: wrong.json: Its figures contradict each other" in shown
    assert "As printed: " in shown


def test_results_of_other_tools_are_judged_for_steady_state(folder: Path) -> None:
    shown = printed("audit", "--steady", str(folder / "right.json"))
    assert "is too short for a verdict. A record without a series is one round" in shown
    assert "is too short for a verdict. 2 rounds: 5 are needed" in printed("audit", "--steady", str(folder))
    assert "--steady RECORD..." in printed("audit", "--help")


@pytest.mark.parametrize(("holds", "notes"), [("new", ["d0 was new: this is no steady state"]), (None, [])])
def test_a_new_drive_is_named_by_the_rule_of_steady_state(holds: str | None, notes: list[str]) -> None:
    record: Any = {"drive_state": {"drives": [{"drives": ["d0"], "holds": holds}]}}
    assert [note[: len(notes[0])] for note in _new_drives(record)] == notes
