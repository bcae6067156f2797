"""Measures of a study: pure functions of its runs.

A measure reads the runs of one cell (by queue depth; 0 without a sweep). A value that it cannot read is None, with a
note on the reason: a record without a needed key is a result, never an error. `operations` has the measures of
operations and of wear.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hotband.data.documents.record import FiguresDoc, ScriptDoc, StepDoc, SummaryDoc, known
from hotband.data.record.stats import percentile, whole
from hotband.questions.study import operations, units
from hotband.questions.study.readings import Parameters, Reading, Record, Runs, Value, milliseconds, pick

__all__ = [
    "MEASURES",
    "PICKS",
    "Parameters",
    "Reading",
    "Value",
    "curve",
    "error_pct",
    "median",
    "milliseconds",
    "read",
]


@dataclass(frozen=True)
class Point:
    """One point of a response curve: a step of a run, or a run of a sweep."""

    name: str
    concurrency: float | None
    iops: float
    latency_ms: float | None
    figures: FiguresDoc


def curve(runs: Runs) -> list[Point]:
    """Return the response curve of a cell by concurrency: the steps of its records, or its queue depths."""
    points = []
    for depth, run in sorted(runs.items()):
        steps = run.record.get("steps") or []
        for step in steps:
            concurrency = step.get("threads") or step.get("clients")
            points.append(_point(str(step["name"]), concurrency, step["summary"]))
        if not steps:
            name = f"queue depth {depth}" if depth else "all"
            points.append(_point(name, depth or run.record.get("concurrency"), run.record["summary"]))
    if all(point.concurrency is not None for point in points):
        points.sort(key=lambda point: point.concurrency or 0.0)
    return points


def _point(name: str, concurrency: float | None, figures: FiguresDoc) -> Point:
    mean = milliseconds(figures.get("latency_mean_ns"))
    return Point(name, concurrency, known(figures["iops"]), mean, figures)


def _step(record: Record, name: str) -> StepDoc | None:
    """Return the step of a name, or the last one for "last"; None if there is none."""
    steps = record.get("steps") or []
    if name == "last" and steps:
        return steps[-1]
    return next((step for step in steps if step["name"] == name), None)


def _no_step(runs: Runs, name: str) -> Value:
    known = list(dict.fromkeys(step["name"] for run in runs.values() for step in run.record.get("steps") or []))
    return Value(None, f'no step "{name}" in the record; its steps: {", ".join(known) or "none"}')


def _of_summary(read: Callable[[SummaryDoc], float | None]) -> Callable[[Runs, Parameters], Value]:
    """Make a measure of one summary: that of the run, or of the named step."""

    def measure(runs: Runs, parameters: Parameters) -> Value:
        if not parameters.step:
            return Value(pick([read(run.record["summary"]) for _, run in sorted(runs.items())], parameters.pick))
        steps = [_step(run.record, parameters.step) for _, run in sorted(runs.items())]
        steps_found = [step for step in steps if step is not None]
        if not steps_found:
            return _no_step(runs, parameters.step)
        return Value(pick([read(step["summary"]) for step in steps_found], parameters.pick))

    return measure


def _concurrency(summary: SummaryDoc) -> float | None:
    """Return outstanding I/Os by Little's law."""
    mean = summary.get("latency_mean_ns")
    return None if mean is None else known(summary["iops"]) * mean / 1e9


def max_step_iops(runs: Runs, parameters: Parameters) -> Value:
    """Return the highest IOPS along the response curve."""
    return Value(max(point.iops for point in curve(runs)))


def iops_at_latency(runs: Runs, parameters: Parameters) -> Value:
    """Return IOPS where the response curve first crosses the mean latency `at_ns` from below, interpolated linearly."""
    at = milliseconds(parameters.at_ns) or 0.0
    points = [(point.iops, point.latency_ms) for point in curve(runs) if point.latency_ms is not None]
    if not points:
        return Value(None, "nothing was measured")
    first = points[0][1]
    if first is not None and first > at:
        return Value(None, f"already {first:.3g} ms at the first point: never as fast as {at:g} ms")
    for (left, below), (right, above) in pairwise(points):
        assert below is not None, "points without a latency were left out"
        assert above is not None, "points without a latency were left out"
        if below <= at < above:
            return Value(left + (right - left) * (at - below) / (above - below))
    best = max(points)
    return Value(best[0], f"the curve stays at or below {at:g} ms: its highest IOPS")


