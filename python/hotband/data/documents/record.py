"""The JSON document of a record, key by key (docs/guides/records.md), for mypy: `RecordDoc` and its parts.

Units end the names. A key that only some records have is `NotRequired`; None means that the value is unknown, or that
nothing was measured. Imported records omit values that their tool does not report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, cast

from hotband.data.documents.record_faults import FailureDoc as FailureDoc
from hotband.data.documents.record_faults import LostStreamDoc as LostStreamDoc
from hotband.data.documents.record_faults import PowerLossDoc as PowerLossDoc
from hotband.data.documents.record_faults import RebuildDoc as RebuildDoc
from hotband.data.documents.record_faults import RepairDoc as RepairDoc
from hotband.data.documents.record_faults import ServiceDoc as ServiceDoc
from hotband.data.documents.record_traces import ComparedClassDoc as ComparedClassDoc
from hotband.data.documents.record_traces import ComparedDoc as ComparedDoc
from hotband.data.documents.record_traces import ComparedPercentileDoc as ComparedPercentileDoc
from hotband.data.documents.record_traces import ComparisonDoc as ComparisonDoc
from hotband.data.documents.record_traces import TraceBeyondDoc as TraceBeyondDoc
from hotband.data.documents.record_traces import TraceDoc as TraceDoc
from hotband.data.documents.record_traces import TraceSideDoc as TraceSideDoc
from hotband.data.documents.record_traces import TraceTimesDoc as TraceTimesDoc
from hotband.data.documents.sides import Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hotband.data.documents.context import ContextDoc
    from hotband.data.documents.counters import DeviceCountersDoc
    from hotband.data.documents.expected import ExpectedRowDoc
    from hotband.data.documents.hosts import HostDoc
    from hotband.data.documents.interval import RunIntervalsDoc
    from hotband.data.documents.program import ProgramDoc
    from hotband.data.documents.serving import ServingDoc
    from hotband.data.documents.source import Source
    from hotband.data.documents.states import StateKeptDoc


# Latencies of a summary, and their display in tables.
Percentile = Literal["latency_p50_ns", "latency_p99_ns", "latency_p999_ns", "latency_max_ns"]
Tracked = Literal["iops", "bandwidth_bytes_per_s", "latency_mean_ns"]


class TimesDoc(TypedDict):
    """The parts of a mean latency, in ns; they add up to it."""

    queue: float
    overhead: float
    seek: float
    rotation: float
    transfer: float
    flash: float
    link: float


class FiguresDoc(TypedDict):
    """Rates and latencies of some I/Os. Counts and rates are None only if an imported tool did not count."""

    iops: float | None
    bandwidth_bytes_per_s: float | None
    count: int | None
    bytes: int | None
    errors: int
    latency_mean_ns: float | None
    latency_min_ns: int | None
    latency_p50_ns: int | None
    latency_p99_ns: int | None
    latency_p999_ns: int | None
    latency_max_ns: int | None
    queue_depth_mean: float | None
    error_latency_mean_ns: NotRequired[float | None]
    times_mean_ns: NotRequired[TimesDoc | None]


class SummaryDoc(FiguresDoc):
    """Figures of reads and writes together, and of each direction."""

    read: FiguresDoc
    write: FiguresDoc
    flush: NotRequired[FiguresDoc]
    trim: NotRequired[FiguresDoc]


class StreamDoc(TypedDict):
    """One stream, with the figures of each direction."""

    name: str
    read: Side
    write: Side
    flush: NotRequired[Side]
    trim: NotRequired[Side]


KIND_EMULATED, KIND_REAL = "emulated", "real"
"""Kinds of targets that fio runs on for Hotband."""


class TargetDoc(TypedDict):
    """The target: `kind` is model, emulated, real, or the tool of an import."""

    kind: str
    machine: str


class RepairSpecDoc(TypedDict):
    """The requested failures and spares."""

    fail: list[str]
    spare: int
    rebuild_rate: str | None
    rebuild_after: str | None


# Of fio alone: the options of its `[global]` section and of each job.
FioSpecDoc = TypedDict("FioSpecDoc", {"global": dict[str, str], "jobs": dict[str, dict[str, str]]}, total=False)


class SpecDoc(FioSpecDoc, total=False):
    """Input to repeat the run: texts of its files, settings, time. Imports have the values of their tool."""

    workload: str
    machine: str
    drives: dict[str, str]
    set: dict[str, str]
    duration: str | None
    precision: str
    power_loss: str
    repair: RepairSpecDoc
    events: list[str]


class RunBeforeDoc(TypedDict):
    """A run of a sequence, as requested."""

    workload: str
    set: dict[str, str]
    seed: str
    duration: str | None
    precision: NotRequired[str]
    events: NotRequired[list[str]]


class SequenceDoc(TypedDict):
    """A sequence of runs on one machine: `place` of this one, from 1, and the runs before it."""

    id: str
    place: int
    seeds: str
    before: list[RunBeforeDoc]


class PowerStateDoc(TypedDict):
    """A state in which a drive draws more than idle power."""

    state: str
    power_w: float
    time_ns: int
    above_idle_j: float


class PowerDoc(TypedDict):
    """Power drawn by a drive in the measured time."""

    energy_j: float
    energy_low_j: float
    energy_high_j: float
    mean_w: float
    idle_w: float
    active_w: float
    states: list[PowerStateDoc]


class PartDoc(TypedDict):
    """A drive, link or network: its counters of the measured time."""

    id: str
    kind: str
    counters: dict[str, int]
    at_end: NotRequired[dict[str, int]]
    power: NotRequired[PowerDoc]


class EnergyDoc(TypedDict):
    """Energy of all drives whose power is known."""

    energy_j: float
    energy_low_j: float
    energy_high_j: float
    mean_w: float
    idle_w: float
    joules_per_io: float | None
    joules_per_io_low: float | None
    joules_per_io_high: float | None
    drives: int
    drives_unknown: int


class CachesDoc(TypedDict):
    """Warmth of the flash read caches."""

    state_begin: str
    state_end: str
    flash_hit_ratio: float | None
    warm_after_ns: int | None


class DriveStateDoc(TypedDict):
    """A group of identical drives: their cache settings, and their contents at the start (None for a disk)."""

    drives: list[str]
    product: str
    write_cache: str
    declared_volatile: bool
    write_cache_bytes: int
    read_cache_bytes: int
    read_ahead: bool | None
    flash_cache: bool | None
    flash_cache_bytes: int
    scale: int
    holds: str | None


class ControllerStateDoc(TypedDict):
    """A controller with a cache, and its settings."""

    name: str
    write_cache: str
    read_ahead: bool
    cache_bytes: int


class DriveStatesDoc(TypedDict):
    """The state of all drives and controllers of a run."""

    drives: list[DriveStateDoc]
    controllers: NotRequired[list[ControllerStateDoc]]


class ScriptRunDoc(TypedDict):
    """One client's only run of a script."""

    client: int
    begin_ns: int
    end_ns: int


