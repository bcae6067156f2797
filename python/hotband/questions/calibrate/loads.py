"""The loads that a calibration may measure: short, with one or two streams, each informative about some values.

Left out: loads that need hours (the way of a full drive into steady state: precondition it before), flushes and trims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hotband.base.errors import UserError
from hotband.base.heavy import tomlkit
from hotband.base.text.values import Toml
from hotband.data.inputs.loads import Load

DISK_SECONDS, SSD_SECONDS = 20.0, 5.0
"""Measured time of a load: 1,600 reads of the slowest disk, one by one, which determine the mean to 0.8 % and the 99th
percentile to about 2 %; tens of thousands on a solid-state drive."""
STREAM_SECONDS = 5.0
"""Sequential loads of disks do hundreds of I/Os a second."""
WARM_UP_SECONDS = 2.0
"""Warm-up before each load, which fills a write cache: at least two seconds of a queue of 32 on a disk."""
HELD_OUT_TIMES = 3.0
"""Ratio of measured times of validation loads to others: their noise adds to the error."""
SHARE_OF_RATE = 0.6
"""Rate of the paced load, as a share of the model's rate of single commands, reads and writes mixed."""
FEW = 25.0
"""Writes per second that a disk of 7,200 rpm writes back between one and the next: its cache completes them at once."""
USES = {True: "validation", False: "fit"}
"""Use of a load, by whether it is held out."""
BLACK_BOX = "black-box"