def step_latency_ms(runs: Runs, parameters: Parameters) -> Value:
    """Return the mean latency (ms) of the named step, by default the last."""
    name = parameters.step or "last"
    return _of_summary(lambda summary: milliseconds(summary["latency_mean_ns"]))(
        runs, Parameters(parameters.pick, step=name)
    )


def _scripts(runs: Runs, parameters: Parameters) -> tuple[list[ScriptDoc], str]:
    """Return the requested scripts, one per run, and a note for the case that there are none."""
    chosen = []
    known: dict[str, None] = {}
    for _, run in sorted(runs.items()):
        source = run.record if not parameters.step else _step(run.record, parameters.step)
        scripts = (source.get("scripts") if source is not None else None) or []
        known |= dict.fromkeys(str(script["name"]) for script in scripts)
        chosen += [script for script in scripts if parameters.script in ("", script["name"])][:1]
    wanted = f'script "{parameters.script}"' if parameters.script else "script"
    where = f'step "{parameters.step}"' if parameters.step else "record"
    return chosen, f"no {wanted} in the {where}; its scripts: {', '.join(known) or 'none'}"


def _of_script(read: Callable[[ScriptDoc], float | None]) -> Callable[[Runs, Parameters], Value]:
    """Make a measure of the named script, or of the first."""

    def measure(runs: Runs, parameters: Parameters) -> Value:
        scripts, missing = _scripts(runs, parameters)
        return Value(pick([read(script) for script in scripts], parameters.pick)) if scripts else Value(None, missing)

    return measure


def _script_total_s(script: ScriptDoc) -> float | None:
    begin, end = script.get("first_begin_ns"), script.get("last_end_ns")
    return None if begin is None or end is None else (float(end) - float(begin)) / 1e9


def peak_interval_iops(runs: Runs, parameters: Parameters) -> Value:
    """Return the highest IOPS over any window of `window_ns`, from the series."""
    peaks = [_peak(run, parameters.window_ns or 0.0) for _, run in sorted(runs.items())]
    notes = [note for _, note in peaks if note]
    return Value(pick([peak for peak, _ in peaks], parameters.pick), notes[0] if notes else "")


def _peak(run: Reading, window_ns: float) -> tuple[float | None, str]:
    if run.series is None or not run.series.get("time_ns"):
        return None, "the run has no series"
    interval = float((run.record.get("series") or {"interval_ns": None})["interval_ns"] or 1e9)
    rates = _rates(run, interval)
    width = max(1, round(window_ns / interval))
    if width > len(rates):
        return sum(rates) / len(rates), f"the run is shorter than {window_ns / 1e9:g} s: its mean"
    running = sum(rates[:width])
    most = running
    for index in range(width, len(rates)):
        running += rates[index] - rates[index - width]
        most = max(most, running)
    note = "" if window_ns >= interval else f"the series has intervals of {interval / 1e9:g} s"
    return most / width, note


