"""Layout of a sweep: the parameter along the axis, those of the lines, and those of separate charts.

A line is a machine (or a workload, if those differ). The axis has the parameter of the load, else the numeric one with
the most values; every combination of the others is a panel, a separate chart. A sweep of one machine has a line for
each panel instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from hotband.data.inputs.specify import setting
from hotband.data.inputs.values import ENDINGS, Value
from hotband.data.results.sweep_rows import REQUESTED, REQUESTED_TRANSACTIONS, Row
from hotband.questions.sweeps.frames import groups_of, names_of, numbers_of
from hotband.questions.sweeps.plan import NOT_SET
from hotband.questions.sweeps.sweep import Sweep
from hotband.views.sweeps.separated import Seeds, pool

T = TypeVar("T")
TITLES = {
    "qd": "queue depth",
    "depth": "depth of a thread",
    "bs": "block size",
    "read_pct": "reads (%)",
    "random_pct": "random (%)",
    "rate_iops": "requested rate",
    "think": "think time",
}
"""Titles of axes whose key alone is unclear."""
LOADS = ("qd", "depth", "threads", "clients", "rate_iops")
"""Keys of the load, along which rates saturate."""
MOST_LINES = 8
"""Most panels of a one-machine sweep that become lines of one chart: as many as there are colours."""
LOG_FROM = 8.0
"""Ratio of largest to smallest value from which an axis with even ratios is logarithmic."""


@dataclass(frozen=True)
class Along:
    """The parameter along the axis: its key, its values as given with their numbers, in numeric order, and whether they
    double."""

    key: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...]
    is_log: bool

    @property
    def title(self) -> str:
        """Return the name in a sentence."""
        return TITLES.get(self.key, self.key)


Ends = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Dot:
    """A point of a curve: its number along the axis (0 without one) and its text, figures by the names of their
    columns, and for each its values over seeds and the drawn range (`ends`)."""

    x: float
    text: str
    figures: Mapping[str, float]
    seeds: Mapping[str, Seeds]
    ends: Ends


Curve = list[Dot]


class Curves:
    """The curves of a sweep by panel and line, in the order of its grid."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        names = list(sweep.points[0]) if sweep.points else []
        self.values = {name: _distinct([at[name] for at in sweep.points]) for name in names}
        varied = [name for name, values in self.values.items() if len(values) > 1 and name != "seed"]
        self.swept = [name for name in varied if name not in NOT_SET]
        self.along = self._along()
        self._named = [name for name in varied if name in ("target", "workload")]
        self.panel_keys = [name for name in self.swept if self.along is None or name != self.along.key]
        several = len(_distinct([self._label(at, self.panel_keys) for at in sweep.points]))
        self.lines_are_panels = not self._named and 1 < several <= MOST_LINES
        if self.lines_are_panels:
            self._named, self.panel_keys = self.panel_keys, []

    def _along(self) -> Along | None:
        numbers = {name: numbers_of(self.values[name]) for name in self.swept}
        known = [name for name in self.swept if numbers[name] is not None]
        if not known:
            return None
        key = max(known, key=lambda name: (name in LOADS, len(self.values[name])))
        kind, found = numbers[key] or ("", [])
        scale = ENDINGS[kind][1] if kind else 1.0
        pairs = sorted(zip(found, self.values[key], strict=True))
        places = tuple(number * scale for number, _ in pairs)
        return Along(key, tuple(str(value) for _, value in pairs), places, _doubles(places))

    def _label(self, at: Mapping[str, Value], names: Sequence[str]) -> str:
        """Return the coordinates with some names; settings are preceded by their names."""
        return ", ".join(str(at[name]) if name in NOT_SET else f"{name} {_shown(at[name])}" for name in names)

    @property
    def along_title(self) -> str:
        """Return the name of the axis's parameter in a sentence; empty without one."""
        return "" if self.along is None else self.along.title

    @property
    def line_title(self) -> str:
        """Return the title of a line."""
        names = {"target": "machine"}
        return ", ".join(names.get(name, TITLES.get(name, name)) for name in self._named) or "machine"

    @property
    def lines_grow(self) -> bool:
        """Return whether lines are numbers, such as block sizes: their colours go from dark to light."""
        return self.lines_are_panels and len(self._named) == 1 and numbers_of(self.values[self._named[0]]) is not None

    @property
    def lines(self) -> list[str]:
        """Return the names of lines, in the order of the grid."""
        return _distinct([self._line(at) for at in self.sweep.points])

    def _line(self, at: Mapping[str, Value]) -> str:
        return self._label(at, self._named) or str(at.get("target", "all"))

    @cached_property
    def panels(self) -> dict[str, dict[str, Curve]]:
        """Return curves by panel (the empty text if there is one) and line, each in the order of the axis."""
        panels: dict[str, dict[str, Curve]] = {}
        along = None if self.along is None else self.along.key
        position = {} if self.along is None else dict(zip(self.along.texts, self.along.numbers, strict=True))
        names, groups = names_of(self.sweep), groups_of(self.sweep)
        samples = [{name: _known(name, group) for name in names} for group in groups]
        pooled = {name: pool(sample[name] for sample in samples) for name in names}
        for row, values in zip(self.sweep.means.iter_rows(named=True), samples, strict=True):
            text = "" if along is None else _text(row[along], self.values[along])
            figures = {name: row[name] for name in names if row[name] is not None}
            seeds = {name: Seeds(values[name], pooled[name]) for name in figures}
            spread = {name: figure for name in figures if (figure := _ends(row, name, "")) is not None}
            predicted = {name: figure for name in figures if (figure := _ends(row, name, "_interval")) is not None}
            at = {name: row[name] for name in self.values if name != "seed"}
            panel = panels.setdefault(self._label(at, self.panel_keys), {})
            panel.setdefault(self._line(at), []).append(
                Dot(position.get(text, 0.0), text, figures, seeds, predicted or spread)
            )
        for panel in panels.values():
            for curve in panel.values():
                curve.sort(key=lambda dot: dot.x)
        return panels

    @cached_property
    def missed(self) -> set[tuple[str, str]]:
        """Pairs of a line and a value along the axis at which one of its runs missed the requested rate."""
        along = "" if self.along is None else self.along.key
        return {
            (self._line(at), str(at[along]))
            for at, row in zip(self.sweep.points, self.sweep.rows, strict=True)
            if along in at and row is not None and row.figures.keys() & {REQUESTED, REQUESTED_TRANSACTIONS}
        }

    @property
    def has_ends(self) -> bool:
        """Return whether points have error bars."""
        return any(dot.ends for panel in self.panels.values() for curve in panel.values() for dot in curve)

    @property
    def of_ends(self) -> str:
        """Return the meaning of the error bars."""
        if self.sweep.level is not None:
            return f"Bars are {self.sweep.level:g} % intervals of the predictions."
        seeds = len(self.values.get("seed", []))
        bars = f"Bars are 95 % t intervals of the mean of {seeds} seeds"
        return f"{bars}; machines are compared by the spread over all points."

    def every(self, read: Callable[[Dot], float | None]) -> list[float]:
        """Return a value of every point."""
        dots = (dot for panel in self.panels.values() for curve in panel.values() for dot in curve)
        return [value for dot in dots if (value := read(dot)) is not None]


