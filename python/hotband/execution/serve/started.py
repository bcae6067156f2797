"""What a command has started, and how all of it is ended: a shell that ends leaves its programs running."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path


def descendants(process: int) -> list[int]:
    """Processes that a process has started, and those that they have."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        # After the name in brackets: state, parent (proc_pid_stat(5)).
        with suppress(OSError):
            parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(path.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def end_all(child: subprocess.Popen[bytes], within_s: float) -> None:
    """Asks a process and what it has started to end, and kills what has not after `within_s`."""
    with ExitStack() as stack:
        held: dict[int, int] = {}
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in (child.pid, *descendants(child.pid)):
                # A number may be given to another process; what is held stays this one.
                with suppress(ProcessLookupError):
                    if process not in held:
                        held[process] = os.pidfd_open(process)
                        stack.callback(os.close, held[process])
            for one in held.values():
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(one, number)
            if _ended_within(list(held.values()), within_s):
                break
    child.wait()


def _ended_within(held: list[int], seconds: float) -> bool:
    """Whether all of these processes end within a time."""
    until = time.monotonic() + seconds
    for one in held:
        waiting = select.poll()
        # pidfd_open(2): readable when the process has ended.
        waiting.register(one, select.POLLIN)
        if not waiting.poll(1e3 * max(0.0, until - time.monotonic())):
            return False
    return True
