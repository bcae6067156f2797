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

# A program that kills itself, as `kill -9` would, when it has put that many files into their places.
KILLED = """
import itertools, os, signal, sys
moment, real, counted = int(sys.argv.pop(1)), os.replace, itertools.count(1)
def replace(*names, **more):
    real(*names, **more)
    if next(counted) == moment:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
"""
COMMAND_LINE = """
from hotband.faces.cli import main
main()
"""
# The runs of the tiny study without its report, which takes ten times as long as they do.
RUNS = """
from pathlib import Path
from hotband.execution.experiment import Experiment
from hotband.questions.study.file import load
from hotband.questions.study.runs import points
study = load(sys.argv[1])
runs = points(study, study.pairs(), Path(sys.argv[2]), 1)
measures = {"iops": lambda one: one.record["summary"]["iops"], "rows": lambda one: len(one.columns("series")["iops"])}
done = Experiment(runs, measures, what="the study tiny").run(out=Path(sys.argv[2]), say=print)
print(done.frame.write_json())
"""
# A review without its charts, for the same reason.
REVIEW = """
from pathlib import Path
from hotband.questions.review.suite import json_text, plan, run_plan
from hotband.questions.review.target import target
of = plan(target("savvio-10k1", quick=True), ["access", "streams"])
print(json_text(run_plan(of, out=Path(sys.argv[1]), say=print)))
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A copy of the tiny study, which a test may change: six runs."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


@pytest.fixture
def killed() -> Callable[..., None]:
    """Runs `hotband ARGUMENTS` until it has written so many files, and kills it there."""
    return lambda moment, *arguments: dies(COMMAND_LINE, moment, *arguments)


@pytest.fixture
def runs_killed() -> Callable[..., None]:
    """The same with the runs of a study alone: its folder, where they are kept."""
    return lambda moment, *arguments: dies(RUNS, moment, *arguments)


@pytest.fixture
def runs() -> Callable[..., str]:
    """The runs of a study alone: its folder, where they are kept. What it prints."""
    return lambda *arguments: lives(RUNS, *arguments)


@pytest.fixture
def review_killed() -> Callable[..., None]:
    """The same with the runs of a review alone."""
    return lambda moment, *arguments: dies(REVIEW, moment, *arguments)


@pytest.fixture
def reviewed() -> Callable[..., str]:
    """The runs of a review alone: where they are kept. What it prints."""
    return lambda *arguments: lives(REVIEW, *arguments)


def dies(program: str, moment: int, *arguments: str) -> None:
    command = [sys.executable, "-c", KILLED + program, str(moment), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def lives(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", "import sys" + program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
