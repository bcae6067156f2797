"""Is every command loaded when it is asked for, and listed as it describes itself?"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer

from hotband.faces.cli import COMMANDS, app
from hotband.faces.commands.front import LISTED
from hotband.faces.commands.help import topics
from hotband.faces.commands.measure import MEASURE
from hotband.faces.commands.on_demand import OnDemand, help_of, loaded
from hotband.faces.renamed import RENAMED, current, selected


@pytest.mark.parametrize("name", [*COMMANDS, *MEASURE])
def test_a_command_is_listed_by_the_first_paragraph_of_its_help(name: str) -> None:
    where, listed = {**COMMANDS, **MEASURE}[name]
    assert help_of(loaded(where)) == listed


def fits(text: str) -> None:
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 80


def test_the_first_screen_has_every_command_and_fits(hotband) -> None:
    shown = hotband("--help").stdout
    assert hotband().stderr.strip() == shown.strip()
    assert [name for name in LISTED if f" {name} " not in shown.replace("\n", " ")] == []
    fits(shown)
    assert len(LISTED) <= 25


def test_help_lists_all_commands_explains_topics_and_shows_the_help_of_one(hotband) -> None:
    listed = hotband("help").stdout
    assert [name for name in LISTED if f"\n  {name} " not in listed] == []
    for name in topics():
        text = hotband("help", name).stdout
        fits(text)
    assert "--duration" in hotband("help", "run").stdout
    assert "--compressor" in hotband("help", "measure", "entropy").stdout
    wrong = hotband("help", "mashines")
    assert wrong.returncode == 2
    assert 'did you mean "machines"?' in wrong.stderr


def test_the_manual_page_has_every_command(hotband) -> None:
    page = hotband("help", "--man").stdout
    assert page.startswith(".TH HOTBAND 1")
    for words in ("run", "measure entropy", "trace show"):
        assert f".SS hotband {words}\n" in page


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_goes_on_and_prints_the_new_one(hotband, old: str) -> None:
    done = hotband(old, "--help") if old != "version" else hotband(old)
    assert done.returncode == 0
    assert done.stderr == (f"hotband: `{old}` is `hotband {RENAMED[old]}` now\n" if old != "version" else "")
    assert old not in LISTED


def test_an_option_selects_a_command() -> None:
    commands = ("run", "run --explain", "drives --kind osd")
    assert selected(["run", "W", "--explain", "--on", "M"], commands) == ["run --explain", "W", "--on", "M"]
    assert selected(["drives", "--kind", "osd", "--json"], commands) == ["drives --kind osd", "--json"]
    assert selected(["drives", "--kind=osd"], commands) == ["drives --kind osd"]
    assert selected(["drives", "--kind", "ssd"], commands) == ["drives", "--kind", "ssd"]


def test_an_option_with_a_value_selects_a_command_and_stays() -> None:
    commands = ("serve", "serve --mount")
    for order in (["M", "--mount", "DIR"], ["--mount", "DIR", "M"], ["M", "--mount=DIR"]):
        assert selected(["serve", *order], commands) == ["serve --mount", *order]
    assert selected(["serve", "M"], commands) == ["serve", "M"]
    assert current(["mount", "M", "DIR", "--loop"], False) == ["serve --mount", "M", "--mount", "DIR", "--loop"]


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
    assert done.stdout.split() == ["studies", "study", "store"]
    assert done.stderr == "[]\n"


def test_objects_without_cycles_are_seldom_searched_for_garbage() -> None:
    code = (
        "import gc, sys\n"
        "from hotband.faces.cli import main\n"
        "before = gc.get_stats()[0]['collections']\n"
        "sys.argv = 'hotband run fio-randread --on ent-10k --duration 0.1s --interval 90 --draws 8'.split()\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(gc.get_stats()[0]['collections'] - before, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # 40 runs are checked and executed: with the thresholds of Python there are 80 and more.
    assert int(done.stderr.split()[-1]) < 20


def test_a_fault_of_a_module_is_not_taken_for_a_command_that_is_not_there() -> None:
    commands = OnDemand({"odd": ("os:environ_of_nothing", "Is not there.")})
    assert (commands.get("even"), list(commands)) == (None, ["odd"])
    with pytest.raises(AttributeError):
        commands.get("odd")


def test_a_command_is_made_once() -> None:
    group: Any = typer.main.get_command(app)
    assert group.commands["run"] is group.commands["run"]
