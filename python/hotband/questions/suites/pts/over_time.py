"""Tests over time: write saturation (PTS section 10), host idle recovery (11), cross stimulus recovery (12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from hotband.data.documents.pts import MomentDoc
from hotband.data.record.steady import is_steady
from hotband.questions.suites.bench import Bench, Stage
from hotband.questions.suites.cells import Cell
from hotband.questions.suites.figures import Round
from hotband.questions.suites.pts import spec
from hotband.questions.suites.pts.loops import moments_of

MINUTES_A_ROUND = 30
"""Cells of a minute that make a round of these tests: the variable is examined every half hour."""
# Section 10.2: until four capacities are written, six hours have passed, or five rounds are steady.
SATURATION_FILLS = 4.0
SATURATION_ROUNDS = 12
# Section 11.2: five seconds of writes after so many of rest, 360 times; then half an hour without rests.
WAITS_S = (5, 10, 15, 25, 50)
STIMULUS_S = 5.0
IDLE_LOOPS = 360
# Section 12.2: hours of sequential writes of 1,024 KiB, of random ones of 8 KiB, and of sequential ones again.
GROUPS = (("1", 8, 1024, False), ("2", 6, 8, True), ("3", 8, 1024, False))
GROUP_NAMES = {"1": "sequential 1,024 KiB", "2": "random 8 KiB", "3": "sequential 1,024 KiB again"}


def minutes_of(plan: spec.Plan) -> int:
    """Minutes of a round of the test of rests before it rests."""
    return 3 if plan.quick else MINUTES_A_ROUND


def writes(plan: spec.Plan, number: int, seconds: float, size: int = 4096, **keys: float) -> Cell:
    """Random writes for a time."""
    cell = replace(plan.cell(0, size), name=str(number), seconds=seconds)
    return replace(cell, idle_s=keys.get("idle_s", 0.0))


def saturate(plan: spec.Plan, bench: Bench) -> tuple[list[MomentDoc], list[float]]:
    """Write saturation: minutes of 4 KiB random writes, and the last minute of every round, which is followed."""
    found: list[MomentDoc] = []
    last: list[float] = []

    def enough(rounds: Sequence[Round]) -> bool:
        fills = written(rounds, plan.target.bytes)
        # A new drive is even, too, until it was written over once (docs/guides/steady-state.md).
        return fills >= SATURATION_FILLS or (fills >= 1.0 and is_steady(last_minutes(rounds)))

    cells = tuple(writes(plan, n, plan.seconds(spec.MINUTE)) for n in range(1, MINUTES_A_ROUND + 1))
    rounds = bench.run(Stage("saturation", cells, SATURATION_ROUNDS, enough))
    for one in rounds:
        found += moments_of("4 KiB random writes", cells, one, plan.target, found)
    last = last_minutes(rounds)
    return found, last


def last_minutes(rounds: Sequence[Round]) -> list[float]:
    """IOPS of the last cell of each round."""
    return [list(round_.values())[-1]["iops"] for round_ in rounds]


def written(rounds: Sequence[Round], bytes_: int) -> float:
    """Capacities written."""
    return sum(c["bandwidth_bytes_per_s"] * c["seconds"] for round_ in rounds for c in round_.values()) / bytes_


def rest(plan: spec.Plan, bench: Bench, after: Sequence[MomentDoc]) -> list[MomentDoc]:
    """Host idle recovery: five seconds of writes after each rest, and the baseline after each length of rest."""
    found = list(after)
    loops = plan.loops(IDLE_LOOPS)
    stimulus = plan.seconds(STIMULUS_S)
    for wait in WAITS_S:
        for line, idle in ((f"after {wait} s of rest", plan.seconds(wait)), (f"baseline after {wait} s", 0.0)):
            cells = tuple(writes(plan, n, stimulus, idle_s=idle) for n in range(1, loops + 1))
            round_ = bench.run(Stage(line, cells))[0]
            found += moments_of(line, cells, round_, plan.target, found)
    return found[len(after) :]


def cross(plan: spec.Plan, bench: Bench) -> list[MomentDoc]:
    """Cross stimulus recovery: three groups of minutes, one load after the other."""
    found: list[MomentDoc] = []
    for group, hours, kib, random in GROUPS:
        minutes = plan.loops(hours * 60)
        base = plan.cell(0, kib * 1024, spec.SEQUENTIAL, random=random)
        cells = tuple(replace(base, name=str(n)) for n in range(1, minutes + 1))
        round_ = bench.run(Stage(GROUP_NAMES[group], cells))[0]
        found += moments_of(GROUP_NAMES[group], cells, round_, plan.target, found)
    return found


def mean_iops(moments: Sequence[MomentDoc]) -> float | None:
    """Of some moments."""
    return fmean(moment["cell"]["iops"] for moment in moments) if moments else None


def mean_bandwidth(moments: Sequence[MomentDoc]) -> float | None:
    """Of some moments."""
    return fmean(moment["cell"]["bandwidth_bytes_per_s"] for moment in moments) if moments else None


def lines(moments: Sequence[MomentDoc]) -> dict[str, list[MomentDoc]]:
    """Moments by their line, in order."""
    found: dict[str, list[MomentDoc]] = {}
    for one in moments:
        found.setdefault(one["line"], []).append(one)
    return found
