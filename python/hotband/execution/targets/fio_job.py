"""The job file for fio: the converted workload on the measured target, with the logs of its series.

One way for everything that fio drives, emulated machines and hardware: equal workloads leave equal records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.quantities import span_ns
from hotband.base.text.tomltable import loads
from hotband.data.jobs.tables import plain
from hotband.execution.targets.fio_run import PLACE, FioRun
from hotband.execution.targets.real_target import RealTarget

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


def job_on(fio_run: FioRun, engine: Sequence[str], where: Where, *, with_hosts: bool = False) -> str:
    """Return the job file of a run. `engine` are fio's lines of the engine, `where` maps a volume to its position
    (empty: the whole target) and its bytes, 0 if unknown. `with_hosts` means that fio's servers run it."""
    lines: list[str] = []
    size = 0
    for line in fio_run.converted.text.splitlines():
        if line == "ioengine=libaio":
            lines += [*engine, *ALWAYS, f"randseed={fio_run.spec.seed}", *_logs(fio_run, engine, with_hosts)]
        elif line.startswith(f"filename={PLACE}"):
            named, size = where(line.removeprefix(f"filename={PLACE}").removeprefix("-"))
            lines += named
        elif line == "size=100%" and size:
            # In bytes, so that the result says how large the target was.
            lines.append(f"size={size}")
        elif line not in ("direct=1", "group_reporting"):
            # Reported together, streams that ask side by side would be one: all that one stream does is added up here.
            lines.append(line)
    return ended_in_time("\n".join(lines) + "\n")


def ended_in_time(job: str) -> str:
    """Return a job in which no pause between I/Os is longer than the run: fio 3.33 ends after a pause, not within it,
    so that `idle`, which pauses for 1000 s, would take as long."""
    sections = []
    for section in job.split("\n["):
        options = dict(line.split("=", 1) for line in section.splitlines() if "=" in line)
        pause, length = (options.get(name) for name in ("thinktime", "runtime"))
        if pause is not None and length is not None:
            longest = sum(span_ns(options[name]) or 0 for name in ("runtime", "ramp_time") if name in options) / 1000
            section = section.replace(f"\nthinktime={pause}\n", f"\nthinktime={min(int(pause), round(longest))}\n")
        sections.append(section)
    return "\n[".join(sections)


def job_at(fio_run: FioRun, target: RealTarget, *, with_hosts: bool = False, opened: str | None = None) -> str:
    """Return the job file of a run on a real target, for this computer or for fio's servers. `opened` names a file
    or device that fio gets as an open descriptor (`hotband.execution.devices.held`); otherwise fio opens it by its
    path."""
    engine: tuple[str, ...] = KERNEL
    if target.kind == "nbd":
        engine, line = NBD, f"uri={target.uri}"
    elif target.kind == "rbd":
        assert target.uri is not None, "an image has a name"
        pool, _, image = target.uri.removeprefix("rbd:").partition("/")
        engine, line = ("ioengine=rbd", "clientname=admin", f"pool={pool}"), f"rbdname={image}"
    elif opened is not None:
        line = f"filename={opened}"
    else:
        # fio takes several files, with colons between them.
        line = "filename=" + str(target.path).replace("\\", "\\\\").replace(":", "\\:")
    return job_on(fio_run, engine, lambda _: ([line], target.size_bytes), with_hosts=with_hosts)


def on_volumes(volumes: Mapping[str, ServedVolume]) -> Where:
    """Return the volumes of a served machine; a workload that names none uses the first."""
    by_name = {plain(name): volume for name, volume in volumes.items()}

    def where(name: str) -> tuple[Sequence[str], int]:
        volume = by_name.get(name) or next(iter(volumes.values()))
        return [f"uri={volume.uri}"], volume.size

    return where


def interval_ns(fio_run: FioRun) -> int:
    """Return the nanoseconds of an interval of the series."""
    interval = loads(fio_run.text, "question.workload").get("interval")
    return round(span_ns(str(interval)) or INTERVAL_NS) if interval is not None else INTERVAL_NS


def _logs(fio_run: FioRun, engine: Sequence[str], with_hosts: bool) -> list[str]:
    """Return lines that make fio log one average per interval, by time of day, so that consecutive steps line up."""
    every_ms = max(1, round(interval_ns(fio_run) / 1e6))
    lines = [f"write_{kind}_log={LOGS}" for kind in ("bw", "iops", "lat")]
    lines += [f"log_avg_msec={every_ms}", "log_unix_epoch=1"]
    seconds = sum(step.seconds or 0.0 for step in fio_run.steps)
    # Histograms over time are of completion latencies alone (clat), of which the engine for NBD leaves out what it
    # waits in its own submission. fio 3.33 sends those of servers with lines that are cut (tried: one in some runs).
    has_histograms = engine != NBD and not with_hosts and seconds * 1000 / every_ms <= MOST_HISTOGRAMS
    if has_histograms:
        lines += [f"write_hist_log={LOGS}", f"log_hist_msec={every_ms}"]
    return [*lines, f"clat_percentiles={1 if has_histograms else 0}"]
