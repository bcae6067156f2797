"""The points of the front with their intervals; of the finalists the machine's uncertain values are drawn.

Most points have what the models leave out alone (`hotband.interval.conformal`): no run more is needed. The values of
the finalists are drawn besides, of disks on the whole array, of solid-state drives on one drive under its part of the
load: what a value does to a drive it does to the array's.

What it leaves out: the part of the load that one drive has is that of the I/Os, without what parity and copies add.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hotband.advise.advice import Between, Point
from hotband.advise.candidates import worst_loss
from hotband.advise.front import Tried, shown_figure
from hotband.advise.small import can_share, shared
from hotband.errors import UserError
from hotband.experiment import Experiment
from hotband.experiment import Point as RunPoint
from hotband.find.answer_interval import nearest_name
from hotband.interval.conformal import Spread
from hotband.interval.of_record import intervals_of, kinds_of
from hotband.interval.of_run import Asked as IntervalsAsked
from hotband.interval.residuals import model_term
from hotband.runs.run import RunSpec

if TYPE_CHECKING:
    from hotband.advise.asked import Asked, Needs
    from hotband.advise.measure import Bench, Key, Measured
    from hotband.find.figures import Figure
    from hotband.interval.documents import ShareDoc

FAILED_IOS = 6_000
"""Measured I/Os of a run with a drive failed: 60 are beyond the 99th percentile."""


def point_of(tried: Tried, needs: Needs, level: float) -> Point:
    """A candidate as a point, its latency with what the models leave out."""
    of, candidate = shown_figure(needs), tried.candidate
    static, value, worst = candidate.static, tried.latency(of)[0], tried.worst(of)
    low, high = _model_bounds(tried.measured[worst], of, level)
    watts = tried.watts
    loss = static.loss
    point = Point(
        tried.name, candidate.machine, candidate.drive.name, candidate.layout, candidate.count, candidate.cache,
        candidate.settings, static.usable_bytes,
        None if static.cost is None else Between(*static.cost),
        None if watts is None else Between(*watts),
        Between(value, value * low, value * high),
        None if static.rebuild is None or math.isinf(static.rebuild) else Between(static.rebuild, static.rebuild),
        None if loss is None else Between(loss, static.loss_low, worst_loss(candidate, 0.0, needs.years)),
        tried.life,
        {name: one.figures[of] for name, one in tried.measured.items() if of in one.figures},
        worst,
    )  # fmt: skip
    return replace(point, surely=holds_within(point, tried, needs, low, high))


def holds_within(point: Point, tried: Tried, needs: Needs, low: float, high: float) -> bool:
    """Whether the conditions hold at the worse end, too: every latency that many times as long, rates as much lower."""
    for one in tried.measured.values():
        for condition in needs.slo:
            value = one.figures.get(condition.figure)
            if value is None:
                continue
            if condition.is_goal and value * low < condition.bound and one.kept_up >= 1.0 and _is_open(one):
                continue  # what is offered is answered: the rate is the load's, not the machine's
            if condition.is_goal and value * low < condition.bound:
                return False
            if not condition.is_goal and value * high >= condition.bound:
                return False
    watts = point.watts
    return needs.watts is None or watts is None or watts.high is None or watts.high <= needs.watts


def _is_open(one: Measured) -> bool:
    return "concurrency" not in one.finished.record or not one.finished.record["concurrency"]


def _model_bounds(measured: Measured, of: Figure, level: float) -> tuple[float, float]:
    """By how much a latency may be lower and higher, as factors, of what the models leave out."""
    name = nearest_name(of) if of.percentile is not None else of.document_name
    spec = measured.finished.spec
    kind = kinds_of(spec, measured.finished, [name])[name]
    low, high = model_term().bounds(kind, Spread(), level)
    return math.exp(low), math.exp(high)


def with_failures(
    points: Sequence[Point], tried: dict[str, Tried], needs: Needs, failed: dict[Key, Measured]
) -> list[Point]:
    """Points with what runs with a drive failed say: the latency then, and how long a rebuild beside the loads takes,
    which is the upper end of its time and goes into that of the chance of loss."""
    of = shown_figure(needs)
    found = []
    for point in points:
        runs = [failed[point.name, name] for name in point.latencies if (point.name, name) in failed]
        if runs:
            degraded = max(one.figures.get(of, 0.0) for one in runs)
            hours = [one for one in (_rebuild_hours(run) for run in runs) if one is not None]
            point = replace(point, degraded=degraded)
            if hours and point.rebuild is not None:
                longest = max(point.rebuild.value, *hours)
                worst = worst_loss(tried[point.name].candidate, longest, needs.years)
                point = replace(point, rebuild=replace(point.rebuild, high=longest))
                if point.loss is not None:
                    point = replace(point, loss=replace(point.loss, high=worst))
        found.append(point)
    return found


def _rebuild_hours(measured: Measured) -> float | None:
    """How long the rebuild that was under way would take at the rate that it had; None where there was none."""
    repair = measured.finished.record.get("repair")
    for one in repair["rebuilds"] if repair else []:
        rate = one["mean_bytes_per_s"]
        if rate:
            return float(one["of_bytes"]) / float(rate) / 3600.0
    return None


@dataclass
class Finalist:
    """A point whose values were drawn: by how much its latency may be lower and higher, and what each value does."""

    point: Point
    values: list[ShareDoc]
    of_model: float


def drawn(point: Point, tried: Tried, needs: Needs, asked: Asked, bench: Bench) -> Finalist:
    """A finalist: the interval of its worst latency from draws, and where it comes from. Raises UserError,
    RunsInterrupted."""
    of = shown_figure(needs)
    name = nearest_name(of) if of.percentile is not None else of.document_name
    measured = tried.measured[point.worst]
    spec, whole = measured.finished.spec, measured.finished
    if tried.candidate.drive.is_flash:
        spec = _one_drive(tried, point.worst, bench)
        with bench.watch("one drive of it") as tick:
            whole = (
                Experiment([RunPoint(spec)]).run(executor=bench.executor, jobs=bench.jobs, progress=tick).finished[0]
            )
    document, whys = intervals_of(
        replace(spec, after=""),
        whole,
        IntervalsAsked(asked.level, asked.draws),
        asked.jobs,
        lambda _: None,
        bench.watch,
    )
    bench.runs, bench.ios = bench.runs + document["runs"], bench.ios + document["ios"]
    figure = next(one for one in document["figures"] if one["figure"] == name)
    why = next(one for one in whys if one["figure"] == name)
    low, high = figure["low"] / figure["predicted"], figure["high"] / figure["predicted"]
    value = point.latency.value
    surely = holds_within(point, tried, needs, low, high)
    made = replace(point, latency=Between(value, value * low, value * high), interval_from="draws", surely=surely)
    return Finalist(made, why["values"], why["of_model"])


def _one_drive(tried: Tried, workload: str, bench: Bench) -> RunSpec:
    """One solid-state drive of an array under its part of a load, written over at a fraction of its size."""
    candidate, load = tried.candidate, bench.loads[workload]
    if not can_share(load):
        raise UserError("WORKLOAD", "", workload, "is of a program or a trace, which cannot be divided between drives")
    text = shared(load, float(candidate.count)).with_ios(tried.ios).text()
    spec = RunSpec(
        f"one of {candidate.name}", candidate.drive.name, workload, candidate.settings, bench.seed, workload_text=text,
        in_use=True,
    )  # fmt: skip
    scale = bench.scale(spec, candidate.drive.name)
    return spec if scale is None else replace(spec, set=(*spec.set, ("scale", scale)))
