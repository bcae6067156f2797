"""What is asked of a fleet."""

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

    `fleet` is a path, TOML text or a mapping as the file has it. The same repetitions and seed give the same figures
    however many `jobs` (threads) there are; an executor runs the model's runs, repetitions are computed here. With a
    folder `out` runs of the model and repetitions are kept, and what is there is not computed again. An interrupt
    returns what is finished (`Fleet.complete`).

    The result has `frame` (a row a group and month), `years`, `summary`, `answers`, `report("page.html")`. Raises
    UserError for a mistake, KeyboardInterrupt where nothing was finished.
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
        """Return that of an interruption where one ended it."""
        if fleet.complete:
            return None
        where = f"; kept in {self.out}: the same command goes on from there" if self.out is not None else ""
        many = f"{fleet.repetitions:,} of {fleet.spec.repetitions:,} repetitions were finished"
        return Ending(INTERRUPTED, f"interrupted; {many}{where}")
