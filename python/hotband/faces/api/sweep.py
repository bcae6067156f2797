"""Runs at every combination of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.catalog.named import NONE
from hotband.data.inputs.specify import Spec, changes, texts
from hotband.data.store.into import into_store
from hotband.execution.experiment import watch
from hotband.execution.targets.real_asked import RealAsked
from hotband.execution.targets.target import executor_for
from hotband.faces.api.run import intervals_asked
from hotband.questions.sweeps import engine, plan
from hotband.questions.sweeps.sweep import Sweep

if TYPE_CHECKING:
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted


@public
def sweep(
    workload: Spec | Sequence[Spec],
    *,
    on: Spec | Sequence[Spec],
    duration: str | None = None,
    seed: int | Sequence[int] = 1,
    repeat: int | None = None,
    events: str | Sequence[str] = (),
    set: Mapping[str, object] | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    records: bool = True,
    interval: float | None = None,
    draws: int | None = None,
    into: str | PathLike[str] | None = None,
    erase: str | None = None,
    size: str | None = None,
    keep: bool = False,
    hosts: str | None = None,
    executor: str | Executor | None = None,
    purge_by: str | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Sweep:
    """Runs every combination of workloads, machines, settings and seeds, on all cores; `jobs` limits the threads.

    A list, tuple or range is an axis (`qd=[1, 8, 32]`, `seed=range(5)`), and so is a text with a range or commas, as on
    the command line: `qd="1..256"` doubles, `qd="1..100/5"` steps, `bs="4KiB,64KiB"`. `repeat` gives every point so
    many seeds, from `seed` on. With `interval` (a percentage, such as 90) the first seed of every point has intervals
    of its predictions, of `draws` draws, 64 where not said. All are checked before the first begins: a mistake in one
    raises UserError at once, as do more than 100,000 runs. An interrupt (Ctrl-C) ends the sweep and returns it with
    what is finished; `Sweep.missing` says what is not, `Sweep.resume()` goes on. With a folder `out` every run is kept
    there as it ends, and one that is there, of the same spec, seed and version, is not run again; `fresh` starts over.
    Without `records` only the rows of the frame are kept, which is quicker and takes a thousandth of the memory.
    Machines may be hardware (`real:PATH`), whose runs come one after the other behind those on models. `executor` is
    who runs those on models where it is not this computer: "ray", "ray://HOST:PORT" (docs/guides/executors.md) or an
    `Executor` of `hotband.execution.experiment`. Otherwise as `run`.
    """
    changed = changes(set, settings)
    for name in plan.NOT_SET:
        if name in changed:
            raise UserError("settings", name, str(changed[name]), "is the name of an argument: on, workload or seed")
    grid = plan.Grid(
        plan.by_name(workload, "workload"),
        plan.by_name(on, "on"),
        {key: plan.axis_of(key, value) for key, value in changed.items()},
        plan.seeds_of(seed, repeat),
        duration,
        texts(events, "events"),
    )
    drawn = intervals_asked(interval, draws)
    of_real = RealAsked(erase, size, keep, hosts, NONE, None, purge_by)
    asked = engine.Asked(
        jobs,
        None if out is None else Path(out),
        fresh,
        records,
        drawn,
        lambda specs: executor_for(specs, of_real),
        executor,
    )
    with into_store(into):
        return engine.sweep(grid, asked, lambda title: watch.watch(title, progress), lambda _: None)