class ScriptDoc(TypedDict):
    """Number of runs of a script, and their length."""

    name: str
    unit: str
    clients: int
    completed: int
    per_second: float
    requested_per_second: NotRequired[float]
    backlog_ns: NotRequired[int]
    duration_mean_ns: float | None
    duration_p50_ns: int | None
    duration_p99_ns: int | None
    duration_p999_ns: NotRequired[int | None]
    duration_max_ns: int | None
    first_begin_ns: int | None
    last_end_ns: int | None
    runs: NotRequired[list[ScriptRunDoc]]


class OperationDoc(TypedDict):
    """One kind of operation of an app."""

    name: str
    count: int
    ops_per_s: float
    latency_mean_ns: float | None
    latency_p50_ns: int | None
    latency_p99_ns: int | None
    latency_p999_ns: int | None
    latency_max_ns: int | None


class AppDoc(TypedDict):
    """A database or a file system above the drives."""

    kind: str
    operations: list[OperationDoc]
    requested_ops_per_s: float | None
    achieved_ops_per_s: float
    counters: NotRequired[dict[str, int]]


class StepDoc(TypedDict):
    """One of several measured phases."""

    name: str
    threads: int | None
    clients: int | None
    begin_ns: int
    duration_ns: int
    summary: SummaryDoc
    scripts: NotRequired[list[ScriptDoc]]
    app: NotRequired[AppDoc]


