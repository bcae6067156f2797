"""Does every document that a command prints with --json say what it is?"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import hotband.faces.commands
from hotband.faces.commands.group import Commands

Hotband = Callable[..., "CompletedProcess[str]"]
ROWS, RECORD = "rows", "a record as it was written"


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by what is typed for it."""
    import typer

    ctx = typer.Context(group, info_name="hotband")
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if isinstance(command, Commands):
            yield from commands(command, f"{path} {name}".strip())
        else:
            yield f"{path} {name}".strip(), command


def printed_by(function: Callable[..., object], seen: set[object]) -> set[str]:
    """What a function of the command line prints as JSON: schemas, rows, or a record; also by those that it calls."""
    function = inspect.unwrap(function)
    if function in seen or not function.__module__.startswith(("hotband.faces.commands", "hotband.faces.cli")):
        return set()
    seen.add(function)
    found: set[str] = set()
    for call in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        if name == "print_json":
            found.add(ast.unparse(call.args[1]).strip("'"))
        elif name in ("print_rows", "print_text"):
            found.add(ROWS if name == "print_rows" else RECORD)
        else:
            other = named(call.func, vars(inspect.getmodule(function)))
            found |= printed_by(other, seen) if inspect.isfunction(other) else set()
    return found


def named(of: ast.Name | ast.Attribute, names: dict[str, Any]) -> object:
    """What a name, or one of a module, stands for; None where it is neither."""
    if isinstance(of, ast.Name):
        return names.get(of.id)
    module = names.get(of.value.id) if isinstance(of.value, ast.Name) else None
    return getattr(module, of.attr, None) if inspect.ismodule(module) else None


def test_every_command_with_json_says_what_its_document_is() -> None:
    import typer

    from hotband.faces.cli import app
    from hotband.faces.questions import QUESTIONS, declared

    found = {
        name: printed_by(one.callback, set())
        for name, one in commands(typer.main.get_command(app))
        if "as_json" in [param.name for param in one.params]
    }
    assert len(found) > 40
    assert [name for name, printed in found.items() if not printed] == []
    of_questions = {ROWS, RECORD, "schema"}
    assert found["trace convert"] == found["run"] == of_questions
    assert found["drives show"] == {ROWS, "schema"}
    named = {schema for printed in found.values() for schema in printed if schema.startswith("hotband-")}
    named |= {declared(name).schema for name in QUESTIONS} - {""}
    assert len(named) > 25


def test_no_command_prints_json_by_itself() -> None:
    folder = Path(hotband.faces.commands.__path__[0])
    texts = {path: path.read_text() for path in folder.glob("*.py") if path.name != "output.py"}
    assert [path.name for path, text in texts.items() if re.search(r"json_(text|safe)|json\.dumps", text)] == []


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (("drives", "ent-10k"), "hotband-drive"),
        (("workloads", "fio-randread"), "hotband-workload"),
        (("studies", "content-hdd"), "hotband-study-outline"),
        (("program", "pgbench"), "hotband-program-outline"),
        (("sweep", "fio-randread", "--on", "ent-10k", "--duration", "100 ms"), "hotband-sweep-answers"),
        (("store", "add", "{}/store", "{}/log"), "hotband-store-add"),
        (("store", "check", "{}/store"), "hotband-store-check"),
        (("store", "compact", "{}/store"), "hotband-store-compact"),
        (("trace", "convert", "{}/a.parquet", "{}/b.spc"), "hotband-trace-convert"),
        (("trace", "compare", "{}/a.parquet", "{}/a.parquet"), "hotband-trace-compare"),
    ],
)
def test_a_document_names_its_schema_first(
    arguments: tuple[str, ...], schema: str, hotband: Hotband, folder: Path
) -> None:
    done = hotband(*(one.format(folder) for one in arguments), "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout).items())[:2] == [("schema", schema), ("schema_version", 1)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its log, and a store."""
    import hotband as hb

    at = tmp_path_factory.mktemp("documents")
    record = hb.run("fio-randread", on="ent-10k", duration="100 ms", io_log=at / "a.parquet", progress=False)
    record.save(at / "log")
    with hb.store(at / "store") as store:
        store.append(record)
    return at
