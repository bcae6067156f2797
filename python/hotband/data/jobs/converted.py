"""A workload in another form, and what became of its options."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.data.jobs.loss import Loss, LossReport, shortest


@dataclass(frozen=True)
class Converted:
    """A workload in another form, and what became of its options: `losses` has a line each."""

    text: str
    read: str
    """The loss report of reading a job file, one line after the other; empty for a workload of ours."""
    losses: tuple[Loss, ...]
    summary: str

    def lines(self) -> list[str]:
        """What the terminal says: counts, and what is not as it was."""
        kept = LossReport("", "", dict.fromkeys(self.losses))
        of_writing = [self.summary, *shortest(kept.matters())] if self.summary else []
        return [*self.read.splitlines(), *of_writing]
