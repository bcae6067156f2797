"""`hb.advise`: what to buy, from Python (docs/guides/advise.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.inputs.specify import Spec, each_of, named
from hotband.execution.experiment import using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.inference.interval import DRAWS_OF_MANY, LEVEL
from hotband.questions.advise import YEARS
from hotband.questions.advise.advise import advise as advice_of
from hotband.questions.advise.asked import Asked

if TYPE_CHECKING:
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.questions.advise.advice import Advice


@public
def advise(
    workloads: Spec | Sequence[Spec],
    *,
    slo: str,
    capacity: str,
    protect: str,
    candidates: str | Mapping[str, Sequence[str | int]] = "",
    cost: str | PathLike[str] | None = None,
    power: str | None = None,
    grow: str | None = None,
    years: float = YEARS,
    duty: str | None = None,
    slo_degraded: str | None = None,
    interval: float = LEVEL,
    draws: int = DRAWS_OF_MANY,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Advice:
    """Searches drives, layouts, numbers of drives and settings of write caches for what meets `slo` ("p99 < 5 ms",
    "p99 < 5 ms and IOPS > 2000") under every one of `workloads`, each alone, and recommends one.

    `capacity` is text ("50 TB"), usable after `years` of `grow` ("30 %/year"); `protect` how many failed drives it
    lives with ("two failures"). `candidates` is text (`"drives=a,b,layouts=raid6,counts=12,24"`) or a dict of lists;
    what it leaves out is searched whole. `cost` is a CSV or TOML table of prices and watts, `power` the most that the
    drives may draw ("500 W"), `duty` the share of the time that the workloads run, for endurance ("30 %"),
    `slo_degraded` what has to hold with a drive failed. `interval` is the level in percent, from `draws` draws for the
    finalists. With a folder `out` every run is kept as it ends, and one that is there is not run again; `fresh` starts
    over. `executor` as in `sweep`.

    The result has `recommended` and `runner_up`, `front` (a `Point` each: `cost`, `watts`, `latency` in seconds,
    `rebuild` in hours, `loss` as a chance, with `low` and `high`), `answer`, `why`, `frame`, `to_dict()` and
    `write_html(path)`. That nothing meets it is an answer, too: `recommended` is None, `nearest` comes nearest. Raises
    UserError for a mistake, KeyboardInterrupt where it is stopped, OSError.
    """
    given = workloads if isinstance(workloads, list) else [workloads]
    with as_interrupt():
        asked = Asked(
            [named(one, f"workload {number}" if len(given) > 1 else "workload") for number, one in enumerate(given, 1)],
            slo, capacity, protect, _said(candidates), None if cost is None else Path(cost), power, grow, years, duty,
            slo_degraded, interval, draws, seed, jobs, None if out is None else Path(out), fresh,
        )  # fmt: skip
        with using(executor, jobs):
            return advice_of(asked, lambda title: watch.watch(title, progress), lambda _: None)


def _said(candidates: object) -> str:
    """Candidates as text."""
    if isinstance(candidates, Mapping):
        return ",".join(f"{key}={','.join(map(str, each_of(values)))}" for key, values in candidates.items())
    if not isinstance(candidates, str):
        raise UserError(
            "candidates", "", str(candidates), "expected text or a dict of lists, such as {'layouts': ['raid6']}"
        )
    return candidates
