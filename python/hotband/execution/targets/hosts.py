"""Hosts that issue I/Os together: fio's servers, started by the user; their versions and clocks."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.nearest import repeated
from hotband.data.documents.hosts import HostDoc
from hotband.execution.targets.fio_child import Look, Status, find_fio, is_new_enough, run_fio, version_of

# fio(1), --client: HOST, HOST,PORT or sock:PATH of a socket.
_HOST = re.compile(r"(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]*)(:(?P<port>\d{1,5}))?")
START = "start `fio --server` there"
MOST_HOSTS = 64
"""Most hosts per run: fio holds the results of all in memory, a megabyte each."""
OUT_OF_STEP_S = 0.5
"""Clock differences above this are reported: the series of the hosts, one row per second, do not line up then."""


@dataclass(frozen=True)
class HostClock:
    """A host's fio, and its clock relative to ours: ahead by `low_s` to `high_s`."""

    host: str
    version: str
    low_s: float
    high_s: float

    @property
    def is_out_of_step(self) -> bool:
        """Return whether its clock is surely off by more than the rows of a series bear."""
        return self.low_s > OUT_OF_STEP_S or self.high_s < -OUT_OF_STEP_S

    def document(self) -> HostDoc:
        """Return it as a record has it."""
        return {"host": self.host, "version": self.version, "clock_s": [self.low_s, self.high_s], "context": None}

    def line(self) -> str:
        """Return it in words."""
        middle, spread = (self.low_s + self.high_s) / 2, (self.high_s - self.low_s) / 2
        off = "which shifts the host's series" if self.is_out_of_step else "as good as ours"
        return f"{self.host}: {self.version}, its clock is {middle:+.2f} s from ours (within {spread:.2f} s), {off}"


def not_known(clocks: Sequence[HostClock]) -> tuple[str, ...]:
    """Return a record's note about remote hosts: fio's protocol only carries jobs, results and logs."""
    if not clocks:
        return ()
    names = ", ".join(clock.host for clock in clocks)
    return (f"device, processors, other activity, counters and temperature of {names} are unknown: fio reports none",)


def hosts_of(text: str) -> tuple[str, ...]:
    """Return hosts as fio's client accepts them, from `a,b:8765,/path/of/socket`. Raises UserError."""
    named = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not named or len(named) > MOST_HOSTS:
        raise UserError("question.hosts", "", text, f"expected 1 to {MOST_HOSTS} hosts with commas between them")
    hosts: list[str] = []
    for entry in named:
        if entry.startswith("/"):
            hosts.append(f"sock:{entry}")
            continue
        host = _HOST.fullmatch(entry)
        if host is None or int(host["port"] or 1) > 65535:
            raise UserError("question.hosts", "", entry, "expected HOST, HOST:PORT or the path of a socket")
        hosts.append(host["host"] if host["port"] is None else f"{host['host']},{host['port']}")
    # Logs of a host go by its name alone: two servers on one would overwrite one another's.
    twice = repeated(map(name_of, hosts))
    if twice is not None:
        raise UserError("question.hosts", "", text, f"names {twice} twice: expected each host once")
    return tuple(hosts)


def name_of(client: str) -> str:
    """Return fio's name of a host in its results and logs (`local`)."""
    return Path(client).name if client.startswith("sock:") else client.partition(",")[0]


def clocks(clients: Sequence[str]) -> list[HostClock]:
    """Return version and clock of every host. Raises UserError if one does not answer, or has another fio than this
    computer, whose results would be unreadable."""
    ours = version_of(find_fio())
    clocks_ = [_clock(client) for client in clients]
    for clock in clocks_:
        if not is_new_enough(clock.version) or clock.version != ours:
            accepted = f"has {clock.version}, and this computer {ours}: expected the same on all hosts"
            raise UserError("question.hosts", "", clock.host, accepted)
    return clocks_


def _clock(client: str) -> HostClock:
    """Measure one host by a job that does a single logged I/O to nowhere."""
    job = "[clock]\nioengine=null\nsize=4k\nnumber_ios=1\nwrite_bw_log=clock\nlog_unix_epoch=1\nthread=1\n"
    with TemporaryFolder("clock") as folder:
        begin = time.time()
        try:
            run_fio(job, Path(folder), _within(10.0), [local(client, Path(folder))], "normal")
        except UserError as error:
            raise UserError(
                "question.hosts", "", name_of(client), f"does not answer: {error.accepted}; {START}"
            ) from None
        end = time.time()
        output = (Path(folder) / "fio.json").read_text(errors="replace")
        output += (Path(folder) / "fio.txt").read_text(errors="replace")
        version = re.search(r"fio=(fio-[\w.-]+)", output)
        logs = [path for path in Path(folder).iterdir() if ".log" in path.name]
        times = [int(line.split(",")[0]) / 1000 for path in logs for line in path.read_text().splitlines()[:1]]
    if version is None:
        raise UserError("question.hosts", "", name_of(client), f"does not reply like a server of fio; {START}")
    at = times[0] if times else None
    low, high = (at - end, at - begin) if at is not None else (-OUT_OF_STEP_S, OUT_OF_STEP_S)
    return HostClock(name_of(client), version[1], low, high)


def local(client: str, folder: Path) -> str:
    """Link a socket under a short name in the folder where fio runs: fio names logs after the host, which then cannot
    contain a slash."""
    if not client.startswith("sock:"):
        return client
    path = Path(client.removeprefix("sock:"))
    link = folder / path.name
    if not link.is_symlink():
        link.symlink_to(path)
    return f"sock:{path.name}"


def _within(seconds: float) -> Look:
    """End a block that takes longer than its limit."""

    def look(status: Status) -> None:
        if status.seconds > seconds:
            raise UserError("fio", "", "", f"no answer within {seconds:g} s")

    return look
