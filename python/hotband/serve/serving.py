"""The section "serving" of a record: how late answers were, and what clients got beside what the model meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# A run is said to be late where p99 of its lateness is more than this share of the p50 of its latency, or this long
# (ns): beyond it the emulated drive is another one than the modelled.
LATE_SHARE, LATE_NS = 0.10, 1e6


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
    """Reads, writes, flushes or trims: answers, those with errors, bytes; latency as the model meant it, and from the
    arrival of a request to its answer being handed over."""

    kind: str
    count: int
    errors: int
    bytes: int
    model: Times | None
    client: Times | None


@dataclass(frozen=True)
class Serving:
    """What was counted: how late answers were, and by kind of I/O."""

    lateness: Times | None
    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, section: Any) -> Serving:
        """Of the section of a record."""
        times = _times
        kinds = (
            Kind(one["kind"], one["count"], one["errors"], one["bytes"], times(one["model"]), times(one["client"]))
            for one in section["kinds"]
        )
        return cls(times(section["lateness"]), tuple(kinds))

    @property
    def answers(self) -> int:
        """Answers of all kinds, those with errors too."""
        return sum(kind.count + kind.errors for kind in self.kinds)

    def warnings(self) -> Iterator[str]:
        """What a reader must know of its timing."""
        late = self.lateness
        if late is None:
            return
        for kind in self.kinds:
            if kind.kind not in ("read", "write") or kind.model is None:
                continue
            if late.p99_ns > LATE_SHARE * kind.model.p50_ns:
                share = 100 * late.p99_ns / max(kind.model.p50_ns, 1.0)
                yield (
                    f"answers were late: p99 of lateness is {_told(late.p99_ns)}, {share:.0f} % of the p50 latency of "
                    f"{kind.kind}s ({_told(kind.model.p50_ns)}); more than {LATE_SHARE:.0%} is no longer this drive"
                )
                return
        if late.p99_ns > LATE_NS:
            yield f"answers were late: p99 of lateness is {_told(late.p99_ns)}; more than {_told(LATE_NS)} is too much"


def _times(section: Any) -> Times | None:
    return None if section is None else Times(**section)


def _told(ns: float) -> str:
    from hotband.text.quantities import span_text

    return span_text(ns)
