"""Does the command line start without what only some commands need?

Every command pays for what `import hotband.faces.cli` imports: numpy alone is 0.1 s of a listing that takes 0.2 s.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from hotband.faces.cli import COMMANDS

HEAVY = (
    "altair", "duckdb", "jinja2", "numpy", "polars", "pyarrow", "ray", "rich.console", "rich.progress", "rich.table",
    "scipy", "starlette", "uvicorn", "vl_convert",
)  # fmt: skip
"""Libraries, by the module that is imported for them."""
OPTIONAL = ("ray",)
"""Comes with an extra."""
OURS = (
    "hotband.faces.api.catalog", "hotband.views.draw", "hotband.execution.experiment.experiment",
    "hotband.questions.find.question", "hotband.inference.interval.of_run", "hotband.data.record.record",
    "hotband.views.report", "hotband.questions.review", "hotband.execution.runs.run", "hotband.faces.api.store",
    "hotband.questions.study.study", "hotband.faces.ui",
)  # fmt: skip
"""Parts of the package that only some commands use."""


OF_HARDWARE_AND_OTHERS = (
    "hotband.data.importers", "hotband.questions.review", "hotband.execution.targets.fio_run",
    "hotband.execution.targets.on_device", "hotband.execution.targets.target", "importlib.metadata", "pydantic",
    "tomlkit", "typer.rich_utils",
)  # fmt: skip
"""What a run in virtual time has no use for, be it light."""
RUN = "run fio-randread --on ent-15k --duration 10ms"
MOST_MODULES = {"--help": 221, f"{RUN} --json": 334, RUN: 460}
"""By command, Python's own and all others but the 22 or 23 that are built into it: a tenth more than the 221, 323 and
439 that there were with these on Python 3.11 when this was written, for other versions of Python (394 and 494 before
commands were made when they are asked for)."""


def after_command(words: str) -> set[str]:
    """The modules that are there after a command."""
    code = f"""
import contextlib, io
from hotband.faces.cli import main
sys.argv = ["hotband", *{words.split()!r}]
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    main()
assert out.getvalue()"""
    return imported(code)


def imported(code: str) -> set[str]:
    """The modules that are there after some code, in a process of its own."""
    told = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_command_line_imports_nothing_heavy() -> None:
    there = imported("import hotband.faces.cli")
    assert {name for name in (*HEAVY, *OURS) if name in there} == set()
    modules = {where.partition(":")[0] for where, _ in COMMANDS.values()}
    assert modules & there == set(), "each is loaded when it is asked for"


def test_a_library_is_loaded_with_the_first_name_that_is_taken_from_it() -> None:
    there = imported("from hotband.base.heavy import alt, duckdb, np, pa, pl, pq, tomlkit, vl_convert")
    assert {name for name in (*HEAVY, "tomlkit") if name in there} == set()
    there = imported("from hotband.base.heavy import pl, tomlkit; assert pl.Int64 is pl.Int64; tomlkit.parse('a = 1')")
    assert {"polars", "tomlkit"} <= there
    assert "altair" not in there


def test_what_is_forbidden_exists() -> None:
    """A module that was renamed would be missing whatever the command line imports."""
    assert all(
        importlib.util.find_spec(name) is not None for name in (*HEAVY, *OF_HARDWARE_AND_OTHERS) if name not in OPTIONAL
    )
    code = "\n".join(f"import {name}" for name in OURS)
    assert set(OURS) <= imported(code)


def test_the_list_of_commands_needs_nothing_to_draw() -> None:
    there = after_command("--help")
    assert {
        name for name in (*HEAVY, *OURS, *OF_HARDWARE_AND_OTHERS, "rich", "hotband.execution.runs.run") if name in there
    } == set()


def test_a_name_of_the_api_is_loaded_without_the_others() -> None:
    there = imported("import hotband as hb; hb.run")
    assert "hotband.faces.asked.function" in there
    others = ("catalog", "advise", "calibrate", "fleet", "report", "suites")
    assert there & {f"hotband.faces.api.{name}" for name in others} == set()
    assert {name for name in HEAVY if name in there} == set()


def test_a_run_in_virtual_time_loads_nothing_of_hardware() -> None:
    """Nor pydantic, which typer uses to turn a text into a text."""
    there = after_command(f"{RUN} --json")
    assert "hotband.execution.experiment.experiment" in there, "it was run"
    used = (
        "hotband.execution.experiment.experiment",
        "hotband.execution.runs.run",
        "rich.console",
        "rich.progress",
        "rich.table",
    )
    assert {name for name in (*HEAVY, *OURS, *OF_HARDWARE_AND_OTHERS) if name in there} - set(used) == set()


def test_a_run_without_an_interval_loads_nothing_of_the_corpus() -> None:
    there = after_command(RUN)
    assert "hotband.views.run_screen" in there, "it was shown"
    assert {name for name in there if name.startswith(("hotband.data.corpus", "hotband.inference.audit"))} == set()


@pytest.mark.parametrize("words", MOST_MODULES)
def test_no_command_opens_many_more_files_than_it_did(words: str) -> None:
    assert len(after_command(words) - set(sys.builtin_module_names)) <= MOST_MODULES[words]
