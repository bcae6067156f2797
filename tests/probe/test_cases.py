"""Is every input that once broke something refused or taken now, and are damaged ones, a few of each kind?

A case is a file of `cases/KIND`: what `make probe` files as `input`, under the name that the kind gives its files; of
two cases of one name each has a folder of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from probe.kinds import KINDS
from probe.mutate import Donors, Step, damaged, drawn
from probe.pool import Worker
from probe.toml_text import toml_text
from probe.worker import Asked
from probe_inputs import Inputs

from forms import sized

CASES = Path(__file__).parent / "cases"
FILES = sorted(path for path in CASES.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def worker(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(made, tmp_path_factory.mktemp("probe-work"))
    yield worker
    worker.end()


@pytest.mark.parametrize("case", FILES, ids=lambda path: str(path.relative_to(CASES)))
def test_what_broke_something_breaks_nothing(case: Path, worker: Worker) -> None:
    kind = case.relative_to(CASES).parts[0]
    came = [worker.outcome(Asked(kind, way, case.name, case.read_bytes())) for way in range(len(KINDS[kind].ways))]
    assert [one.words for one in came if one.fault] == []


@pytest.mark.parametrize("kind", sized(sorted(KINDS)[::4], sorted(KINDS)))
def test_damaged_inputs_of_a_kind(kind: str, made: Path, worker: Worker) -> None:
    inputs = Inputs(kind, made, seed=5)
    came = [worker.outcome(inputs.asked(number)) for number in range(sized(1, 3))]
    assert [one.words for one in came if one.fault] == []


def test_an_input_is_the_same_every_time(made: Path) -> None:
    first, second = (Inputs("workload", made, seed=9) for _ in range(2))
    assert [first.asked(n) for n in range(30)] == [second.asked(n) for n in range(30)]
    assert len({first.asked(n).data for n in range(30)}) > 25


def test_most_damage_keeps_the_syntax(made: Path) -> None:
    import tomllib

    inputs = Inputs("drive", made, seed=2)
    found = Counter[bool]()
    count = sized(60, 200)
    for number in range(count):
        try:
            tomllib.loads(inputs.asked(number).data.decode())
            found[True] += 1
        except ValueError:
            found[False] += 1
    assert found[True] > 0.6 * count


def test_a_step_that_does_not_apply_changes_nothing() -> None:
    donors = Donors([("toml", b"a = 1\n")])
    assert damaged("toml", b"= broken", [Step("scale", 1)], donors) == b"= broken"


def test_drawn_steps_follow_from_the_seed() -> None:
    import random

    assert drawn("toml", random.Random(3)) == drawn("toml", random.Random(3))


def test_a_tree_is_read_as_it_was_written() -> None:
    import tomllib

    tree = {"a": 1, "b c": [1.5, "x\n\x7f"], "t": {"u": {"v": True}, "e": {}}, "l": [{"k": 1}, {"k": {"z": "é"}}]}
    assert tomllib.loads(toml_text(tree)) == tree
