"""A served machine in a process of its own, which can be killed."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from crash.host import HostError, clear, until
from hotband.execution.serve.served import Served, ServeSpec

READY_S = 30.0


def is_ready(file: int, seconds: float) -> bool:
    """Whether something can be read within so long. (select(2) takes no number above 1,023.)"""
    waits = select.poll()
    waits.register(file, select.POLLIN | select.POLLHUP)
    return bool(waits.poll(1000 * seconds))


class ServedApart:
    """`hotband serve MACHINE --mount FOLDER/volumes --loop --store FOLDER/store.img --anyway`, by the same code, in a
    process forked from this one: that costs a hundredth of the time of a new interpreter. It ends with who started
    it."""

    def __init__(self, folder: Path, machine: str, settings: tuple[tuple[str, str], ...], event: str | None) -> None:
        self.folder = folder
        self._record = folder / "record.json"
        self._record.unlink(missing_ok=True)
        (folder / "volumes").mkdir(exist_ok=True)
        # No busy wait and no priority: when exactly an answer comes matters to nobody here.
        spec = ServeSpec(
            machine,
            settings,
            events=() if event is None else (event,),
            folder=folder / "volumes",
            loop=True,
            nbd=False,
            store=folder / "store.img",
            spin="0 us",
            priority=False,
            anyway=True,
        )
        told, tell = os.pipe()
        asked, self._ask = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(told)
            os.close(self._ask)
            serve_here(spec, folder, tell, asked)
        os.close(tell)
        os.close(asked)
        self.began = time.monotonic()
        self.device = self._ready(told)

    def _ready(self, told: int) -> Path:
        """The device, once it is there."""
        line = os.read(told, 4096).decode() if is_ready(told, READY_S) else ""
        os.close(told)
        if not line:
            self.end(kill=True)
            raise HostError(f"nothing is served: {(self.folder / 'server.log').read_text()[-300:]}")
        return Path(line)

    def end(self, kill: bool = False) -> dict[str, Any]:
        """Ends it, or kills it; its record, where it leaves one."""
        if kill:
            os.kill(self.process, signal.SIGKILL)
        with suppress(OSError):
            os.close(self._ask)
        self.reap()
        return json.loads(self._record.read_text()) if self._record.exists() else {}

    def reap(self) -> None:
        """Waits for its end."""
        if self.process == 0:
            return

        def gone() -> bool:
            return os.waitpid(self.process, os.WNOHANG)[0] != 0

        until(gone, "the server ends")
        self.process = 0

    def close(self) -> None:
        """Leaves nothing of it, whatever happened."""
        if self.process != 0:
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
            self.reap()
        with suppress(OSError):
            os.close(self._ask)
        clear(self.folder)


def serve_here(spec: ServeSpec, folder: Path, tell: int, asked: int) -> None:
    """The server's process: it serves until it is told to end, or power goes off."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = 1
    try:
        with open(folder / "server.log", "a", encoding="utf-8") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        with Served(spec) as served:
            (volume,) = served.volumes.values()
            os.write(tell, str(volume.device).encode())
            os.close(tell)
            while not served.is_stopped() and not is_ready(asked, 0.02):
                pass
        if served.busy:
            print(f"in use: {served.busy}", flush=True)
        if served.finished is not None:
            part = folder / "record.part"
            part.write_text(json.dumps(served.finished.record))
            part.rename(folder / "record.json")
            code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
