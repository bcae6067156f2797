"""The job file that fio is given: the converted workload at the place that is measured, with the logs of its series.

One way for everything that fio drives, emulated machines and hardware: equal workloads leave equal records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.quantities import span_ns
from hotband.base.text.tomltable import loads
from hotband.data.jobs.tables import plain
from hotband.execution.targets.asked import PLACE, Asked
from hotband.execution.targets.place import Place

if TYPE_CHECKING:
    from hotband.execution.serve.served import ServedVolume

# The engine's interval where a workload says none (docs/guides/workloads.md).
INTERVAL_NS = 1_000_000_000
# fio's histograms over time take 15 KB in memory and in a file for every sample of a direction of a process: an hour of
# seconds is 54 MB.
MOST_HISTOGRAMS = 3600
LOGS = "fio"
"""Prefix of the names of fio's logs."""

NBD = ("ioengine=nbd",)
KERNEL = ("ioengine=libaio", "direct=1")
# What is measured is what the asker waits: from submission to the answer (lat). Threads, so that all of fio is one
# process, which can be ended.
ALWAYS = ("lat_percentiles=1", "thread=1", "allow_file_create=0")
Where = Callable[[str], tuple[Sequence[str], int]]


def job_on(asked: Asked, engine: Sequence[str], where: Where, *, with_hosts: bool = False) -> str:
    """The job file of what is asked. `engine` are fio's lines of the engine, `where` says where a volume is (empty: the
    target as a whole) and how many bytes it has, 0 if that is not known. `with_hosts` says that fio's servers run
    it."""
    lines: list[str] = []
    size = 0
    for line in asked.converted.text.splitlines():
        if line == "ioengine=libaio":
            lines += [*engine, *ALWAYS, f"randseed={asked.spec.seed}", *_logs(asked, engine, with_hosts)]
        elif line.startswith(f"filename={PLACE}"):
            named, size = where(line.removeprefix(f"filename={PLACE}").removeprefix("-"))
            lines += named
        elif line == "size=100%" and size:
            # In bytes, so that the result says how large the target was.
            lines.append(f"size={size}")
        elif line not in ("direct=1", "group_reporting"):
            # Reported together, streams that ask side by side would be one: all that one stream does is added up here.
            lines.append(line)
    return "\n".join(lines) + "\n"


def job_at(asked: Asked, place: Place, *, with_hosts: bool = False, opened: str | None = None) -> str:
    """The job file of what is asked at a place of the real world, of this computer or of fio's servers. `opened` names
    a file or device that fio is given open (`hotband.execution.devices.held`); else it opens it by its path."""
    engine: tuple[str, ...] = KERNEL
    if place.kind == "nbd":
        engine, line = NBD, f"uri={place.uri}"
    elif place.kind == "rbd":
        assert place.uri is not None, "an image has a name"
        pool, _, image = place.uri.removeprefix("rbd:").partition("/")
        engine, line = ("ioengine=rbd", "clientname=admin", f"pool={pool}"), f"rbdname={image}"
    elif opened is not None:
        line = f"filename={opened}"
    else:
        # fio takes several files, with colons between them.
        line = "filename=" + str(place.path).replace("\\", "\\\\").replace(":", "\\:")
    return job_on(asked, engine, lambda _: ([line], place.size_bytes), with_hosts=with_hosts)


def on_volumes(volumes: Mapping[str, ServedVolume]) -> Where:
    """Where the volumes of a served machine are; a workload that names none goes to the first."""
    by_name = {plain(name): volume for name, volume in volumes.items()}

    def where(name: str) -> tuple[Sequence[str], int]:
        volume = by_name.get(name) or next(iter(volumes.values()))
        return [f"uri={volume.uri}"], volume.size

    return where


def interval_ns(asked: Asked) -> int:
    """Nanoseconds of an interval of the series."""
    said = loads(asked.text, "question.workload").get("interval")
    return round(span_ns(str(said)) or INTERVAL_NS) if said is not None else INTERVAL_NS


def _logs(asked: Asked, engine: Sequence[str], with_hosts: bool) -> list[str]:
    """Lines that make fio log an average an interval, on the clock of the day: steps then follow one another."""
    every_ms = max(1, round(interval_ns(asked) / 1e6))
    lines = [f"write_{kind}_log={LOGS}" for kind in ("bw", "iops", "lat")]
    lines += [f"log_avg_msec={every_ms}", "log_unix_epoch=1"]
    seconds = sum(step.seconds or 0.0 for step in asked.steps)
    # Histograms over time are of completion latencies alone (clat), of which the engine for NBD leaves out what it
    # waits in its own submission. fio 3.33 sends those of servers with lines that are cut (tried: one in some runs).
    has_histograms = engine != NBD and not with_hosts and seconds * 1000 / every_ms <= MOST_HISTOGRAMS
    if has_histograms:
        lines += [f"write_hist_log={LOGS}", f"log_hist_msec={every_ms}"]
    return [*lines, f"clat_percentiles={1 if has_histograms else 0}"]
