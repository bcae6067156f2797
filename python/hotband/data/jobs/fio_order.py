"""Divide the jobs of a file into steps: a job that waits for others or is delayed until they have ended begins one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotband.base.text.nearest import expected
from hotband.data.jobs.fio_job import JobOptions, seconds
from hotband.data.jobs.fio_values import flag


@dataclass
class Clock:
    """Begin and end of the current step in seconds; None if its jobs have no time."""

    begin: float | None = 0.0
    end: float | None = 0.0
    first: float | None = None
    """Delay of the step's first job."""

    def begins_step(self, job_options: JobOptions, after_all: bool) -> bool:
        """Return whether a job begins a step: it waits for those before it, or is delayed until they have ended. fio
        counts a delay from its own start (backend.c: run_threads)."""
        delay, runtime = seconds(job_options, "startdelay") or 0.0, seconds(job_options, "runtime")
        is_later = self.first is not None and self.end is not None and delay >= self.end > self.first
        if after_all or is_later:
            self.begin, self.first = self.end, None
        if is_later and not after_all:
            job_options.approximate("startdelay", "the job begins right after those that have ended by then")
        elif delay and self.first is not None and delay != self.first:
            job_options.ignore("startdelay", "all jobs of a step begin together")
        self.first = delay if self.first is None else self.first
        lasts = None if runtime is None else runtime + (seconds(job_options, "ramp_time") or 0.0)
        begin = None if self.begin is None else max(self.begin, delay)
        self.end = None if lasts is None or begin is None or self.end is None else max(self.end, begin + lasts)
        return after_all or is_later


def waits(job_options: JobOptions, earlier: Sequence[str]) -> bool:
    """Return whether the job begins when those before it have ended; `earlier` are their names."""
    wall, other = job_options.get("stonewall"), job_options.get("wait_for")
    if other is not None:
        if other.value.strip() not in earlier:
            names = sorted(set(earlier))
            other.refuse(expected(other.value, names) if names else "expected the name of an earlier job")
        job_options.approximate("wait_for", "the job waits for all jobs before it")
    return other is not None or (wall is not None and flag(wall))
