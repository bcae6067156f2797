"""Is damaged input refused in one line, whatever was damaged, or else read?"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from foreign_names import ORDERS
from in_process import SORTS, Said, command_line
from mutations import damaged_bytes, damaged_document

from forms import sized

TESTS = Path(__file__).parents[1]
# What a line of ours has at most: names of files, a key, a value cut short, what is accepted.
LONGEST = 2000


def told(said: Said, accepted: tuple[int, ...] = (0, 1, 2)) -> str:
    """What is wrong with an answer: a code that is not expected, more than a line, orders to a terminal."""
    code, out, error = said
    lines = error.splitlines()
    if code not in accepted or (code == 2 and not (lines and lines[-1].startswith("hotband: error: "))):
        return f"exit code {code}: {error[-500:]}"
    if code == 2 and len(lines[-1]) > LONGEST:
        return f"a line of {len(lines[-1])} characters"
    return "" if not any(order in out + error for order in ORDERS) else "orders a terminal"


def survivors(count: int, seed: int, once: Callable[[random.Random], Said]) -> dict[int, str]:
    """What went wrong, by the number of the mutation; an exception is one."""
    found = {}
    for number in range(count):
        try:
            wrong = told(once(random.Random(seed * 1_000_003 + number)))
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"[:500]
        if wrong:
            found[number] = wrong
    return found


@pytest.mark.parametrize("workload", SORTS)
def test_a_record_with_a_damaged_value(workload: str, catalog_records: dict[str, Path], tmp_path: Path) -> None:
    whole = catalog_records[workload]
    document = json.loads((whole / "record.json").read_text())
    folder = tmp_path / "r"
    shutil.copytree(whole, folder)
    record = str(folder)

    def once(rng: random.Random) -> Said:
        text = damaged_document(document, rng)
        (folder / "record.json").write_bytes(text.encode())
        command = rng.choice((
            ["audit", record],
            ["audit", record, "--json"],
            ["compare", str(whole), record],
            ["audit", "--steady", record, "--round", "1 s"],
            ["report", record, "-o", str(tmp_path / "r.html"), "--audit"],
            ["report", record, "-o", str(tmp_path / "r.html")],
            ["report", "--latency", record, "--out", str(tmp_path / "c.html")],
        ))  # fmt: skip
        return command_line(*command)

    assert survivors(sized(2, 12), 1, once) == {}


def test_a_record_folder_with_damaged_bytes(catalog_records: dict[str, Path], tmp_path: Path) -> None:
    whole = catalog_records["worn"]
    folder = tmp_path / "r"
    names = sorted(path.name for path in whole.iterdir())

    def once(rng: random.Random) -> Said:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        name = rng.choice(names)
        (folder / name).write_bytes(damaged_bytes((whole / name).read_bytes(), rng))
        record = str(folder)
        command = rng.choice(
            (["audit", record], ["audit", "--steady", record], ["report", record, "-o", str(tmp_path / "r.html")])
        )
        return command_line(*command)

    assert survivors(sized(10, 20), 2, once) == {}


def test_a_study_folder_with_damaged_bytes(tmp_path: Path) -> None:
    whole, folder = TESTS / "study/tiny", tmp_path / "s"
    names = sorted(path.name for path in whole.iterdir() if path.is_file())

    def once(rng: random.Random) -> Said:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        name = rng.choice(names)
        (folder / name).write_bytes(damaged_bytes((whole / name).read_bytes(), rng))
        return command_line("studies", str(folder))

    assert survivors(sized(25, 50), 3, once) == {}


@pytest.mark.parametrize("seed", range(4))
def test_results_of_other_tools_with_damaged_bytes(seed: int, tmp_path: Path) -> None:
    samples = [path for path in sorted((TESTS / "fio/samples").rglob("*")) if path.is_file()]
    samples += [path for path in sorted((TESTS / "import").rglob("samples/**/*")) if path.is_file()]

    def once(rng: random.Random) -> Said:
        sample = rng.choice(samples)
        damaged = tmp_path / sample.name
        damaged.write_bytes(damaged_bytes(sample.read_bytes(), rng))
        return command_line(*rng.choice((["import", "auto", str(damaged)], ["audit", str(damaged)])))

    assert survivors(sized(12, 25), 4 + seed, once) == {}
