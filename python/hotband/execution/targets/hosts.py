"""Hosts that ask together: fio's servers, started by the user; their versions and clocks."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.documents.hosts import HostDoc
from hotband.execution.targets.fio_child import Status, find_fio, is_new_enough, run_fio, version_of

# fio(1), --client: HOST, HOST,PORT or sock:PATH of a socket.
_HOST = re.compile(r"(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]*)(:(?P<port>\d{1,5}))?")
START = "start `fio --server` there"
MOST_HOSTS = 64
"""Hosts that are asked at a time: fio holds the results of all in memory, a megabyte each."""
OUT_OF_STEP_S = 0.5
"""Clocks that are further apart than this are named: the series of the hosts, one row per second, do not fit then."""


@dataclass(frozen=True)
class HostClock:
    """A host's fio, and how far its clock is ahead of ours: between `low_s` and `high_s`."""

    host: str
    version: str
    low_s: float
    high_s: float

    @property
    def is_out_of_step(self) -> bool:
        """Return whether its clock is surely off by more than the rows of a series bear."""
        return self.low_s > OUT_OF_STEP_S or self.high_s < -OUT_OF_STEP_S

    def document(self) -> HostDoc:
        """As a record has it."""
        return {"host": self.host, "version": self.version, "clock_s": [self.low_s, self.high_s], "context": None}

    def line(self) -> str:
        """In words."""
        middle, spread = (self.low_s + self.high_s) / 2, (self.high_s - self.low_s) / 2
        off = "which the series of the hosts are off by" if self.is_out_of_step else "as good as ours"
        return f"{self.host}: {self.version}, its clock is {middle:+.2f} s from ours (within {spread:.2f} s), {off}"


def not_known(clocks: Sequence[HostClock]) -> tuple[str, ...]:
    """What a record notes of hosts that asked: fio's protocol carries jobs, results and logs, nothing of the host."""
    if not clocks:
        return ()
    names = ", ".join(clock.host for clock in clocks)
    return (f"device, processors, others at work, counters and temperature of {names} are not known: fio tells none",)


def hosts_of(text: str) -> tuple[str, ...]:
    """Hosts as fio's client takes them, from `a,b:8765,/path/of/socket`. Raises UserError."""
    named = [one.strip() for one in text.split(",") if one.strip()]
    if not named or len(named) > MOST_HOSTS:
        raise UserError("question.hosts", "", text, f"expected 1 to {MOST_HOSTS} hosts with commas between them")
    found: list[str] = []
    for one in named:
        if one.startswith("/"):
            found.append(f"sock:{one}")
            continue
        host = _HOST.fullmatch(one)
        if host is None or int(host["port"] or 1) > 65535:
            raise UserError("question.hosts", "", one, "expected HOST, HOST:PORT or the path of a socket")
        found.append(host["host"] if host["port"] is None else f"{host['host']},{host['port']}")
    # Logs of a host go by its name alone: two servers on one would overwrite one another's.
    names = [name_of(one) for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError("question.hosts", "", text, f"names {twice} twice: expected each host once")
    return tuple(found)


def name_of(client: str) -> str:
    """The name that fio gives a host in its results and logs (`local`)."""
    return Path(client).name if client.startswith("sock:") else client.partition(",")[0]


def clocks(clients: Sequence[str]) -> list[HostClock]:
    """Version and clock of every host. Raises UserError if one does not answer, or has another fio than this
    computer, whose results it could not read."""
    ours = version_of(find_fio())
    found = [_clock(client) for client in clients]
    for one in found:
        if not is_new_enough(one.version) or one.version != ours:
            accepted = f"has {one.version}, and this computer {ours}: expected the same on all hosts"
            raise UserError("question.hosts", "", one.host, accepted)
    return found


def _clock(client: str) -> HostClock:
    """One host, by a job that does a single I/O to nowhere and logs when."""
    job = "[clock]\nioengine=null\nsize=4k\nnumber_ios=1\nwrite_bw_log=clock\nlog_unix_epoch=1\nthread=1\n"
    with tempfile.TemporaryDirectory(prefix="hotband-clock-") as folder:
        begin = time.time()
        try:
            run_fio(job, Path(folder), _within(10.0), [local(client, Path(folder))], "normal")
        except UserError as error:
            raise UserError(
                "question.hosts", "", name_of(client), f"does not answer: {error.accepted}; {START}"
            ) from None
        end = time.time()
        said = (Path(folder) / "fio.json").read_text(errors="replace")
        said += (Path(folder) / "fio.txt").read_text(errors="replace")
        version = re.search(r"fio=(fio-[\w.-]+)", said)
        logs = [path for path in Path(folder).iterdir() if ".log" in path.name]
        times = [int(line.split(",")[0]) / 1000 for path in logs for line in path.read_text().splitlines()[:1]]
    if version is None:
        raise UserError("question.hosts", "", name_of(client), f"does not answer as fio does; {START}")
    at = times[0] if times else None
    low, high = (at - end, at - begin) if at is not None else (-OUT_OF_STEP_S, OUT_OF_STEP_S)
    return HostClock(name_of(client), version[1], low, high)


def local(client: str, folder: Path) -> str:
    """A socket by a short name in the folder where fio runs: fio writes logs under the name of the host, in which there
    can be no slash."""
    if not client.startswith("sock:"):
        return client
    path = Path(client.removeprefix("sock:"))
    link = folder / path.name
    if not link.is_symlink():
        link.symlink_to(path)
    return f"sock:{path.name}"


def _within(seconds: float) -> Callable[[Status], None]:
    """Ends what takes longer."""

    def look(status: Status) -> None:
        if status.seconds > seconds:
            raise UserError("fio", "", "", f"nothing came within {seconds:g} s")

    return look
