"""Sections of a record's document about a replayed trace, and its comparison with the recording."""

from typing import Literal, NotRequired, TypedDict


class TraceTimesDoc(TypedDict):
    """Latencies of I/Os, or delays of their issue after the planned time."""

    mean_ns: float
    p50_ns: int
    p99_ns: int
    max_ns: int


class TraceSideDoc(TypedDict):
    """I/Os of one direction that completed both times: as recorded, and as replayed."""

    count: int
    recorded: TraceTimesDoc
    replayed: TraceTimesDoc


class TraceBeyondDoc(TypedDict):
    """Addresses of a trace beyond their volume: how they were moved, and the number of moved I/Os."""

    how: Literal["wrap", "scale"]
    moved: int


class TraceDoc(TypedDict):
    """The measured part of a replayed trace; `recorded_ns` is None if it has no latencies."""

    file: str
    issue: Literal["recorded", "after-completion", "as-fast-as-possible"]
    speed: float | None
    depth: int | None
    beyond: NotRequired[TraceBeyondDoc]
    ios: int
    recorded_ns: int | None
    replayed_ns: int
    issue_error: TraceTimesDoc | None
    read: NotRequired[TraceSideDoc]
    write: NotRequired[TraceSideDoc]
    flush: NotRequired[TraceSideDoc]
    trim: NotRequired[TraceSideDoc]


class ComparedDoc(TypedDict):
    """Latencies of I/Os as measured and as replayed. Shares are of the measured mean, and None if it is zero; `rms_ns`
    is that of single I/Os, and None for two traces with different I/Os; `ios_replayed` is the number of I/Os of the
    second trace, if it differs."""

    ios: int
    ios_replayed: NotRequired[int]
    mean_measured_ns: float
    mean_replayed_ns: float
    mean_error_pct: float | None
    demerit_ns: float
    demerit_pct: float | None
    rms_ns: float | None


class ComparedPercentileDoc(TypedDict):
    """A percentile of both distributions."""

    percentile: float
    measured_ns: int
    replayed_ns: int


class ComparedClassDoc(ComparedDoc):
    """Comparison of reads or writes by distance from the end of the previous I/O on their volume."""

    direction: Literal["read", "write"]
    distance: Literal["continuing", "near", "far"]


class DistributionDoc(TypedDict):
    """Latencies that a percentage of the I/Os does not exceed, measured and replayed: three lists of one length."""

    share_pct: list[float]
    measured_ns: list[int]
    replayed_ns: list[int]


class ComparisonDoc(ComparedDoc):
    """A trace with latencies next to its replay. Older records have no `distribution`."""

    percentiles: list[ComparedPercentileDoc]
    classes: list[ComparedClassDoc]
    distribution: NotRequired[DistributionDoc]
