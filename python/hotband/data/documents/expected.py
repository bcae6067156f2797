"""Measured beside predicted, as `hotband expect --json` and records have it."""

from __future__ import annotations

from typing import Literal, TypedDict

Verdict = Literal["inside", "better", "worse"]


class FigureDoc(TypedDict):
    """A figure of a row: measured, predicted, the interval, and the verdict (None where there is no interval)."""

    figure: str
    measured: float
    predicted: float
    low: float | None
    high: float | None
    verdict: Verdict | None


class NearDoc(TypedDict):
    """A drive and how far it is off, as a factor; figures of the rows that were compared."""

    machine: str
    off_factor: float
    figures: int
    predicted_iops: float | None
    measured_iops: float | None


class ExpectedRowDoc(TypedDict):
    """A run of the result: how it asks, its verdict, its figures (IOPS, bytes a second, ns), or why it could not be
    rebuilt."""

    name: str
    file: str
    asks: str | None
    verdict: Verdict | None
    why_not: str
    figures: list[FigureDoc]
    workload: str | None
    set: dict[str, str]


class ExpectedDoc(TypedDict):
    """All that `hotband expect --json` prints."""

    schema: str
    schema_version: int
    machine: str | None
    level: float
    verdict: str
    rows: list[ExpectedRowDoc]
    assumed: list[str]
    explanations: list[str]
    nearest: list[NearDoc]
    left_out: dict[str, str]
    compared_rows: list[str]
    state: list[str]
    notes: list[str]