@dataclass(frozen=True)
class Measurement:
    """One load to measure: a name, its streams, and its queue `depth` or its `rate` in evenly spaced I/Os per second.
    `seconds` are measured, after `warm_up`. A `given` workload text replaces the streams. The fit does not see a
    `held_out` load. A load that `changes` the drive for later ones is measured once, after all others: large writes
    leave the data of a solid-state drive in order instead of at random."""

    name: str
    streams: tuple[tuple[tuple[str, Toml], ...], ...] = ()
    depth: int = 1
    rate: float | None = None
    seconds: float = DISK_SECONDS
    warm_up: float = WARM_UP_SECONDS
    held_out: bool = False
    changes: bool = False
    span_bytes: int | None = None
    given: str = ""
    set: tuple[tuple[str, str], ...] = ()
    _texts: dict[int | None, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Texts by their number of I/Os: a fit runs each load hundreds of times, and tomlkit is slow."""

    @property
    def is_open(self) -> bool:
        """Return whether it is an open loop, whose rate has no information."""
        return self.rate is not None

    @property
    def time(self) -> float:
        """Seconds with warm-up."""
        return self.seconds + self.warm_up

    @property
    def writes(self) -> bool:
        """Whether anything is written."""
        return not self.streams or any(dict(stream).get("read_pct") != 100 for stream in self.streams)

    def reads_only(self) -> Measurement:
        """Return the load with reads only."""
        streams = tuple(tuple({**dict(stream), "read_pct": 100}.items()) for stream in self.streams)
        return replace(self, name=self.name.replace("70 % reads", "random reads of 8 KiB"), streams=streams)

    def text(self, ios: int | None = None) -> str:
        """Return the workload's text; `ios` limits measured I/Os instead of the time."""
        if self.given:
            return (Load(self.given, self.name).with_ios(ios) if ios else Load(self.given, self.name)).text()
        if ios not in self._texts:
            self._texts[ios] = str(tomlkit.dumps(self._table(ios)))
        return self._texts[ios]

    def _table(self, ios: int | None) -> dict[str, Toml]:
        warm_up: dict[str, Toml] = {"name": "warm-up"}
        measure: dict[str, Toml] = {"name": "measure", "measure": True}
        if ios is None:
            warm_up["duration"], measure["duration"] = f"{self.warm_up:g} s", f"{self.seconds:g} s"
        else:
            warm_up["until"] = [f"{self.warm_up:g} s", f"{ios} I/Os"]
            measure["ios"] = ios
        streams: list[Toml] = [self._stream(dict(stream)) for stream in self.streams]
        load: Toml = {"closed": {"threads": self.depth, "depth": 1}}
        if self.rate is not None:
            load = _paced(round(self.rate, 3))
        table: dict[str, Toml] = {"title": self.name, "source": "hotband calibrate", "load": load}
        if self.rate is not None and any(map(_is_mixed, streams)):
            del table["load"]
            streams = [half for stream in streams for half in _halves(stream, self.rate)]
        return {**table, "streams": streams, "phases": [warm_up, measure]}

    def _stream(self, stream: dict[str, Toml]) -> Toml:
        """Add the range in bytes if only a part of the target is used."""
        if self.span_bytes is None:
            return stream
        limits = stream.get("range")
        ends = [
            float(str(end).rstrip(" %")) / 100.0 * self.span_bytes
            for end in (limits if isinstance(limits, list) else ["0 %", "100 %"])
        ]
        return {**stream, "range": [f"{int(end) >> 20} MiB" for end in ends]}


def _paced(rate: float) -> Toml:
    return {"open": {"rate_iops": rate, "arrival": "fixed"}}


def _is_mixed(stream: Toml) -> bool:
    assert isinstance(stream, dict)
    return stream["read_pct"] not in (0, 100)


def _halves(stream: Toml, rate: float) -> list[Toml]:
    """Split a stream into reads and writes, each at a whole number of I/Os per second: fio bunches those of a mixed
    job."""
    assert isinstance(stream, dict)
    reads = round(rate * float(str(stream["read_pct"])) / 100)
    both = (("reads", 100, reads), ("writes", 0, round(rate) - reads))
    return [{**stream, "name": name, "read_pct": pct, "load": _paced(max(own_rate, 1))} for name, pct, own_rate in both]


def _of(
    name: str,
    read_pct: int,
    random_pct: int,
    size: str,
    depth: int = 1,
    seconds: float = DISK_SECONDS,
    span: tuple[str, str] | None = None,
) -> Measurement:
    stream: dict[str, Toml] = {"name": "ios", "read_pct": read_pct, "random_pct": random_pct, "size": size}
    if span is not None:
        stream["range"] = list(span)
    return Measurement(name, (tuple(stream.items()),), depth, seconds=seconds)


def _disk() -> list[Measurement]:
    inner, start = ("97 %", "100 %"), ("0 %", "2 %")
    return [
        _of("random reads", 100, 100, "4 KiB"),
        _of("random reads, 4 at once", 100, 100, "4 KiB", 4),
        _of("random reads, 32 at once", 100, 100, "4 KiB", 32),
        _of("near reads", 100, 100, "4 KiB", span=start),
        _of("large random reads", 100, 100, "256 KiB"),
        _of("random writes", 0, 100, "4 KiB"),
        _of("random writes, 32 at once", 0, 100, "4 KiB", 32),
        _of("near writes", 0, 100, "4 KiB", span=start),
        replace(_of("a few writes a second", 0, 100, "4 KiB"), rate=FEW),
        _of("large random writes", 0, 100, "256 KiB", 4),
        _of("half of them reads, 8 at once", 50, 100, "16 KiB", 8),
        _of("sequential reads, outside", 100, 0, "256 KiB", seconds=STREAM_SECONDS),
        _of("small sequential reads", 100, 0, "8 KiB", seconds=STREAM_SECONDS),
        _of("sequential reads, inside", 100, 0, "256 KiB", seconds=STREAM_SECONDS, span=inner),
        _of("sequential writes", 0, 0, "256 KiB", seconds=STREAM_SECONDS),
    ]


def _ssd(deep: int) -> list[Measurement]:
    loads = [
        _of("random reads", 100, 100, "4 KiB"),
        _of("random reads, 8 at once", 100, 100, "4 KiB", 8),
        _of("random reads, 32 at once", 100, 100, "4 KiB", 32),
        _of("random reads of 64 KiB", 100, 100, "64 KiB"),
        _of("random reads of 64 KiB, 16 at once", 100, 100, "64 KiB", 16),
        _of("sequential reads", 100, 0, "128 KiB"),
        _of("sequential reads, 8 at once", 100, 0, "128 KiB", 8),
        _of("random writes", 0, 100, "4 KiB"),
        _of("random writes, 32 at once", 0, 100, "4 KiB", 32),
        _of("half of them reads, 4 at once", 50, 100, "4 KiB", 4),
        _of("nine of ten reads, 16 at once", 90, 100, "16 KiB", 16),
        replace(_of("random writes of 64 KiB, 4 at once", 0, 100, "64 KiB", 4), changes=True),
        replace(_of("sequential writes", 0, 0, "128 KiB"), changes=True),
    ]
    if deep > 32:
        loads.insert(3, _of(f"random reads, {deep} at once", 100, 100, "4 KiB", deep))
    return [replace(load, seconds=SSD_SECONDS) for load in loads]


def _black_box() -> list[Measurement]:
    loads = [
        _of(f"random {kind}{f' of {size}' if size != '4 KiB' else ''}{f', {depth} at once' if depth > 1 else ''}",
            share, 100, size, depth)
        for kind, share in (("reads", 100), ("writes", 0))
        for size, depth in (("4 KiB", 1), ("4 KiB", 8), ("4 KiB", 32), ("64 KiB", 1), ("256 KiB", 1), ("256 KiB", 16))
    ]  # fmt: skip
    loads.append(_of("half of them reads, 4 at once", 50, 100, "16 KiB", 4))
    return [replace(load, seconds=SSD_SECONDS) for load in loads]


def candidates(kind: str, tags: int) -> list[Measurement]:
    """Return the loads for a kind of drive with a queue of `tags` commands. Raises UserError for a kind without
    loads."""
    kinds = {"disk": _disk, "ssd": lambda: _ssd(128 if tags > 32 else 32), BLACK_BOX: _black_box}
    if kind not in kinds:
        raise UserError("question.like", "kind", kind, f"expected a product that is one of {', '.join(sorted(kinds))}")
    return kinds[kind]()


def held_out(kind: str, rate: float) -> list[Measurement]:
    """Return the validation loads: a mix, and the same reads and writes at `rate` I/Os per second."""
    seconds = HELD_OUT_TIMES * (DISK_SECONDS if kind == "disk" else SSD_SECONDS)
    mix = _of("70 % reads, 16 at once", 70, 100, "8 KiB", 16, seconds)
    paced = replace(_of("70 % reads at a rate", 70, 100, "8 KiB", 1, seconds), rate=rate)
    return [replace(load, held_out=True) for load in (mix, paced)]


def within(loads: Sequence[Measurement], span_bytes: int | None) -> list[Measurement]:
    """Limit loads to the first bytes of the target."""
    return list(loads) if span_bytes is None else [replace(load, span_bytes=span_bytes) for load in loads]
