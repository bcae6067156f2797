"""Does a script notice a result that is not the drive's? Every command that uses emulated drives ends with 1."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import pytest

from hotband.base.question import Ending
from hotband.data.results.sweep_rows import NAMES, Row
from hotband.execution.experiment.experiment import execute
from hotband.execution.programs.result import ProgramResult
from hotband.execution.targets import emulated
from hotband.execution.targets.emulated import OnServed, Plan, ServedRuns
from hotband.faces.questions import QUESTIONS, declared
from hotband.questions.calibrate.calibrated import Calibrated
from hotband.questions.review.many import Reviewed
from hotband.questions.review.suite import invalid_of
from hotband.questions.run.ran import Ran
from hotband.questions.study.emulate.result import EmulationResult
from hotband.questions.suites.looked import QuickResult
from hotband.questions.suites.tested import PtsResult
from hotband.questions.sweeps.sweep import Sweep

REASON = "the host is too busy"
NOTE = f"INVALID: {REASON}"


def swept(note: str) -> Sweep:
    row = Row(dict.fromkeys(NAMES), notes=("state of d0", note))
    return Sweep(({"workload": "w", "seed": 1},), (None,), (row,))


def ran(note: str) -> Ran:
    return Ran([SimpleNamespace(record={"notes": [note]})])  # type: ignore[list-item]


RESULTS: dict[str, Callable[[str], Any]] = {
    "run": ran,
    "sweep": swept,
    "review": lambda note: Reviewed([{"notes": [note]}]),  # type: ignore[list-item]
    "program": lambda note: ProgramResult({"notes": [note]}),  # type: ignore[typeddict-item]
    "quick": lambda note: QuickResult({"answer": [note]}),  # type: ignore[typeddict-item]
    "pts": lambda note: PtsResult({"answer": [note]}),  # type: ignore[typeddict-item]
    "calibrate": lambda note: Calibrated("ent-10k", "emulated:ent-10k", [], [], [], 1.0, None, notes=[note]),
    "study emulate": lambda note: EmulationResult({"parts": [{"a": {"notes": [note]}, "b": None}]}),  # type: ignore
}
SERVES = {"serve", "mount"}
"""They end with the exit code of the command that they run."""


@pytest.mark.parametrize("name", RESULTS)
def test_an_invalid_result_ends_with_exit_code_1(name: str) -> None:
    question = object.__new__(declared(name))
    ending = question.ending(RESULTS[name](NOTE))
    assert ending == Ending(1, f"exit code 1, because a result is {NOTE}")
    assert question.ending(RESULTS[name]("state of d0")) is None


def test_every_question_that_serves_a_drive_for_its_result_is_here() -> None:
    compares = {"compare"}
    serving = {name for name in QUESTIONS if "anyway" in {field.name for field in fields(declared(name))}}
    assert serving - SERVES - compares == RESULTS.keys()


def test_an_emulated_run_that_is_invalid_is_stored_and_ends_with_1(hotband, tmp_path, monkeypatch) -> None:
    def served(_: OnServed, line: Sequence[Plan], *__: object) -> ServedRuns:
        [measured] = execute([replace(line[0].spec, machine="ent-15k")])
        measured.record["serving"] = {"lateness": None, "late": REASON, "way_ns": 0, "cores_awake": False, "kinds": []}
        measured.record["notes"] = [NOTE]
        return ServedRuns([measured], measured, (REASON,))

    monkeypatch.setattr(OnServed, "run", served)
    monkeypatch.setattr(emulated, "find_fio", lambda: "fio")
    monkeypatch.chdir(tmp_path)
    run = ("run", "fio-randread", "--on", "emulated:ent-15k", "--duration", "0.1 s")
    done = hotband(*run, "--into", "s")
    assert (done.returncode, done.stdout.split("\n")[0]) == (1, f"The result is {NOTE}.")
    assert done.stderr.splitlines()[-1] == f"hotband: exit code 1, because a result is {NOTE}"
    assert len(json.loads(hotband("store", "list", "s", "--json").stdout)) == 2
    assert hotband(*run, "--json").returncode == 1


def test_a_review_counts_invalid_runs() -> None:
    records: Any = {name: {"notes": [NOTE, NOTE]} for name in "ab"} | {"c": {"notes": []}}
    assert invalid_of("random", records) == [f"INVALID: 2 of 3 runs of random: {REASON}"]
