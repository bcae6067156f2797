"""Inputs and results of measures: runs, parameters and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotband.data.documents.record import RecordDoc
from hotband.data.record.files import Cell

Record = RecordDoc
Columns = Mapping[str, Sequence[Cell]]


@dataclass(frozen=True)
class Reading:
    """One run as a measure reads it: its record and, if stored, its series and its caches over time by column."""

    record: Record
    series: Columns | None = None
    caches: Columns | None = None


@dataclass(frozen=True)
class Parameters:
    """Parameters of a measure. `pick` chooses among the runs of a sweep; `operations` is the size of a job whose time
    is measured, `percent` the share of I/Os of a percentile."""

    pick: str = "max"
    at_ns: float | None = None
    window_ns: float | None = None
    step: str = ""
    script: str = ""
    operation: str = ""
    operations: float | None = None
    percent: float | None = None


@dataclass(frozen=True)
class Value:
    """A number read from runs, with a note on its limits."""

    number: float | None
    note: str = ""


Runs = Mapping[int, Reading]


def milliseconds(nanoseconds: float | None) -> float | None:
    """Convert nanoseconds to milliseconds."""
    return None if nanoseconds is None else float(nanoseconds) / 1e6


def pick(values: Sequence[float | None], rule: str) -> float | None:
    """Choose one of the values of a sweep, which come in the order of the queue depths."""
    if rule in ("first", "last"):
        return values[0 if rule == "first" else -1]
    known = [value for value in values if value is not None]
    return (min if rule == "min" else max)(known) if known else None
