"""The points of the Pareto front with their intervals, and samples of the finalists' uncertain values.

Most points have an interval from model error alone (`hotband.inference.interval.conformal`), which needs no further
run. The finalists' values are also sampled: those of disks on the whole array, those of solid-state drives on one drive
under its part of the load, because a value changes the drive as it changes the array.

Left out: the part of the load on one drive is its share of the I/Os, without the additional I/Os for parity and copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from hotband.base.text.quantities import size_bytes
from hotband.data.documents.record import figures_of
from hotband.data.documents.run import RunSpec
from hotband.data.record.durability import is_protected
from hotband.data.record.record import record_of
from hotband.execution.experiment import Experiment
from hotband.execution.experiment import Point as RunPoint
from hotband.inference.interval.basis import bases_of, bounds_of, kinds_of
from hotband.inference.interval.ceiling import MEAN, above_means, capped, room_of
from hotband.inference.interval.of_corpus import Basis
from hotband.inference.interval.of_record import explained_intervals_of, figure_of, is_inverse, outside_of
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.questions.advise.advice import Between, Point
from hotband.questions.advise.candidates import worst_loss
from hotband.questions.advise.front import Tried, shown_figure
from hotband.questions.advise.small import can_share, shared
from hotband.questions.find.answer_interval import nearest_name

if TYPE_CHECKING:
    from hotband.data.documents.interval import ShareDoc
    from hotband.questions.advise.asked import AdviseQuestion, Needs
    from hotband.questions.advise.measure import Bench, Key, Measured
    from hotband.questions.find.figures import Figure

Bounds = Callable[["Measured", "Figure"], tuple[float, float]]
"""Returns by how much a metric of a run may be lower and higher, as factors."""
RATE = "iops"
"""The metric whose error stands for that of commits."""
UNKNOWN = (0.0, math.inf)
"""Factors of a metric with an unknown error."""
LARGEST_DRAWN = 16e9
"""Most bytes of a sampled solid-state drive, at its model size: it can be preconditioned about 80 times in a minute of
two cores. Drives of more than 16 TB are larger."""
FAILED_IOS = 6_000
"""Measured I/Os of a run with a drive failed: 60 are beyond the 99th percentile."""


def point_of(tried: Tried, needs: Needs, level: float) -> Point:
    """Return a candidate as a point; the interval of its latency is from model error."""
    of, candidate = shown_figure(needs), tried.candidate
    static, value, worst = candidate.static, tried.latency(of)[0], tried.worst(of)
    bounds = partial(model_bounds, level=level)
    basis, figures = _basis_of(tried.measured[worst], of, level), {of, *(condition.figure for condition in needs.slo)}
    watts = tried.watts
    loss = static.loss
    point = Point(
        tried.name, candidate.machine, candidate.drive.name, candidate.layout, candidate.count, candidate.cache,
        candidate.settings, static.usable_bytes,
        None if static.cost is None else Between(*static.cost),
        None if watts is None else Between(*watts),
        _between(value, bounds(tried.measured[worst], of) if basis.has_interval else UNKNOWN),
        None if static.rebuild is None or math.isinf(static.rebuild) else Between(static.rebuild, static.rebuild),
        None if loss is None else Between(loss, static.loss_low, worst_loss(candidate, 0.0, needs.years)),
        tried.life,
        {name: item.figures[of] for name, item in tried.measured.items() if of in item.figures},
        worst,
    )  # fmt: skip
    return replace(
        point,
        rests_on=basis.words,
        is_protected=_is_protected(tried),
        is_checked=all(
            _basis_of(run, figure, level).is_checked for run in tried.measured.values() for figure in figures
        ),
        interval_from="corpus" if basis.width else "model",
        surely=holds_within(tried, needs, bounds) and _is_within_power(needs, point.watts),
    )


def contradictions_of(point: Point, tried: Tried, needs: Needs, level: float) -> list[str]:
    """Return a note if figures of the product contradict the latency of a point: it lies outside its interval."""
    worst = tried.measured[point.worst]
    figure, latency = shown_figure(needs), point.latency
    if latency.low is None or latency.high is None:
        return []
    bases = bases_of(worst.finished.spec, worst.finished.record, level)
    return outside_of({_name_of(figure): (latency.value, latency.low, latency.high)}, bases)


def _is_protected(tried: Tried) -> bool | None:
    """Return whether acknowledged writes survive a power failure under all loads with syncs; None without such."""
    known = [is_protected(run.finished.record) for run in tried.measured.values()]
    return None if all(each is None for each in known) else False not in known


def holds_within(tried: Tried, needs: Needs, bounds: Bounds, *, better: bool = False) -> bool:
    """Return whether the conditions hold at the worse end of every metric's interval, or at the `better` end, which
    figures of a product may move off the prediction. An offered rate that the machine sustains is exact: the load
    determines it."""
    for measured in tried.measured.values():
        for condition in needs.slo:
            value = measured.figures.get(condition.figure)
            if value is None or (condition.is_goal and measured.is_open):
                continue
            low, high = bounds(measured, condition.figure)
            if not condition.holds(value * (high if condition.is_goal == better else low)):
                return False
    return True


def _is_within_power(needs: Needs, watts: Between | None) -> bool:
    """Return whether the drives keep the limit of power at the end of the catalog's ranges."""
    return needs.watts is None or watts is None or watts.high is None or watts.high <= needs.watts