def _rates(run: Reading, interval: float) -> list[float]:
    """Return IOPS of all streams together by whole interval. A step or the run may end within one: its rows are
    shorter, and later rows overlap two intervals; each row counts in both by its length there."""
    columns = run.series or {}
    times = [int(time) for time in columns["time_ns"] if isinstance(time, int | float)]
    rates = [float(iops) if isinstance(iops, int | float) else 0.0 for iops in columns["iops"]]
    starts = sorted(set(times))
    end = float(run.record.get("duration_ns") or starts[-1] + interval)
    lengths = dict(zip(starts, [b - a for a, b in pairwise([*starts, end])], strict=True))
    whole: dict[int, float] = {}
    for time, iops in zip(times, rates, strict=True):
        index, end = int(time // interval), time + min(lengths[time], interval)
        inside = min(end, (index + 1) * interval) - time
        for at, length in ((index, inside), (index + 1, end - time - inside)):
            if length > 0:
                whole[at] = whole.get(at, 0.0) + iops * length / interval
    return [whole.get(index, 0.0) for index in range(max(whole) + 1)]


def latency_percentile_ms(runs: Runs, parameters: Parameters) -> Value:
    """Return the latency (ms) that `percent` of the I/Os do not exceed, from the merged histograms of all streams."""
    latencies = [
        milliseconds(percentile(whole(run.record), parameters.percent or 0.0)) for _, run in sorted(runs.items())
    ]
    return Value(pick(latencies, parameters.pick))


def _flash_hit_ratio(runs: Runs, parameters: Parameters) -> Value:
    """Return the share of the reads served by flash."""
    caches = [run.record.get("caches") for _, run in sorted(runs.items())]
    ratios = [cache["flash_hit_ratio"] for cache in caches if cache and cache.get("flash_hit_ratio") is not None]
    return Value(pick(ratios, parameters.pick)) if ratios else Value(None, "no drive has a flash read cache")


def _demerit_pct(runs: Runs, parameters: Parameters) -> Value:
    """Return the demerit of a replayed trace, in percent of the measured mean."""
    comparisons = [run.record.get("comparison") for _, run in sorted(runs.items())]
    demerits = [comparison["demerit_pct"] for comparison in comparisons if comparison is not None]
    return Value(pick(demerits, parameters.pick)) if demerits else Value(None, "no trace with latencies was replayed")


@dataclass(frozen=True)
class Kind:
    """A kind of measure: its unit, its reader, the parameters that it accepts, and those that it needs."""

    unit: units.Unit
    read: Callable[[Runs, Parameters], Value]
    takes: tuple[str, ...] = ("step",)
    needs: tuple[str, ...] = ()


MEASURES: dict[str, Kind] = {
    "iops": Kind(units.RATE, _of_summary(lambda summary: known(summary["iops"]))),
    "bandwidth_mib_per_s": Kind(
        units.MEBIBYTES, _of_summary(lambda summary: known(summary["bandwidth_bytes_per_s"]) / 2**20)
    ),
    "bandwidth_mb_per_s": Kind(
        units.MEGABYTES, _of_summary(lambda summary: known(summary["bandwidth_bytes_per_s"]) / 1e6)
    ),
    "latency_mean_ms": Kind(units.MILLISECONDS, _of_summary(lambda summary: milliseconds(summary["latency_mean_ns"]))),
    "latency_percentile_ms": Kind(units.MILLISECONDS, latency_percentile_ms, ("percent",), ("percent",)),
    "concurrency": Kind(units.OUTSTANDING, _of_summary(_concurrency)),
    "max_step_iops": Kind(units.RATE, max_step_iops, ()),
    "iops_at_latency": Kind(units.RATE, iops_at_latency, ("at",), ("at",)),
    "step_latency_ms": Kind(units.MILLISECONDS, step_latency_ms),
    "scripts_per_second": Kind(units.RATE, _of_script(lambda script: float(script["per_second"])), ("script", "step")),
    "script_mean_ms": Kind(
        units.MILLISECONDS, _of_script(lambda script: milliseconds(script["duration_mean_ns"])), ("script", "step")
    ),
    "script_total_s": Kind(units.SECONDS, _of_script(_script_total_s), ("script", "step")),
    "peak_interval_iops": Kind(units.RATE, peak_interval_iops, ("window",), ("window",)),
    "flash_hit_ratio": Kind(units.SHARE, _flash_hit_ratio, ()),
    "demerit_pct": Kind(units.PERCENT, _demerit_pct, ()),
    "ops_per_s": Kind(units.RATE, operations.ops_per_s, ("operation", "step")),
    "requested_ops_per_s": Kind(units.RATE, operations.requested_ops_per_s, ("step",)),
    "operation_mean_ms": Kind(units.MILLISECONDS, operations.operation_mean_ms, ("operation", "step")),
    "service_mean_ms": Kind(units.MILLISECONDS, operations.service_mean_ms, ("step",)),
    "operations_total_s": Kind(units.SECONDS, operations.operations_total_s, ("operations", "step"), ("operations",)),
    "write_amplification": Kind(units.RATIO, operations.write_amplification, ()),
    "write_amplification_total": Kind(units.RATIO, operations.write_amplification_total, ()),
    "endurance_tb": Kind(units.TERABYTES, operations.endurance_tb, ()),
}
PICKS = ("only", "first", "last", "max", "min")


def read(measure: str, runs: Runs, parameters: Parameters | None = None) -> Value:
    """Read a measure over the runs of a cell."""
    return MEASURES[measure].read(runs, parameters or Parameters())


def error_pct(published: float | None, predicted: float | None) -> float | None:
    """Return the error of a prediction in percent of the published figure; None without both."""
    if published is None or predicted is None or published == 0:
        return None
    return (predicted / published - 1) * 100


def median(values: list[float]) -> float | None:
    """Return the median; None for an empty list."""
    return statistics.median(values) if values else None
