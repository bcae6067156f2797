"""How large errors are, by class of figure: of what was seen while the models were built, and of what was predicted
before it was seen. Pure functions of a result's figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.inference.interval.figureclass import PERCENTILES, RATES, FigureClass

if TYPE_CHECKING:
    from hotband.data.documents.study import ClassErrorsDoc, CoverageDoc, ErrorsDoc, GoalDoc, ListedFigureDoc

RATES_AND_TIMES = "rates and times"
ALL = "all"
LISTED = tuple(one for one in FigureClass if one is not FigureClass.OTHER)
"""The classes that are summed up, in the order of the tables."""


def errors(values: Iterable[float | None]) -> ErrorsDoc:
    """Sizes of errors; None is no error. Percentiles are taken linearly between two measurements."""
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
    """How many published figures lie inside the interval of their prediction; None where none has one."""
    known = [(row["published"], found) for row in rows if (found := row["interval"]) is not None]
    compared = [(value, found) for value, found in known if value is not None]
    if not compared:
        return None
    return {"intervals": len(compared), "inside": sum(one["low"] <= value <= one["high"] for value, one in compared)}


def of_class(name: str, rows: Sequence[ListedFigureDoc]) -> ClassErrorsDoc:
    """The errors of some figures, those that count: what was predicted blind apart from what was seen."""
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
    """The errors of each class that has any."""
    found = [of_class(one, [row for row in figures if row["figure_class"] == one]) for one in LISTED]
    return [one for one in found if one["seen"]["measurements"] or one["now"]["measurements"]]


def totals(studies: Mapping[str, Sequence[ListedFigureDoc]]) -> list[ClassErrorsDoc]:
    """The same over all studies, and at last rates and times together."""
    every = [row for rows in studies.values() for row in rows]
    together = [row for row in every if row["figure_class"] in (*RATES, FigureClass.TIME)]
    return [*by_class(every), of_class(RATES_AND_TIMES, together)]


GOALS: tuple[tuple[str, tuple[FigureClass, ...], str, float], ...] = (
    (RATES_AND_TIMES, (*RATES, FigureClass.TIME), "median", 10.0),
    (RATES_AND_TIMES, (*RATES, FigureClass.TIME), "90th percentile", 25.0),
    *((str(one), (one,), "median", 20.0) for one in PERCENTILES if one is not FigureClass.P999),
    (str(FigureClass.P999), (FigureClass.P999,), "median", 35.0),
    (str(FigureClass.AMPLIFICATION), (FigureClass.AMPLIFICATION,), "largest", 30.0),
)
"""What is to be reached by figures seen and released together (issue H): classes, which error of them, percent."""


def goals(studies: Mapping[str, Sequence[ListedFigureDoc]]) -> list[GoalDoc]:
    """What is to be reached beside what is."""
    every = [row for rows in studies.values() for row in rows if row["counted"]]
    reached: list[GoalDoc] = []
    for name, classes, statistic, most in GOALS:
        found = errors(row["error_pct"] for row in every if row["figure_class"] in classes)
        value = {
            "median": found["median_pct"],
            "90th percentile": found["p90_pct"],
            "largest": found["largest_pct"],
        }[statistic]
        reached.append(
            {
                "figures": name,
                "measurements": found["measurements"],
                "statistic": statistic,
                "most_pct": most,
                "reached_pct": value,
                "holds": None if value is None else value <= most,
            }
        )
    return reached
