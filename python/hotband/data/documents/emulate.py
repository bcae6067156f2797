"""Result of an emulated study, as its JSON has it."""

from __future__ import annotations

from typing import TypedDict


class RequestDoc(TypedDict):
    """Request for one machine: an equal one is not run again."""

    program: str
    figure: str
    machine: str
    set: dict[str, str]
    settings: dict[str, str]


class SideDoc(TypedDict):
    """The program on one machine: its figure, what should be known with it (lateness among it), and the host's load
    average of the minute before it began and of the last of it."""

    name: str
    machine: str
    set: dict[str, str]
    version: str
    value: float
    unit: str
    notes: list[str]
    load_before: float
    load_after: float
    seconds: float


class RatioDoc(TypedDict):
    """A measure of both machines, B over A; `source` says where it is from."""

    measure: str
    unit: str
    a: float
    b: float
    ratio: float
    direction: str
    source: str


class PartDoc(TypedDict):
    """A part: the program on both machines, and the ratio beside the model's and the published one. A part that was
    skipped has no sides and says why in `skipped`; `agrees` is null where there is nothing to agree with."""

    id: str
    title: str
    program: str
    figure: str
    unit: str
    settings: dict[str, str]
    scale: str
    how: str
    a: SideDoc | None
    b: SideDoc | None
    emulated: RatioDoc | None
    predicted: RatioDoc | None
    published: RatioDoc | None
    agrees: dict[str, bool | None]
    note: str
    skipped: str


class EmulationDoc(TypedDict):
    """All parts of a study that were asked for."""

    study: str
    title: str
    source: str
    processors: int
    parts: list[PartDoc]
