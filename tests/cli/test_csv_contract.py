"""Is what a command prints as CSV a table of exact values, a unit a column, of every command that prints tables?

Each column holds numbers or texts, never both, and no number has a unit of its own. Where a command has JSON of the
same answer, every number of a column whose unit is known is one of that document's, changed by nothing but the unit.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Hotband = Callable[..., "CompletedProcess[str]"]
DISK = "ent-10k"
FLEET = 'years = 2\nrepetitions = 40\n[[group]]\nname = "a"\nmachines = 40\nmachine = "raid6:12xent-10k"\nafr = "3 %"\n'
COMMANDS = {
    "run": ("run", "fio-randread", "--on", DISK, "--duration", "1 s"),
    "run with intervals": (
        "run",
        "fio-randread",
        "--on",
        DISK,
        "--duration",
        "1 s",
        "--interval",
        "90",
        "--draws",
        "16",
    ),
    "compare": ("compare", "a", "b"),
    "compare of three": ("compare", "a", "b", "c"),
    "steady": ("audit", "--steady", "a", "b"),
    "audit": ("audit", "a", "b"),
    "sweep": ("sweep", "fio-randread", "--on", DISK, "--set", "qd=1,4", "--duration", "1 s"),
    "find": ("find", "IOPS at p99 < 30 ms", "-w", "fio-randread", "--on", DISK, "--on", "ent-15k", "--ios", "2000"),
    "why": ("run", "--explain", "fio-randread", "--on", DISK, "--duration", "1 s", "--draws", "16"),
    "reliability": ("reliability", "raid5:4xent-10k", "--mtbf", "1000000 h", "--rebuild-time", "10 h"),
    "fleet": ("fleet", "fleet.toml"),
    "review": ("review", DISK, "--quick", "--only", "access,linear,patterns"),
    "reviews": ("review", DISK, "--against", "ent-15k", "--quick", "--only", "access,linear"),
    "quick": ("measure", "quick", DISK, "--for", "1 min"),
    "store list": ("store", "list", "store"),
    "query": ("store", "query", "select target, iops, latency_p99_ns from runs", "--from", "store"),
    "entropy": ("measure", "entropy", "data.bin", "--sample", "all"),
    "drives": ("drives",),
    "drive": ("drives", DISK),
    "osds": (
        "drives",
        "--kind",
        "osd",
    ),
    "workloads": ("workloads",),
    "studies": ("studies",),
    "study": ("studies", "content-hdd"),
    "blind": ("study", "blind"),
    "keys": ("keys", "fio-randread", "--on", DISK),
    "events": (
        "keys",
        "--events",
    ),
    "program": ("program",),
    "pgbench": ("program", "pgbench"),
    "device": (
        "measure",
        "device",
    ),
}
FROM_JSON = {
    "run", "compare", "sweep", "find", "store list", "query", "steady", "quick",
}  # fmt: skip
"""Commands whose tables hold nothing but figures of their JSON; of the others some are computed from it."""
SCALES = {
    "ms": (1e6, 1e-3, 1.0),
    "MB/s": (1e6,),
    "IOPS": (1.0,),
    "%": (1.0, 0.01),
    "s": (1e9, 1.0),
    "MWh": (1e3,),
    "ns": (1.0,),
}
"""How much of what JSON holds a unit of a column is: nanoseconds or seconds, bytes a second, shares or percent."""

OF_ROW = ("A", "B", "mean", "measured", "predicted")
"""Columns whose unit each row names."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, call: Hotband) -> Path:
    """A folder with what the commands need."""
    made = tmp_path_factory.mktemp("tables")
    for name, on, seed in (("a", DISK, "1"), ("b", "ent-15k", "1"), ("c", DISK, "2")):
        run = ("run", "fio-randread", "--on", on, "--seed", seed, "--duration", "2 s", "--out", name)
        assert call(*run, cwd=made).returncode == 0
    assert call("store", "add", "store", "a", "b", "c", cwd=made).returncode == 0
    (made / "fleet.toml").write_text(FLEET)
    (made / "data.bin").write_bytes(bytes(range(256)) * 4096)
    return made


@pytest.fixture(scope="module")
def as_csv(folder: Path, call: Hotband) -> Hotband:
    """What a command of `COMMANDS` prints as CSV, run once."""
    return cache(lambda name: call(*COMMANDS[name], "--format", "csv", cwd=folder))


def blocks(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Headings and rows of each table."""
    for block in text.split("\n\n"):
        if block.strip():
            headings, *rows = csv.reader(io.StringIO(block))
            yield headings, rows


def number_of(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def numbers_in(document: object) -> Iterator[float]:
    """All numbers of a document."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        for one in document:
            yield from numbers_in(one)
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield float(document)


def unit_of(heading: str, row: dict[str, str]) -> str | None:
    """The unit that a heading names, or the row of a table with several."""
    if "data by ratio" in heading:
        return None
    ends = {unit: (f" {unit}", f"({unit})", f"_{unit}") for unit in SCALES}
    named = next((unit for unit in SCALES if heading == unit or heading.endswith(ends[unit])), None)
    named = named or next((unit for unit in SCALES if heading.startswith(f"{unit}, ")), None)
    return row.get("unit") if named is None and heading in OF_ROW else named


@pytest.mark.parametrize("name", COMMANDS)
def test_csv_is_a_table_with_one_unit_a_column(name: str, as_csv: Hotband) -> None:
    done = as_csv(name)
    assert done.returncode in (0, 1), done.stderr
    found = list(blocks(done.stdout))
    assert found or name in ("audit", "device"), done.stderr
    for headings, rows in found:
        assert len(set(headings)) == len(headings), headings
        for place, heading in enumerate(headings):
            assert {len(row) for row in rows} <= {len(headings)}
            cells = [row[place] for row in rows if row[place]]
            is_number = {number_of(cell) is not None for cell in cells}
            if unit_of(heading, {}) is not None:
                assert is_number <= {True}, (heading, cells)


@pytest.mark.parametrize("name", sorted(FROM_JSON))
def test_numbers_of_csv_are_those_of_json(name: str, folder: Path, call: Hotband, as_csv: Hotband) -> None:
    printed = as_csv(name).stdout
    told = call(*COMMANDS[name], "--format", "json", cwd=folder).stdout
    document: Any = json.loads(told)
    known = sorted(set(numbers_in(document)))
    checked = 0
    for headings, rows in blocks(printed):
        for row in rows:
            named = dict(zip(headings, row, strict=True))
            for heading, cell in named.items():
                value, unit = number_of(cell), unit_of(heading, named)
                if value is None or unit is None or unit not in SCALES or heading == "B - A (ms)":
                    continue
                checked += 1
                assert any(is_in(known, value * scale) for scale in SCALES[unit]), (heading, cell)
    assert checked or name == "steady"


def is_in(known: list[float], value: float) -> bool:
    """Whether a number is one of them, but for the last digits that a change of unit moves."""
    return any(math.isclose(value, one, rel_tol=1e-14, abs_tol=0.0) for one in known)
