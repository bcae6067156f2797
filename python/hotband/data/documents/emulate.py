"""The result of an emulated study in JSON."""

from typing import TypedDict


class RequestDoc(TypedDict):
    """The request for one machine: a stored result of an equal request is reused."""

    program: str
    figure: str
    machine: str
    set: dict[str, str]
    settings: dict[str, str]


class SideDoc(TypedDict):
    """The program on one machine: its figure, remarks (such as the emulation delay), and the host's load average
    of the minute before its start and of its last minute."""

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
    """A measure of both machines, B over A; `source` is its origin."""

    measure: str
    unit: str
    a: float
    b: float
    ratio: float
    direction: str
    source: str


class PartDoc(TypedDict):
    """A part: the program on both machines, and the ratio next to the model's and the published one. A part that was
    skipped has no sides and states the reason in `skipped`; `agrees` is null if there is nothing to agree with."""

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
    """All requested parts of a study."""

    study: str
    title: str
    source: str
    processors: int
    parts: list[PartDoc]
