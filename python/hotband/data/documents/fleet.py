"""The JSON document of `hotband fleet`, key by key, for mypy: `FleetDoc` and its parts."""

from typing import TypedDict


class FigureDoc(TypedDict):
    """A figure over the repetitions: its mean with the 95 % interval of the mean (`mean_low`, `mean_high`), which more
    repetitions would narrow, and the range of 95 % of the repetitions (`low`, `high`), which a single fleet may see."""

    mean: float
    mean_low: float
    mean_high: float
    low: float
    high: float


class SparesDoc(TypedDict):
    """Spares on site, the share of failures that waited for a drive, and stocks with which in 95 or 99 of 100
    repetitions none would have."""

    on_site: int
    order: int
    waited_share: FigureDoc
    longest_wait_hours: FigureDoc
    needed_95: int
    needed_99: int


class LossDoc(TypedDict):
    """Loss of data: expected events, those of them by a failure that exceeds the redundancy, the chance of at least
    one, bytes lost. `seen` are losses in the repetitions, which are part of the expected ones if another failure was
    likely. `independent` is the loss of independent drives with exponential lives and as many failures (the Markov
    chain of `hotband reliability`); `is_exact` states whether that is this very fleet, which then has
    `within_interval`."""

    events: FigureDoc
    by_failure: FigureDoc
    chance: float
    bytes_lost: FigureDoc
    seen: int
    independent: float
    is_exact: bool
    within_interval: bool | None


class LivesDoc(TypedDict):
    """Life distribution of drives: the middle of scale, shape and variance of batches, its source, and the number of
    drives in a fit."""

    scale_hours: float
    shape: float
    batch_variance: float
    source: str
    fitted_drives: int | None
    fitted_failures: int | None


class CostDoc(TypedDict):
    """Cost over the whole time by part; None for parts without a price."""

    drives: FigureDoc
    machines: FigureDoc | None
    replacements: FigureDoc
    energy: FigureDoc | None
    losses: FigureDoc | None
    total: FigureDoc


class LevelDoc(TypedDict):
    """Service to hosts: I/Os per second, mean and p99 latency; None if nothing was measured."""

    iops: float | None
    latency_mean_ns: float | None
    latency_p99_ns: float | None


class ServiceDoc(TypedDict):
    """Service to hosts by an intact machine and while a drive is rebuilt, from runs of the model."""

    whole: LevelDoc
    degraded: LevelDoc | None


class PartDoc(TypedDict):
    """A group over the whole time, or the fleet."""

    machines: int
    drives: int
    usable_bytes: float
    failures: FigureDoc
    worn: FigureDoc
    rebuilds: FigureDoc
    degraded_share: FigureDoc
    loss: LossDoc
    energy_kwh: FigureDoc | None
    cost: CostDoc | None


class GroupDoc(PartDoc):
    """A group."""

    name: str
    machine: str
    workload: str | None
    lives: LivesDoc
    rebuild_hours: FigureDoc
    rebuild_source: str
    spares: SparesDoc | None
    endurance_left: FigureDoc | None
    service: ServiceDoc | None


class FleetDoc(TypedDict):
    """A fleet."""

    schema: str
    version: int
    name: str
    months: int
    repetitions: int
    asked: int
    seed: str
    currency: str
    no_cost: str | None
    fleet: PartDoc
    groups: list[GroupDoc]
    notes: list[str]
