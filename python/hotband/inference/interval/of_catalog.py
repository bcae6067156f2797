"""Measurements of others on drives of the catalog, next to predictions that `make accuracy` makes once."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

import hotband._core as _core
from hotband.base.text.schema import to_doc
from hotband.base.text.values import Json
from hotband.data.catalog import CATALOG_DIR
from hotband.data.corpus import files
from hotband.data.corpus.figure import BASE_UNITS, USER, Figure
from hotband.data.corpus.files import all_figures
from hotband.data.corpus.loads import Load, class_of, load_of
from hotband.data.corpus.named import figures_of_family
from hotband.inference.corpus.known import known_pools
from hotband.inference.corpus.residuals import at_of, groups_of
from hotband.inference.corpus.shared_errors import width_of
from hotband.inference.interval.ceiling import room_below

SHIPPED_CATALOG = Path(files.__file__).parent / "catalog.csv"


@dataclass(frozen=True)
class MeasuredLoad:
    """Measurements of others on a drive of the catalog under one load, in the unit of its metric: an example, how many
    results there are, their median and ends, and the prediction with the 90 % interval of such predictions, which
    figures of the same product narrow and move."""

    example: Figure
    load: Load
    results: int
    measured: float
    low: float
    high: float
    predicted: float | None
    interval: tuple[float, float] | None
    rests_on: str

    def document(self) -> dict[str, Json]:
        """Return it as JSON."""
        figure = self.example
        load = {name: getattr(figure, name) for name in ("workload", "read_pct", "bs", "threads", "depth", "state")}
        return to_doc(
            self, without=("example", "load"), load=load, metric=figure.metric, unit=BASE_UNITS[figure.metric]
        )


def measured_on(drive: str, metrics: Sequence[str] = ("iops", "mb_s", "lat_p50", "lat_p99")) -> list[MeasuredLoad]:
    """Return what others measured on a drive of the catalog, a row for each load, side of a mix and metric."""
    grouped: dict[tuple[Load, str, str], list[Figure]] = defaultdict(list)
    for figure in figures_of_family(drive, None, all_figures()):
        load = load_of(figure)
        if isinstance(load, Load) and figure.metric in metrics:
            grouped[load, figure.side, figure.metric].append(figure)
    return [_measured(drive, load, figures) for (load, _, _), figures in grouped.items()]


def _measured(drive: str, load: Load, figures: Sequence[Figure]) -> MeasuredLoad:
    values, metric = [figure.middle for figure in figures], figures[0].metric
    predicted = next((known for each in figures if (known := catalog_predictions().get((drive, each.id)))), None)
    pools, groups, at = known_pools(), groups_of(class_of(metric, load), load, metric), at_of(load)
    of_line = pools.of_line(figures[0].family, groups, at.pattern)
    width = width_of(pools, groups, metric, at, of_line, tester=USER) if predicted else None
    ends, rests_on = None, ""
    if predicted and width:
        low_end, high_end = map(math.exp, width.ends)
        ends = (predicted * low_end, predicted * min(high_end, _room(drive, load, metric, predicted)))
        rests_on = width.words
    low, high = min(values), max(values)
    return MeasuredLoad(figures[0], load, len(values), median(values), low, high, predicted, ends, rests_on)


def _room(drive: str, load: Load, metric: str, predicted: float) -> float:
    """Return how many times as high a rate can be as predicted, by what port and media of the drive carry."""
    size = {"iops": float(load.block), "mb_s": 1e6}.get(metric)
    if size is None:
        return math.inf
    ceiling = _core.ceiling(CATALOG_DIR, drive, None, [], read_share=load.read_pct / 100, seconds=1.0)
    room = room_below(ceiling, predicted * size)
    return math.inf if room is None else math.exp(room)


@cache
def catalog_predictions() -> dict[tuple[str, str], float]:
    """Return predictions of the catalog's drives, by drive and the id of the measured figure."""
    with SHIPPED_CATALOG.open(encoding="utf-8", newline="") as file:
        return {(row["drive"], row["id"]): float(row["predicted"]) for row in csv.DictReader(file)}
