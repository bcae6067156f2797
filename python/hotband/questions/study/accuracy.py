"""Errors by class of figure: figures seen while the models were built, and figures predicted before they were seen.
Pure functions of a result's figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.inference.interval.figureclass import PERCENTILES, RATES, FigureClass

if TYPE_CHECKING:
    from hotband.data.documents.study import ClassErrorsDoc, CoverageDoc, ErrorsDoc, GoalDoc, ListedFigureDoc

RATES_AND_TIMES = "rates and times"
ALL = "all"
LISTED = tuple(entry for entry in FigureClass if entry is not FigureClass.OTHER)
"""The classes with sums, in the order of the tables."""


def errors(values: Iterable[float | None]) -> ErrorsDoc:
    """Return statistics of absolute errors (percent), without None. Percentiles are interpolated linearly."""
    sizes = np.abs([value for value in values if value is not None])
    if not sizes.size:
        return {"measurements": 0, "median_pct": None, "p90_pct": None, "largest_pct": None}
    median, p90 = np.quantile(sizes, [0.5, 0.9])
    return {
        "measurements": int(sizes.size),
        "median_pct": float(median),
        "p90_pct": float(p90),
        "largest_pct": float(sizes.max()),
    }


def coverage(rows: Sequence[ListedFigureDoc]) -> CoverageDoc | None:
    """Count the published figures inside the interval of their prediction; None if no prediction has one."""
    known = [(row["published"], interval) for row in rows if (interval := row["interval"]) is not None]
    compared = [(value, interval) for value, interval in known if value is not None]
    if not compared:
        return None
    return {
        "intervals": len(compared),
        "inside": sum(interval["low"] <= value <= interval["high"] for value, interval in compared),
    }


def of_class(name: str, rows: Sequence[ListedFigureDoc]) -> ClassErrorsDoc:
    """Return the errors of the figures that count, those of blind predictions separately from those of seen figures."""
    known = [row for row in rows if row["counted"] and row["error_pct"] is not None]
    blind = [row for row in known if row["blind"] is not None]
    return {
        "figure_class": name,
        "seen": errors(row["error_pct"] for row in known if row["blind"] is None),
        "blind": errors(row["blind"]["error_pct"] for row in blind if row["blind"] is not None),
        "now": errors(row["error_pct"] for row in blind),
        "coverage": coverage(known),
    }


def by_class(figures: Sequence[ListedFigureDoc]) -> list[ClassErrorsDoc]:
    """Return the errors of each class that has any."""
    class_errors = [of_class(name, [row for row in figures if row["figure_class"] == name]) for name in LISTED]
    return [row for row in class_errors if row["seen"]["measurements"] or row["now"]["measurements"]]


def totals(studies: Mapping[str, Sequence[ListedFigureDoc]]) -> list[ClassErrorsDoc]:
    """Return the errors of each class over all studies, and last of rates and times together."""
    every = [row for rows in studies.values() for row in rows]
    together = [row for row in every if row["figure_class"] in (*RATES, FigureClass.TIME)]
    return [*by_class(every), of_class(RATES_AND_TIMES, together)]


GOALS: tuple[tuple[str, tuple[FigureClass, ...], str, float], ...] = (
    (RATES_AND_TIMES, (*RATES, FigureClass.TIME), "median", 10.0),
    (RATES_AND_TIMES, (*RATES, FigureClass.TIME), "90th percentile", 25.0),
    *((str(entry), (entry,), "median", 20.0) for entry in PERCENTILES if entry is not FigureClass.P999),
    (str(FigureClass.P999), (FigureClass.P999,), "median", 35.0),
    (str(FigureClass.AMPLIFICATION), (FigureClass.AMPLIFICATION,), "largest", 30.0),
)
"""Goals for seen and released figures together (issue H): name, classes, statistic of their errors, percent."""


def goals(studies: Mapping[str, Sequence[ListedFigureDoc]]) -> list[GoalDoc]:
    """Return the goals with the errors that were reached."""
    every = [row for rows in studies.values() for row in rows if row["counted"]]
    reached: list[GoalDoc] = []
    for name, classes, statistic, most in GOALS:
        error_sizes = errors(row["error_pct"] for row in every if row["figure_class"] in classes)
        value = {
            "median": error_sizes["median_pct"],
            "90th percentile": error_sizes["p90_pct"],
            "largest": error_sizes["largest_pct"],
        }[statistic]
        reached.append(
            {
                "figures": name,
                "measurements": error_sizes["measurements"],
                "statistic": statistic,
                "most_pct": most,
                "reached_pct": value,
                "holds": None if value is None else value <= most,
            }
        )
    return reached
