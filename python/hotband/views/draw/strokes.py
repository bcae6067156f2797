"""Colours and dashes of lines: one colour per run throughout a page, and dashes where lines coincide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotband.base.heavy import alt, pl
from hotband.views.draw.charts import DASHES, PALETTE

# Points closer than this share of an axis coincide: lines are 2 px wide, charts 190 to 330 px high.
NEAR = 0.02
# Number of steps along an axis at which lines are compared: a few pixels each.
PLACES = 200
# Lines coincide if at least this share of their common points does.
MOSTLY = 0.5


@dataclass(frozen=True)
class Strokes:
    """The colour of every run of a page. A chart looks up the colours of its lines, each of which belongs to a run."""

    colors: Mapping[str, str]

    @classmethod
    def of(cls, runs: Sequence[str], groups: Sequence[str] = ()) -> Strokes:
        """Return one colour per run, or per group of runs if `groups` has the group of each run."""
        keys = list(groups or runs)
        numbers = {group: n for n, group in enumerate(dict.fromkeys(keys))}
        colors = (PALETTE[numbers[group] % len(PALETTE)] for group in keys)
        return cls(dict(zip(runs, colors, strict=True)))

    def colors_of(self, runs: Sequence[str]) -> alt.Scale:
        """Return the colours of some runs."""
        return alt.Scale(domain=list(runs), range=[self.colors[run] for run in runs])

    def scales(self, rows: pl.DataFrame, x: str, y: str, log: bool = False) -> tuple[list[str], alt.Scale, alt.Scale]:
        """Return the lines of `rows` (run, line) in order, with their colours and dashes; `log` if the y axis is
        logarithmic."""
        runs = dict(rows.select("line", "run").unique(maintain_order=True).rows())
        # In drawing order: a line that coincides with an earlier one is dashed, so that both are visible.
        lines = list(runs)
        alone = len(set(runs.values())) == 1
        colors = [PALETTE[n % len(PALETTE)] if alone else self.colors[runs[line]] for n, line in enumerate(lines)]
        dashes = dashed(rows, x, y, lines, colors, log)
        return lines, alt.Scale(domain=lines, range=colors), alt.Scale(domain=lines, range=dashes)


def dashed(
    rows: pl.DataFrame, x: str, y: str, lines: Sequence[str], colors: Sequence[str], log: bool = False
) -> list[list[float]]:
    """Return the dashes of every line: solid, except for lines that coincide with an earlier one or share its
    colour."""
    width = (maximum(rows, x) - minimum(rows, x)) / PLACES or 1.0
    points: dict[str, dict[int, float]] = {line: {} for line in lines} | points_of(rows, x, y, width)
    if log:
        points = {
            line: {at: math.log(value) for at, value in line_points.items() if value > 0}
            for line, line_points in points.items()
        }
    values = [value for line_points in points.values() for value in line_points.values()]
    height = (max(values) - min(values)) if values else 0.0
    levels: list[int] = []
    for n, line in enumerate(lines):
        below = [
            levels[other]
            for other in range(n)
            if colors[other] == colors[n] or over(points[lines[other]], points[line], height)
        ]
        free = [level for level in range(len(DASHES)) if level not in below]
        levels.append(free[0] if free else len(below) % len(DASHES))
    return [list(DASHES[level]) for level in levels]


def minimum(rows: pl.DataFrame, x: str) -> float:
    """Return the smallest value of a numeric column; zero if it is empty."""
    return min((float(value) for value in rows[x].drop_nulls().to_list()), default=0.0)


def maximum(rows: pl.DataFrame, x: str) -> float:
    """Return the largest value of a numeric column; zero if it is empty."""
    return max((float(value) for value in rows[x].drop_nulls().to_list()), default=0.0)


def points_of(rows: pl.DataFrame, x: str, y: str, width: float) -> dict[str, dict[int, float]]:
    """Return the points of each line by position along the axis, in steps of a width: lines need not have points at the
    same positions."""
    points: dict[str, dict[int, float]] = {}
    for line, at, value in rows.select("line", x, y).drop_nulls().iter_rows():
        if math.isfinite(at) and math.isfinite(value):
            points.setdefault(line, {})[round(at / width)] = float(value)
    return points


def over(line: Mapping[int, float], other: Mapping[int, float], height: float) -> bool:
    """Return whether two lines coincide on an axis of this height."""
    common = [(line[at], other[at]) for at in line if at in other]
    return bool(common) and sum(abs(a - b) <= NEAR * height for a, b in common) >= MOSTLY * len(common)
