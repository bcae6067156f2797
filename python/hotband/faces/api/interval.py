"""`hb.why`: where the uncertainty of a prediction comes from, from Python (docs/guides/intervals.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Spec, changes, expect_seed, named, settings_of
from hotband.execution.experiment import expect_models, using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.inference.interval import DRAWS, LEVEL
from hotband.inference.interval.explained import Why, why_run
from hotband.inference.interval.of_run import Asked

if TYPE_CHECKING:
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted


@public
def why(
    workload: Spec,
    *,
    on: Spec,
    figure: str = "iops",
    interval: float = LEVEL,
    draws: int = DRAWS,
    duration: str | None = None,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Why:
    """Says where the uncertainty of a prediction comes from, value by value, and what to measure to reduce it.

    `figure` is "iops", "bandwidth", "mean", "p50", "p99" or "p999", of a workload that reads and writes also
    "read.p99" and so on; `interval` the percentage of such predictions that its interval is to hold, of `draws` draws
    of the machine's uncertain values. Everything else as in `run`; `jobs` limits the threads, `executor` as in `sweep`.

    The result has the interval (`predicted`, `low`, `high`), shares of its squared width (`of_values`, `of_seed`,
    `of_model`), `advice` in words and a `frame` with a row a value. Raises UserError, KeyboardInterrupt where it is
    stopped before there are draws enough.
    """
    expect_seed(seed)
    asked, load, machine = Asked(interval, draws), named(workload, "workload"), named(on, "on")
    expect_models(executor, [machine.name])
    changed = settings_of(changes(set, settings))
    spec = RunSpec(
        "run", machine.name, load.name, changed, seed, duration, machine_text=machine.text, workload_text=load.text
    )
    with as_interrupt(), using(executor, jobs):
        return Why(why_run(spec, figure, asked, jobs, lambda _: None, lambda title: watch.watch(title, progress)))
