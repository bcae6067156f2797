"""The command line in this process, and what is wrong with how a command ended."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

LONGEST = 5000
"""Characters of a line of ours at most: a path (4,096 bytes at most), a key, a value cut short, what is accepted."""
ORDERS = ("\x1b", "\x07", "\x9b", "\r", "\u202e")
"""What must never reach a terminal."""
STOPPED = 130
REFUSED = 2
ENDINGS = (0, 1, REFUSED, STOPPED)
"""Exit codes of a command that ended as it may."""


class Said(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    error: str

    @property
    def last(self) -> str:
        """What it said last."""
        return (self.error.splitlines() or [""])[-1]


class Kept(io.StringIO):
    """What was printed; it has a file of its own, which a command closes that can print no more."""

    def fileno(self) -> int:
        return _nowhere()


class Wrong(Exception):
    """A command that ended as none should, without an exception of its own."""


@cache
def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)


@cache
def group() -> Any:
    """The commands, put together once: that takes longer than most of them."""
    import typer

    from hotband.faces.cli import app

    return typer.main.get_command(app)


@contextlib.contextmanager
def stopped_after(seconds: float | None) -> Iterator[None]:
    """Interrupts the block, as Ctrl-C does, once it has used so much time of the processor; and again, should that have
    been lost (an exception in a destructor is)."""
    if seconds is None:
        yield
        return
    from hotband.execution.runs.signals import interrupted

    before = signal.signal(signal.SIGPROF, interrupted)
    signal.setitimer(signal.ITIMER_PROF, seconds, 2.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def hotband(arguments: Sequence[str], seconds: float | None = None) -> Said:
    """Runs `hotband ARGUMENTS`, for so many seconds at most. What no command catches is raised."""
    out, error = Kept(), Kept()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), stopped_after(seconds):
            group().main(list(arguments), prog_name="hotband")
    except SystemExit as stop:
        return Said(stop.code if isinstance(stop.code, int) else 0, out.getvalue(), error.getvalue())
    except KeyboardInterrupt:
        if seconds is None:
            raise
        return Said(STOPPED, out.getvalue(), error.getvalue())
    return Said(0, out.getvalue(), error.getvalue())


def expect_well(said: Said, accepted: Sequence[int] = ENDINGS, is_json: bool = False) -> None:
    """Raises Wrong where an answer is none that a user may get."""
    if said.code not in accepted:
        raise Wrong(f"exit code {said.code}: {said.error[-300:]}")
    # A group without a command says which there are.
    is_help = (said.out or said.error).lstrip().startswith("Usage: ")
    if said.code == REFUSED and not is_help and not said.last.startswith("hotband: error: "):
        raise Wrong(f"refused without a line: {said.error[-300:]!r}")
    if said.code == REFUSED and len(said.last) > LONGEST:
        raise Wrong(f"a line of {len(said.last)} characters")
    for order in ORDERS:
        if order in said.out or order in said.error:
            raise Wrong(f"orders a terminal: {order!r}")
    if is_json and said.code == 0:
        try:
            json.loads(said.out, parse_constant=_refuse)
        except ValueError as error:
            raise Wrong(f"is no JSON: {error}") from None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


FIRST_CHECK = re.compile(
    r"not TOML|TOML parse error|not JSON|is no JSON|not UTF-8|no UTF-8|invalid UTF-8|the file is empty"
    r"|too deeply nested"
    r"|not a result that Hotband recognises|expected a job file|no job file|format is not recognised|not a record"
    r"|no such option|is no command|cannot be read as|duplicate key|key with no value|expected `"
)
"""What is said where the syntax is broken, or the file is not recognised at all: there an input ends at the first
check."""


def is_past_first_check(said: Said) -> bool:
    """Whether an input was read, be it refused later or taken."""
    return said.code != REFUSED or FIRST_CHECK.search(said.last) is None
