"""Measured time of the jobs of a fio result: at the same time, or one after another.

fio numbers groups in order but does not print whether a group waited (`stonewall`) or ran at the same time as the one
before (`new_group`): bare options are missing from its JSON (3.33). What decides, in this order: start times
(`job_start`, newer fio), the options where printed, else whether the run was long enough for all in turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.guess import Guess
from hotband.data.importers.fio.jobs import Job
from hotband.data.record.stats import DIRECTIONS, NANOSECONDS_PER_SECOND, Direction

# Jobs started together end some ms apart; differences of their runtimes below this are not worth a note.
_SAME_TIME = 0.01
# A job that starts in the last tenth of another's time waited for it: fio's own start-up makes the overlap.
_OVERLAP = 0.1
_WAITS = ("stonewall", "wait_for_previous")
# Time that fio takes to start and to end, in addition to the runtime of its jobs.
_AROUND = 1.1
_CHOICE = "results of fio 3.36 and later state when each job began"


@dataclass(frozen=True)
class Spell:
    """The measured time: `stages` follow one another, the jobs in each run together."""

    duration_ns: int
    direction_ns: dict[Direction, int]
    stages: list[list[Job]]
    notes: list[str]
    guesses: list[Guess]


def spell_of(jobs: list[Job]) -> Spell:
    """The time over which rates are taken: the longest runtime of each stage, as fio's group summary does."""
    stages, notes, guesses = _stages(jobs)
    duration = sum(max(job.runtime_ns for job in stage) for stage in stages)
    directions: dict[Direction, int] = {}
    for direction in DIRECTIONS:
        own_ns = sum(max(job.sides[direction].runtime_ns for job in stage) for stage in stages)
        directions[direction] = own_ns or duration
    return Spell(duration, directions, stages, notes + _runtime_notes(jobs, stages, directions), guesses)


def _groups(jobs: list[Job]) -> list[list[Job]]:
    """The jobs by the order of their group on their host: hosts run at the same time."""
    hosts: dict[str, list[int]] = {}
    for job in jobs:
        seen = hosts.setdefault(job.host, [])
        if job.group not in seen:
            seen.append(job.group)
    groups: list[list[Job]] = [[] for _ in range(max(len(seen) for seen in hosts.values()))]
    for job in jobs:
        groups[hosts[job.host].index(job.group)].append(job)
    return groups


def _stages(jobs: list[Job]) -> tuple[list[list[Job]], list[str], list[Guess]]:
    groups = _groups(jobs)
    if len(groups) == 1:
        return groups, [], []
    if all(job.start_ns is not None for job in jobs):
        return _by_start(jobs), [], []
    in_turn = sum(max(job.runtime_ns for job in group) for group in groups)
    elapsed = max(job.elapsed_ns for job in jobs)
    guess = in_turn <= elapsed
    stages, guessed = [groups[0]], False
    for group in groups[1:]:
        waits = _waits(group[0])
        guessed = guessed or waits is None
        if guess if waits is None else waits:
            stages.append(group)
        else:
            stages[-1] = stages[-1] + group
    if not guessed:
        return stages, [], []
    order = f"fio does not print the order of its {len(groups)} groups"
    if guess:
        fits = "their runtimes fit into fio's elapsed time one after another, so they count as running in turn"
        return stages, [f"{order}: {fits}"], []
    together = f"{order}, which count as running at the same time"
    if elapsed <= _AROUND * max(job.runtime_ns for job in jobs) + NANOSECONDS_PER_SECOND:
        return stages, [together], []
    return stages, [], [Guess(together, "in turn, at lower rates,", _CHOICE)]


def _waits(job: Job) -> bool | None:
    """Return whether its group waited for the one before; None if fio printed neither option."""
    if any(job.own_options.get(name, "0") != "0" for name in _WAITS):
        return True
    return False if job.own_options.get("new_group", "0") != "0" else None


def _by_start(jobs: list[Job]) -> list[list[Job]]:
    ordered = sorted(jobs, key=lambda job: job.start_ns or 0)
    stages: list[list[Job]] = []
    begin, end = 0, 0
    for job in ordered:
        start = job.start_ns or 0
        if not stages or start >= end - _OVERLAP * (end - begin):
            stages.append([job])
            begin, end = start, start + job.runtime_ns
        else:
            stages[-1].append(job)
            end = max(end, start + job.runtime_ns)
    return stages


def _runtime_notes(jobs: list[Job], stages: list[list[Job]], directions: dict[Direction, int]) -> list[str]:
    notes = []
    if len(stages) > 1:
        notes.append(f"the jobs ran in {len(stages)} stages; the duration is the sum of the longest of each")
    for stage in stages:
        times = [job.runtime_ns for job in stage if job.active()]
        if times and min(times) < (1 - _SAME_TIME) * max(times):
            notes.append(
                f"jobs that ran together took {_seconds(min(times))} to {_seconds(max(times))}; "
                "rates are over the longest, as in fio's group summary"
            )
    active = {direction for job in jobs for direction, _ in job.active()}
    times = [directions[direction] for direction in DIRECTIONS if direction in active]
    if times and min(times) < (1 - _SAME_TIME) * max(times):
        notes.append(
            f"reads took {_seconds(directions['read'])}, writes {_seconds(directions['write'])}; "
            "each has its rates over its own time, the total over the longest"
        )
    return notes


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / NANOSECONDS_PER_SECOND:g} s"