def model_bounds(measured: Measured, figure: Figure, level: float) -> tuple[float, float]:
    """Return by how much a metric may be lower and higher, as factors, by model error; a tail's interval does not end
    below that of the mean."""
    if _is_flushed(measured, figure):
        # A commit takes as much longer as the rate of synchronous writes is lower.
        low, high = _factors(measured, RATE, level)
        return (0.0 if math.isinf(high) else 1 / high), (math.inf if low == 0 else 1 / low)
    name, summary = _name_of(figure), measured.finished.record["summary"]
    side, dot, _ = name.rpartition(".")
    figures = cast("Mapping[str, float | None]", (figures_of(summary, side) if side else summary) or {})
    factors = {each: _factors(measured, each, level) for each in (name, f"{side}{dot}{MEAN}")}
    predicted = {each: value for each in factors if (value := figures.get(figure_of(each)))}
    ends = {
        each: (value * factors[each][0], value * factors[each][1])
        for each, value in predicted.items()
        if factors[each] != UNKNOWN
    }
    if name not in ends:
        return factors[name]
    low, high = above_means(predicted, ends)[name]
    return low / predicted[name], high / predicted[name]


def _is_flushed(measured: Measured, figure: Figure) -> bool:
    """Return whether a metric of a run contains the time of flushes."""
    return "flush" in measured.finished.record["summary"] and figure.is_flushed(record_of(measured.finished))


def _factors(measured: Measured, name: str, level: float) -> tuple[float, float]:
    """Return by how much a figure alone may be lower and higher, as factors, by model error."""
    spec, record = measured.finished.spec, measured.finished.record
    basis = bases_of(spec, record, level)[figure_of(name)]
    if not basis.has_interval and basis.unprinted is None:
        return UNKNOWN
    kind = kinds_of(spec, record, [name])[name]
    ends = bounds_of(basis, kind, level) if basis.unprinted is None else basis.unprinted.ends
    low, high = capped(name, ends, room_of(spec, record), is_inverse=is_inverse(kind))
    return math.exp(low), math.exp(high)


def _name_of(figure: Figure) -> str:
    """Return the record's name of a metric, or of the nearest percentile that has intervals."""
    return nearest_name(figure) if figure.percentile is not None else figure.document_name


def _basis_of(measured: Measured, figure: Figure, level: float) -> Basis:
    """Return the evidence for the error of a run's metric; that of the rate for commits."""
    name = RATE if _is_flushed(measured, figure) else figure_of(_name_of(figure))
    return bases_of(measured.finished.spec, measured.finished.record, level)[name]


def _between(value: float, factors: tuple[float, float]) -> Between:
    """Return a metric with its interval; without ends if they are unknown."""
    low, high = factors
    return Between(value, value * low, value * high) if math.isfinite(high) else Between(value)


