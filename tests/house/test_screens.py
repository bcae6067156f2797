"""Is every answer on a terminal a screen: one sentence first, at most 24 lines of 80 columns, the next command last?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from test_declared_questions import folder, of_python

from hotband.base.question import Question, Way
from hotband.base.text.table import Table
from hotband.base.views import registered, view_of
from hotband.data.documents.emulate import EmulationDoc, RatioDoc, SideDoc
from hotband.data.documents.serving import Kind, Serving, Times
from hotband.execution.experiment.progress import run_progress
from hotband.faces.asked.words import words
from hotband.faces.cli import COMMANDS, app
from hotband.faces.commands.question import Form, _print
from hotband.faces.questions import QUESTIONS, answer, declared
from hotband.faces.renamed import selected
from hotband.questions.selftest import Check, Selftest
from hotband.questions.study.emulate.result import EmulationResult
from hotband.views.text.bars import bar, bars
from hotband.views.text.screen import LINES, NEXT, Screen, command, indent_below
from hotband.views.text.strips import Strip, strips

__all__ = ["folder"]
"""The fixture: a folder with records and a fleet."""
CHANGED: dict[str, dict[str, Any]] = {
    "serve": {"duration": "0.1 s", "anyway": True},
    "workloads convert": {"output": Path("job.fio")},
}
"""What a terminal adds to the examples; of `mount`, which needs FUSE, the answer of `serve` is shown."""
TIMES = Times(3e6, 2.9e6, 4e6, 9e6, 12e6, 15e6)
SERVED = Serving(
    TIMES, "the host was busy", (Kind("read", 20, 0, 81920, TIMES, TIMES), Kind("write", 1, 1, 0, None, None))
)
RATIO: RatioDoc = {
    "measure": "reads", "unit": "reads/s", "a": 200.0, "b": 300.0, "ratio": 1.5, "direction": "more", "source": "read",
}  # fmt: skip
SIDE: SideDoc = {
    "name": "slow", "machine": "small.toml", "set": {}, "version": "1", "value": 200.0, "unit": "reads/s",
    "notes": ["emulation delay p99 2 ms"], "load_before": 0.1, "load_after": 0.9, "seconds": 60.0,
}  # fmt: skip
EMULATED: EmulationDoc = {
    "study": "tiny", "title": "Tiny", "source": "a page", "processors": 2,
    "parts": [
        {"id": "reads", "title": "Reads of two machines", "program": "sysbench", "figure": "reads", "unit": "reads/s",
         "settings": {}, "scale": "1/1000", "how": "the same files", "a": SIDE, "b": SIDE, "emulated": RATIO,
         "predicted": RATIO, "published": None, "agrees": {"predicted": True, "published": None}, "note": "",
         "skipped": ""},
        {"id": "writes", "title": "Writes", "program": "sysbench", "figure": "writes", "unit": "writes/s",
         "settings": {}, "scale": "1/1000", "how": "", "a": None, "b": None, "emulated": None, "predicted": None,
         "published": None, "agrees": {"predicted": None, "published": None}, "note": "",
         "skipped": "sysbench is not installed (apt install sysbench)"},
    ],
}  # fmt: skip
"""An emulated study, whose programs are not run here."""
SELFTEST = Selftest(
    "/dev/sdx",
    (
        Check("random, depth 1: IOPS x mean", "passes", "8,006 IOPS x 123 us = 0.986", "1, less some per cent"),
        Check("sequential: read by drive", "fails", "12 %", "at least 90 % of what fio read; less is from memory"),
        Check("temperature", "not known", "", "a sensor; not installed: smartctl"),
    ),
)
"""A self-test, whose measurements are not made here."""
LISTS = {
    "device", "drives new", "drives show", "events", "import auto", "import diskspd", "import fio", "import hdr",
    "import iometer", "import vdbench", "keys", "layouts", "osds", "plot", "program", "store show", "studies",
    "workloads show",
}  # fmt: skip
"""Lists, single entries and records: they have a line or a table per entry, and no answer in a sentence."""
SCREENS = set(QUESTIONS) - LISTS
NAMES = [
    pytest.param(name, marks=[pytest.mark.long] if name in ("calibrate", "study intervals") else [])
    for name in sorted(SCREENS)
]
"""The answers of two of them take seconds."""
SENTENCE = re.compile(
    r"[^.:]*(\d|\b(is|are|was|were|has|have|reach|reaches|lie|lies|keep|keeps|no|nothing|not)\b)", re.I
)
"""What the answer begins with: a figure or a verb before its first stop."""


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[Any, Any]]:
    """The questions and their answers, each once."""
    return {}


def typed(question: Question) -> str:
    """Return a question as it is typed in a shell."""
    return shlex.join(["hotband", *words(question)])


def answered(name: str, answers: dict[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    if name not in answers:
        question = replace(of_python(name), **CHANGED.get(name, {}))
        if name == "mount":
            found = replace(answered("serve", answers)[1], serving=SERVED)
        elif name == "study emulate":
            found = EmulationResult(EMULATED)
        elif name == "measure selftest":
            found = SELFTEST
        else:
            found = answer(question, Way(run_progress, lambda _: None, again=typed))
        answers[name] = question, found
    return answers[name]


def options(words: list[str]) -> Iterator[str]:
    """The options of a command that it does not have, which is the test's failure."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    words = selected(words, COMMANDS)
    found = group.get_command(context, words[0])
    if found is not None and hasattr(found, "get_command"):
        found = found.get_command(context, words[1])
    assert found is not None, words
    known = {option for param in found.params for option in param.opts}
    yield from (word for word in words if word.startswith("--") and word not in known)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_a_screen(
    name: str,
    width: int,
    answers: dict[str, tuple[Any, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked, found = answered(name, answers)
    monkeypatch.setenv("COLUMNS", str(width))
    _print(asked, found, Form(as_json=False, details=False), [])
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert len(lines) <= LINES, "\n".join(lines)
    assert max(len(line) for line in lines if not line.startswith(NEXT)) <= width
    first = " ".join(lines[: lines.index("")])
    assert SENTENCE.match(first), first
    assert first.endswith((".", ":")), first
    if lines[-1].startswith(NEXT):
        words = shlex.split(lines[-1].removeprefix(NEXT))
        assert (words[0], list(options(words[1:]))) == ("hotband", [])


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_of_a_screen_is_one_line_and_tables_are_narrow(name: str, answers: dict[str, tuple[Any, Any]]) -> None:
    asked, found = answered(name, answers)
    shown = view_of(found, "terminal")(found, asked)
    assert isinstance(shown, Screen)
    tables = [view for view in shown.body if isinstance(view, Table)]
    named = [[one.name for one in table.columns if one.name] for table in tables]
    assert [table.title for table in tables if not table.borderless] == []
    assert [names for names in named if len(names) > 7] == [], "names of rows and pictures have no heading"
    assert not [cell for table in tables for row in table.texts() for cell in row if "\n" in cell]


def test_every_answer_has_a_screen() -> None:
    types = {of for name in SCREENS for of in (declared(name).shown or (declared(name).answers,))}
    types |= {of for name in SCREENS for of in declared(name).on_the_way}
    views = {of: registered()[of, "terminal"].partition(":") for of in types}
    returned = {
        of: getattr(import_module(module), name).__annotations__["return"] for of, (module, _, name) in views.items()
    }
    assert [of for of in sorted(types) if returned[of] != "Screen"] == []


def test_a_heading_is_no_sentence() -> None:
    assert not SENTENCE.match("Measured beside predicted")


def test_bars_are_eighths_of_the_largest() -> None:
    assert bars([8.0, 4.0, 3.0, 0.001, 0.0, None], 4) == ["████", "██", "█▌", "▏", "", ""]
    assert bar(9.0, 8.0, 2) == "██"


def test_intervals_share_one_scale_with_the_bound() -> None:
    assert strips([Strip("A", 1.0, 10.0, 100.0), Strip("B", 10.0, 100.0, 1000.0)], 300.0, 10) == [
        "A ├──●──┤│",
        "B    ├──●│─┤",
    ]


def test_a_value_outside_its_interval_is_on_the_scale() -> None:
    assert strips([Strip("A", 10.0, 1000.0, 100.0), Strip("B", 10.0, 1.0, 100.0)], None, 10) == [
        "A    ├──┤  ●",
        "B ●  ├──┤",
    ]


def test_a_command_is_written_from_its_fields() -> None:
    assert command("study run", "a b", only=["x", "y"], seed=None, fresh=False, details=True) == (
        "hotband study run 'a b' --only x --only y --details"
    )


@pytest.mark.parametrize(("line", "deeper"), [("SEVERE   a", 9), ("! note", 2), ("   -> do", 3), ("Plain text", 0)])
def test_a_line_continues_below_its_text(line: str, deeper: int) -> None:
    assert indent_below(line) == deeper
