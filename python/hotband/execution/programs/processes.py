"""Processes that a program needs: each in a process group of its own, all ended by id when the work is over.

A process that outlives its time is ended, its group too. Should this process die without ending them (`kill -9`), the
kernel does it: `setpriv --pdeathsig`.
"""

from __future__ import annotations

import errno
import os
import pwd
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

GRACE_S = 20.0
"""How long a process may take to end after it was asked to: a database writes its checkpoint."""
LOOK_S = 0.02
"""How often the end of a process is looked for."""
MOST_TEXT = 4_000_000
"""Characters kept of what a process prints; what comes after them is read and dropped."""

Told = Callable[[str], None]


class ProgramFailed(OSError):
    """A program did not do what it should: its name and why, in a line."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(errno.EIO, reason, name)


@dataclass
class Started:
    """A process, what it has printed until now, and the signal that ends it well."""

    name: str
    process: subprocess.Popen[str]
    end_signal: signal.Signals
    lines: list[str] = field(default_factory=list)
    reader: threading.Thread | None = None

    def text(self) -> str:
        """What it has printed."""
        return "".join(self.lines)

    def running(self) -> bool:
        """Whether it has not ended."""
        # It is not reaped yet, so that its id, which is that of its group, stays its own.
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.process.pid, options) is None
        except ChildProcessError:
            return False

    def ended_within(self, seconds: float) -> bool:
        """Whether it ends within a time."""
        until = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > until:
                return False
            time.sleep(LOOK_S)
        return True

    def end(self) -> None:
        """Asks it to end, waits, and ends its group by force where it does not."""
        pid = self.process.pid
        if self.running():
            with suppress(ProcessLookupError):
                os.kill(pid, self.end_signal)
            self.ended_within(GRACE_S)
        if self.process.returncode is None:
            # And what it left behind in its group.
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self.process.wait()
        if self.reader is not None:
            self.reader.join(GRACE_S)


class Processes:
    """What was started, ended in reverse order."""

    def __init__(self) -> None:
        self._all: list[Started] = []

    def start(
        self,
        command: Sequence[str | Path],
        *,
        user: str | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        end_signal: signal.Signals = signal.SIGTERM,
        tell: Told | None = None,
    ) -> Started:
        """Starts a process; `tell` gets each line that it prints, from another thread. As `user` where one is given."""
        words = [str(word) for word in command]
        before = ["setpriv", "--pdeathsig", end_signal.name.removeprefix("SIG")]
        if user is not None:
            before += as_user(user)
        process = subprocess.Popen(
            [*before, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=folder,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})},
            start_new_session=True,
        )
        started = Started(Path(words[0]).name, process, end_signal)
        assert process.stdout is not None
        started.reader = threading.Thread(target=read, args=(process.stdout, started.lines, tell), daemon=True)
        started.reader.start()
        self._all.append(started)
        return started

    def wait(self, started: Started, within_s: float) -> str:
        """What it printed, once it has ended well. Raises ProgramFailed where it fails or takes too long."""
        in_time = started.ended_within(within_s)
        self.end(started)
        if not in_time:
            raise ProgramFailed(started.name, f"did not end within {within_s:,.0f} s{last_words(started)}")
        code = started.process.returncode
        if code != 0:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise ProgramFailed(started.name, f"ended with {how}{last_words(started)}")
        return started.text()

    def end(self, started: Started) -> None:
        """Ends one of them."""
        started.end()
        if started in self._all:
            self._all.remove(started)

    def end_all(self) -> None:
        """Ends every process that was started and has not been waited for, the last one first."""
        while self._all:
            self._all[-1].end()
            self._all.pop()


def as_user(user: str) -> list[str]:
    """What setpriv is told to become a user with its own groups; nothing where this process is not root's."""
    if os.geteuid() != 0:
        return []
    # By number: Debian's nobody has no group of its name.
    entry = pwd.getpwnam(user)
    return ["--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--init-groups"]


def read(stream: IO[str], lines: list[str], tell: Told | None) -> None:
    """Reads what a process prints until it closes its end."""
    size = 0
    for line in stream:
        if size < MOST_TEXT:
            lines.append(line)
        size += len(line)
        if tell is not None:
            tell(line.rstrip())
    stream.close()


def last_words(started: Started) -> str:
    """The line that says why a process ended, else its last, for a message; after a moment, since another thread
    reads it."""
    if started.reader is not None:
        started.reader.join(1.0)
    lines = [line.strip() for line in started.lines if line.strip()]
    # What failed is often said before the last line, and what followed from it after that.
    telling = [
        line
        for line in lines
        if any(word in line.lower() for word in ("error", "fatal", "panic", "failed", "no space", "must"))
    ]
    return f": {(telling or lines[-1:])[0]}" if lines else ""
