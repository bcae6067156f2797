"""The JSON of a PTS run, key by key (docs/guides/measure.md)."""

from typing import NotRequired, TypedDict

from hotband.data.documents.record import DriveStatesDoc


class WindowDoc(TypedDict):
    """The measurement window: its rounds, their mean, range and slope in percent of it, the line through them, and the
    bounds that the specification draws."""

    first: int
    last: int
    mean: float
    range_pct: float
    slope_pct: float
    slope_per_round: float
    intercept: float
    high: float
    low: float


class TrackedDoc(TypedDict):
    """A variable that is tracked to steady state: its value in every round, and the steady window, else the last five
    rounds."""

    name: str
    unit: str
    reached: bool
    rounds: list[float]
    window: WindowDoc | None


class CellDoc(TypedDict):
    """Settings of a cell, and its measured values. A latency is None if nothing was measured, or too little."""

    name: str
    read_pct: int
    block_bytes: int
    seconds: float
    count: int
    errors: int
    iops: float
    bandwidth_bytes_per_s: float
    latency_mean_ns: float | None
    latency_p99_999_ns: int | None
    latency_max_ns: int | None


class LoopDoc(TypedDict):
    """Rounds of cells until steady state: the tracked variables, every cell of every round, and each cell's mean over
    the measurement window (for latencies the maximum, and the largest 99.999th percentile)."""

    name: str
    unit: str
    steady: bool
    tracked: list[TrackedDoc]
    window: list[int]
    rounds: list[list[CellDoc]]
    means: list[CellDoc]


class MomentDoc(TypedDict):
    """One cell of a test over time: its start after the first one's, the drive capacities written since then, and its
    measurements."""

    line: str
    at_s: float
    fills: float
    cell: CellDoc


class FigureDoc(TypedDict):
    """One number of a test's answer."""

    name: str
    value: float | None
    unit: str


class TestDoc(TypedDict):
    """A test: its settings, loops to steady state, moments over time, and answer."""

    id: str
    title: str
    section: str
    demand: str
    steady: bool | None
    loops: list[LoopDoc]
    moments: list[MomentDoc]
    figures: list[FigureDoc]
    answer: str
    histogram: NotRequired[list[list[float]]]
    notes: list[str]
    runs: int
    runs_kept: int
    measured_s: float


class SpecificationDoc(TypedDict):
    """The specification, and whether this result complies; `departures` list the deviations."""

    name: str
    version: str
    drive_class: str
    compliant: bool
    departures: list[str]


class ConditionsDoc(TypedDict):
    """Settings of the device and of the test. Unknown texts are empty."""

    write_cache: str
    write_cache_set: bool
    active_range_pct: float
    active_bytes: int
    data_pattern: str
    purge: str
    preconditioning: str
    demand: str
    scale: int
    seed: str


class DeviceHeadDoc(TypedDict):
    """The tested device."""

    name: str
    title: str
    kind: str
    capacity_bytes: int
    block_bytes: int
    drive_state: DriveStatesDoc | None
    context: object


class PtsDoc(TypedDict):
    """A PTS run: `answer` first."""

    schema: str
    schema_version: int
    hotband: str
    sponsor: str
    made: str
    answer: list[str]
    specification: SpecificationDoc
    device: DeviceHeadDoc
    conditions: ConditionsDoc
    tests: list[TestDoc]
    notes: list[str]
