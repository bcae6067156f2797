"""Does anything below the faces know what an option of the command line is called?"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from source import nodes

from hotband.base.fields import FIELDS, PREFIX
from hotband.faces.cli import app
from hotband.faces.commands.group import parameter

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"
OF_OTHERS = {
    "data/importers/fio": "results that fio is asked for",
    "execution/devices/device.py": "options of lsblk",
    "execution/targets/purge.py": "options of nvme and hdparm",
    "execution/devices/refusals.py": "options of wipefs",
    "execution/devices/remarks.py": "options of losetup",
    "execution/devices/signatures.py": "options of wipefs",
    "execution/devices/users.py": "options of sg_persist and pvs",
    "execution/experiment/ray_cluster.py": "options of ray",
    "execution/programs": "options of the programs that run",
    "execution/targets/fio_child.py": "options of fio",
    "execution/targets/hosts.py": "options of fio",
    "inference/audit/tools.py": "results that fio is asked for",
}
"""Modules that give options to other programs, or say what others are to be given."""
REPEATED = {
    "questions/study/study.py", "questions/study/swings.py", "questions/suites/pts/suite.py",
    "questions/suites/quick.py", "questions/suites/target.py", "views/report/sweep_page.py",
}  # fmt: skip
"""They write the command that asks the same again: of a question's definition once there is one. It may only shrink."""
OF_TERMINAL = {
    "views/advise/show.py", "views/audit.py", "views/expect.py", "views/sweeps/show.py", "views/devices.py",
    "views/text/screen.py", "views/catalog.py",
}  # fmt: skip
"""Lines of the terminal that say how to see more. It may only shrink."""


def commands(group: Any) -> Iterator[Any]:
    """Every command of a group and of those in it."""
    if not hasattr(group, "list_commands"):
        yield group
        return
    context = typer.Context(group)
    for name in group.list_commands(context):
        yield from commands(group.get_command(context, name))


COMMANDS = list(commands(typer.main.get_command(app)))
OPTIONS = {option for command in COMMANDS for param in command.params for option in param.opts if option[:2] == "--"}


def texts(path: Path) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    alone = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def naming(folder: Path) -> set[str]:
    """Modules below the faces with a text that has an option of ours."""
    found = set()
    for path in folder.rglob("*.py"):
        name = str(path.relative_to(folder))
        if name.startswith("faces/") or any(name.startswith(other) for other in OF_OTHERS):
            continue
        words = {word for text in texts(path) for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}
        if words & OPTIONS:
            found.add(name)
    return found


def test_no_module_below_the_faces_names_an_option() -> None:
    assert naming(PACKAGE) == REPEATED | OF_TERMINAL


def test_an_option_in_a_text_is_found(tmp_path: Path) -> None:
    (tmp_path / "find.py").write_text('"""As `--on` has it."""\nNOTE = f"leave --seed out of {__name__}"\n')
    (tmp_path / "other.py").write_text('"""As `--on` has it."""\nNOTE = "a -- dash"\n')
    assert naming(tmp_path) == {"find.py"}


def test_every_field_that_an_error_names_is_one_of_a_question() -> None:
    field = re.compile(rf"(?:^|\s){re.escape(PREFIX)}(\w+)")
    named = {word for path in PACKAGE.rglob("*.py") for text in texts(path) for word in field.findall(text)}
    assert named - FIELDS <= {"toml"}


def test_a_field_is_the_parameter_of_the_command_that_was_given() -> None:
    by_name = {command.name: command for command in reversed(COMMANDS)}
    assert parameter(by_name["review"], "on") == "MACHINE"
    assert parameter(by_name["run"], "on") == "--on"
    assert parameter(by_name["run"], "settings") == "--set"
    assert parameter(by_name["pts"], "drive_class") == "--class"
    assert parameter(by_name["quick"], "duration") == "--for"
