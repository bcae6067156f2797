"""Rule group 6: no steady state, warm-up inside the measured time, drift; solid-state drives that were not filled
before.

The rule is the PTS's (`hotband.data.record.steady`), on rounds that are as short as their noise allows. Left out:
results without samples over time; measured phases of several steps, whose levels differ on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import hotband._core as _core
from hotband.base.text.numbers import number, percent, share
from hotband.data.documents.record import SteadyRule
from hotband.data.record.rounds import MOST_ROUNDS, round_values
from hotband.data.record.steady import rule
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding, Number
from hotband.inference.audit.replay import in_time

ROUNDS = (25, 20, 15, 10)
"""Numbers of rounds into which the measured time is divided: the PTS uses 25 at most, and a window has five."""
NOISE = 0.03
"""Noise of a round (one standard deviation) up to which departures differ from chance: 0.2 % false alarms in 100 rounds
(docs/guides/steady-state.md)."""
WARM_UP = 0.075
"""Least share by which warm-up or drift differs from the steady window: the allowance of departures."""
FILLS = 1.0
"""Capacities to write before a solid-state drive is measured: below one, unwritten blocks accept writes without garbage
collection. The PTS requires two."""
UNFILLED_END = 0.001
"""Share of a capacity that may be left unwritten: passes of whole I/Os end before a remainder that is smaller than an
I/O (at most 4 MiB of the smallest model, 7.5 GB)."""


@dataclass(frozen=True)
class Judged:
    """The rounds of a run and their metric; `quiet` if a departure can be distinguished from chance."""

    values: list[float]
    round_s: float
    track: str
    quiet: bool


def check(runs: Sequence[Audited], facts_of: Sequence[MachineFacts | None]) -> list[Finding]:
    """Return all findings of the group."""
    findings: list[Finding] = []
    for run in runs:
        findings += _of_time(run)
    pairs = list(zip(runs, facts_of, strict=True))
    return findings + [finding for run, facts in pairs if (finding := _unfilled(run, facts, runs)) is not None]


def rounds_of(run: Audited) -> Judged | None:
    """Return as many rounds as the noise of single samples allows; None for too few samples.

    The noise of a round is that of a sample over the root of their number: anything beyond is change.
    """
    series, named = run.series, run.record.get("series")
    if series is None or not isinstance(named, dict) or len(run.record.get("steps") or []) > 1:
        return None
    interval, duration = float(named.get("interval_ns") or 0), run.duration_ns
    # In runs of weeks several samples count as one.
    step = interval * math.ceil(duration / interval / MOST_ROUNDS) if interval > 0 else 0.0
    whole = int(duration // step) if step > 0 else 0
    track = "iops" if run.concurrency else "latency"
    needed = "iops" if track == "iops" else "latency_mean_ns"
    if series[needed].null_count() == len(series) or "bandwidth_bytes_per_s" not in series.columns:
        return None
    if whole < min(ROUNDS):
        return None
    single = noise_of(round_values(series, duration, interval, step, track), track)
    for count in ROUNDS:
        samples = whole // count
        if samples and single / math.sqrt(samples) <= NOISE:
            values = round_values(series, duration, interval, samples * step, track)[:count]
            return Judged(values, samples * step / 1e9, track, noise_of(values, track) <= NOISE)
    return None


def noise_of(values: Sequence[float], track: str = "iops") -> float:
    """Return the standard deviation of a round relative to the mean, from second differences: a drift does not raise
    it.

    A second difference of independent noise has six times its variance. The median of the squares (0.4549 of it: the
    median of chi-squared with one degree) does not take a step for noise. Mean latencies have spikes (a pause of a
    host): for them it is the mean of the squares, and runs with spikes are not judged.
    """
    mean = fmean(values)
    if not mean:
        return math.inf
    bends = sorted((a - 2 * b + c) ** 2 for a, b, c in zip(values, values[1:], values[2:], strict=False))
    if track == "latency":
        return math.sqrt(fmean(bends) / 6) / mean
    return math.sqrt(bends[len(bends) // 2] / 6 / 0.4549) / mean


def _of_time(run: Audited) -> list[Finding]:
    phase_end = run.record.get("steady_state")
    samples = run.record.get("samples")
    if isinstance(phase_end, dict) and phase_end.get("reached") is False:
        return [
            _not_steady(
                run, "the phase that should end at steady state did not", {"rounds": len(phase_end.get("rounds") or [])}
            )
        ]
    if isinstance(samples, dict) and samples.get("attained") is False:
        words = f"fio's steady-state rule ({samples.get('rule')}) was not met"
        return [_not_steady(run, words, {"rule": str(samples.get("rule"))})]
    judged = rounds_of(run)
    if judged is None:
        return []
    state = rule(judged.values)
    what = {"iops": "IOPS", "latency": "mean latency"}[judged.track]
    numbers: dict[str, Number] = {
        "rounds": len(judged.values),
        "round_s": judged.round_s,
        "first_round": judged.values[0],
        "last_round": judged.values[-1],
        "tracked": judged.track,
    }
    if not state["reached"]:
        numbers |= {"range_pct": state["range_pct"] or 0.0, "slope_pct": state["slope_pct"] or 0.0}
        change = 100 * (judged.values[-1] / judged.values[0] - 1) if judged.values[0] else math.inf
        words = f"{what} went from {number(judged.values[0])} to {number(judged.values[-1])} ({percent(change)})"
        return [_not_steady(run, words, numbers)]
    return _around_window(run, judged, state, what, numbers) if judged.quiet else []


def _around_window(
    run: Audited, judged: Judged, state: SteadyRule, what: str, numbers: dict[str, Number]
) -> list[Finding]:
    """Find warm-up before and drift after the first steady window."""
    findings = []
    last, mean = state["round"] or 0, state["window_mean"] or 0.0
    before = judged.values[: last - _core.STEADY_WINDOW]
    if before and abs(fmean(before) / mean - 1) > WARM_UP:
        seconds = len(before) * judged.round_s
        level = 100 * (fmean(before) / mean - 1)
        findings.append(
            Finding(
                "warm-up-measured",
                "warning",
                (run.name,),
                f"The first {seconds:g} s are warm-up: {what} was {percent(abs(level), signed=False)} "
                f"{'below' if level < 0 else 'above'} what followed",
                numbers | {"warm_up_s": seconds, "level_pct": level, "steady_mean": mean},
                f"Leave out the first {seconds:g} s (fio: ramp_time, vdbench: warmup, diskspd: -W) and measure again.",
            )
        )
    left = _core.departure(judged.values)
    if left is not None:
        since = left["since"]
        level_pct = 100 * (median(judged.values[since - 1 :]) / mean - 1)
        if abs(level_pct) <= 100 * WARM_UP:
            return findings
        findings.append(
            Finding(
                "drift",
                "warning",
                (run.name,),
                f"{what} left its steady level after {(since - 1) * judged.round_s:g} s: "
                f"{percent(level_pct)} since then",
                numbers | {"since_s": (since - 1) * judged.round_s, "level_pct": level_pct, "steady_mean": mean},
                "One mean over both levels describes neither: run until it is steady again, and quote that level.",
            )
        )
    return findings


def _not_steady(run: Audited, words: str, numbers: dict[str, Number]) -> Finding:
    return Finding(
        "no-steady-state",
        "warning",
        (run.name,),
        f"No steady state by the rule of the PTS: {words}",
        numbers,
        "The mean depends on when the run began and ended: run until five rounds are steady, and quote those.",
    )


def _unfilled(run: Audited, facts: MachineFacts | None, runs: Sequence[Audited]) -> Finding | None:
    """Find writes to a solid-state drive that was not full."""
    if facts is None or facts.kind != "ssd" or "write" not in run.directions():
        return None
    smart = run.record.get("smart") or []
    if smart:
        each = (facts.raw_bytes or 0.0) / max(1, facts.drives or 1)
        fills = min(float(drive["at_begin"]["host_bytes"]) for drive in smart) / each if each else None
        known, severity = "its SMART attributes", "severe"
    else:
        capacity = facts.capacity_bytes
        fills = _written_before(run, runs) / capacity if capacity else None
        known, severity = "the given results", "warning"
    if fills is None or fills >= FILLS - UNFILLED_END:
        return None
    return Finding(
        "not-preconditioned",
        "severe" if severity == "severe" else "warning",
        (run.name,),
        f"Only {share(fills)} of the drive's capacity had been written before the run, according to {known}",
        {"fills": fills, "fills_needed": FILLS, "bytes_written": float(run.summary("write").get("bytes") or 0)},
        "A drive that is not full accepts writes without garbage collection: write its capacity twice, then until "
        "steady (SNIA PTS), and pass the result of that run to the audit.",
    )


def _written_before(run: Audited, runs: Sequence[Audited]) -> float:
    """Return the bytes that the given results wrote to its target up to and including this run."""
    alike = in_time([other for other in runs if other.target == run.target and not other.is_model])
    until = alike[: alike.index(run) + 1] if run in alike else [run]
    return sum(float(other.summary("write").get("bytes") or 0) for other in until)
