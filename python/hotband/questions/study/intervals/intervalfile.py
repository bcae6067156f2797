"""The effect of a study's uncertain values on its figures, as the study ships it: `intervals.json`.

The file stores every line of the study with the digest of its runs, so that a second call runs only changed lines, and
the prediction of every figure, so that a reader notices a changed model. Intervals themselves are not in it: they
combine these spreads with the model error (`residuals`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.regular import file_text
from hotband.data.record.stats import same_figures
from hotband.inference.interval.conformal import FigureSpread
from hotband.inference.interval.uncertain import Uncertain
from hotband.questions.study.intervals.lines import LineResult

INTERVALS_FILE = "intervals.json"


@dataclass(frozen=True)
class Value:
    """One uncertain value as sampled; `places` has its position in each sample (-1 low end, 0 nominal, 1 high end)."""

    key: str
    part: str
    nominal: str
    low: str
    high: str
    distribution: str
    source: str
    confidence: str
    group: str
    places: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, uncertain: Uncertain, places: Sequence[float] = ()) -> Value:
        """Convert a value of the plan."""
        return cls(
            uncertain.range.key,
            uncertain.part,
            uncertain.range.nominal,
            str(uncertain.range.low),
            str(uncertain.range.high),
            uncertain.distribution.describe(),
            uncertain.source,
            uncertain.confidence,
            uncertain.group,
            [round(position, 4) for position in places],
        )

    def is_as(self, other: Value) -> bool:
        """Return whether it has the same range, distribution and group as another."""
        return (self.low, self.nominal, self.high, self.distribution, self.group) == (
            other.low,
            other.nominal,
            other.high,
            other.distribution,
            other.group,
        )


@dataclass
class IntervalFile:
    """The file of a study: its values, the results of each line, and the spread of each figure by its id."""

    study: str
    seed: str
    command: str
    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, LineResult] = field(default_factory=dict)
    figures: dict[str, FigureSpread] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file's text, sorted by name: it does not depend on the order of the runs."""
        ordered = asdict(self)
        for part in ("values", "lines", "figures"):
            ordered[part] = dict(sorted(ordered[part].items()))
        return _compact(ordered)

    def is_stale(self, predicted: Mapping[str, float | None]) -> bool:
        """Return whether the model's predictions have changed."""
        stored = {name: spread.predicted for name, spread in self.figures.items() if name in predicted}
        return not same_figures(stored, predicted)

    def changed(self, values: Mapping[str, Uncertain]) -> list[str]:
        """Return the names of values that have changed, are new or are gone."""
        new = {
            name
            for name, value in values.items()
            if name not in self.values or not self.values[name].is_as(Value.of(value))
        }
        return sorted(new | (set(self.values) - set(values)))


def _compact(document: object) -> str:
    """Format JSON with a line for each figure, value and set of runs: small, with readable line differences."""

    def written(node: object, depth: int) -> str:
        if isinstance(node, dict) and depth < 3 and node:
            inner = ",\n".join(
                f"{' ' * (depth + 1)}{json.dumps(key, ensure_ascii=False)}: {written(item, depth + 1)}"
                for key, item in node.items()
            )
            return "{\n" + inner + "\n" + " " * depth + "}"
        return json.dumps(node, ensure_ascii=False, separators=(", ", ": "))

    return written(document, 0) + "\n"


def read_intervals(path: Path) -> IntervalFile | None:
    """Read a study's file; None if there is none. Raises UserError for a damaged file."""
    if not path.is_file():
        return None
    try:
        table = json.loads(file_text(path))
        values = {name: Value(**row) for name, row in table.pop("values").items()}
        lines = {name: LineResult(**row) for name, row in table.pop("lines").items()}
        figures = {name: FigureSpread(**row) for name, row in table.pop("figures").items()}
        intervals = IntervalFile(**table, values=values, lines=lines, figures=figures)
        for spread in figures.values():
            _check_numbers((spread.low, spread.high, spread.seed, spread.unexplained))
        return intervals
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise UserError(str(path), "", "", f"is not a file of intervals; remove it or run again: {error}") from None


def _check_numbers(numbers: Sequence[float]) -> None:
    if any(not isinstance(number, int | float) or not 0 <= number < float("inf") for number in numbers):
        raise ValueError("a spread is no number from 0 on")
