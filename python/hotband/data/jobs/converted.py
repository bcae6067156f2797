"""A workload in another form, and the fate of each of its options."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.data.jobs.loss import Loss, LossReport, shortest


@dataclass(frozen=True)
class Converted:
    """A workload in another form, and the fate of each of its options: `losses` has one entry per option."""

    text: str
    read: str
    """The loss report of reading a job file, one line after the other; empty for a workload of ours."""
    losses: tuple[Loss, ...]
    summary: str

    def lines(self) -> list[str]:
        """Return the lines for the terminal: counts, then each option that was not kept as it is."""
        report = LossReport("", "", dict.fromkeys(self.losses))
        of_writing = [self.summary, *shortest(report.matters())] if self.summary else []
        return [*self.read.splitlines(), *of_writing]
