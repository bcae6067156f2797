"""The JSON document of `hotband reliability`, key by key, for mypy: `ReliabilityDoc` and its parts."""

from typing import NotRequired, TypedDict


class LayoutDoc(TypedDict):
    """The assessed layout; `usable_bytes` are those of the whole, `member_bytes` those of a drive's part in it."""

    name: str
    kind: str
    drives: int
    failures_tolerated: int
    usable_bytes: float
    member_bytes: float


class GivenDoc(TypedDict):
    """Inputs of the figures with their sources; None for an unused input."""

    mtbf_hours: float
    rebuild_hours: float | None
    bits_per_error: float | None
    rebuild_error_chance: float
    spares: int
    replacement_hours: float | None
    one_rebuild_at_a_time: bool
    distribution: str
    shape: float
    rebuild_distribution: str
    seed: str
    sources: dict[str, str]


class EstimateDoc(TypedDict):
    """A simulated figure with its 95 % interval."""

    value: float
    low: float
    high: float


class CausedDoc(EstimateDoc):
    """An estimate with the shares of the causes of loss."""

    causes: dict[str, float]


class ClosedFormDoc(TypedDict):
    """The exact figure, with the shares of the causes of loss."""

    value: float
    causes: dict[str, float]


class DifferenceDoc(TypedDict):
    """Difference of a simulated figure from the closed form; None if one of them is missing."""

    difference_pct: float | None
    within_interval: bool | None


class TextbookDoc(TypedDict):
    """The textbook's mean time to data loss: by failures of drives, by sector errors, by both."""

    formula: str
    years: float
    failure_years: float
    sector_years: float | None
    source: str


class MttdlDoc(TypedDict):
    """Mean time to data loss in years. If it is not simulated, `reason` states why, and the method is left out."""

    simulated: CausedDoc | None
    closed_form: ClosedFormDoc | None
    reason: str | None
    textbook: TextbookDoc | None
    method: NotRequired[str]
    count: NotRequired[int]
    array_years: NotRequired[float]
    difference_pct: NotRequired[float | None]
    within_interval: NotRequired[bool | None]


class MissionDoc(DifferenceDoc):
    """Chance of loss within the mission, and bytes lost per usable terabyte."""

    years: float
    loss: CausedDoc
    count: int
    closed_form: float | None
    closed_form_bytes_lost_per_tb: float | None
    bytes_lost_per_tb: EstimateDoc


class ReliabilityDoc(TypedDict):
    """Figures of an array."""

    schema: str
    version: int
    machine: str
    layout: LayoutDoc
    given: GivenDoc
    mttdl: MttdlDoc
    mission: MissionDoc