def with_failures(
    points: Sequence[Point], tried: dict[str, Tried], needs: Needs, failed: dict[Key, Measured]
) -> list[Point]:
    """Add the results of runs with a drive failed to points: the latency then, and the time of a rebuild next to the
    loads, which is the upper end of `rebuild` and enters that of `loss`."""
    figure = shown_figure(needs)
    updated = []
    for point in points:
        runs = [failed[point.name, name] for name in point.latencies if (point.name, name) in failed]
        if runs:
            degraded = max(run.figures.get(figure, 0.0) for run in runs)
            hours = [hour for hour in (_rebuild_hours(run) for run in runs) if hour is not None]
            point = replace(point, degraded=degraded)
            if hours and point.rebuild is not None:
                longest = max(point.rebuild.value, *hours)
                worst = worst_loss(tried[point.name].candidate, longest, needs.years)
                point = replace(point, rebuild=replace(point.rebuild, high=longest))
                if point.loss is not None:
                    point = replace(point, loss=replace(point.loss, high=worst))
        updated.append(point)
    return updated


def _rebuild_hours(measured: Measured) -> float | None:
    """Return the time of the rebuild that was under way, at its mean rate; None without a rebuild."""
    record = measured.finished.record
    if any(entry["what"] == "smr-rebuild" for entry in record.get("unmodelled", [])):
        return None
    repair = record.get("repair")
    for rebuild in repair["rebuilds"] if repair else []:
        rate = rebuild["mean_bytes_per_s"]
        if rate:
            return float(rebuild["of_bytes"]) / float(rate) / 3600.0
    return None


@dataclass
class Finalist:
    """A point whose values were sampled: its latency's interval, and the sensitivity to each value."""

    point: Point
    values: list[ShareDoc]
    of_model: float


def drawn(point: Point, tried: Tried, needs: Needs, question: AdviseQuestion, bench: Bench) -> Finalist:
    """Return a finalist: the interval of its worst latency from samples, and its sources of uncertainty. A point that
    cannot be sampled in about a minute stays unchanged. Raises UserError, RunsInterrupted."""
    shown = shown_figure(needs)
    name = _name_of(shown)
    measured = tried.measured[point.worst]
    is_flushed = _is_flushed(measured, shown)
    if is_flushed or not _basis_of(measured, shown, question.interval).is_of_studies:
        return Finalist(point, [], 1.0)
    spec, whole = measured.finished.spec, measured.finished
    if tried.candidate.drive.is_flash:
        one_drive = _one_drive(tried, point.worst, bench)
        if one_drive is None:
            return Finalist(point, [], 1.0)
        spec = one_drive
        with bench.watch("one drive of it") as tick:
            whole = Experiment([RunPoint(spec)]).run(jobs=bench.jobs, progress=tick).finished[0]
    wanted = IntervalsAsked(question.interval, question.draws)
    spec = replace(spec, after="")
    document, whys = explained_intervals_of(spec, whole, wanted, question.jobs, lambda _: None, bench.watch)
    bench.runs, bench.ios = bench.runs + document["runs"], bench.ios + document["ios"]
    # A load of reads only has no separate figures for reads: they are those of all I/Os.
    known = {entry["figure"]: entry for entry in document["figures"]}
    figure = known.get(name) or known[name.rpartition(".")[2]]
    why = next(explained for explained in whys if explained["figure"] == figure["figure"])
    low, high = figure["low"] / figure["predicted"], figure["high"] / figure["predicted"]
    value = point.latency.value

    def bounds(run: Measured, figure: Figure) -> tuple[float, float]:
        # Other metrics have an interval from model error alone.
        return (low, high) if figure == shown else model_bounds(run, figure, question.interval)

    surely = holds_within(tried, needs, bounds) and _is_within_power(needs, point.watts)
    made = replace(point, latency=Between(value, value * low, value * high), interval_from="draws", surely=surely)
    return Finalist(made, why["values"], why["of_model"])


def _one_drive(tried: Tried, workload: str, bench: Bench) -> RunSpec | None:
    """Return one solid-state drive of an array under its part of a load, preconditioned at a fraction of its size; None
    if the load cannot be divided, or if even that fraction is large."""
    candidate, load = tried.candidate, bench.loads[workload]
    if not can_share(load):
        return None
    text = shared(load, float(candidate.count)).with_ios(tried.ios).text()
    spec = RunSpec(
        f"one of {candidate.name}", candidate.drive.name, workload, candidate.settings, bench.seed, workload_text=text,
        in_use=True,
    )  # fmt: skip
    scale = bench.scale(spec, candidate.drive.name)
    size = size_bytes(candidate.drive.values["capacity"][0]) or 0.0
    if scale is None or size / int(scale) > LARGEST_DRAWN:
        return None
    return replace(spec, set=(*spec.set, ("scale", scale)))
