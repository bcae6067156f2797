"""`hb.fleet`: a fleet of machines from Python (docs/guides/fleet.md)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.inputs.specify import expect_seed
from hotband.execution.experiment import using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.questions.fleet.run import Asked, run_fleet, spec_of

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.questions.fleet.result import Fleet


@public
def fleet(
    fleet: str | PathLike[str] | Mapping[str, Toml],
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Fleet:
    """Simulates a fleet: groups of machines over months, with failures, rebuilds, wear, energy, loss of data and cost.

    `fleet` is a path, TOML text or a mapping as the file has it. `repetitions` and `seed` stand for those of the file;
    the same give the same figures however many `jobs` (threads) there are. With a folder `out` runs of the model and
    repetitions are kept, and what is there is not computed again; `fresh` starts over. `executor` ("ray", as in
    `sweep`) runs the model's runs; repetitions are computed here. `progress` as in `run`. An interrupt
    returns what is finished (`Fleet.complete`).

    The result has `frame` (a row a group and month), `years`, `summary`, `answers`, `report("page.html")`. Raises
    UserError for a mistake, KeyboardInterrupt where nothing was finished.
    """
    with as_interrupt():
        if repetitions is not None and not 2 <= repetitions <= 1_000_000:
            raise UserError("repetitions", "", str(repetitions), "expected a whole number from 2 to 1,000,000")
        if seed is not None:
            expect_seed(seed)
        where = None if out is None else Path(out)
        asked = Asked(repetitions, seed, where, fresh, jobs)
        given = fleet if isinstance(fleet, str | Mapping) else Path(fleet)
        with using(executor, jobs):
            return run_fleet(spec_of(given, asked), asked, lambda title: watch.watch(title, progress))
