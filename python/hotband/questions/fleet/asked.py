"""The question `fleet`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.question import Ending, Question, asks, fresh, jobs, out, seed
from hotband.data.inputs.kinds import Document
from hotband.execution.runs.signals import INTERRUPTED

if TYPE_CHECKING:
    from hotband.questions.fleet.result import Fleet


@dataclass(frozen=True, kw_only=True)
class FleetQuestion(Question):
    """Simulate a fleet over months: failures, rebuilds, spares, wear, energy, expected loss of data and cost.

    `fleet` is a path, TOML text or a mapping like the file. An executor runs the model's runs; repetitions are computed
    here. The folder `out` stores both. An interrupt returns the finished ones (`Fleet.complete`).

    The result has `frame` (one row per group and month), `years`, `summary`, `answers`, `report("page.html")`. Raises
    UserError for a mistake, KeyboardInterrupt if nothing was finished.
    """

    name = "fleet"
    schema = "hotband-fleet"
    answers = "hotband.questions.fleet.result:Fleet"
    runs = True
    has_page = True
    writes = "report"

    fleet: Document = asks("A TOML file: docs/guides/fleet.md.", metavar="FLEET", positional=True)
    repetitions: int | None = asks(
        "Number of repetitions, in place of the file's (default 1000).", default=None, least=2, most=1_000_000
    )
    seed: int | None = seed(default=None)
    jobs: int | None = jobs()
    out: Path | None = out()
    fresh: bool = fresh()

    def ending(self, fleet: Fleet) -> Ending | None:
        """Return the exit of an interruption, if there was one."""
        if fleet.complete:
            return None
        where = f"; stored in {self.out}: the same command continues" if self.out is not None else ""
        many = f"{fleet.repetitions:,} of {fleet.spec.repetitions:,} repetitions were finished"
        return Ending(INTERRUPTED, f"interrupted; {many}{where}")
