"""Experiments small enough for tests, and processes that are killed at a moment of their own choice."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TINY = Path(__file__).parents[1] / "study/tiny"

# A command line that kills itself, as `kill -9` would, when it has put that many files into their places.
KILLED = """
import os, signal, sys
moment, real, count = int(sys.argv.pop(1)), os.replace, 0
def replace(*names, **more):
    global count
    real(*names, **more)
    count += 1
    if count == moment:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
from hotband.cli import main
main()
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A copy of the tiny study, which a test may change: six runs."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


@pytest.fixture
def killed() -> Callable[..., None]:
    """Runs `hotband ARGUMENTS` until it has written so many files, and kills it there."""

    def run(moment: int, *arguments: str) -> None:
        command = [sys.executable, "-c", KILLED, str(moment), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr

    return run
