"""The loads that a calibration may measure: short, of one stream or two, each there to tell something.

What it leaves out: loads that need hours (the way into steady state of a full drive: precondition it before), flushes
and trims.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.heavy import tomlkit
from hotband.data.inputs.loads import Load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hotband.base.text.values import Toml

DISK_SECONDS, SSD_SECONDS = 20.0, 5.0
"""Measured time of a load: 1,600 reads of the slowest disk, one by one, whose mean is then known to 0.8 % and 99th
percentile to about 2 %; of a solid-state drive, tens of thousands."""
STREAM_SECONDS = 5.0
"""Sequential loads of disks do hundreds of I/Os a second."""
WARM_UP_SECONDS = 2.0
"""Before each: a write cache is full after it. At least two seconds of a queue of 32 on a disk."""
HELD_OUT_TIMES = 3.0
"""A load that the fit is checked on is measured so many times as long: its own noise is in the error."""
SHARE_OF_RATE = 0.6
"""The load at a rate asks for this share of what the product's model does one by one, reads and writes mixed."""
FEW = 25.0
"""I/Os a second that a disk of 7,200 rpm writes back between one and the next: its cache answers them at once."""
USES = {True: "the check", False: "the fit"}
"""What a load is for, by whether it is held out."""
BLACK_BOX = "black-box"


@dataclass(frozen=True)
class Measurement:
    """One load as it is measured: a name, its streams, and how it asks: so many outstanding (`depth`), or a `rate` of
    I/Os a second at even distances. `seconds` are measured, after `warm_up`. A load whose `text` is given is that text
    instead. Of a `held_out` one the fit knows nothing. One that `changes` the drive for those after it is measured
    once, after all others: large writes leave data of a solid-state drive in order, which was at random before."""

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

    @property
    def is_open(self) -> bool:
        """Whether it asks at a rate, which then tells nothing."""
        return self.rate is not None

    @property
    def time(self) -> float:
        """Seconds that it takes."""
        return self.seconds + self.warm_up

    @property
    def writes(self) -> bool:
        """Whether anything is written."""
        return not self.streams or any(dict(stream).get("read_pct") != 100 for stream in self.streams)

    def reads_only(self) -> Measurement:
        """The same with reads alone."""
        streams = tuple(tuple({**dict(stream), "read_pct": 100}.items()) for stream in self.streams)
        return replace(self, name=self.name.replace("70 % reads", "random reads of 8 KiB"), streams=streams)

    def text(self, ios: int | None = None) -> str:
        """The workload; with `ios`, so many measured I/Os instead of the time."""
        if self.given:
            return (Load(self.given, self.name).with_ios(ios) if ios else Load(self.given, self.name)).text()
        return str(tomlkit.dumps(self._table(ios)))

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
        """With its range in bytes where only a part of the target is used."""
        if self.span_bytes is None:
            return stream
        said = stream.get("range")
        ends = [
            float(str(end).rstrip(" %")) / 100.0 * self.span_bytes
            for end in (said if isinstance(said, list) else ["0 %", "100 %"])
        ]
        return {**stream, "range": [f"{int(end) >> 20} MiB" for end in ends]}


def _paced(rate: float) -> Toml:
    return {"open": {"rate_iops": rate, "arrival": "fixed"}}


def _is_mixed(stream: Toml) -> bool:
    assert isinstance(stream, dict)
    return stream["read_pct"] not in (0, 100)


def _halves(stream: Toml, rate: float) -> list[Toml]:
    """Its reads and its writes, each at a rate of its own in whole I/Os: fio bunches those of a mixed job."""
    assert isinstance(stream, dict)
    reads = round(rate * float(str(stream["read_pct"])) / 100)
    both = (("reads", 100, reads), ("writes", 0, round(rate) - reads))
    return [{**stream, "name": name, "read_pct": pct, "load": _paced(max(own, 1))} for name, pct, own in both]


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
    found = [
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
        found.insert(3, _of(f"random reads, {deep} at once", 100, 100, "4 KiB", deep))
    return [replace(one, seconds=SSD_SECONDS) for one in found]


def _black_box() -> list[Measurement]:
    found = [
        _of(f"random {kind}{f' of {size}' if size != '4 KiB' else ''}{f', {depth} at once' if depth > 1 else ''}",
            share, 100, size, depth)
        for kind, share in (("reads", 100), ("writes", 0))
        for size, depth in (("4 KiB", 1), ("4 KiB", 8), ("4 KiB", 32), ("64 KiB", 1), ("256 KiB", 1), ("256 KiB", 16))
    ]  # fmt: skip
    found.append(_of("half of them reads, 4 at once", 50, 100, "16 KiB", 4))
    return [replace(one, seconds=SSD_SECONDS) for one in found]


def candidates(kind: str, tags: int) -> list[Measurement]:
    """The loads of a kind of drive that takes so many commands at once. Raises UserError for a kind that none are known
    of."""
    kinds = {"disk": _disk, "ssd": lambda: _ssd(128 if tags > 32 else 32), BLACK_BOX: _black_box}
    if kind not in kinds:
        raise UserError("question.like", "kind", kind, f"expected a product that is one of {', '.join(sorted(kinds))}")
    return kinds[kind]()


def held_out(kind: str, rate: float) -> list[Measurement]:
    """What the fit is checked on: a mix, and the same reads and writes at `rate` I/Os a second."""
    seconds = HELD_OUT_TIMES * (DISK_SECONDS if kind == "disk" else SSD_SECONDS)
    mix = _of("70 % reads, 16 at once", 70, 100, "8 KiB", 16, seconds)
    paced = replace(_of("70 % reads at a rate", 70, 100, "8 KiB", 1, seconds), rate=rate)
    return [replace(one, held_out=True) for one in (mix, paced)]


def within(loads: Sequence[Measurement], span_bytes: int | None) -> list[Measurement]:
    """The same on the first bytes of the target only."""
    return list(loads) if span_bytes is None else [replace(load, span_bytes=span_bytes) for load in loads]
