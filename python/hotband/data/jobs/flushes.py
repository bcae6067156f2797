"""Flushes are I/Os of a load here: they count to its number of I/Os, its rate, its shares and its pauses. fio has its
flushes beside its I/Os and counts them to `flow` alone (tried: 3.33); vdbench has none."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from hotband.data.jobs.fio_job import Asked
from hotband.data.jobs.fio_values import count
from hotband.data.jobs.form import Closed
from hotband.data.jobs.source import Option


def with_flushes(ios: int, writes: float, every: int) -> int:
    """I/Os of a load of which `ios` are no flushes, `writes` of these (0 to 1) are writes, and a flush comes after
    `every` of them; after the last one too, which fio leaves out. So it is the same number of writes whether a write or
    a flush is the first: on a drive that the load has worn in the streams go on where they stood."""
    return ios + round(ios * writes) // every if every else ios


def without_flushes(ios: int, writes: float, every: int) -> int:
    """How many of the first `ios` I/Os of such a load are no flushes."""
    if not every:
        return ios
    return ios - ios // (every + 1) if writes >= 1 else round(ios / (1 + writes / every))


def options(asked: Asked) -> list[Option]:
    """The options of a job of fio that ask for flushes."""
    said = (asked.get("fsync"), asked.get("fdatasync"))
    return [option for option in said if option is not None and count(option)]


def flush_every(asked: Asked, kinds: str) -> int:
    """Writes of a job of fio from one flush to the next; 0 where there are none."""
    said = options(asked)
    if kinds not in ("w", "rw"):
        # Tried: fio 3.33 takes the option in a job of trims and writes, and does not flush once.
        why = "fio does not flush either where it trims and writes" if kinds == "tw" else "the job does not write"
        for option in said:
            asked.ignore(option.key, why)
        return 0
    counts = sorted({count(option) for option in said})
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


def tell(asked: Asked, load: Closed, is_mixed: bool, is_rated: bool, is_shared: bool) -> None:
    """Tells in what the flushes of a loop are not fio's. `is_shared`: the loop is that of all clones of the job."""
    said = options(asked)
    counts = sorted(map(count, said))
    why = ["fsync= and fdatasync= are one number of writes, the mean"] if counts[-1] % counts[0] else []
    if is_rated:
        why.append("a flush comes when the rate has its next I/O, not right behind its write")
    elif load.think_us:
        key = "thinktime_blocks" if load.burst > 1 else "thinktime"
        asked.approximate(key, "flushes count to it, too; all pauses are as long together as fio's")
    if load.depth > 1:
        why.append("the other I/Os outstanding go on beside a flush, which fio waits for")
    if load.threads > 1 and is_shared:
        why.append("the writes of all jobs are counted together")
    if is_mixed:
        # Tried: of 496 reads and 528 writes with fsync=1 there were 1,020 flushes.
        why.append("fio 3.33 flushes after the reads between two writes, too")
    for option in said if why else []:
        asked.approximate(option.key, "; ".join(why))
