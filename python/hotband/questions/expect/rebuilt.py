"""The load of a result as a workload, with the assumptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


class CannotRebuild(Exception):
    """The reason why a result's load cannot be rebuilt, in words; its row in the result states it."""


@dataclass
class Rebuilt:
    """A workload's text, and its assumptions in the order of importance. `asks` is the kind of its load ("closed" or
    "open"), `span_bytes` the used part of the target, None for all of it."""

    text: str
    asks: str
    span_bytes: int | None = None
    assumed: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    def assume(self, text: str) -> None:
        """Add an assumption, once."""
        if text not in self.assumed:
            self.assumed.append(text)


def measured_read_pct(record: RecordDoc) -> float | None:
    """Return the measured share of reads in percent; None if I/Os were not counted."""
    reads, writes = record["summary"]["read"]["count"], record["summary"]["write"]["count"]
    if reads is None or writes is None or not reads + writes:
        return None
    return 100.0 * reads / (reads + writes)
