"""The load that a result is of, as a workload of ours, with what had to be assumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


class CannotRebuild(Exception):
    """Why a result's load cannot be rebuilt, in words; the result has a row that says so."""


@dataclass
class Rebuilt:
    """A workload's text, and what was assumed of it: (what, why) in the order in which it matters. `loads` says how it
    asks ("closed" or "open"), `span_bytes` which part of the target it touches, None for all of it."""

    text: str
    asks: str
    span_bytes: int | None = None
    assumed: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    def assume(self, text: str) -> None:
        """Adds an assumption, once."""
        if text not in self.assumed:
            self.assumed.append(text)


def measured_read_pct(record: RecordDoc) -> float | None:
    """The share of reads that was measured; None where I/Os were not counted."""
    reads, writes = record["summary"]["read"]["count"], record["summary"]["write"]["count"]
    if reads is None or writes is None or not reads + writes:
        return None
    return 100.0 * reads / (reads + writes)
