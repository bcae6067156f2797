"""The question `report --latency`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.question import Question, Way, asks
from hotband.base.text.table import Whole
from hotband.data.inputs.kinds import Results
from hotband.views.report.latency import check_out, latency_chart, load_any, write_chart


@dataclass(frozen=True, kw_only=True)
class LatencyQuestion(Question):
    """Draw the latency of several runs by percentile, as far out as their samples support."""

    name = "plot"
    schema = ""
    answers = "hotband.views.report.latency_asked:LatencyChart"
    has_json = False

    files_: Results = asks("Records, or results of other tools.", metavar="RECORD|FILE...", positional=True)
    out: Path = asks("The chart: .html, .png or .svg.", metavar="FILE")
    op: str | None = asks("read or write. Default: both.", default=None, metavar="OP")
    title: str = asks("Its heading.", default="Latency by percentile")

    def files(self) -> Sequence[Path]:
        """Return the records."""
        return self.files_


@dataclass(frozen=True)
class LatencyChart:
    """A chart of latencies in a file."""

    path: Path


def answer(question: LatencyQuestion, _: Way) -> LatencyChart:
    """Write the chart. Raises UserError, OSError."""
    if question.op not in (None, "read", "write"):
        raise UserError("question.op", "", question.op, "accepted: read, write")
    check_out(question.out)
    records = [record for path in question.files_ for record in load_any(path)]
    write_chart(latency_chart(records, question.title, question.op), question.out)
    return LatencyChart(question.out)


def terminal(chart: LatencyChart, _: LatencyQuestion) -> list[Whole]:
    """Return the path of the chart."""
    return [Whole(f"Chart: {chart.path}")]
