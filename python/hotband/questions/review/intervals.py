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


def add(reviews: Sequence[ReviewDoc], drawn: Sequence[Drawn], draws: Draws, request: Asked) -> None:
    """Puts intervals into reviews, each beside its documents of all draws; not where something is not modelled."""
    term = model_term()
    for review, machine, drawn_machine in zip(reviews, draws.machines, drawn, strict=True):
        if review.get("unmodelled"):
            review["notes"].append("no intervals: no study says how far off what is not modelled is")
            continue
        system = system_of(machine.specs[0])
        spreads = spreads_of(
            _part(review), list(map(_part, drawn_machine.draws)), list(map(_part, drawn_machine.seeds))
        )
        bounds = {
            key: term.bounds(Kind(class_of(key), system), moved.spread, request.level, moved.farthest)
            for key, moved in spreads.items()
        }
        groups = [logs for key, logs in bounds.items() if key[0] == "summary"]
        if groups:
            # Of units that differ: the mean of its groups, as the figure itself is.
            bounds["overall",] = (fmean(low for low, _ in groups), fmean(high for _, high in groups))
        whole: ReviewIntervalsDoc = {
            "level": float(request.level),
            "draws": len(drawn_machine.draws),
            "refused": draws.refused,
            "runs": len(draws.again) * len(machine.specs),
            "ios": drawn_machine.ios,
            "values": draws.names_of(machine),
            "notes": draws.notes,
        }
        review["intervals"] = whole
        _attach(review, bounds)


def add_to_comparison(comparison: ComparisonDoc, drawn: Sequence[Drawn], draws: Draws, request: Asked) -> None:
    """Puts intervals of its ratios into a comparison: of each draw the machines are compared as they are."""
    term = model_term()
    pools = any(system_of(machine.specs[0]) == POOLS for machine in draws.machines)
    kind = Kind(FigureClass.GAIN, POOLS if pools else ARRAYS)
    compared = [
        compare(list(reviews)) for reviews in zip(*(drawn_machine.draws for drawn_machine in drawn), strict=True)
    ]
    seeds = [compare(list(reviews)) for reviews in zip(*(drawn_machine.seeds for drawn_machine in drawn), strict=True)]
    spreads = spreads_of(_ratios(comparison), list(map(_ratios, compared)), list(map(_ratios, seeds)))
    bounds = {
        # The first machine is as fast as itself.
        key: term.bounds(kind, moved.spread, request.level, moved.farthest)
        for key, moved in spreads.items()
        if key[-1] != comparison["baseline"]
    }
    comparison["intervals"] = {"level": float(request.level), "draws": len(compared)}
    _attach(comparison, bounds)


def spreads_of(
    nominal: Mapping[str, object], draws: Sequence[Mapping[str, object]], seeds: Sequence[Mapping[str, object]]
) -> dict[Place, Moved]:
    """How far draws and seeds move every figure of a document, from documents of the same shape."""
    base = figures_of(nominal)
    drawn, chance = list(map(figures_of, draws)), list(map(figures_of, seeds))
    moves = {}
    for path, value in base.items():
        by_seed = [0.0, *_log_ratios(path, value, chance)]
        seed = stdev(by_seed) if len(by_seed) > 1 else 0.0
        logs = _log_ratios(path, value, drawn)
        moves[path] = Moved(Spread.of(logs, seed), Spread.farthest(logs, seed))
    return moves


def _log_ratios(path: Place, value: float, documents: Sequence[Mapping[Place, float]]) -> list[float]:
    return [math.log(document[path] / value) for document in documents if path in document]


def figures_of(node: object, path: Place = ()) -> dict[Place, float]:
    """Every figure of a document that is above zero, by its place."""
    figures: dict[Place, float] = {}
    for key, value in _items(node):
        if not is_figure(key):
            figures |= figures_of(value, (*path, key))
            continue
        for name, number in value.items() if isinstance(value, dict) else [("", value)]:
            if isinstance(number, int | float) and number > 0:
                figures[(*path, key, name) if name else (*path, key)] = float(number)
    return figures


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


def class_of(path: Place) -> FigureClass:
    """The class of a figure of a review."""
    key = next(str(key) for key in path if is_figure(key))
    percentile = next((percentile_class for end, percentile_class in PERCENTILES.items() if key.endswith(end)), None)
    names = path[:2] if path[0] == "summary" else path[:1]
    rate = FigureClass.SEQUENTIAL if names[-1] in SEQUENTIAL else FigureClass.RANDOM
    return percentile or rate


def _part(review: ReviewDoc) -> dict[str, object]:
    """What has intervals of a review."""
    parts = [name.replace("-", "_") for name in PARTS if name not in RANGES]
    return {key: value for key, value in review.items() if key in (*parts, "summary", "overall")}


def _ratios(comparison: ComparisonDoc) -> dict[str, object]:
    return {key: value for key, value in comparison.items() if key in ("groups", "overall")}


def _attach(document: Any, bounds_of: Mapping[Place, Logs]) -> None:
    """Puts intervals into the objects that have the figures, under the same keys."""
    for path, (low, high) in bounds_of.items():
        at = next(number for number, key in enumerate(path) if is_figure(key))
        holder: Any = document
        for key in path[:at]:
            holder = _item(holder, key)
        value: Any = holder
        target: Any = holder.setdefault(INTERVALS, {})
        for key in path[at:-1]:
            value, target = value[key], target.setdefault(key, {})
        value = value[path[-1]]
        bounds: BoundsDoc = {"low": value * math.exp(low), "high": value * math.exp(high)}
        target[path[-1]] = bounds


def _item(node: Any, key: str | int) -> Any:
    """An item of an object, or of a list by its number or group."""
    if isinstance(node, list) and isinstance(key, str):
        return next(row for row in node if row["group"] == key)
    return node[key]
