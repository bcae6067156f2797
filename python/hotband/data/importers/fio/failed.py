"""I/Os of a fio job that failed: taken out of its counts, as records of ours have it.

fio counts an I/O in `total_ios` when it ends, however it ends, but adds bytes and latencies only of those that
succeeded (io_u.c, io_completed). The first error of a job without `continue_on_error` is not counted.
"""

from __future__ import annotations

from dataclasses import replace

from hotband.data.importers.fio.jobs import Job, JobSide
from hotband.data.importers.fio.source import block_of
from hotband.data.record.stats import DIRECTIONS


def without_failed(job: Job) -> Job:
    """Return a job whose sides count the I/Os that succeeded, as far as samples of latency or bytes tell them."""
    if not job.error_count:
        return job
    left = job.error_count
    for direction in DIRECTIONS:
        side = job.sides[direction]
        failed = min(left, _failed(side, block_of(job)))
        job.sides[direction] = replace(side, ios=side.ios - failed)
        left -= failed
    return job


def _failed(side: JobSide, block: int | None) -> int:
    """Return how many of a side's I/Os have no latency, or no bytes where fio counted no latencies."""
    if side.count_is_estimated:
        return 0
    for latency in side.latencies.values():
        measured = latency.samples or sum(count for _, count in latency.buckets)
        if measured:
            return max(0, side.ios - measured)
    return max(0, side.ios - side.bytes // block) if block and side.bytes % block == 0 else 0
