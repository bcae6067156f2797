"""Distribution of a range: the nominal value of the catalog is the likeliest, and its range is complete.

A number has a triangle over its range with the peak at the nominal value, over the logarithm where the range spans a
factor of two or more: "0.05 to 0.2 ms" makes half the value as likely as double. A value that is not a number (a
policy, a list) is nominal with probability 2/3; the other ends share the remaining third. Both are stated, not
observed: no population of these values has been measured.

Left out: that a source may know a value better than its range says, and all correlation but that of
`uncertain.TOGETHER`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import hotband._core as _core

if TYPE_CHECKING:
    from hotband.execution.experiment.ranges import Range

NUMBER = re.compile(r"([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)\s*([A-Za-z%/]*)")
LOG_FROM = 2.0
"""Ranges from this factor on are drawn over the logarithm: below it the two shapes differ by less than a twentieth of
the range."""
NOMINAL_SHARE = 2 / 3
"""Probability of the nominal choice among two or three. A judgement, as the choice itself is."""
NOMINAL = "as it is"
"""Name of an unchanged choice: runs keep their value."""
SECTOR = 512
"""Sizes that are drawn are whole sectors, if they are larger than one."""
SCALES = {
    "size": ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"),
    "time": ("ns", "us", "ms", "s", "min", "h", "d"),
    "rate": ("B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s"),
}


@dataclass(frozen=True)
class Distribution:
    """The distribution of one value. For numbers, `low`, `nominal` and `high` are in `unit`; for a choice they are
    positions in `texts`, which holds the choices, NOMINAL in the middle."""

    kind: str
    low: float
    nominal: float
    high: float
    unit: str = ""
    is_whole: bool = False
    texts: tuple[Any, ...] = ()
    nominal_text: str = ""

    def at(self, share: float) -> Any:
        """Return the value that a share (0 to 1) of all draws do not exceed: of a number its text, of a choice
        itself."""
        if self.kind == "choice":
            return self.texts[self._chosen(share)]
        return self._text(self._back(_triangular(share, *(self._forth(x) for x in self._ends))))

    def place(self, share: float) -> float:
        """Return where the same value lies between the ends: -1 is the low one, 0 the nominal value, 1 the high one."""
        if self.kind == "choice":
            return float((-1, 0, 1)[self._chosen(share)])
        low, nominal, high = (self._forth(x) for x in self._ends)
        drawn = _triangular(share, low, nominal, high)
        side = low if drawn < nominal else high
        return 0.0 if side == nominal else (drawn - nominal) / abs(side - nominal)

    def describe(self) -> str:
        """Return the distribution in words."""
        if self.kind == "choice":
            others = " or ".join(dict.fromkeys(str(self.texts[n]) for n in self._others))
            return f"nominal, or {others} in one case of three"
        over = " of the logarithm" if self.kind == "log-triangular" else ""
        return f"triangle{over} from {self._text(self.low)} to {self._text(self.high)}, peak at the nominal value"

    @property
    def _ends(self) -> tuple[float, float, float]:
        return self.low, self.nominal, self.high

    def _forth(self, value: float) -> float:
        return math.log(value) if self.kind == "log-triangular" else value

    def _back(self, value: float) -> float:
        return math.exp(value) if self.kind == "log-triangular" else value

    def _chosen(self, share: float) -> int:
        """Low end, nominal or high end; an end that is the nominal one is not another."""
        each = (1 - NOMINAL_SHARE) / len(self._others)
        if 0 in self._others and share < each:
            return 0
        return 2 if 2 in self._others and share >= 1 - each else 1

    @property
    def _others(self) -> list[int]:
        """Ends of a choice that differ from the nominal value."""
        return [end for end in (0, 2) if str(self.texts[end]) != self.nominal_text]

    def _text(self, value: float) -> Any:
        if self.is_whole:
            text = str(round(value))
        elif self.unit in SCALES["size"]:
            size = value * _core.quantity("size", f"1 {self.unit}")
            return f"{round(size / SECTOR) * SECTOR if size > SECTOR else round(size)} B"
        else:
            text = f"{value:.6g}"
        return f"{text} {self.unit}".strip()


def distribution_of(of: Range, *, is_choice: bool = False) -> Distribution | None:
    """Return the distribution of a range; None if it has no width. Numbers are a choice if they are called one
    (`is_choice`), if all are sizes that are powers of two, or if the nominal one is unknown or lies outside."""
    texts = [str(text) for text in (of.low, of.nominal, of.high)]
    found = [one for one in map(_number, texts) if one is not None]
    numbers = _in_one_unit(found) if len(found) == len(texts) and not is_choice else None
    if numbers is not None and _are_steps(found):
        numbers = None
    if numbers is not None and numbers[0] <= numbers[1] <= numbers[2]:
        low, nominal, high = numbers
        whole = not found[1][1] and all(re.fullmatch(r"[-+0-9_]+", text.strip()) for text in texts)
        kind = "log-triangular" if low > 0 and high / low >= LOG_FROM else "triangular"
        return Distribution(kind, low, nominal, high, found[1][1], whole) if low < high else None
    if texts[0] == texts[2] == texts[1]:
        return None
    # The nominal value of a study's assumption may be words for what its runs have.
    return Distribution("choice", 0, 1, 2, texts=(of.low, NOMINAL, of.high), nominal_text=of.nominal)


def _are_steps(found: list[tuple[float, str]]) -> bool:
    """Return whether all are sizes that are powers of two: pages, blocks and granules are made in such steps."""
    if any(unit not in SCALES["size"] for _, unit in found):
        return False
    sizes = [value * _core.quantity("size", f"1 {unit}") for value, unit in found]
    return all(size >= 1 and math.log2(size).is_integer() for size in sizes)


def _number(text: str) -> tuple[float, str] | None:
    found = NUMBER.fullmatch(text.strip())
    return None if found is None else (float(found[1].replace("_", "")), found[2])


def _in_one_unit(numbers: list[tuple[float, str]]) -> list[float] | None:
    """Return the numbers in the unit of the middle one; None if they are of different kinds."""
    unit = numbers[1][1]
    kind = next((name for name, units in SCALES.items() if unit in units), None)
    if all(one == unit for _, one in numbers):
        return [value for value, _ in numbers]
    if kind is None or any(one not in SCALES[kind] for _, one in numbers):
        return None
    base = _core.quantity(kind, f"1 {unit}")
    return [value * _core.quantity(kind, f"1 {one}") / base for value, one in numbers]


def _triangular(share: float, low: float, nominal: float, high: float) -> float:
    """Return the quantile function of the triangle."""
    width = high - low
    below = (nominal - low) / width
    if share < below:
        return low + math.sqrt(share * width * (nominal - low))
    return high - math.sqrt((1 - share) * width * (high - nominal))