class SteadyWindowDoc(TypedDict):
    """Rounds and the window that the steady state rule judged; `round` is the last of the first steady window, from 1.
    Fewer rounds than a window have no `window_mean`."""

    round: int | None
    rounds: list[float]
    window_mean: float | None
    range_pct: float | None
    slope_pct: float | None


class SteadyRule(SteadyWindowDoc):
    """Verdict of the steady state rule on some rounds."""

    reached: bool


class SteadyRoundsDoc(SteadyWindowDoc):
    """Rounds of a phase, or of the whole measured time."""

    phase: str | None
    track: str
    unit: str
    round_ns: float
    fills: NotRequired[float]


class SteadyStateDoc(SteadyRoundsDoc):
    """Verdict of the steady state rule on a phase that ends at steady state."""

    reached: bool


class StoppedDoc(TypedDict):
    """End of a measured phase with a precision: `by` is "precision", or "amount" for its time or number of I/Os.

    `precision_pct` is the requested half width of 95 % confidence intervals of rates and means, a third of that of the
    99th percentile. The half widths are those at the last check, over `batches` of `batch_ios` I/Os each; a phase with
    too few I/Os for a check has none.
    """

    phase: str
    by: str
    precision_pct: float
    batches: int
    batch_ios: int
    iops_pct: NotRequired[float]
    bandwidth_pct: NotRequired[float]
    latency_mean_pct: NotRequired[float]
    latency_p99_pct: NotRequired[float]


class LeftDoc(TypedDict):
    """The end of steady state: detected in `round`, since round `since`, by this many percent."""

    round: int
    since: int
    level_pct: float


class VerdictDoc(SteadyRoundsDoc):
    """Verdict in words: whose rounds, why, and how steady state was left; `reached` is null if the rounds are too few
    for a verdict."""

    name: str
    reached: bool | None
    why: str
    left: LeftDoc | None
    notes: list[str]


class LimitDoc(TypedDict):
    """A limit of the workload and whether it was met; `value` is None if there was no I/O."""

    streams: list[str]
    op: str
    figure: str
    bound: str
    limit: float
    value: float | None
    passed: bool


class SloDoc(TypedDict):
    """A condition of the objective of a run and whether it is met; `value` and `bound` are in the unit of `figure`.
    `value` is None if there was no such I/O."""

    condition: str
    figure: str
    value: float | None
    bound: float
    met: bool


class WearDoc(TypedDict):
    """SMART counts of a drive since it was new."""

    host_bytes: int
    stored_bytes: int
    flash_bytes: int
    relocated_bytes: int
    metadata_bytes: int
    trimmed_bytes: int
    erases_mean: float
    erases_max: int
    percentage_used: float
    bad_blocks: int


class SmartDoc(TypedDict):
    """Wear of a drive in the measured time."""

    drive: str
    at_begin: WearDoc
    at_end: WearDoc
    write_amplification: float | None
    write_amplification_total: float | None
    endurance_bytes: int | None
    endurance_from: str | None
    scale: NotRequired[int]


class DataDoc(TypedDict):
    """Compressibility of a stream's data, as used in the run."""

    stream: str
    mean: float
    low: NotRequired[float]
    high: NotRequired[float]
    histogram: NotRequired[list[float]]


class SamplesDoc(TypedDict):
    """fio's own check for steady state."""

    source: str
    rule: str
    attained: bool
    interval_ns: int
    iops: list[float]
    bandwidth_bytes_per_s: list[float]


class SeriesDoc(TypedDict):
    """The interval of the tables over time, and the files with these tables, next to the record."""

    interval_ns: int | None
    file: str
    caches_file: NotRequired[str]
    smart_file: NotRequired[str]
    power_file: NotRequired[str]
    operations_file: NotRequired[str]


