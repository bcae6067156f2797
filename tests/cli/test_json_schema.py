"""Does every document that a command prints with --json say what it is? Those of the questions themselves are compared
in tests/house/test_declared_questions.py."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import hotband.faces.commands
from hotband.faces.commands.group import Commands

Hotband = Callable[..., "CompletedProcess[str]"]


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


def test_every_command_with_json_is_a_question_and_says_what_its_document_is() -> None:
    import typer

    from hotband.faces.cli import app
    from hotband.faces.commands import question
    from hotband.faces.questions import QUESTIONS, declared

    found = {
        name: inspect.unwrap(one.callback)
        for name, one in commands(typer.main.get_command(app))
        if "as_json" in [param.name for param in one.params]
    }
    assert len(found) > 40
    assert [name for name, function in found.items() if function.__module__ != question.__name__] == []
    assert len({declared(name).schema for name in QUESTIONS} - {""}) > 25


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
    ],
)
def test_an_entry_of_a_list_names_its_schema_first(arguments: tuple[str, ...], schema: str, hotband: Hotband) -> None:
    done = hotband(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout).items())[:2] == [("schema", schema), ("schema_version", 1)]
