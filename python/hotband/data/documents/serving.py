"""The section "serving" of a record: the emulation delay, and latencies as served next to those of the model."""

from dataclasses import dataclass
from typing import NotRequired, Self, TypedDict


class TimesDoc(TypedDict):
    """`Times` as in a record."""

    mean_ns: float
    p50_ns: int
    p90_ns: int
    p99_ns: int
    p99_9_ns: int
    max_ns: int


class KindDoc(TypedDict):
    """`Kind` as in a record."""

    kind: str
    count: int
    errors: int
    bytes: int
    model: TimesDoc | None
    client: TimesDoc | None


class ServingDoc(TypedDict):
    """The section. In a client's record `duration_ns` is how long the machine was served: its parts, their power and
    counters cover that time, with the client's start and warm-up; `invalid` has the reasons why the client's figures
    are not the drive's."""

    lateness: TimesDoc | None
    late: str | None
    way_ns: int
    cores_awake: bool
    duration_ns: NotRequired[int]
    invalid: NotRequired[list[str]]
    priority: NotRequired[str]
    repeated_flushes: NotRequired[int]
    kinds: list[KindDoc]


@dataclass(frozen=True)
class Times:
    """Mean and quantiles of times in nanoseconds."""

    mean_ns: float
    p50_ns: float
    p90_ns: float
    p99_ns: float
    p99_9_ns: float
    max_ns: float


@dataclass(frozen=True)
class Kind:
    """Reads, writes, flushes or trims: number of completions, of those with errors, and of bytes; the latency of the
    model, and that from the arrival of a request to its completion by the server."""

    kind: str
    count: int
    errors: int
    bytes: int
    model: Times | None
    client: Times | None


@dataclass(frozen=True)
class Serving:
    """Counts of a served machine: the emulation delay, a note for the reader (None if it changes nothing), counts by
    kind of I/O, flushes that fio repeated and the machine did not get, and the priority of the server's threads."""

    lateness: Times | None
    late: str | None
    kinds: tuple[Kind, ...]
    repeated_flushes: int = 0
    priority: str = ""

    @classmethod
    def of(cls, section: ServingDoc) -> Self:
        """Build it from the section of a record."""
        times = _times
        kinds = (
            Kind(
                kind["kind"], kind["count"], kind["errors"], kind["bytes"], times(kind["model"]), times(kind["client"])
            )
            for kind in section["kinds"]
        )
        repeated, priority = section.get("repeated_flushes", 0), section.get("priority", "")
        return cls(times(section["lateness"]), section["late"], tuple(kinds), repeated, priority)

    def kind(self, name: str) -> Kind | None:
        """Return the counts of a kind of I/O; None if there was none."""
        return next((kind for kind in self.kinds if kind.kind == name), None)

    @property
    def answers(self) -> int:
        """Return the completions of all kinds, including those with errors."""
        return sum(kind.count + kind.errors for kind in self.kinds)


def _times(section: TimesDoc | None) -> Times | None:
    return None if section is None else Times(**section)
