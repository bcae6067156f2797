"""The JSON documents of a review and of a comparison, key by key, for mypy: `ReviewDoc`, `ComparisonDoc` and their
parts (docs/guides/review.md). A rate or latency is None if a record has none: nothing was measured.

If intervals were requested, every object with figures has `intervals`: the same keys with the ends of each. Figures
without one (the longest access, None) are omitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from hotband.data.documents.interval import BoundsDoc
    from hotband.data.documents.record import DriveStatesDoc

    Bounds = dict[str, BoundsDoc]
    """Intervals of the figures next to them, by their keys."""


class PlaceDoc(TypedDict):
    """The rate at a place of the surface."""

    offset_bytes: int
    bandwidth_bytes_per_s: float | None
    intervals: NotRequired[Bounds]


class LinearDoc(TypedDict):
    """The transfer curve, and its `mean` over the surface by direction."""

    read: list[PlaceDoc]
    write: list[PlaceDoc]
    block_bytes: int
    queue_depth: int
    mean: dict[str, float | None]
    intervals: NotRequired[dict[str, Bounds]]


class AccessDoc(TypedDict):
    """Access times of one direction; `bins` are [upper end in ns, count]."""

    block_bytes: int
    queue_depth: int
    count: int | None
    mean_ns: float | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    bins: list[list[int]]
    intervals: NotRequired[Bounds]


class BlockSizeDoc(TypedDict):
    """A file read or written in blocks of one size."""

    file_bytes: int
    op: str
    block_bytes: int
    queue_depth: int
    bandwidth_bytes_per_s: float | None
    iops: float | None
    intervals: NotRequired[Bounds]


class StreamsDoc(TypedDict):
    """Concurrent readers or writers: all together, and the slowest."""

    op: str
    streams: int
    bandwidth_bytes_per_s: float | None
    slowest_bytes_per_s: float | None
    intervals: NotRequired[Bounds]


class PatternDoc(TypedDict):
    """A server pattern at a queue depth."""

    pattern: str
    queue_depth: int
    iops: float | None
    bandwidth_bytes_per_s: float | None
    latency_mean_ns: float | None
    latency_p99_ns: float | None
    intervals: NotRequired[Bounds]


class FilesDoc(TypedDict):
    """Small or large files read, written or copied, several at once."""

    op: str
    size: str
    queue_depth: int
    files_per_s: float | None
    bandwidth_bytes_per_s: float | None
    intervals: NotRequired[Bounds]


class StreamingDoc(TypedDict):
    """One reader or writer in order of address."""

    op: str
    blocks: str
    block_bytes: int
    queue_depth: int
    bandwidth_bytes_per_s: float | None
    intervals: NotRequired[Bounds]


class DefragmentationDoc(TypedDict):
    """Extents read from anywhere and written one after the other."""

    extent_bytes: int
    extents_per_s: float | None
    bandwidth_bytes_per_s: float | None
    latency_mean_ns: float | None
    intervals: NotRequired[Bounds]


class ApplicationDoc(TypedDict):
    """A desktop load, with the lowest and highest rate at the ends of its uncertain values."""

    name: str
    title: str
    bandwidth_bytes_per_s: float | None
    iops: float | None
    low_bytes_per_s: float | None
    high_bytes_per_s: float | None
    uncertainty: str
    intervals: NotRequired[Bounds]


class EnergyByPatternDoc(TypedDict):
    """Watts and joules by server pattern, with their ranges from the drives' power values."""

    queue_depth: int
    idle_w: float
    patterns_w: dict[str, float]
    patterns_low_w: dict[str, float]
    patterns_high_w: dict[str, float]
    joules_per_io: dict[str, float | None]
    joules_per_io_low: dict[str, float | None]
    joules_per_io_high: dict[str, float | None]


class GroupDoc(TypedDict):
    """The geometric mean of a group, and the number of its figures."""

    group: str
    title: str
    geometric_mean: float
    unit: str
    of: int
    intervals: NotRequired[Bounds]


class MachineDoc(TypedDict):
    """The reviewed machine."""

    name: str
    title: str
    spec: str
    capacity_bytes: int
    drives: list[str]
    set: dict[str, str]
    scale: int
    events: list[str]
    drive_state: NotRequired[DriveStatesDoc | None]


class HeadDoc(TypedDict):
    """Subject of a review, and the version that made it."""

    schema: str
    version: int
    hotband: str
    seed: str
    quick: bool
    machine: MachineDoc


class PartsDoc(TypedDict):
    """The parts of a review; one that was left out is None."""

    linear: LinearDoc | None
    access: dict[str, AccessDoc] | None
    block_sizes: list[BlockSizeDoc] | None
    streams: list[StreamsDoc] | None
    patterns: list[PatternDoc] | None
    files: list[FilesDoc] | None
    streaming: list[StreamingDoc] | None
    defragmentation: DefragmentationDoc | None
    applications: list[ApplicationDoc] | None
    energy: EnergyByPatternDoc | None


class ReviewIntervalsDoc(TypedDict):
    """The intervals of a review, which contain their figure in `level` percent of such cases. They rest on `draws`
    samples of its `values`; `refused` samples were refused by the model and replaced; `runs` and `ios` are those of all
    samples and other seeds."""

    level: float
    draws: int
    refused: int
    runs: int
    ios: int
    values: list[str]
    notes: list[str]
    overall: NotRequired[BoundsDoc]


class ReviewDoc(HeadDoc, PartsDoc):
    """A review. If its figures rest on parts that are not modelled, `unmodelled` names them, and it has no
    intervals."""

    summary: list[GroupDoc]
    overall: float | None
    notes: list[str]
    unmodelled: NotRequired[list[str]]
    intervals: NotRequired[ReviewIntervalsDoc]


class GroupRatiosDoc(TypedDict):
    """Speed ratio of each machine to the first in a group; None if they share no figure."""

    group: str
    title: str
    ratios: dict[str, float | None]
    intervals: NotRequired[dict[str, Bounds]]


class ComparisonIntervalsDoc(TypedDict):
    """The intervals of a comparison, from samples that its machines share."""

    level: float
    draws: int
    overall: NotRequired[Bounds]


class ComparisonDoc(TypedDict):
    """Comparison of several machines with the first."""

    schema: str
    version: int
    machines: list[str]
    baseline: str
    unequal_state: NotRequired[list[str]]
    groups: list[GroupRatiosDoc]
    overall: NotRequired[dict[str, float | None]]
    intervals: NotRequired[ComparisonIntervalsDoc]


Part = Literal[
    "linear", "access", "block_sizes", "streams", "patterns", "files", "streaming", "defragmentation", "applications",
    "energy", "summary",
]  # fmt: skip
