"""The concurrency a fio result declares: outstanding I/Os of a closed loop, from the jobs' options.

Left out: `iodepth_low`, `iodepth_batch` and `startdelay` change how full the declared depth is
kept; the declared depth stands. A group reported as one entry carries the options of its first job only,
which cannot be seen except by its measured queue depth.
"""

from __future__ import annotations

from collections.abc import Mapping

from hotband.base.text.numbers import number
from hotband.data.importers.fio.jobs import Job, pattern_of
from hotband.data.importers.fio.time import Spell

# Options that let a job wait with the next I/O: the loop is no longer closed by completions alone.
_OPEN_LOOP = ("rate", "rate_iops", "thinktime", "latency_target", "read_iolog", "replay", "flow")
# Engines with one I/O outstanding whatever iodepth says (FIO_SYNCIO in fio's engines/*.c). Without an engine
# fio takes psync everywhere but on Windows.
_SYNCHRONOUS = {
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "pmemblk", "dev-dax", "libpmem"),
    *("libhdfs", "gfapi", "http", "mtd", "libcufile", "libzbc", "falloc", "ftruncate"),
}
# Above this share of the declared concurrency the measured queue depth refutes it (Little's law).
_MOST_OVER_DECLARED = 1.05


def declared_concurrency(jobs: list[Job], spell: Spell, queue_depth_mean: float | None) -> tuple[int | None, list[str]]:
    """Return the sum over jobs of iodepth x numjobs, or None and the reason."""
    if len(spell.stages) > 1:
        return None, ["concurrency is null: the jobs did not run at the same time"]
    checked = next((job for job in jobs if reads_back(job.options)), None)
    if checked is not None:
        return None, [f"concurrency is null: {checked.name} reads what it wrote only after it (verify)"]
    whole = 0
    notes: list[str] = []
    for entries in sections_of(jobs).values():
        depth, why = _depth(entries[0])
        processes = _processes(entries)
        if depth is None or processes is None:
            unclear = f"{entries[0].name}: {len(entries)} entries do not match its numjobs"
            return None, [f"concurrency is null: {why if depth is None else unclear}"]
        if why and why not in notes:
            notes.append(why)
        whole += depth * processes
    if queue_depth_mean is not None and queue_depth_mean > _MOST_OVER_DECLARED * whole:
        measured = f"fio measured a queue depth of {number(queue_depth_mean)}, the options declare {whole}"
        return None, [f"concurrency is null: {measured} (several jobs may be reported as one group)"]
    return (whole or None), notes


def reads_back(options: Mapping[str, str]) -> bool:
    """Return whether a job reads its writes afterwards to verify them."""
    return (
        pattern_of(options).removeprefix("rand") != "read" and "verify" in options and options.get("do_verify") != "0"
    )


def promised_concurrency(jobs: list[Job]) -> int | None:
    """Return the most outstanding I/Os that the options of concurrent jobs allow, in a closed loop or not."""
    whole = 0
    for entries in sections_of(jobs).values():
        depth, _ = _full_depth(entries[0])
        processes = _processes(entries)
        if depth is None or processes is None:
            return None
        whole += depth * processes
    return whole or None


def promised_jobs(jobs: list[Job]) -> int | None:
    """Return the number of processes that the options request."""
    processes = [_processes(entries) for entries in sections_of(jobs).values()]
    known = [number for number in processes if number is not None]
    return (sum(known) or None) if len(known) == len(processes) else None


def sections_of(jobs: list[Job]) -> dict[tuple[object, ...], list[Job]]:
    """Entries of one job section: without group_reporting fio prints one for each of its numjobs."""
    sections: dict[tuple[object, ...], list[Job]] = {}
    for job in jobs:
        key = (job.host, job.group, job.name, tuple(sorted(job.own_options.items())))
        sections.setdefault(key, []).append(job)
    return sections


def _processes(entries: list[Job]) -> int | None:
    """Return the number of processes that did I/O: numjobs of a single entry, else the entries themselves."""
    numjobs = _whole(entries[0].options.get("numjobs", "1"))
    if numjobs is None or numjobs == 0:
        return None
    active = sum(bool(entry.active() or entry.trims) for entry in entries)
    if len(entries) == 1:
        return numjobs * active
    return active if len(entries) % numjobs == 0 else None


def _depth(job: Job) -> tuple[int | None, str]:
    """Outstanding I/Os of one process, or None; and a note."""
    options = job.options
    for name in _OPEN_LOOP:
        value = options.get(name, "")
        if value.strip("0,") and value != "":
            return None, f"{job.name} does not issue I/O as fast as it completes ({name}={value})"
    return _full_depth(job)


def _full_depth(job: Job) -> tuple[int | None, str]:
    """Return the depth that iodepth allows one process, or None; and a note."""
    options = job.options
    depth = _whole(options.get("iodepth", "1"))
    if depth is None:
        return None, f"{job.name}: iodepth={options['iodepth']} is not a whole number"
    engine = options.get("ioengine", "psync").split(":")[0]
    if engine in _SYNCHRONOUS and depth > 1:
        return 1, f"{job.name}: iodepth={depth} counts as 1, {engine} has one I/O outstanding"
    return depth, ""


def _whole(text: str) -> int | None:
    """A plain number, as iodepth and numjobs are written; nothing else is guessed at."""
    plain = text.strip()
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 9 else None
