"""Compare a result with what others measured on drives of the same family under the same load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.text.numbers import between, counted
from hotband.base.text.schema import to_doc
from hotband.base.text.table import unit_of
from hotband.base.text.values import Json
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import Load, load_of
from hotband.inference.interval.of_corpus import METRICS, subject_of

if TYPE_CHECKING:
    from hotband.questions.expect.judge import Judged
    from hotband.questions.expect.predict import Predicted

IN_BASE_UNIT = {"iops": 1.0, "mb_s": 1e6}
"""Factors from a metric's unit in the corpus to its base unit; latencies are in microseconds and become nanoseconds."""
SAME = ("direction", "random", "block", "sync", "rate", "zipf", "part", "of_flush")
"""Keys that two loads must share to be compared, with the depth of closed loops."""
NEAR_PCT = 2.0
"""Percentage points of reads by which two mixes may differ."""


@dataclass(frozen=True)
class Others:
    """Others' measurements of a figure under the same load: their number, and their range (IOPS, bytes per second,
    ns)."""

    figure: str
    measured: float
    results: int
    sources: int
    low: float
    high: float

    @property
    def words(self) -> str:
        """The comparison: "8 results of its family by others: 412 to 488 IOPS; this one is below them"."""
        them = "it" if self.low == self.high else "them"
        where = f"below {them}" if self.measured < self.low else f"above {them}"
        if self.low <= self.measured <= self.high:
            where = "as high" if self.low == self.high else f"among {them}"
        ends = between(self.low, self.high, unit_of(self.figure).shown)
        return f"{counted(self.results, 'result')} of its family by others: {ends}; this one is {where}"

    def document(self) -> dict[str, Json]:
        """Return it as JSON."""
        return to_doc(self, words=self.words)


def others_of(prediction: Predicted, figures: Sequence[Figure]) -> list[Others]:
    """Return what others measured of each figure of a row; `figures` are of its family."""
    if not figures:
        return []
    load = subject_of(prediction.spec, prediction.finished.record["summary"]["queue_depth_mean"]).load
    if load is None:
        return []
    alike = [figure for figure in figures if not figure.side and _is_same(load_of(figure), load)]
    compared = [_others(judged, alike) for judged in prediction.figures if judged.figure in METRICS]
    return [others for others in compared if others is not None]


def _is_same(other: object, load: Load) -> bool:
    if not isinstance(other, Load) or abs(other.read_pct - load.read_pct) > NEAR_PCT:
        return False
    names = SAME if load.rate else (*SAME, "depth")
    return all(getattr(other, name) == getattr(load, name) for name in names)


def _others(judged: Judged, alike: Iterable[Figure]) -> Others | None:
    metric = METRICS[judged.figure]
    those = [figure for figure in alike if figure.metric == metric]
    if not those:
        return None
    values = [figure.middle * IN_BASE_UNIT.get(metric, 1e3) for figure in those]
    sources = {figure.source for figure in those}
    return Others(judged.figure, judged.measured, len(values), len(sources), min(values), max(values))
