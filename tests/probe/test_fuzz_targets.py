"""What fuzzing starts from breaks nothing, nor does some damage to it: targets whose inputs are made, not kept."""

from __future__ import annotations

import contextlib
import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest
from probe.mutate import Donors, damaged, drawn

from forms import sized
from hotband.base.errors import UserError
from hotband.data.jobs.form import Names
from hotband.data.jobs.job_file import converted, tool_of

ICF = """Version 1.1.0
'TEST SETUP ====
'Run Time
'	hours      minutes    seconds
	0          0          30
'Ramp Up Time (s)
	5
'END test setup
'ACCESS SPECIFICATIONS ====
'Access specification name,default assignment
	mix,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
{lines}
'END access specifications
'MANAGER LIST ====
'Manager ID, manager name
	1,HOST
'Worker
	Worker 1
'Worker type
	DISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection
	1,DISABLED,1
'Disk maximum size,starting sector
	0,0
'End default target settings for worker
'Assigned access specs
	mix
'End assigned access specs
'Target assignments
{targets}
'End target assignments
'End worker
'End manager
'END manager list
Version 1.1.0
"""
FUZZ = Path(__file__).parents[2] / "fuzz"


def target(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "form", "rounds"), [("job_files", "lines", sized(3, 10)), ("records", "json", sized(1, 5))]
)
def test_what_it_starts_from_and_damage_to_it(name: str, form: str, rounds: int, tmp_path: Path) -> None:
    fuzzed = target(name)
    fuzzed.write_seeds(tmp_path)
    inputs = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert len(inputs) >= 6
    donors = Donors([(form, data) for data in inputs])
    rng = random.Random(1)
    for data in sized(inputs[::12], inputs):
        fuzzed.one_input(data)
        for _ in range(rounds):
            fuzzed.one_input(damaged(form, data, drawn(form, rng), donors))


@pytest.fixture(scope="module")
def commands(made: Path) -> ModuleType:
    """The target of commands, which starts from a copy of what is made once."""
    module = target("commands")
    module.MADE = str(made)  # type: ignore[attr-defined]
    return module


def test_inputs_of_commands_and_damage_to_them(commands: ModuleType) -> None:
    inputs, mutator, rng = commands.inputs(), commands.Mutator(), random.Random(1)
    assert {name.rsplit("-", 1)[0] for name in inputs} == set(commands.KINDS)
    for kind in sized(sorted(commands.KINDS)[::6], sorted(commands.KINDS)):
        data = inputs[f"{kind}-0"]
        one = commands.asked(data)
        assert commands.written(one) == data
        commands.one_input(data)
        for _ in range(sized(1, 3)):
            commands.one_input(commands.written(mutator.changed(one, rng)))


def test_a_fault_of_a_command_is_raised_and_what_asks_for_none_is_passed_over(
    commands: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from probe import kinds

    def broken(*_: Path) -> tuple[bool, bool]:
        raise ZeroDivisionError

    monkeypatch.setitem(kinds.KINDS, "drive", kinds.KINDS["drive"]._replace(ways=[broken]))
    for line in (b"", b"nbd 0 a", b"drive 1 a", b"drive -1 a", b"drive 0 a/b", b"drive 0 ..", b"drive 0 ", b"drive"):
        commands.one_input(line + b"\nx")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        commands.one_input(b"drive 0 a.toml\nx")


def test_job_files_of_all_tools_are_taken(tmp_path: Path) -> None:
    target("job_files").write_seeds(tmp_path)
    texts = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert {tool_of(text.decode()) for text in texts} == {"fio", "vdbench", "Iometer", "DiskSpd"}
    taken = 0
    for text in texts:
        with contextlib.suppress(UserError):
            taken += bool(converted(Path("x.fio"), text)[0])
    assert taken > 0.9 * len(texts)


def test_small_job_files_that_ask_for_very_many_streams_are_refused_at_once() -> None:
    # Found by fuzzing: names that differ were looked for among all that were taken.
    lines = "\n".join(f"\t8192,1,67,100,{n},1,0,0" for n in range(100))
    targets = "\n".join(f"'Target\n\tE{n}\n'Target type\n\tDISK\n'End target" for n in range(60))
    text = ICF.format(lines=lines, targets=targets)
    with pytest.raises(UserError, match="more than 4096 streams"):
        converted(Path("x.icf"), text.encode())
    text = ICF.format(lines=lines, targets="\n".join(targets.split("\n")[: 5 * 40]))
    workload = converted(Path("x.icf"), text.encode())[0]
    assert workload.count("[[streams]]") == 100 * 40


def test_names_that_differ_take_the_first_number_that_is_free() -> None:
    names = Names()
    found = [names.new(one) for one in ("a", "a 2", "a", "a", "b", "a 2")]
    assert found == ["a", "a 2", "a 3", "a 4", "b", "a 2 2"]
