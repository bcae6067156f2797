"""Evidence of the interval of a run's figure: families of the corpus, figures of the studies, or nothing.

Drives of a machine that are all disks, or all solid-state drives, have the error that the corpus shows for such drives
under each drive's part of the load. Drives of an array are of one model, so their errors are shared: the array is as
uncertain as one of them. Studies speak for programs, for pools, for disks that a study ran, and for other disks as long
as their interval is narrower and holds the corpus' disks as well, because the corpus seldom states which part of a disk
was accessed. Everything else was never checked and has no interval.

Left out: the error of a layout itself, and the reads that parity adds to the writes of each drive.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted
from hotband.data.corpus.figure import USER
from hotband.data.corpus.loads import SPEEDS, Load, class_of
from hotband.data.record.unmodelled import why_no_interval
from hotband.inference.corpus.conformal import WIDEST, Pools, Residual, Width
from hotband.inference.corpus.known import known_pools
from hotband.inference.corpus.residuals import at_of, groups_of
from hotband.inference.corpus.shared_errors import width_of
from hotband.inference.interval.conformal import NO_LIMIT, Kind, ModelTerm, Spread
from hotband.inference.interval.of_corpus import METRICS, Basis, Subject, subject_of
from hotband.inference.interval.of_run import class_of_figure, rate_class, system_of
from hotband.inference.interval.residuals import model_term

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec

ALMOST_CLOSED = 0.99
"""Share of the outstanding I/Os of a closed loop that are outstanding on average without think time."""
UNCHECKED = "no interval: no similar figure was ever checked"
NO_SPREAD = Spread()
SLACK = 0.04
"""Tolerance between the share of families inside and the level, as for coverage (docs/accuracy.md)."""


def kinds_of(spec: RunSpec, record: RecordDoc, names: Sequence[str]) -> dict[str, Kind]:
    """Return the kind of each figure of a run, as the studies count them."""
    rate = rate_class(spec)
    outstanding, asked = record["summary"]["queue_depth_mean"], record.get("concurrency")
    is_closed = bool(asked and outstanding and outstanding >= ALMOST_CLOSED * asked)
    system = system_of(spec)
    return {name: Kind(class_of_figure(name, rate, is_closed), system) for name in names}


def bases_of(spec: RunSpec, record: RecordDoc, level: float) -> dict[str, Basis]:
    """Return what the interval of each figure of a run rests on, by its name without a direction.

    Raises UserError for a machine or a workload that cannot be read.
    """
    why_none = why_no_interval(record)
    if why_none is not None:
        return dict.fromkeys(METRICS, Basis(why_none, is_checked=False))
    subject = subject_of(spec, record["summary"]["queue_depth_mean"])
    kinds, pools = kinds_of(spec, record, list(METRICS)), known_pools()
    return {name: _basis(metric, kinds[name], subject, level, pools) for name, metric in METRICS.items()}


def bounds_of(
    basis: Basis, kind: Kind, level: float, spread: Spread = NO_SPREAD, farthest: Spread = NO_LIMIT
) -> tuple[float, float]:
    """Return the log-ratios of measured over predicted between which a figure lies, by its evidence; `spread` and
    `farthest` are what samples make of a figure that rests on studies."""
    if basis.width is not None:
        return basis.width.ends
    return model_term().bounds(kind, spread, level, farthest)


@cache
def _basis(metric: str, kind: Kind, subject: Subject, level: float, pools: Pools) -> Basis:
    term, groups = model_term(), _groups(metric, subject)
    at = at_of(subject.load) if subject.load and groups else None
    known = tuple(pools.of_line(subject.line, groups, at.pattern)) if at else ()
    if (subject.load is None or (subject.is_studied and not known)) and term.is_exercised(kind):
        return _of_studies(term, kind)
    if not groups:
        return Basis(UNCHECKED, is_checked=False)
    width = _width(metric, subject, known, pools, level)
    if subject.kind == "disk":
        ends = term.bounds(kind, NO_SPREAD, level)
        is_wider = width is None or math.log(width.factor) > ends[1]
        evidence = [_by_family(groups, pools), *([_of_one(known)] if known else [])]
        if is_wider and all(_share_inside(each, ends, metric) >= level / 100 - SLACK for each in evidence):
            return _of_studies(term, kind)
    if width is not None:
        return Basis(width.words, width)
    families = len(_by_family(groups, pools))
    if not families:
        return Basis(UNCHECKED, is_checked=False)
    unprinted = _width(metric, subject, known, pools, level, widest=math.inf)
    words = f"no interval: errors of {families} families like it exceed a factor of {WIDEST:g}"
    return Basis(words, unprinted=unprinted)


def _width(
    metric: str, subject: Subject, known: Sequence[Residual], pools: Pools, level: float, widest: float = WIDEST
) -> Width | None:
    """Return the interval by the corpus, and by the figures of the product line that are known in the same class."""
    groups, load = _groups(metric, subject), subject.load
    if load is None or not known:
        return pools.width(groups, level / 100, widest=widest)
    return width_of(pools, groups, metric, at_of(load), known, tester=USER, share=level / 100, widest=widest)


def _groups(metric: str, subject: Subject) -> tuple[str, ...]:
    """Return the groups of the corpus that a figure belongs to, the narrowest first: those of any load where the corpus
    has none like it, and no group without drives of one kind."""
    if subject.kind is None:
        return ()
    load = subject.load
    example = load or Load(subject.kind, "mix", 50.0, True, 4096, 1, 1, "unknown", "")
    groups = groups_of(class_of(metric, example), example, metric)
    # Sequential mixes are of the class of streams, but hardly anybody measured them.
    return groups if load is not None and (load.random or load.direction != "mix") else groups[-2:]


@cache
def _by_family(groups: tuple[str, ...], pools: Pools) -> dict[str, list[float]]:
    """Return the residuals of the narrowest group that has any of this kind of device, by family."""
    *narrow, of_device, _ = groups
    for group in (*narrow, of_device):
        families: dict[str, list[float]] = defaultdict(list)
        for residual in pools.residuals:
            if group in residual.groups and of_device in residual.groups:
                families[residual.family].append(residual.value)
        if families:
            return families
    return {}


def _of_one(residuals: Sequence[Residual]) -> dict[str, list[float]]:
    """Return the residuals of one product line by family."""
    return {residuals[0].family: [residual.value for residual in residuals]}


def _share_inside(families: Mapping[str, Sequence[float]], ends: tuple[float, float], metric: str) -> float:
    """Return the share of figures between these ends, each family with the weight one; 0 without any."""
    # A residual is of predicted over measured speed, an end of the measured over the predicted value of a metric.
    low, high = ends if metric in SPEEDS else (-ends[1], -ends[0])
    shares = [sum(low <= -value <= high for value in values) / len(values) for values in families.values()]
    return sum(shares) / len(shares) if shares else 0.0


def _of_studies(term: ModelTerm, kind: Kind) -> Basis:
    pool = term.pool(kind)
    studies = {residual.study for residual in pool.residuals}
    figures = {(residual.study, residual.machine, residual.figure) for residual in pool.residuals}
    studied = f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}"
    return Basis(f"from {counted(len(figures), 'figure')} of {studied}: {pool.name}", is_of_studies=True)