def _shown(value: Value) -> str:
    """Return a setting as the frame has it: truth values are on and off."""
    return setting("", value) if isinstance(value, bool) else str(value)


def _text(value: Value, values: Sequence[Value]) -> str:
    """Return a value of a column as it was given: a column with whole numbers and others stores them as floats."""
    return next((str(item) for item in values if item == value or str(item) == str(value)), str(value))


def _ends(row: Mapping[str, float | None], name: str, ending: str) -> tuple[float, float] | None:
    """Return the interval of a figure, if it has one: that of its mean, or of its prediction (`_interval`)."""
    low, high = row.get(f"{name}{ending}_low"), row.get(f"{name}{ending}_high")
    return None if low is None or high is None else (low, high)


def _known(name: str, group: Sequence[tuple[object, Row]]) -> tuple[float, ...]:
    """Return the known values of a figure at one point, one per seed."""
    return tuple(value for _, row in group if (value := row.figures.get(name)) is not None)


def _distinct(values: Sequence[T]) -> list[T]:
    """Return each value once; 1 and True are different values."""
    return list({repr(value): value for value in values}.values())


def _doubles(numbers: Sequence[float]) -> bool:
    """Return whether sorted numbers increase by factors rather than by steps."""
    if len(numbers) < 3 or numbers[0] <= 0 or numbers[-1] / numbers[0] < LOG_FROM:
        return False
    steps = [b - a for a, b in pairwise(numbers)]
    return steps[-1] > 2 * steps[0]
