"""Does a suite serve one machine for all of its runs, and is its result that of the drive as it was served?"""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.base.question import INVALID
from hotband.execution.targets.on_served import OnServedMachine
from hotband.execution.targets.real_options import RealOptions
from hotband.questions.suites import quick
from hotband.questions.suites.bench import Bench, Stage
from hotband.questions.suites.cells import Cell, Extent
from hotband.questions.suites.hardware import standing
from hotband.questions.suites.quick import QuickAsked, run_quick
from hotband.questions.suites.target import executor_for, target_of

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
DRIVE = "emulated:ent-10k"


@needs_fio
def test_all_runs_are_on_one_served_drive_with_the_values_that_are_set(tmp_path: Path) -> None:
    target = target_of(DRIVE, (("wce", "off"),))
    executor = executor_for(target, RealOptions(anyway=True), True, lambda _: None)
    out = tmp_path / "out"
    with standing(executor, 1, out, False, lambda _: nullcontext()) as served:
        bench = Bench(target, served, Extent(target.bytes), "test", "test", out=out)
        cells = tuple(Cell(name, pct, 4096, True, 1, 1, 0.3) for name, pct in (("writes", 0), ("reads", 100)))
        [found] = bench.run(Stage("both", cells))
    assert isinstance(executor, OnServedMachine)
    assert executor.drive_state is not None
    [drive] = executor.drive_state["drives"]
    assert (drive["product"], drive["write_cache"]) == ("ent-10k", "off")
    assert {finished.record["target"]["kind"] for finished in bench.finished} == {"emulated"}
    # A write takes at least a revolution of the disk, as on the model: the host's memory completed none.
    assert found["writes"]["iops"] < 1000 > found["reads"]["iops"] > 0
    assert executor.notes[-1].startswith("Emulation delay:")
    again = executor_for(target, RealOptions(anyway=True), True, lambda _: None)
    with (
        pytest.raises(UserError, match="whose data is lost when its test ends"),
        standing(again, 1, out, False, lambda _: nullcontext()),
    ):
        raise AssertionError("a test continued on a drive that has lost its data")


def test_an_invalid_result_says_so_first(monkeypatch: pytest.MonkeyPatch) -> None:
    target = target_of("ent-10k")
    executor = OnServedMachine.__new__(OnServedMachine)
    executor.invalid, executor.notes = (f"{INVALID}: the host is too busy",), ("Emulation delay: p50 1 s",)
    monkeypatch.setattr(quick, "standing", lambda *_: nullcontext(executor))
    monkeypatch.setattr(quick, "_measure", lambda *_: [])
    found = run_quick(QuickAsked(target, 60.0, executor=executor, expect="none"), watch=lambda _: nullcontext())
    assert found["answer"][0] == "INVALID: the host is too busy"
    assert "Emulation delay: p50 1 s" in found["notes"]


@pytest.mark.parametrize(
    ("machine", "says"),
    [
        ("emulated:", "expected emulated:MACHINE"),
        ("emulated:nothing", "expected one of"),
        ("emulated:docs/examples/oltp-one-ssd.toml", "expected a machine with one"),
    ],
)
def test_a_machine_that_cannot_be_tested_is_named(machine: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    with pytest.raises(UserError) as caught:
        target_of(machine)
    assert says in caught.value.accepted
