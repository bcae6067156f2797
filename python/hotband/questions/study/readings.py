"""What measures read and what they answer: runs, the parameters they are told, and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotband.data.documents.record import RecordDoc
from hotband.data.record.files import Cell

Record = RecordDoc
Columns = Mapping[str, Sequence[Cell]]


@dataclass(frozen=True)
class Reading:
    """What a measure reads of one run: its record and, where they were kept, its series and its caches over time by
    column."""

    record: Record
    series: Columns | None = None
    caches: Columns | None = None


@dataclass(frozen=True)
class Parameters:
    """What a measure may be told. `pick` chooses among the runs of a sweep; `operations` counts those of a job whose
    time is asked for, `percent` those I/Os that a latency is not exceeded by."""

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
    """A number read from runs, and what has to be said about it."""

    number: float | None
    note: str = ""


Runs = Mapping[int, Reading]


def milliseconds(nanoseconds: float | None) -> float | None:
    """Nanoseconds as milliseconds."""
    return None if nanoseconds is None else float(nanoseconds) / 1e6


def pick(values: Sequence[float | None], how: str) -> float | None:
    """One of the values of a sweep, which come in the order of the queue depths."""
    if how in ("first", "last"):
        return values[0 if how == "first" else -1]
    found = [value for value in values if value is not None]
    return (min if how == "min" else max)(found) if found else None
