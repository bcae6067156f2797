"""Workers, watched: one that crashes, hangs or takes too much memory is a finding, and another takes its place."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import wait
from pathlib import Path

from probe.worker import Asked, Outcome, work

MOST_CPU_S = 10.0
"""Seconds of the processor that an input may take."""
MOST_WALL_S = 120.0
"""Seconds on the wall, for what waits and computes nothing; far more than those of the processor, since other work may
have the processors."""
INPUTS_OF_WORKER = 1500
"""After so many a worker is replaced, so that what earlier inputs left does not add up."""
TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """One process and what it has been given."""

    def __init__(self, made: Path, folder: Path) -> None:
        self._made, self._folder = made, folder
        self._given = 0
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.link, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, self._made, self._folder), daemon=True)
        # Ctrl-C is for the one who watches.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.process.start()
        signal.signal(signal.SIGINT, before)
        theirs.close()
        self.link.recv()
        self._given = 0

    def _cpu_s(self) -> float:
        """Seconds of the processor that it has used."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / TICKS

    def outcome(self, asked: Asked) -> Outcome:
        """What came of an input."""
        if self._given >= INPUTS_OF_WORKER:
            self.end()
            self._begin()
        self._given += 1
        cpu_s, wall_s = self._cpu_s(), time.monotonic()
        self.link.send(asked)
        while True:
            ready = wait([self.link, self.process.sentinel], 0.5)
            if self.link in ready:
                try:
                    return self.link.recv()  # type: ignore[no-any-return]
                except (EOFError, ConnectionError):
                    return self._ended()
            if ready:
                return self._ended()
            used = self._cpu_s() - cpu_s
            if used > MOST_CPU_S or time.monotonic() - wall_s > MOST_WALL_S:
                return self._hangs(used)

    def _ended(self) -> Outcome:
        """It is gone: a crash, or memory that the engine could not get."""
        self.process.join()
        code = self.process.exitcode or 0
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        said = (self._folder / "stderr").read_bytes()[-2000:].decode(errors="replace")
        self._begin()
        what = "memory" if "memory allocation" in said else "crash"
        return Outcome(False, False, f"{what}: {name}", said)

    def _hangs(self, used: float) -> Outcome:
        os.kill(self.process.pid or 0, signal.SIGKILL)
        self.process.join()
        self._begin()
        return Outcome(False, False, "hang", f"{used:.1f} s of the processor were used, and it did not end")

    def end(self) -> None:
        """Ends the process."""
        self.link.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
