"""The section `program` of a record: the program and its output."""

from typing import Literal, NotRequired, TypedDict


class FigureDoc(TypedDict):
    """One number that a program printed, or that was computed from its output."""

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
    """The section `program` of a record: the program, its settings, its output, and predictions of its I/Os on other
    machines."""

    name: str
    version: str
    settings: dict[str, str]
    figures: list[FigureDoc]
    notes: list[str]
    text: str
    predicted: NotRequired[list[PredictedDoc]]
