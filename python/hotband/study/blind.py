"""Figures that were predicted before they were seen: how far those predictions were off, by study.

`catalog/studies/released.csv` has a row a figure: published value, the prediction made while the value was withheld
(`blind`), its error, and the commit that made it (`blind_of`). Errors are never
recomputed: a later model has seen them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

import numpy as np

from hotband.catalog import CATALOG_DIR

TABLE = CATALOG_DIR / "studies" / "released.csv"
ALL = "all"


@dataclass(frozen=True)
class Blind:
    """One figure: its study, whether its load is random, and the error of its blind prediction in percent."""

    study: str
    is_random: bool
    error_pct: float


@dataclass(frozen=True)
class BlindErrors:
    """Absolute errors of the rates of some figures, in percent: how many, the median and the 90th percentile."""

    study: str
    load: str
    figures: int
    median_pct: float
    p90_pct: float


@cache
def blind_rates() -> tuple[Blind, ...]:
    """The rates (IOPS) that were predicted blind."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["unit"] == "IOPS" and row["blind_error_pct"]]
    return tuple(
        Blind(row["study"], "sequential" not in row["workload"], float(row["blind_error_pct"])) for row in rows
    )


def blind_errors() -> list[BlindErrors]:
    """By study and kind of load, and at last all random loads together."""
    rates = blind_rates()
    groups = dict.fromkeys((rate.study, rate.is_random) for rate in rates)
    found = [_errors(study, of, [r for r in rates if (r.study, r.is_random) == (study, of)]) for study, of in groups]
    return [*found, _errors(ALL, True, [rate for rate in rates if rate.is_random])]


def _errors(study: str, is_random: bool, rates: list[Blind]) -> BlindErrors:
    sizes = np.abs([rate.error_pct for rate in rates])
    median, p90 = np.quantile(sizes, [0.5, 0.9])
    return BlindErrors(study, "random" if is_random else "sequential", len(rates), float(median), float(p90))
