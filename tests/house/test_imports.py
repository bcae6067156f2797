"""Does the command line start without what only some commands need?

Every command pays for what `import hotband.cli` imports: numpy alone is 0.1 s of a listing that takes 0.2 s.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

HEAVY = (
    "altair", "duckdb", "jinja2", "numpy", "polars", "pyarrow", "ray", "rich.console", "rich.progress", "rich.table",
    "scipy", "starlette", "uvicorn", "vl_convert",
)  # fmt: skip
"""Libraries, by the module that is imported for them."""
OPTIONAL = ("ray",)
"""Comes with an extra."""
OURS = (
    "hotband.api", "hotband.draw", "hotband.experiment.experiment", "hotband.find.question", "hotband.interval.of_run",
    "hotband.record.record", "hotband.report", "hotband.review", "hotband.runs.run", "hotband.store.api",
    "hotband.study.study", "hotband.ui",
)  # fmt: skip
"""Parts of the package that only some commands use."""


def imported(code: str) -> set[str]:
    """The modules that are there after some code, in a process of its own."""
    told = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_command_line_imports_nothing_heavy() -> None:
    there = imported("import hotband.cli")
    assert "hotband.commands.advise" in there, "the commands are there"
    assert {name for name in (*HEAVY, *OURS) if name in there} == set()


def test_what_is_forbidden_exists() -> None:
    """A module that was renamed would be missing whatever the command line imports."""
    assert all(importlib.util.find_spec(name) is not None for name in HEAVY if name not in OPTIONAL)
    code = "\n".join(f"import {name}" for name in OURS)
    assert set(OURS) <= imported(code)
