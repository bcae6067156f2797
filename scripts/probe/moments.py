"""A command in a process of its own, in which something happens at a moment: before its n-th change of a folder.

What is counted are files opened to be written, renamed and removed, and folders made, as Python's audit hooks tell.
A moment says more than a time: it is the same every time, and none is missed however short it is.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.truncate", "os.rmdir")
YEAR_S = 365 * 86_400
MOST_S = 300.0
"""A command that takes longer hangs: undisturbed the longest takes ten seconds, beside others perhaps a minute."""
Act = Callable[[], None]


class Ended(NamedTuple):
    """How a process ended (minus the number of a signal), what it said, and how many moments there were."""

    code: int
    said: str
    moments: int

    @property
    def last(self) -> str:
        """Its last line."""
        return (self.said.strip().splitlines() or [""])[-1]


def kill() -> None:
    """As `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def send(number: int) -> Act:
    """Return an act that sends a signal to this process."""

    def sent() -> None:
        os.kill(os.getpid(), number)

    return sent


def jump(by: float) -> Act:
    """The clock of the wall is set: it says another time from then on."""

    def act() -> None:
        real, real_ns = time.time, time.time_ns
        time.time = lambda: real() + by
        time.time_ns = lambda: real_ns() + int(by * 1e9)

    return act


def begin(arguments: Sequence[str], folder: Path, moment: int | None, act: Act, said: Path) -> int:
    """Starts `hotband ARGUMENTS`; at its moment `moment` in `folder` it acts. Returns the number of the process."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, 1)
        os.dup2(file, 2)
        counted = _counting(str(folder), moment, act)
        try:
            _run(arguments)
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        said.with_suffix(".moments").write_text(str(counted()))
    finally:
        os._exit(code)


def _run(arguments: Sequence[str]) -> None:
    from hotband.faces.cli import main

    sys.argv = ["hotband", *arguments]
    main()


def _counting(folder: str, moment: int | None, act: Act) -> Callable[[], int]:
    """Counts moments from now on, and acts at one."""
    count = 0

    def hook(event: str, given: tuple[Any, ...]) -> None:
        nonlocal count
        opens = event == "open" and isinstance(given[2], int) and given[2] & WRITING
        if (opens or event in CHANGES) and str(given[0] if isinstance(given[0], str) else "").startswith(folder):
            count += 1
            if count == moment:
                act()

    sys.addaudithook(hook)
    return lambda: count


def wait(process: int, said: Path) -> Ended:
    """How it ended. Kills it, and says that it hangs, where it takes too long."""
    until = time.monotonic() + MOST_S
    while True:
        number, status = os.waitpid(process, os.WNOHANG)
        if number:
            break
        if time.monotonic() > until:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise SystemExit(f"hangs: {said.read_text(errors='replace')[-500:]}")
        time.sleep(0.005)
    count = said.with_suffix(".moments")
    code = os.waitstatus_to_exitcode(status)
    moments = int(count.read_text()) if count.is_file() else 0
    count.unlink(missing_ok=True)
    return Ended(code, said.read_text(errors="replace"), moments)


def digests(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Digests of files with these names, by their path."""
    found = (path for name in names for path in folder.rglob(name))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(found)}
