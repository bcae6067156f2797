"""Do the tutorial and the guide of answers run as they stand, one after the other in one folder?"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from command_line import run_hotband
from forms import LONG

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"
LONG_PAGES = ("../guides/answers.md", "../guides/measure.md#Test an SSD by SNIA's PTS")
PAGES = ["tutorial.md", *(pytest.param(page, marks=pytest.mark.long) for page in LONG_PAGES)]
"""The tutorial, and guides that do the same: one step after the other."""
FILES = ("toml", "csv", "fio", "json")
LANGUAGES = {"sh", "python", *FILES}


class Block(NamedTuple):
    """A block of a page: its language, whether its commands are to fail, and its text."""

    language: str
    fails: bool
    text: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, or of one section of it, in order."""
    path, _, heading = page.partition("#")
    text = (TUTORIAL / path).read_text()
    text = text.split(f"\n## {heading}\n")[1].split("\n## ")[0] if heading else text
    found = re.findall(r"^```(\w+)( fails)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [Block(language, bool(fails), text) for language, fails, text in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reader of the tutorial is; `hotband` in it is this one."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "bin").mkdir()
    program = folder / "bin" / "hotband"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hotband "$@"\n')
    program.chmod(0o755)
    return folder


def line_run(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line of the shell; in the long form as a shell runs it, else in this process where hotband is all it starts."""
    words = shlex.split(line, comments=True)
    if not LONG and words[0] == "hotband":
        return run_hotband(*words[1:], cwd=folder)
    return run(folder, ["sh", "-c", line])


def run(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """A command in the reader's folder."""
    environment = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def follow(folder: Path, block: Block) -> None:
    """Does what a reader does with a block: writes the file that its first line names, or runs its lines."""
    if block.language in FILES:
        first, text = block.text.split("\n", 1)
        path = folder / first.removeprefix("# ")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    elif block.language == "python":
        done = run(folder, [sys.executable, "-c", block.text])
        assert done.returncode == 0, done.stderr
    else:
        for line in block.text.strip().splitlines():
            done = line_run(folder, line)
            assert done.returncode == (2 if block.fails else 0), (line, done.stderr)
            _, _, printed = line.partition("# prints ")
            assert printed in done.stdout, (line, done.stdout)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_after_those_before_it(folder: Path, page: str) -> None:
    listed = blocks(page)
    assert listed, "a page has something to do"
    assert {block.language for block in listed} <= LANGUAGES
    for block in listed:
        follow(folder, block)


def test_the_tutorial_has_five_steps() -> None:
    steps = re.findall(r"^## (\d)\. ", (TUTORIAL / "tutorial.md").read_text(), re.MULTILINE)
    assert steps == ["1", "2", "3", "4", "5"]
