"""Is every command loaded when it is asked for, and listed as it describes itself?"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer

from hotband.faces.cli import COMMANDS, app
from hotband.faces.commands.on_demand import OnDemand, help_of, loaded


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_by_the_first_paragraph_of_its_help(name: str) -> None:
    where, listed = COMMANDS[name]
    assert help_of(loaded(where)) == listed


def test_the_list_of_commands_leaves_the_commands_as_they_are(hotband) -> None:
    listed = hotband("--help").stdout
    assert [name for name in COMMANDS if f"\n  {name} " not in listed] == []
    assert "--duration" in hotband("run", "--help").stdout


def test_names_are_completed_without_the_modules_of_commands() -> None:
    code = (
        "import os, sys\n"
        "os.environ |= {'_HOTBAND_COMPLETE': 'complete_bash', 'COMP_WORDS': 'hotband st', 'COMP_CWORD': '1'}\n"
        "from hotband.faces.cli import COMMANDS, main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    modules = {where.partition(':')[0] for where, _ in COMMANDS.values()}\n"
        "    print(sorted(modules & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["studies", "steady", "study", "store"]
    assert done.stderr == "[]\n"


def test_a_fault_of_a_module_is_not_taken_for_a_command_that_is_not_there() -> None:
    commands = OnDemand({"odd": ("os:environ_of_nothing", "Is not there.")})
    assert (commands.get("even"), list(commands)) == (None, ["odd"])
    with pytest.raises(AttributeError):
        commands.get("odd")


def test_a_command_is_made_once() -> None:
    group: Any = typer.main.get_command(app)
    assert group.commands["run"] is group.commands["run"]
