"""What fuzzing starts from breaks nothing, nor does some damage to it: targets whose inputs are made, not kept."""

from __future__ import annotations

import contextlib
import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest
from probe.mutate import Donors, damaged, drawn

from hotband.errors import UserError
from hotband.jobs.job_file import converted, tool_of

FUZZ = Path(__file__).parents[2] / "fuzz"


def target(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "form", "rounds"), [("job_files", "lines", 10), ("records", "json", 5)])
def test_what_it_starts_from_and_damage_to_it(name: str, form: str, rounds: int, tmp_path: Path) -> None:
    fuzzed = target(name)
    fuzzed.write_seeds(tmp_path)
    inputs = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert len(inputs) >= 6
    donors = Donors([(form, data) for data in inputs])
    rng = random.Random(1)
    for data in inputs:
        fuzzed.one_input(data)
        for _ in range(rounds):
            fuzzed.one_input(damaged(form, data, drawn(form, rng), donors))


def test_job_files_of_all_tools_are_taken(tmp_path: Path) -> None:
    target("job_files").write_seeds(tmp_path)
    texts = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert {tool_of(text.decode()) for text in texts} == {"fio", "vdbench", "Iometer", "DiskSpd"}
    taken = 0
    for text in texts:
        with contextlib.suppress(UserError):
            taken += bool(converted(Path("x.fio"), text)[0])
    assert taken > 0.9 * len(texts)
