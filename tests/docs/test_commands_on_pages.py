"""Is every command that a page of the documentation names a command of today, with options that it has?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from hotband.faces.cli import app
from hotband.faces.commands.manual import commands
from hotband.questions.datasheet import KINDS

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *(f"docs/{page}" for page in re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)),
]
FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
OF_THE_ENGINE = "hotband entropy --json"
"""A former name that the engine prints among the values of the key `data`."""


def command_lines(text: str) -> Iterator[str]:
    """The lines that begin with hotband, of shell blocks and of code within sentences."""
    for language, block in FENCED.findall(text):
        if language in ("", "sh", "console"):
            lines = (line.removeprefix("$ ").removeprefix("# ") for line in block.replace("\\\n", " ").splitlines())
            yield from (line for line in lines if line.startswith("hotband "))
    yield from re.findall(r"`(hotband [^`\n]+)`", FENCED.sub("", text))


def options(command: Any) -> set[str]:
    """The options of a command that its help shows."""
    shown = (one for one in command.params if one.param_type_name == "option" and not one.hidden)
    return {name for one in shown for name in (*one.opts, *one.secondary_opts)} | {"--help"}


@pytest.fixture(scope="module")
def accepted() -> dict[str, set[str]]:
    """The options of each command by its words, with those that select another question of it."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="hotband")
    found = {words: options(command) for words, command in commands(group, context, "hotband")}
    for name, command in group.commands.items():
        current, _, option = f"hotband {name}".partition(" --")
        if option:
            selected = current if current in found else f"{current} show"
            found[selected] |= {f"--{option.split()[0]}"} | options(command)
    found["hotband drives new"] |= {f"--{line.key}" for kind in KINDS.values() for line in kind.lines}
    return found


def words_of(line: str) -> list[str]:
    """The words of a line up to a pipe, a redirection or a second command; none if a shell could not read it."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    return words[: next((at for at, word in enumerate(words) if word in ("|", ">", "&&", "&")), None)]


def wrong_lines(text: str, accepted: dict[str, set[str]]) -> list[str]:
    """The lines of a page whose command does not exist or lacks an option."""
    wrong = []
    for line in command_lines(text):
        words = words_of(line)
        if len(words) < 2 or words[1] in ("help", "COMMAND") or words[1].startswith("--") or line == OF_THE_ENGINE:
            continue
        short = " ".join(words[:2])
        candidates = (" ".join(words[:3]), short, f"{short} show", f"{short} auto")
        known = next((accepted[name] for name in candidates if name in accepted), None)
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        if known is None or given - known:
            wrong.append(line)
    return wrong


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_exist_with_their_options(page: str, accepted: dict[str, set[str]]) -> None:
    assert wrong_lines((ROOT / page).read_text(encoding="utf-8"), accepted) == []


def test_wrong_commands_are_found(accepted: dict[str, set[str]]) -> None:
    text = "```sh\nhotband rum a\nhotband keys a --on b | less\n```\n`hotband run a --on b --qd 3`, `hotband osds`"
    assert wrong_lines(text, accepted) == ["hotband rum a", "hotband run a --on b --qd 3", "hotband osds"]


def test_the_site_shows_blocks_of_code_as_such() -> None:
    """Without the extension, a block becomes a line within its paragraph."""
    listed = (ROOT / "mkdocs.yml").read_text().partition("markdown_extensions:\n")[2].partition("\nnav:")[0]
    assert {"  - fenced_code", "  - tables"} <= set(listed.splitlines())
