"""Flushes are I/Os of a closed loop here: they count to its number of I/Os, its shares and its pauses. A rate does not
count them, as in fio, which counts its flushes only to `flow` (tried: 3.33); vdbench has none."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from hotband.data.jobs.fio_job import JobOptions
from hotband.data.jobs.fio_values import count, flag
from hotband.data.jobs.form import Closed
from hotband.data.jobs.source import Option
from hotband.data.record.stats import BUFFERED

WAITS = "fio waits for a flush before it issues more I/Os"
NOT_AFTER_TRIMS = "fio does not flush in a job that trims and writes"
REPEATS = "fio 3.33 also flushes after the reads between two writes"


def with_flushes(ios: int, writes: float, every: int) -> int:
    """I/Os of a load of which `ios` are no flushes, `writes` of these (0 to 1) are writes, and a flush comes after
    `every` of them; after the last one too, which fio leaves out. So it is the same number of writes whether a write or
    a flush comes first: after preconditioning by the load, the streams continue from their positions."""
    return ios + round(ios * writes) // every if every else ios


def without_flushes(ios: int, writes: float, every: int) -> int:
    """Return how many of the first `ios` I/Os of such a load are not flushes."""
    if not every:
        return ios
    return ios - ios // (every + 1) if writes >= 1 else round(ios / (1 + writes / every))


def options(job_options: JobOptions) -> list[Option]:
    """Return the options of a fio job that request flushes."""
    options_ = (job_options.get("fsync"), job_options.get("fdatasync"))
    return [option for option in options_ if option is not None and count(option)]


def flush_every(job_options: JobOptions, kinds: str) -> int:
    """Return a fio job's writes from one flush to the next; 0 if it does not flush."""
    flush_options = options(job_options)
    if kinds not in ("w", "rw"):
        # Tried: fio 3.33 takes the option in a job of trims and writes, and does not flush once.
        why = NOT_AFTER_TRIMS if kinds == "tw" else "the job does not write"
        for option in flush_options:
            job_options.ignore(option.key, why)
        return 0
    counts = sorted({count(option) for option in flush_options})
    if len(counts) < 2 or counts[1] % counts[0] == 0:
        return counts[0] if counts else 0
    # fio flushes where either divides the number of writes.
    both = lcm(*counts)
    return round(both / (both // counts[0] + both // counts[1] - 1))


def paced(load: Closed, ios: float) -> Closed:
    """A loop with pauses of fio where `ios` I/Os are one of fio and its flushes: as long together."""
    if not load.think_us or ios == 1:
        return load
    burst = round(load.burst * ios) if load.burst > 1 else 1
    think_ns = round(1000 * load.think_us * burst / (load.burst * ios))
    return replace(load, burst=burst, think_us=think_ns / 1000)


def tell(job_options: JobOptions, load: Closed, is_mixed: bool, is_rated: bool, is_shared: bool) -> None:
    """Report how the flushes of a loop differ from fio's. `is_shared`: all clones of the job share the loop."""
    flush_options = options(job_options)
    counts = sorted(map(count, flush_options))
    why = ["fsync= and fdatasync= are merged into one mean number of writes"] if counts[-1] % counts[0] else []
    direct = job_options.get("direct")
    if direct is None or not flag(direct):
        why.append(BUFFERED)
    if load.think_us and not is_rated:
        key = "thinktime_blocks" if load.burst > 1 else "thinktime"
        job_options.approximate(key, "flushes also count towards it; the pauses have the same total as in fio")
    if load.depth > 1:
        why.append("other outstanding I/Os continue during a flush; fio would wait for it")
    if load.threads > 1 and is_shared:
        why.append("the writes of all jobs are counted together")
    if is_mixed:
        # Tried: of 496 reads and 528 writes with fsync=1 there were 1,020 flushes.
        why.append(REPEATS)
    for option in flush_options if why else []:
        job_options.approximate(option.key, "; ".join(why))
