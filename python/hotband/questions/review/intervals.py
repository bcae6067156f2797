"""The intervals of a review and of a comparison: every figure of the documents beside the same one of all draws.

A figure is known by its key: a rate, a time or a ratio. To the spread of draws and seeds comes what the model leaves
out, as for a run (docs/guides/intervals.md). The mean time of a closed loop is the inverse of its rate, and of its
class.

What it leaves out: the longest access, which is one I/O; ends that are of a range already; how much less the mean of a
group may be off than each of its figures (the errors of one machine go together).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from hotband.inference.interval.conformal import ARRAYS, POOLS, Kind, Spread
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.of_run import Asked, system_of
from hotband.inference.interval.residuals import model_term
from hotband.questions.review.draws import RANGES, Drawn, Draws
from hotband.questions.review.suite import PARTS
from hotband.questions.review.summary import compare

if TYPE_CHECKING:
    from hotband.data.documents.interval import BoundsDoc
    from hotband.data.documents.review import ComparisonDoc, ReviewDoc, ReviewIntervalsDoc

Place = tuple[str | int, ...]
"""Keys that lead to a figure."""
Logs = tuple[float, float]
"""Ends of an interval as log-ratios to the figure."""

PERCENTILES = {"p50_ns": FigureClass.P50, "p99_ns": FigureClass.P99}
SEQUENTIAL = ("linear", "block_sizes", "streams", "streaming", "sequential", "blocks")
"""Parts and groups whose I/Os are in order of address."""
RATES = ("iops", "mean", "geometric_mean", "overall")
RATIOS = "ratios"
INTERVALS = "intervals"


class Moved(NamedTuple):
    """How far draws and seeds move a figure: as a standard deviation, and at the most."""

    spread: Spread
    farthest: Spread


def add(reviews: Sequence[ReviewDoc], drawn: Sequence[Drawn], draws: Draws, asked: Asked) -> None:
    """Puts intervals into reviews, each beside its documents of all draws; not where something is not modelled."""
    term = model_term()
    for review, machine, one in zip(reviews, draws.machines, drawn, strict=True):
        if review.get("unmodelled"):
            review["notes"].append("no intervals: no study says how far off what is not modelled is")
            continue
        system = system_of(machine.specs[0])
        spreads = spreads_of(_part(review), list(map(_part, one.draws)), list(map(_part, one.seeds)))
        found = {
            place: term.bounds(Kind(class_of(place), system), moved.spread, asked.level, moved.farthest)
            for place, moved in spreads.items()
        }
        groups = [logs for place, logs in found.items() if place[0] == "summary"]
        if groups:
            # Of units that differ: the mean of its groups, as the figure itself is.
            found["overall",] = (fmean(low for low, _ in groups), fmean(high for _, high in groups))
        whole: ReviewIntervalsDoc = {
            "level": float(asked.level),
            "draws": len(one.draws),
            "refused": draws.refused,
            "runs": len(draws.again) * len(machine.specs),
            "ios": one.ios,
            "values": draws.names_of(machine),
            "notes": draws.notes,
        }
        review["intervals"] = whole
        _attach(review, found)


def add_to_comparison(comparison: ComparisonDoc, drawn: Sequence[Drawn], draws: Draws, asked: Asked) -> None:
    """Puts intervals of its ratios into a comparison: of each draw the machines are compared as they are."""
    term = model_term()
    pools = any(system_of(machine.specs[0]) == POOLS for machine in draws.machines)
    kind = Kind(FigureClass.GAIN, POOLS if pools else ARRAYS)
    compared = [compare(list(reviews)) for reviews in zip(*(one.draws for one in drawn), strict=True)]
    seeds = [compare(list(reviews)) for reviews in zip(*(one.seeds for one in drawn), strict=True)]
    spreads = spreads_of(_ratios(comparison), list(map(_ratios, compared)), list(map(_ratios, seeds)))
    found = {
        # The first machine is as fast as itself.
        place: term.bounds(kind, moved.spread, asked.level, moved.farthest)
        for place, moved in spreads.items()
        if place[-1] != comparison["baseline"]
    }
    comparison["intervals"] = {"level": float(asked.level), "draws": len(compared)}
    _attach(comparison, found)


def spreads_of(
    nominal: Mapping[str, object], draws: Sequence[Mapping[str, object]], seeds: Sequence[Mapping[str, object]]
) -> dict[Place, Moved]:
    """How far draws and seeds move every figure of a document, from documents of the same shape."""
    base = figures_of(nominal)
    drawn, chance = list(map(figures_of, draws)), list(map(figures_of, seeds))
    found = {}
    for place, value in base.items():
        by_seed = [0.0, *_log_ratios(place, value, chance)]
        seed = stdev(by_seed) if len(by_seed) > 1 else 0.0
        logs = _log_ratios(place, value, drawn)
        found[place] = Moved(Spread.of(logs, seed), Spread.farthest(logs, seed))
    return found


def _log_ratios(place: Place, value: float, documents: Sequence[Mapping[Place, float]]) -> list[float]:
    return [math.log(document[place] / value) for document in documents if place in document]


def figures_of(node: object, place: Place = ()) -> dict[Place, float]:
    """Every figure of a document that is above zero, by its place."""
    found: dict[Place, float] = {}
    for key, value in _items(node):
        if not is_figure(key):
            found |= figures_of(value, (*place, key))
            continue
        for name, number in value.items() if isinstance(value, dict) else [("", value)]:
            if isinstance(number, int | float) and number > 0:
                found[(*place, key, name) if name else (*place, key)] = float(number)
    return found


def _items(node: object) -> Iterator[tuple[str | int, Any]]:
    """What an object or a list has; groups by their names, because one that has no figures is left out."""
    if isinstance(node, dict):
        yield from ((key, value) for key, value in node.items() if key != INTERVALS)
    elif isinstance(node, list):
        yield from ((row.get("group", n) if isinstance(row, dict) else n, row) for n, row in enumerate(node))


def is_figure(key: str | int) -> bool:
    """Whether a key is that of a rate, a time or a ratio."""
    if isinstance(key, int) or key.startswith(("low_", "high_", "max_")):
        return False
    return key in (*RATES, RATIOS) or key.endswith(("_per_s", "_ns"))


def class_of(place: Place) -> FigureClass:
    """The class of a figure of a review."""
    key = next(str(key) for key in place if is_figure(key))
    percentile = next((found for end, found in PERCENTILES.items() if key.endswith(end)), None)
    names = place[:2] if place[0] == "summary" else place[:1]
    rate = FigureClass.SEQUENTIAL if names[-1] in SEQUENTIAL else FigureClass.RANDOM
    return percentile or rate


def _part(review: ReviewDoc) -> dict[str, object]:
    """What has intervals of a review."""
    parts = [name.replace("-", "_") for name in PARTS if name not in RANGES]
    return {key: value for key, value in review.items() if key in (*parts, "summary", "overall")}


def _ratios(comparison: ComparisonDoc) -> dict[str, object]:
    return {key: value for key, value in comparison.items() if key in ("groups", "overall")}


def _attach(document: Any, found: Mapping[Place, Logs]) -> None:
    """Puts intervals into the objects that have the figures, under the same keys."""
    for place, (low, high) in found.items():
        at = next(number for number, key in enumerate(place) if is_figure(key))
        holder: Any = document
        for key in place[:at]:
            holder = _item(holder, key)
        value: Any = holder
        own: Any = holder.setdefault(INTERVALS, {})
        for key in place[at:-1]:
            value, own = value[key], own.setdefault(key, {})
        value = value[place[-1]]
        bounds: BoundsDoc = {"low": value * math.exp(low), "high": value * math.exp(high)}
        own[place[-1]] = bounds


def _item(node: Any, key: str | int) -> Any:
    """An item of an object, or of a list by its number or group."""
    if isinstance(node, list) and isinstance(key, str):
        return next(row for row in node if row["group"] == key)
    return node[key]
