"""Child processes: the only module that starts, watches and ends other programs.

A child runs in its own process group, so that an interrupt of the terminal reaches only Hotband, which then ends the
child: by its end signal, after a grace period by SIGKILL to the whole group. A child that shares the terminal stays in
our group; it is ended together with everything it has started. A child is reaped last, so that its id belongs to it and
its group until then. Children that are `tied` also end when Hotband is killed (`setpriv --pdeathsig`).
"""

from __future__ import annotations

import math
import os
import pwd
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

LONGEST_PAUSE_S = 0.02
"""Longest pause between two checks for the end of a child; the first pauses are shorter."""
READ_S = 20.0
"""Longest wait for the last output of a child that has ended, if a process outside its group keeps the pipe open."""
MOST_TEXT = 4_000_000
"""Most characters of a child's output that are stored; later ones are read and dropped."""
LONGEST_LINE = 65_536
"""Characters read at a time from a line without end."""
PARSED = {"LC_ALL": "C"}
"""Environment of commands whose English words are parsed."""

Told = Callable[[str], None]
Environment = Mapping[str, str | None]
"""Variables that differ from our environment; None removes a variable."""


@dataclass(frozen=True)
class Output:
    """Exit code of a command, or minus its signal; its stdout and stderr."""

    code: int
    text: str
    errors: str = ""


@dataclass
class Printed:
    """Lines that a thread reads from a stream of a child, up to `MOST_TEXT` characters in all."""

    tell: Told | None = None
    lines: list[str] = field(default_factory=list)
    _thread: threading.Thread | None = field(default=None, init=False)

    def read(self, stream: IO[str]) -> None:
        """Start to read a stream until its end."""
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def text(self, within_s: float = 0.0) -> str:
        """Return the output so far, or the complete output if the stream ends within a time."""
        if self._thread is not None:
            self._thread.join(within_s)
        return "".join(self.lines)

    def _read(self, stream: IO[str]) -> None:
        size = 0
        while line := stream.readline(LONGEST_LINE):
            if size < MOST_TEXT:
                self.lines.append(line)
            size += len(line)
            if self.tell is not None:
                self.tell(line.rstrip())
        stream.close()


@dataclass
class Child:
    """A process started by this module, until `end`."""

    name: str
    process: subprocess.Popen[str]
    end_signal: signal.Signals
    has_group: bool
    output: Printed
    errors: Printed

    @property
    def pid(self) -> int:
        """Its process id, which is also the id of its group if it has one."""
        return self.process.pid

    @property
    def code(self) -> int:
        """Exit code, or minus the signal that ended it; known after `end`."""
        assert self.process.returncode is not None, "it was ended and reaped"
        return self.process.returncode

    def text(self, within_s: float = 0.0) -> str:
        """Return its output."""
        return self.output.text(within_s)

    def running(self) -> bool:
        """Return whether it has not ended. Does not reap it."""
        if self.process.returncode is not None:
            return False
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end; return whether it ended in time."""
        until, pause = time.monotonic() + seconds, LONGEST_PAUSE_S / 32
        while self.running():
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, LONGEST_PAUSE_S)
        return True

    def end(self, within_s: float) -> None:
        """Send its end signal if it still runs, kill remaining processes after `within_s`, and reap it. An interruption
        meanwhile kills at once."""
        if self.process.returncode is None and not self.has_group:
            self._end_tree(within_s)
            return
        try:
            if within_s > 0 and self.running():
                with suppress(ProcessLookupError):
                    os.kill(self.pid, self.end_signal)
                self.ended_within(within_s)
        finally:
            self.kill()
            self.process.wait()
        for printed in (self.output, self.errors):
            printed.text(READ_S)

    def kill(self) -> None:
        """Kill its group at once, including remaining children."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def _end_tree(self, within_s: float) -> None:
        """End it with everything it has started: a shell that ends leaves its programs running."""
        with ExitStack() as stack:
            held: dict[int, int] = {}
            for number in (self.end_signal, signal.SIGKILL) if self.running() else ():
                for process in (self.pid, *descendants(self.pid)):
                    # The kernel can reuse a process id, but never a pidfd.
                    with suppress(ProcessLookupError):
                        if process not in held:
                            held[process] = os.pidfd_open(process)
                            stack.callback(os.close, held[process])
                for process_fd in held.values():
                    with suppress(ProcessLookupError):
                        signal.pidfd_send_signal(process_fd, number)
                if _all_ended_within(list(held.values()), within_s):
                    break
        self.process.wait()


