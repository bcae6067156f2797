"""Properties of a trace: the figures of `hotband trace show`, typed. `crates/traces/src/properties` counts them,
Zipf's law is fitted here. Shares are of one, times in ns, sizes in bytes. Definitions: docs/guides/traces.md.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

from hotband.base.heavy import np
from hotband.base.text.values import Json

SCHEMA, SCHEMA_VERSION = "hotband-trace-properties", 1

T = TypeVar("T")


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of many values, to one percent; all zero without values (`count`). If blocks are sampled, `count` is an
    estimate."""

    count: int
    mean: float
    min: int
    p10: int
    p25: int
    p50: int
    p75: int
    p90: int
    p99: int
    p999: int
    max: int


@dataclass(frozen=True)
class Size:
    """I/Os of one size."""

    bytes: int
    ios: int


@dataclass(frozen=True)
class Direction:
    """I/Os of one direction ("read", "write", "flush", "trim"): `sizes` are the 64 most frequent, in order of size, the
    rest `other_ios` with `other_bytes` together."""

    direction: str
    ios: int
    bytes: int
    fua: int
    failed: int
    size: Quantiles
    sizes: tuple[Size, ...]
    other_ios: int
    other_bytes: int


@dataclass(frozen=True)
class Device:
    """A device of the trace (an empty name if it has none); `end_bytes` is where its last byte read or written
    ends."""

    name: str
    ios: int
    bytes: int
    end_bytes: int


@dataclass(frozen=True)
class Dispersion:
    """Index of dispersion of counts: variance over mean of the I/Os in windows of this width, and its standard error. 1
    for a Poisson process at every width."""

    window_ns: int
    windows: int
    mean: float
    index: float
    error: float


@dataclass(frozen=True)
class Time:
    """I/Os and bytes in intervals of `interval_ns` from the first I/O on; times from one I/O to the next, their squared
    coefficient of variation (1 for a Poisson process; None of fewer than three I/Os); dispersion by window."""

    interval_ns: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    others: tuple[int, ...]
    read_bytes: tuple[int, ...]
    written_bytes: tuple[int, ...]
    gap_ns: Quantiles
    gap_scv: float | None
    dispersion: tuple[Dispersion, ...]

    @property
    def ios(self) -> list[int]:
        """I/Os of all directions in each interval."""
        return [sum(counts) for counts in zip(self.reads, self.writes, self.others, strict=True)]


@dataclass(frozen=True)
class RunClass:
    """`runs` runs of `from_ios` to `to_ios` I/Os, and how many these are together."""

    from_ios: int
    to_ios: int
    runs: int
    ios: int


@dataclass(frozen=True)
class RunLengths:
    """I/Os and bytes of a run."""

    ios: Quantiles
    bytes: Quantiles
    lengths: tuple[RunClass, ...]


@dataclass(frozen=True)
class Runs:
    """Sequentiality of reads and writes. `continuing`: share that begins where the previous I/O on its device ends;
    `in_streams`: where one of the last `heads` runs on its device ends, whatever came between. `strict` and `streams`
    are the runs by either rule."""

    ios: int
    continuing: float
    reads_continuing: float
    writes_continuing: float
    strict: RunLengths
    in_streams: float
    reads_in_streams: float
    writes_in_streams: float
    streams: RunLengths
    heads: int


@dataclass(frozen=True)
class JumpClass:
    """Jumps of `from_bytes` to below twice as far."""

    from_bytes: int
    forward: int
    backward: int


@dataclass(frozen=True)
class Jumps:
    """From the end of an I/O to the beginning of the next on its device: shares without a distance, with one of at
    most 1 MiB, with one towards lower addresses; quantiles of those that are not zero, whichever way."""

    count: int
    none: float
    near: float
    backward: float
    distance: Quantiles
    classes: tuple[JumpClass, ...]


@dataclass(frozen=True)
class Footprint:
    """Different bytes touched, by block; `error_bytes` is the standard error of `bytes`, zero if it is exact."""

    bytes: int
    read_bytes: int
    written_bytes: int
    both_bytes: int
    error_bytes: float


@dataclass(frozen=True)
class Window:
    """Different bytes in a window of this width, on average over all moments."""

    window_ns: int
    bytes: float


@dataclass(frozen=True)
class WorkingSet:
    """Different bytes touched in each interval of `interval_ns`, since the beginning, and on average by window."""

    interval_ns: int
    bytes: tuple[int, ...]
    so_far_bytes: tuple[int, ...]
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class CountClass:
    """Blocks of the sample that were touched `from_count` to `to_count` times."""

    from_count: int
    to_count: int
    blocks: int


@dataclass(frozen=True)
class Top:
    """Share of accesses (by block) that go to the most popular share of the blocks touched."""

    blocks: float
    accesses: float


@dataclass(frozen=True)
class Zipf:
    """Zipf's law: the block of rank r is touched in proportion to r^-theta. `error` is the standard error of `theta`;
    `least` is how often the least popular block of the population is touched on average; `misfit` is the largest
    difference of the shares of blocks touched up to n times, of the law and the trace (Kolmogorov's distance)."""

    theta: float
    error: float
    least: float
    misfit: float


