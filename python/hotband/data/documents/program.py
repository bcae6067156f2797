"""The section `program` of a record: which program, and what it said."""

from __future__ import annotations

from typing import TypedDict


class FigureDoc(TypedDict):
    """One number that a program printed, or that was computed of what it printed."""

    name: str
    value: float
    unit: str


class ProgramDoc(TypedDict):
    """The section `program` of a record: which program, how it was asked, what it said."""

    name: str
    version: str
    settings: dict[str, str]
    figures: list[FigureDoc]
    notes: list[str]
    text: str
