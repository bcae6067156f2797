"""What a study's uncertain values do to its figures, as it ships it: `intervals.json`.

The file keeps every line of the study with the digest of its runs, so that a second call runs only what has changed,
and of every figure the prediction that it was made for, so that a reader sees when the model has changed since.
Intervals themselves are not in it: they are made of these spreads and of what the model leaves out (`residuals`).
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
    """One uncertain value as it was drawn; `places` has where each draw had it (-1 low end, 0 nominal, 1 high end)."""

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
    def of(cls, one: Uncertain, places: Sequence[float] = ()) -> Value:
        """From a value of the plan."""
        return cls(
            one.range.key,
            one.part,
            one.range.nominal,
            str(one.range.low),
            str(one.range.high),
            one.distribution.describe(),
            one.source,
            one.confidence,
            one.group,
            [round(place, 4) for place in places],
        )

    def is_as(self, other: Value) -> bool:
        """Whether it is drawn as another one."""
        return (self.low, self.nominal, self.high, self.distribution, self.group) == (
            other.low,
            other.nominal,
            other.high,
            other.distribution,
            other.group,
        )


@dataclass
class IntervalFile:
    """All of a study: its values, what was run of each line, and the spread of each figure by its id."""

    study: str
    seed: str
    command: str
    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, LineResult] = field(default_factory=dict)
    figures: dict[str, FigureSpread] = field(default_factory=dict)

    def text(self) -> str:
        """The file, by name: the order of the runs leaves no trace."""
        ordered = asdict(self)
        for part in ("values", "lines", "figures"):
            ordered[part] = dict(sorted(ordered[part].items()))
        return _compact(ordered)

    def is_stale(self, predicted: Mapping[str, float | None]) -> bool:
        """Whether the model predicts something else now."""
        kept = {name: one.predicted for name, one in self.figures.items() if name in predicted}
        return not same_figures(kept, predicted)

    def changed(self, values: Mapping[str, Uncertain]) -> list[str]:
        """Names of values that are drawn otherwise now, or that are new or gone."""
        new = {
            name
            for name, one in values.items()
            if name not in self.values or not self.values[name].is_as(Value.of(one))
        }
        return sorted(new | (set(self.values) - set(values)))


def _compact(document: object) -> str:
    """JSON with a line for each figure, value and set of runs: small, and differences are told line by line."""

    def written(of: object, depth: int) -> str:
        if isinstance(of, dict) and depth < 3 and of:
            inner = ",\n".join(
                f"{' ' * (depth + 1)}{json.dumps(key, ensure_ascii=False)}: {written(one, depth + 1)}"
                for key, one in of.items()
            )
            return "{\n" + inner + "\n" + " " * depth + "}"
        return json.dumps(of, ensure_ascii=False, separators=(", ", ": "))

    return written(document, 0) + "\n"


def read_intervals(path: Path) -> IntervalFile | None:
    """Reads a study's file, None where there is none. Raises UserError for what is no such file."""
    if not path.is_file():
        return None
    try:
        table = json.loads(file_text(path))
        values = {name: Value(**one) for name, one in table.pop("values").items()}
        lines = {name: LineResult(**one) for name, one in table.pop("lines").items()}
        figures = {name: FigureSpread(**one) for name, one in table.pop("figures").items()}
        found = IntervalFile(**table, values=values, lines=lines, figures=figures)
        for one in figures.values():
            _check_numbers((one.low, one.high, one.seed, one.unexplained))
        return found
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(str(path), "", "", f"no file of intervals, remove it or run again: {error}") from None


def _check_numbers(numbers: Sequence[float]) -> None:
    if any(not isinstance(number, int | float) or not 0 <= number < float("inf") for number in numbers):
        raise ValueError("a spread is no number from 0 on")