def start_child(
    words: Sequence[str | Path],
    *,
    output: Printed | IO[bytes] | Literal["terminal"],
    errors: Printed | None = None,
    environment: Environment | None = None,
    folder: Path | None = None,
    user: str | None = None,
    tied: bool = False,
    end_signal: signal.Signals = signal.SIGTERM,
    descriptors: Sequence[int] = (),
) -> Child:
    """Start a program; the caller calls `end`.

    Its stderr goes to `output`, or to `errors`. With `output="terminal"` it shares our stdin, stdout, stderr
    and process group; every other child reads from /dev/null. `user` needs setpriv if this process is root.
    `descriptors` stay open in the child. Raises OSError if it cannot be started.
    """
    shares = output == "terminal"
    stdout = None if isinstance(output, str) else subprocess.PIPE if isinstance(output, Printed) else output
    process = subprocess.Popen(
        [*_before(user, tied, end_signal), *(str(word) for word in words)],
        stdin=None if shares else subprocess.DEVNULL,
        stdout=stdout,
        stderr=None if shares else subprocess.STDOUT if errors is None else subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        cwd=folder,
        env=None if environment is None else _changed(environment),
        start_new_session=not shares,
        pass_fds=descriptors,
    )
    printed = output if isinstance(output, Printed) else Printed()
    child = Child(Path(words[0]).name, process, end_signal, not shares, printed, errors or Printed())
    try:
        for stream, reader in ((process.stdout, child.output), (process.stderr, child.errors)):
            if stream is not None:
                reader.read(stream)
    except BaseException:
        # On an interruption the caller does not have the child yet.
        child.end(0.0)
        raise
    return child


def run_child(
    words: Sequence[str | Path],
    *,
    within_s: float = math.inf,
    environment: Environment | None = None,
    user: str | None = None,
) -> Output:
    """Run a program to its end. Raises TimeoutError if it takes longer than `within_s`, then it was killed; OSError if
    it cannot be started."""
    child = start_child(words, output=Printed(), errors=Printed(), environment=environment, user=user)
    try:
        in_time = child.ended_within(within_s)
    finally:
        child.end(0.0)
    if not in_time:
        raise TimeoutError(f"{child.name} did not end within {within_s:g} s")
    return Output(child.code, child.output.text(), child.errors.text())


def _before(user: str | None, tied: bool, end_signal: signal.Signals) -> list[str]:
    """Return the words before a command: setpriv with its options for the child."""
    options = _as_user(user)
    if tied and shutil.which("setpriv"):
        options = ["--pdeathsig", end_signal.name.removeprefix("SIG"), *options]
    return ["setpriv", *options] if options else []


def _as_user(user: str | None) -> list[str]:
    """Return the options of setpriv to become a user with its own groups; only root can."""
    if user is None or os.geteuid() != 0:
        return []
    # By number: Debian has no group named nobody.
    entry = pwd.getpwnam(user)
    return ["--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--init-groups"]


def _changed(environment: Environment) -> dict[str, str]:
    """Return our environment with changes."""
    changed = {**os.environ, **environment}
    return {name: value for name, value in changed.items() if value is not None}


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and their descendants."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        # After the name in brackets: state, parent (proc_pid_stat(5)).
        with suppress(OSError):
            parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(path.name))
    family = [process]
    for member in family:
        family += children.get(member, [])
    return family[1:]


def _all_ended_within(process_fds: list[int], seconds: float) -> bool:
    """Wait for the end of processes; return whether all ended in time."""
    until = time.monotonic() + seconds
    for process_fd in process_fds:
        waiting = select.poll()
        # pidfd_open(2): readable when the process has ended.
        waiting.register(process_fd, select.POLLIN)
        if not waiting.poll(1e3 * max(0.0, until - time.monotonic())):
            return False
    return True
