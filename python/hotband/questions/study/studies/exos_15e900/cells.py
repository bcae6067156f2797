"""What claims and findings of the Exos study read from its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.definition import Published
from hotband.questions.study.runs import Results

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc, SummaryDoc

AWC_OFF, AWC_ON, TURBO = "awc-off", "awc-on", "turbo"
VARIANTS = (AWC_OFF, AWC_ON, TURBO)
DRIVES = 24


def short(results: Results, config: str) -> str:
    """A variant in a few words."""
    return next(one.name for one in results.study.configs if one.id == config)


def published(results: Results, number_of: str) -> Published:
    """A published row by the end of its id."""
    return next(one for one in results.study.published if one.id.endswith(number_of))


def number(results: Results, config: str, load: str, measure: str) -> float | None:
    """A measure of a cell."""
    return results.value(config, load, measure)


def summary(results: Results, config: str, load: str) -> SummaryDoc:
    """The summary of a cell that is one run."""
    return results.cells[config, load].records[0]["summary"]


def counters(record: RecordDoc, name: str) -> int:
    """A counter, over all drives."""
    return sum(int(part["counters"].get(name, 0)) for part in record["parts"])
