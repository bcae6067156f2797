"""Sides of `hotband compare` as a user names them: repeats, folders, more than two, mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Hotband = Callable[..., "CompletedProcess[str]"]
DISKS = {"old": "ent-10k", "new": "ent-15k"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, call: Hotband) -> Path:
    """Three seeds of 5 s of two disks, under `old` and `new`."""
    folder = tmp_path_factory.mktemp("runs")
    for name, drive in DISKS.items():
        for seed in "123":
            command = ("run", "fio-randread", "--on", drive, "--set", "qd=8", "--duration", "5 s", "--seed", seed)
            done = call(*command, "--out", str(folder / name / seed), cwd=folder)
            assert done.returncode == 0, done.stderr
    return folder


def test_what_is_of_the_model_alone_is_said(hotband: Hotband, runs: Path) -> None:
    done = hotband("compare", str(runs / "old"), str(runs / "new"))
    assert "! These are predictions: model error comes on top of these intervals." in done.stdout.splitlines()


def compared(hotband: Hotband, folder: Path, *words: str) -> list[dict[str, Any]]:
    """What `compare --json` finds; words that are names of `folder` are its paths."""
    done = hotband("compare", *(str(folder / word) if word != "vs" else word for word in words), "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["comparisons"]
    return found


def test_a_folder_of_records_is_repeats_of_one_side(hotband: Hotband, runs: Path) -> None:
    [by_folder] = compared(hotband, runs, "old", "new")
    assert [len(by_folder[side]["runs"]) for side in "ab"] == [3, 3]
    assert by_folder["verdict"] == "faster"
    assert by_folder["differences"][0]["how"] == "repeats: 3 and 3 runs, Welch's t"
    [by_words] = compared(hotband, runs, *(f"old/{n}" for n in "123"), "vs", *(f"new/{n}" for n in "123"))
    assert by_words["differences"] == by_folder["differences"]


def test_every_further_side_is_compared_with_the_first(hotband: Hotband, runs: Path) -> None:
    found = compared(hotband, runs, "old", "new", "new/1")
    assert [(len(one["a"]["runs"]), len(one["b"]["runs"])) for one in found] == [(3, 3), (3, 1)]
    assert {one["a"]["name"] for one in found} == {str(runs / "old")}


def test_short_runs_that_overlap_are_too_short_to_say(hotband: Hotband, runs: Path) -> None:
    done = hotband("compare", str(runs / "old" / "1"), str(runs / "old" / "2"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Not enough data for a verdict on ")
    [found] = compared(hotband, runs, "old/1", "old/2")
    assert {(one["low_pct"], one["verdict"]) for one in found["differences"]} == {(None, "too short to say")}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["old"], "expected results of two sides or more: A B, or A A2 vs B B2"),
        (["old", "vs"], "expected results of two sides or more"),
        (["vs", "old"], "expected results of two sides or more"),
        (
            ["old", "old/1", "vs", "new"],
            "old/1: is given twice on one side; expected a separate result for each repeat",
        ),
        (["old/1", "copy", "vs", "new"], "copy: seed = '1': two repeats of a side use it"),
        (["old", "nosuch"], "nosuch: cannot be read"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(hotband: Hotband, runs: Path, words: list[str], said: str) -> None:
    (runs / "copy").mkdir(exist_ok=True)
    for file in (runs / "old" / "1").iterdir():
        (runs / "copy" / file.name).write_bytes(file.read_bytes())
    done = hotband("compare", *(str(runs / word) if word != "vs" else word for word in words))
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("hotband: error: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
