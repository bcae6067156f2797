"""The section `program` of a record: which program, and what it said."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class FigureDoc(TypedDict):
    """One number that a program printed, or that was computed of what it printed."""

    name: str
    value: float
    unit: str


class PredictedDoc(TypedDict):
    """The I/Os of a program on a machine: recorded where it ran, or replayed on a model. Latencies are means, None
    without such I/Os."""

    machine: str
    source: Literal["recorded", "replayed"]
    iops: float | None
    latency_mean_ns: float | None
    read_latency_mean_ns: float | None
    write_latency_mean_ns: float | None
    flush_latency_mean_ns: float | None


class ProgramDoc(TypedDict):
    """The section `program` of a record: which program, how it was asked, what it said, and what its I/Os are predicted
    to take on other machines."""

    name: str
    version: str
    settings: dict[str, str]
    figures: list[FigureDoc]
    notes: list[str]
    text: str
    predicted: NotRequired[list[PredictedDoc]]
