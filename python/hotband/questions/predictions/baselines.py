"""Predictions without a model: the rating of the data sheet, the median of the class, the nearest family."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import Load
from hotband.questions.datasheet.learned import Evidence, features
from hotband.questions.datasheet.lines import Answers

THREAD_RATE = 280e3
"""Most I/Os per second that one thread submits (README of the corpus)."""
Row = tuple[Figure, Load]
Baseline = Callable[[Figure, Load], float | None]
TIMES = ("lat_mean", "lat_p50")


def _bucket(load: Load) -> tuple[object, ...]:
    """Return the properties that two loads must share to count as the same load at the same depth."""
    return (
        *(load.kind, load.direction, load.random, load.sync, load.part, load.block, load.of_flush, load.rate),
        *(round(math.log2(load.depth)), load.state if load.direction != "read" else ""),
    )


def of_rating(stated_of: Callable[[Figure], Answers]) -> Baseline:
    """Return the baseline of the rating of a figure's data sheet for a load, as a rate or as the time of a single I/O;
    `stated_of` returns the lines of the sheet."""

    def baseline(figure: Figure, load: Load) -> float | None:
        line = rating_line(load)
        if line is None or load.sync or figure.side or figure.metric.startswith("lat_p9"):
            return None
        value = stated_of(figure).get(line)
        if not isinstance(value, float):
            return None
        rate = 1.0 / value if line.endswith("latency") else value / load.block if "bandwidth" in line else value
        rate = min(rate, THREAD_RATE * load.threads)
        if figure.metric == "iops":
            return rate
        return rate * load.block / 1e6 if figure.metric == "mb_s" else load.depth / rate * 1e6

    return baseline


def rating_line(load: Load) -> str | None:
    """Return the line of a data sheet that rates a load."""
    if load.direction == "mix":
        return None
    if not load.random:
        streams = {"beyond": "write-bandwidth-after-cache"}
        return "bandwidth" if load.kind == "disk" else streams.get(load.part, f"{load.direction}-bandwidth")
    if load.kind == "disk":
        return "read-iops" if load.direction == "read" and load.depth > 1 else None
    if load.depth == 1:
        return f"{load.direction}-latency"
    if load.direction == "read":
        return "read-iops"
    return "write-iops" if load.state == "steady" else "write-iops-burst"


def of_class(rows: Sequence[Row]) -> Baseline:
    """Return the baseline of the median of the other families of a class at the same load and depth."""
    values: dict[tuple[object, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for figure, load in rows:
        for name in (figure.device_class, load.kind):
            values[name, figure.metric, figure.side, _bucket(load)][figure.family].append(figure.middle)

    def baseline(figure: Figure, load: Load) -> float | None:
        for name in (figure.device_class, load.kind):
            families = values[name, figure.metric, figure.side, _bucket(load)]
            others = [median(those) for family, those in families.items() if family != figure.family]
            if others:
                return median(others)
        return None

    return baseline


def of_nearest(rows: Sequence[Row], evidence: Mapping[str, Evidence]) -> Baseline:
    """Return the baseline of the family whose data sheet is nearest, at the same load and depth."""
    values: dict[tuple[object, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for figure, load in rows:
        values[figure.metric, figure.side, _bucket(load)][figure.family].append(figure.middle)

    def baseline(figure: Figure, load: Load) -> float | None:
        sheet = evidence.get(figure.family)
        families = values[figure.metric, figure.side, _bucket(load)]
        others = [family for family in families if family != figure.family and family in evidence]
        if sheet is None or not others:
            return None
        return median(families[min(others, key=lambda family: _distance(sheet, evidence[family]))])

    return baseline


def _distance(first: Evidence, second: Evidence) -> float:
    """Return the distance of two data sheets: by their features, and by the ratings that both state."""
    these, those = (features(sheet.kind, sheet.stated) for sheet in (first, second))
    apart = sum(abs(these.get(name, 0.0) - those.get(name, 0.0)) for name in {*these, *those})
    for line in ("read-iops", "write-iops", "write-iops-burst", "read-bandwidth", "write-bandwidth", "rpm"):
        pair = [sheet.stated.get(line) for sheet in (first, second)]
        if all(isinstance(value, float) and value > 0 for value in pair):
            apart += abs(math.log(float(pair[0] or 1) / float(pair[1] or 1)))
    return apart
