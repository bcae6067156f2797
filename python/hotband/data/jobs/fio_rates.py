"""Limits of fio: `rate_iops` and `rate`, of reads, of writes and of trims."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.data.jobs.fio_lists import places, text_at
from hotband.data.jobs.fio_values import RATE_EXPECTED, SIZE_EXPECTED, size_bytes

if TYPE_CHECKING:
    from hotband.data.jobs.fio_job import JobOptions
    from hotband.data.jobs.fio_sizes import Fitted
    from hotband.data.jobs.form import Closed
    from hotband.data.jobs.source import Option

# I/Os a second; the engine takes as many (crates/workloads/src/load.rs: read_open).
LEAST_RATE, MOST_RATE = 0.001, 10**9
# No I/O takes less than a microsecond, so each outstanding I/O allows at most this many per second.
FASTEST = 10**6
# Tried: of rate_iops=100,200,300 fio 3.33 trims and writes 200 times a second each where each write follows its trim.
_LIMITED = {"tw": (1,)}


@dataclass(frozen=True)
class Rates:
    """I/Os per second of a whole job group: reads, writes, trims; None for no limit."""

    read: float | None
    write: float | None
    trim: float | None
    arrival: str

    def of(self, kinds: str) -> float | None:
        """Return the limit of a job of one kind."""
        if kinds == "tw":
            return 2 * self.write if self.write else None
        return {"r": self.read, "w": self.write, "t": self.trim}[kinds]


def rates(
    job_options: JobOptions, closed: Closed, kinds: str, on_drive: tuple[Fitted, Fitted, Fitted], most: float
) -> Rates | None:
    """`rate_iops` and `rate`: caps for reads, writes and trims, of each of the jobs; up to `most` I/Os per second. None
    where none is of what the job does."""
    iops, bandwidth = job_options.get("rate_iops"), job_options.get("rate")
    option = iops or bandwidth
    if option is None:
        if job_options.get("rate_process"):
            job_options.ignore("rate_process", "has no effect without rate_iops= or rate=")
        return None
    if iops and bandwidth:
        # fio refuses two limits; one of both is zero here.
        none, option = (bandwidth, iops) if re.search("[1-9]", iops.value) else (iops, bandwidth)
        job_options.ignore(none.key, "a limit of 0 is no limit, as in fio")
    process = job_options.get("rate_process")
    if process is not None and process.value not in ("linear", "poisson"):
        process.refuse("expected linear or poisson")
    asked = [_limit(*text_at(job_options, option.key, index, ""), job_options, on_drive[index]) for index in range(3)]
    # A job that is behind its rate issues I/Os as fast as they complete (backend.c: usec_for_io).
    limits = [None if limit is None or limit > closed.depth * FASTEST else limit for limit in asked]
    for limit in limits:
        if limit is not None and not LEAST_RATE <= limit <= most:
            option.refuse(f"is {limit:g} I/Os per second: expected {LEAST_RATE:g} to {most:g}")
    read, write, trim = (None if limit is None else limit * closed.threads for limit in limits)
    if not any((read, write, trim)[index] for index in _LIMITED.get(kinds) or places(kinds)):
        why = "does not limit what rw= issues" if any(asked) else "a limit of 0 is no limit"
        if limits != asked:
            why = f"{closed.depth} outstanding at once cannot reach it: I/Os are issued at full speed"
        job_options.ignore(option.key, f"{why}, as in fio")
        return None
    _tell(job_options, option, closed)
    return Rates(read, write, trim, "poisson" if process and process.value == "poisson" else "fixed")


def _tell(job_options: JobOptions, option: Option, closed: Closed) -> None:
    """Report how I/Os at a rate differ from fio's."""
    # io_u.c, rate_ddir: the pause begins after that wait and is not shorter for it.
    bunched = "the jobs have one rate together; in fio each bunches its I/Os: it waits for all of them before a pause"
    why = [bunched] if closed.depth > 1 and closed.threads > 1 else []
    if option.key == "rate_iops" and job_options.get("bssplit"):
        # backend.c, usec_for_io: later versions count I/Os.
        why.append("fio 3.33 itself counts each as one of the smallest size")
    if why:
        job_options.approximate(option.key, "; ".join(why))


def _limit(text: str, option: Option, job_options: JobOptions, side: Fitted) -> float | None:
    """Return the drive's I/Os per second under a limit of fio's I/Os or bytes."""
    if not text:
        return None
    number = size_bytes(text, job_options.base, option, RATE_EXPECTED if option.key == "rate_iops" else SIZE_EXPECTED)
    # Tried: fio issues as many bytes with bsrange=4k-64k as with 4k.
    weight = 1 if option.key == "rate" else side.mean if job_options.get("bssplit") else side.least
    return side.pieces * number * weight / side.mean or None
