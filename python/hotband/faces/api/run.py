"""Several runs, one after the other on the same machine. (`hb.run` is generated from its question.)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.base.text.quantities import quantity_text
from hotband.data.inputs.specify import Spec, changes, named, settings_of, texts
from hotband.data.record.record import Record, record_of
from hotband.data.store.into import into_store
from hotband.execution.experiment import Executor, Experiment, expect_models, expect_out, points_of, using, watch
from hotband.execution.experiment.watch import Wanted
from hotband.execution.runs.interrupted import as_interrupt
from hotband.execution.runs.sequence import in_sequence
from hotband.questions.run.asked import RunQuestion
from hotband.questions.run.run import executor_of, specs_of


@public
def sequence(
    workloads: Sequence[Spec],
    *,
    on: Spec,
    duration: str | float | None = None,
    seed: int = 1,
    fresh_seeds: bool = False,
    events: str | Sequence[str] = (),
    set: Mapping[str, object] | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    into: str | PathLike[str] | None = None,
    erase: str | None = None,
    size: str | float | None = None,
    keep: bool = False,
    hosts: str | None = None,
    expect: str | None = None,
    power: str | None = None,
    purge_by: str | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> list[Record]:
    """Run workloads one after the other on one machine, each in the state that the previous one left; return one
    record per workload.

    With `fresh_seeds` each uses different offsets. Times of `events` count from the measured time of the first run, and
    may fall in a later one. With a folder `out`, records are stored in its folders 1, 2 and so on; if all exist, none
    is run again (on hardware, existing runs are skipped singly); `fresh` starts over. Hardware is brought into a
    `state` only before the first run. Otherwise like `run`, with the same errors.
    """

    folder = None if out is None else Path(out)
    expect_out(fresh, folder)
    loads = [named(workload, "workload") for workload in workloads]
    if not loads:
        raise UserError("workloads", "", "[]", "expected at least one workload")
    question = RunQuestion(
        workload=loads[0],
        on=named(on, "on"),
        settings=settings_of(changes(set, settings)),
        seed=seed,
        duration=quantity_text(duration, "s"),
        events=texts(events, "events"),
        erase=erase,
        size=quantity_text(size, "B"),
        keep=keep,
        hosts=hosts,
        expect=expect,
        power=power,
        purge_by=purge_by,
    )
    folders = [None if folder is None else folder / f"{n}" for n in range(1, len(loads) + 1)]
    specs = in_sequence(specs_of(question)[0], loads, folders, fresh_seeds)
    expect_models(executor, [question.on.name])
    hardware = executor_of(question, Way(lambda title: watch.watch(title, progress), lambda _: None), specs)
    title = f"{', '.join(spec.workload for spec in specs)} on {question.on.name}"
    with as_interrupt(), using(executor), into_store(into), watch.watch(title, progress) as tick:
        experiment = Experiment(points_of(specs), what=f"the runs {title}")
        done = experiment.run(out=folder, fresh=fresh, executor=hardware, progress=tick)
        return [record_of(finished) for finished in done.finished]