@dataclass(frozen=True)
class Popularity:
    """Counts of accesses per block; `zipf` is None for fewer than 100 blocks, for blocks accessed only once, or if the
    counts do not distinguish exponents."""

    counts: tuple[CountClass, ...]
    top: tuple[Top, ...]
    zipf: Zipf | None

    def share_of_top(self, blocks: float) -> float | None:
        """Return the share of accesses to the most popular 0.1, 1, 10, 20 or 50 % of the blocks."""
        return next((share.accesses for share in self.top if share.blocks == blocks), None)


@dataclass(frozen=True)
class Curve:
    """Miss ratios of an LRU cache of blocks that keeps reads and writes, by its size: straight between points, of which
    the first is no cache. `error` is the standard error of `miss_ratio`, zero if it is exact."""

    cache_bytes: tuple[int, ...]
    miss_ratio: tuple[float, ...]
    read_miss_ratio: tuple[float, ...]
    error: tuple[float, ...]

    def at(self, cache_bytes: float) -> float:
        """Return the miss ratio of all accesses with a cache of this size."""
        return float(np.interp(cache_bytes, self.cache_bytes, self.miss_ratio)) if self.cache_bytes else 1.0


@dataclass(frozen=True)
class Reuse:
    """Accesses by block, share of first ones, different bytes touched between an access and the next of its block."""

    accesses: int
    reads: int
    first: float
    distance_bytes: Quantiles
    curve: Curve


@dataclass(frozen=True)
class Rewrites:
    """Share of reads (by block) whose block was written and not touched since, and the time from then; share of writes
    whose block had been written before, and the time from then, whatever was read between."""

    read_after_write: float
    read_after_write_ns: Quantiles
    overwrite: float
    overwrite_ns: Quantiles


@dataclass(frozen=True)
class Latency:
    """Measured latencies of a direction."""

    direction: str
    ns: Quantiles


@dataclass(frozen=True)
class Depth:
    """I/Os in flight: on average over time (Little's law), and as an I/O finds it, itself among them."""

    mean: float
    at_issue: Quantiles


@dataclass(frozen=True)
class Properties:
    """Properties of a trace. `directions` are those that occur; `latency` and `depth` need a trace with latencies.
    `is_exact`: every block was followed; else `sample_blocks` of them, a share of `sample_rate`."""

    ios: int
    span_ns: int
    block_bytes: int
    sample_blocks: int
    sample_rate: float
    is_exact: bool
    devices: tuple[Device, ...]
    directions: tuple[Direction, ...]
    time: Time
    runs: Runs
    jumps: Jumps
    footprint: Footprint
    working_set: WorkingSet
    popularity: Popularity
    reuse: Reuse
    rewrites: Rewrites
    latency: tuple[Latency, ...]
    depth: Depth | None
    notes: tuple[str, ...]

    def of(self, direction: str) -> Direction | None:
        """Return the I/Os of a direction, None if there are none."""
        return next((entry for entry in self.directions if entry.direction == direction), None)

    def latency_of(self, direction: str) -> Quantiles | None:
        """Return the measured latencies of a direction, None if there are none."""
        return next((entry.ns for entry in self.latency if entry.direction == direction), None)

    @property
    def read_share(self) -> float:
        """Share of reads among reads and writes; zero if there are neither."""
        reads, writes = (0 if side is None else side.ios for side in (self.of("read"), self.of("write")))
        return reads / (reads + writes) if reads + writes else 0.0

    @property
    def rate(self) -> float | None:
        """I/Os per second from the first to the last; None if all were issued at one time."""
        return self.ios / (self.span_ns / 1e9) if self.span_ns else None

    def to_dict(self) -> dict[str, Json]:
        """Return the properties as JSON, with the names and units of the fields."""
        return cast("dict[str, Json]", json.loads(json.dumps(asdict(self))))


RENAMED = {
    RunClass: {"from": "from_ios", "to": "to_ios"},
    JumpClass: {"from": "from_bytes"},
    CountClass: {"from": "from_count", "to": "to_count"},
}
"""Keys of the core that are reserved words of Python."""


def decoded(kind: type[T], value: object) -> T:
    """Decode a JSON value to the dataclass, tuple or number of `kind`."""
    if get_origin(kind) is tuple:
        (each, *_) = get_args(kind)
        return cast("T", tuple(decoded(each, item) for item in cast("list[object]", value)))
    if isinstance(kind, types.UnionType):
        (inner,) = (get_arg for get_arg in get_args(kind) if get_arg is not type(None))
        return cast("T", None if value is None else decoded(inner, value))
    if is_dataclass(kind):
        hints, renamed = get_type_hints(kind), RENAMED.get(kind, {})
        doc = {renamed.get(key, key): item for key, item in cast("Mapping[str, object]", value).items()}
        return cast("T", kind(**{field.name: decoded(hints[field.name], doc[field.name]) for field in fields(kind)}))
    return cast("T", float(cast("float", value)) if kind is float else value)


BLOCK = 4096
"""Default bytes of a block: a page of memory, and the physical sector of most drives."""

SAMPLE = 1 << 18
"""Most blocks to follow: 1 GiB of blocks of 4 KiB is exact. SHARDS has 8,192 for an error of 0.006."""


def properties_of(text: str) -> Properties:
    """Decode the properties that the core counted, and fit Zipf's law."""
    from hotband.inference.traces.zipf import zipf_of

    document = json.loads(text)
    popularity = document["popularity"]
    zipf = zipf_of(decoded(tuple[CountClass, ...], popularity["counts"]))
    popularity["zipf"] = None if zipf is None else vars(zipf)
    return decoded(Properties, document)
