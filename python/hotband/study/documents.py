"""What a study's result says of figures, claims and findings, key by key, for mypy (docs/guides/studies.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict


class FigureDoc(TypedDict):
    """A figure: published (None where it is not) beside predicted (None where it could not be), both in `unit`, and the
    error of the prediction."""

    id: str
    config: str
    label: str
    workload: NotRequired[str]
    metric: str
    unit: str
    published: float | None
    predicted: float | None
    error_pct: float | None
    source: str
    caveat: NotRequired[str]
    note: str
    group: NotRequired[str]


class ClaimDoc(TypedDict):
    """A published claim; `holds` is None where the prediction cannot tell, `measured` what it is decided by."""

    id: str
    text: str
    holds: bool | None
    measured: str
    source: str


class FindingTableDoc(TypedDict):
    """Rows of texts and numbers under their columns."""

    columns: list[str]
    rows: Sequence[Sequence[Any]]


class FindingDoc(TypedDict):
    """What a study found, in words, with a table where it has one."""

    id: str
    title: str
    text: str
    table: NotRequired[FindingTableDoc | None]


class AccuracyDoc(TypedDict):
    """How large the errors of some figures are, either way; None where none is published."""

    figures: int
    compared: int
    median_abs_error_pct: float | None
    max_abs_error_pct: float | None


class ScoredDoc(AccuracyDoc):
    """The same of one sort of figure under one group of loads."""

    figure: str
    group: str


class StudyAccuracyDoc(AccuracyDoc):
    """The same of a whole study."""

    iops_by_group: dict[str, AccuracyDoc]
    scored: list[ScoredDoc]
