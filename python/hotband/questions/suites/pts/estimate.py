"""Duration of a PTS run on hardware, and the bytes it writes before its loads, printed before it begins."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.questions.suites.pts import iops, latency, over_time, spec
from hotband.questions.suites.quick import START_S

# Rounds that a window of steady state has (docs/guides/steady-state.md): fewer never end a loop.
LEAST_ROUNDS = 5


@dataclass(frozen=True)
class Length:
    """Cells at least and at most, their seconds, and bytes that are written in order before."""

    least: int = 0
    most: int = 0
    least_s: float = 0.0
    most_s: float = 0.0
    fill_bytes: float = 0.0

    def __add__(self, other: Length) -> Length:
        return Length(
            self.least + other.least,
            self.most + other.most,
            self.least_s + other.least_s,
            self.most_s + other.most_s,
            self.fill_bytes + other.fill_bytes,
        )

    @property
    def whole_s(self) -> tuple[float, float]:
        """Shortest and longest time in seconds, including the start of fio for every cell."""
        return self.least_s + START_S * self.least, self.most_s + START_S * self.most


def length_of(plan: spec.Plan, test: str) -> Length:
    """Estimate of one test."""
    minute = plan.seconds(spec.MINUTE)
    fills = Length(fill_bytes=plan.fills * plan.extent.bytes)
    histogram = _cells(1, plan.seconds(spec.HISTOGRAM_S))
    if test == "iops":
        return _rounds(len(iops.cells(plan)), minute) + fills
    if test == "throughput":
        sizes = len(spec.THROUGHPUT_SIZES)
        return _rounds(2 * sizes, minute) + Length(fill_bytes=sizes * fills.fill_bytes)
    if test == "latency":
        return _rounds(len(latency.cells(plan)), minute) + histogram + fills
    if test == "write-saturation":
        rounds = over_time.MINUTES_A_ROUND
        most = _rounds(rounds, minute, 1, over_time.SATURATION_ROUNDS)
        return most + histogram
    if test == "idle-recovery":
        loops, waits = plan.loops(over_time.IDLE_LOOPS), over_time.WAITS_S
        asked = _cells(2 * loops * len(waits), plan.seconds(over_time.STIMULUS_S))
        rests = loops * plan.seconds(sum(waits))
        return _rounds(over_time.minutes_of(plan), minute) + asked + Length(least_s=rests, most_s=rests)
    return _cells(sum(plan.loops(hours * 60) for _, hours, _, _ in over_time.GROUPS), minute)


def _cells(count: int, seconds: float) -> Length:
    return Length(count, count, count * seconds, count * seconds)


def _rounds(cells: int, seconds: float, least: int = LEAST_ROUNDS, most: int = spec.MOST_ROUNDS) -> Length:
    return Length(least * cells, most * cells, least * cells * seconds, most * cells * seconds)
