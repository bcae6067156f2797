"""Activity of other processes during a run: processor time and I/O, from proc and sysfs.

Left out: processes that begin and end within the run are in the shares, but not named; bytes of processes of
other users need root.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.execution.devices import blocks
from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import processes

if TYPE_CHECKING:
    from hotband.data.documents.context import BackgroundDoc, ProcessDoc

# A process is named where it took this share of one processor, or moved this much: less is every machine's daemons.
LEAST_CPU, LEAST_BYTES = 0.01, 1 << 20
MOST_NAMED = 8
# Parent of all threads of the kernel (kthreadd).
KERNEL = 2


@dataclass(frozen=True)
class Process:
    """A process as proc(5) tells it: clock ticks of its own and of its children that ended, bytes that it moved."""

    name: str
    parent: int
    began: int
    own_ticks: int
    children_ticks: int
    read_bytes: int | None
    written_bytes: int | None


@dataclass(frozen=True)
class Look:
    """A snapshot: ticks of all processors by kind, and sectors of the device."""

    at_s: float
    ticks: tuple[int, ...]
    processes: dict[int, Process]
    sectors: tuple[int, int, int] | None


class Background:
    """Watches the processor time and I/O of other processes during its block; `found` is set afterwards.

    Ours is this process and those that it started, also those that ended meanwhile. `root` is another process than this
    one, of a recorded tree.
    """

    def __init__(self, path: str | Path, host: Host | None = None, *, root: int | None = None) -> None:
        self.host, self.root = host or Host(), root or os.getpid()
        absolute = os.path.abspath(path)
        name = self.host.block_name(absolute) or next(iter(blocks.below_file(self.host.real(absolute), self.host)), "")
        self._disk = self.host.sysfs(name) if name else ""
        self._begin: Look | None = None
        self.found: BackgroundDoc | None = None

    def __enter__(self) -> Background:
        self._begin = look(self.host, self._disk)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._begin is not None, "it was entered"
        self.found = between(self._begin, look(self.host, self._disk), self.root)


def look(host: Host, disk: str) -> Look:
    """Read proc and the device's counters now."""
    first = (host.text("/proc/stat") or "").splitlines()[:1]
    ticks = tuple(int(word) for word in first[0].split()[1:]) if first else ()
    seen = {}
    for process in processes(host):
        process_ = _process(process, host)
        if process_ is not None:
            seen[int(process)] = process_
    counters = host.disk_counters(disk)
    # Sectors read, written, discarded, of 512 bytes.
    sectors = (counters[2], counters[6], counters[13] if len(counters) > 13 else 0) if len(counters) > 6 else None
    return Look(time.monotonic(), ticks, seen, sectors)


def _process(process: str, host: Host) -> Process | None:
    """Return a process; None if it ended meanwhile."""
    text = host.text(f"/proc/{process}/stat")
    if not text or ")" not in text:
        return None
    # The name may have blanks and brackets of its own: what follows the last one is numbers (proc(5)).
    name, words = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 1 :].split()
    if len(words) < 20:
        return None
    moved = dict(line.split(": ", 1) for line in (host.text(f"/proc/{process}/io") or "").splitlines() if ": " in line)
    read, written = moved.get("read_bytes"), moved.get("write_bytes")
    return Process(
        name,
        parent=int(words[1]),
        began=int(words[19]),
        own_ticks=int(words[11]) + int(words[12]),
        children_ticks=int(words[13]) + int(words[14]),
        read_bytes=None if read is None else int(read),
        written_bytes=None if written is None else int(written),
    )


def between(begin: Look, end: Look, root: int) -> BackgroundDoc:
    """Return the activity between two snapshots; `root` is our process, with all that it started."""
    seconds = max(end.at_s - begin.at_s, 1e-9)
    # proc(5): user, nice, system, idle, iowait, irq, softirq, steal; guests' time is in user's and nice's.
    kinds = [max(0, after - before) for before, after in zip(begin.ticks[:8], end.ticks[:8], strict=False)]
    user, nice, system, _, waiting, irq, soft, stolen = [*kinds, *[0] * (8 - len(kinds))]
    whole = sum(kinds) or 1
    mine = _tree(end.processes, root)
    ours = sum(_gone_on(begin, end, number, with_children=True) for number in mine)
    kernel = sum(
        _gone_on(begin, end, number) for number, process in end.processes.items() if KERNEL in (number, process.parent)
    )
    busy = user + nice + system
    sectors: list[int | None] = [None, None, None]
    if begin.sectors is not None and end.sectors is not None:
        sectors = [512 * max(0, now - before) for before, now in zip(begin.sectors, end.sectors, strict=True)]
    return {
        "duration_ns": round(seconds * 1e9),
        "cpu_ours": ours / whole,
        "cpu_kernel": (irq + soft + kernel) / whole,
        "cpu_others": max(0, busy - ours - kernel) / whole,
        "cpu_waiting": waiting / whole,
        "cpu_stolen": stolen / whole,
        "device_read_bytes": sectors[0],
        "device_written_bytes": sectors[1],
        "device_discarded_bytes": sectors[2],
        "processes": _named(begin, end, mine, seconds),
    }


def _tree(processes: dict[int, Process], root: int) -> set[int]:
    """A process and all below it."""
    mine = {root}
    grown = True
    while grown:
        more = {number for number, process in processes.items() if process.parent in mine} - mine
        mine |= more
        grown = bool(more)
    return mine


def _gone_on(begin: Look, end: Look, process: int, with_children: bool = False) -> int:
    """Return the ticks that a process used between two snapshots; optionally with those of its ended children."""

    def ticks(process_: Process) -> int:
        return process_.own_ticks + (process_.children_ticks if with_children else 0)

    now, before = end.processes.get(process), begin.processes.get(process)
    if now is None:
        return 0
    same = before is not None and before.began == now.began
    return max(0, ticks(now) - (ticks(before) if before is not None and same else 0))


def _named(begin: Look, end: Look, mine: set[int], seconds: float) -> list[ProcessDoc]:
    """Return other processes that were active, the busiest first."""
    named: list[ProcessDoc] = []
    for process, now in end.processes.items():
        if process in mine or KERNEL in (process, now.parent):
            continue
        before = begin.processes.get(process)
        if before is not None and before.began != now.began:
            before = None
        cpu = _gone_on(begin, end, process) / TICKS_A_SECOND
        read = _moved(None if before is None else before.read_bytes, now.read_bytes)
        wrote = _moved(None if before is None else before.written_bytes, now.written_bytes)
        if cpu >= LEAST_CPU * seconds or (read or 0) + (wrote or 0) >= LEAST_BYTES:
            cpu_ns = round(cpu * 1e9)
            named.append({"name": now.name, "cpu_ns": cpu_ns, "read_bytes": read, "written_bytes": wrote})
    named.sort(key=lambda entry: -(entry["cpu_ns"] + (entry["read_bytes"] or 0) + (entry["written_bytes"] or 0)))
    return named[:MOST_NAMED]


def _moved(before: int | None, now: int | None) -> int | None:
    return None if now is None else max(0, now - (before or 0))


# USER_HZ is 100 on every architecture that Hotband runs on; sysconf says so.
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