class ExpectedHereDoc(TypedDict):
    """Prediction by the model of a drive for the measured load, as in `hotband expect --json`, and the choice of that
    drive. If it is not near (`is_near`), nothing is judged: verdicts of rows and figures are None, and `verdict`
    states that."""

    chosen: str
    is_near: NotRequired[bool]
    machine: str
    level: float
    verdict: str
    rows: list[ExpectedRowDoc]
    assumed: list[str]
    explanations: list[str]
    notes: list[str]


class UnmodelledDoc(TypedDict):
    """An unmodelled mechanism that changes the figures of a run: its name (`what`: "md-thread", "flash-pool",
    "flash-raidz", "smr-rebuild"), its layout or drive, and the note."""

    what: str
    part: str
    note: str


class RecordDoc(TypedDict):
    """A record."""

    schema: str
    schema_version: int
    versions: dict[str, str]
    name: str
    target: TargetDoc
    seed: str | None
    spec: SpecDoc
    duration_ns: int
    concurrency: int | None
    summary: SummaryDoc
    streams: list[StreamDoc]
    parts: list[PartDoc]
    series: SeriesDoc | None
    notes: list[str]
    unmodelled: NotRequired[list[UnmodelledDoc]]
    sequence: NotRequired[SequenceDoc]
    steps: NotRequired[list[StepDoc]]
    scripts: NotRequired[list[ScriptDoc]]
    app: NotRequired[AppDoc]
    energy: NotRequired[EnergyDoc]
    caches: NotRequired[CachesDoc]
    drive_state: NotRequired[DriveStatesDoc]
    smart: NotRequired[list[SmartDoc]]
    data: NotRequired[list[DataDoc]]
    steady_state: NotRequired[SteadyStateDoc]
    steady_state_before: NotRequired[list[SteadyStateDoc]]
    stopped: NotRequired[list[StoppedDoc]]
    limits: NotRequired[list[LimitDoc]]
    slo: NotRequired[list[SloDoc]]
    passed: NotRequired[bool]
    power_loss: NotRequired[PowerLossDoc]
    repair: NotRequired[RepairDoc]
    trace: NotRequired[TraceDoc]
    traces: NotRequired[list[TraceDoc]]
    comparison: NotRequired[ComparisonDoc]
    serving: NotRequired[ServingDoc]
    program: NotRequired[ProgramDoc]
    context: NotRequired[ContextDoc]
    counters: NotRequired[DeviceCountersDoc]
    state_kept: NotRequired[StateKeptDoc]
    hosts: NotRequired[list[HostDoc]]
    samples: NotRequired[SamplesDoc]
    intervals: NotRequired[RunIntervalsDoc]
    source: NotRequired[Source]
    expected: NotRequired[ExpectedHereDoc]
    job: NotRequired[str]


def source_file(record: RecordDoc) -> str:
    """Return the source file of an imported record; empty for runs of Hotband, including those through fio."""
    source: object = record.get("source")
    if record["target"].get("kind") in (KIND_EMULATED, KIND_REAL):
        return ""
    return str(source.get("file") or "") if isinstance(source, dict) else ""


def side_of(stream: StreamDoc, direction: str) -> Side | None:
    """Return one direction of a stream; None if it has none."""
    return cast("Mapping[str, Side | None]", stream).get(direction) or None


def figures_of(summary: SummaryDoc, direction: str) -> FiguresDoc | None:
    """Return the figures of a direction; None if there are none."""
    return cast("Mapping[str, FiguresDoc | None]", summary).get(direction) or None


def known(value: float | None) -> float:
    """Return a rate or latency of a Hotband run with I/Os, which is always measured."""
    assert value is not None, "a run of the engine counts its I/Os"
    return value


def interval_of(record: RecordDoc) -> object:
    """Return the interval of the tables over time in ns, as in the record; None if it has none."""
    series: object = record.get("series")
    return series.get("interval_ns") if isinstance(series, dict) else None
