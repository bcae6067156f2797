"""Runs on machines and on hardware, one or several on the same machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.catalog.named import EMULATED, is_emulated, is_real
from hotband.data.documents.run import MOST_SPARES, Repair, RunSpec
from hotband.data.inputs.specify import Named, Spec, changes, expect_interval, expect_seed, named, settings_of, texts
from hotband.data.record.record import Record, record_of
from hotband.data.store.into import into_store
from hotband.execution.experiment import Experiment, expect_models, expect_out, points_of, using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.execution.runs.run import save
from hotband.execution.targets.real_asked import RealAsked
from hotband.execution.targets.target import executor_for, expect_folder

if TYPE_CHECKING:
    from hotband.data.record.finished import Finished
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.inference.interval.of_run import Asked


@public
def run(
    workload: Spec,
    *,
    on: Spec,
    duration: str | None = None,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    events: str | Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    io_log: str | PathLike[str] | None = None,
    power_loss: str | None = None,
    fail: str | Sequence[str] = (),
    spares: int = 0,
    rebuild_rate: str | None = None,
    rebuild_after: str | None = None,
    interval: float | None = None,
    draws: int | None = None,
    into: str | PathLike[str] | None = None,
    erase: str | None = None,
    size: str | None = None,
    keep: bool = False,
    hosts: str | None = None,
    expect: str | None = None,
    power: str | None = None,
    purge_by: str | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Record:
    """Runs a workload on a machine in virtual time; the same arguments give the same record, bit for bit.

    `duration` is the measured time of a step, such as "5 s"; `seed` the root of all randomness, 0 to 2^64 - 1.
    `settings` are keys of the workload or of the drives (`qd=32`, `bs="8 KiB"`, `wce=True`); keys that are no names in
    Python (`app.cache`) go into `set`. `out` is a folder for the record, `io_log` a Parquet file for every I/O,
    which as a `workload` is replayed (`issue="after-completion"`, `speed=2`: docs/guides/traces.md; `Record.trace`);
    `into` is the folder of a store that takes the run, too (docs/guides/store.md). `executor` is as in `sweep`.
    `events` say what happens to the machine at a measured time ("at 60 s: fail d3"); `power_loss` ("30 s") and `fail`
    ("d3@60 s") are short forms, `spares` drives replace failed ones, at most at `rebuild_rate` ("50 MB/s") and
    `rebuild_after` a time. With `interval` (a percentage, such as 90) the uncertain values of the machine are drawn
    `draws` times, 64 where not said, and `Record.intervals` says how far each figure may be off
    (docs/guides/intervals.md). `progress` True shows a bar, False none; None shows one after a second in a notebook or
    on a terminal. A function is called with a `Progress` about ten times a second: share, I/Os and, of one run, the
    intervals of its measured time that are over (`Progress.intervals`); where it raises KeyboardInterrupt the run is
    stopped.

    The engine runs without the interpreter's lock, so threads that call this use all cores; `sweep` does that for many
    settings. Raises UserError for a mistake or where the workload can never end, KeyboardInterrupt where it is stopped
    (nothing is kept), OSError where the disk fails.

    `on="real:PATH"` is hardware (docs/guides/measure.md): fio runs the workload on a device, a file or in a folder, for
    as long as it says, and `Record.document["expected"]` is what the nearest model, or that of `expect`, predicts.
    `erase` is the serial number of a drive that may be overwritten, `size` that of the file which is made in a folder
    and, with `keep`, left there, `hosts` are those that ask together, `power` is a command that prints watts,
    `purge_by` (discard, format, sanitize, secure-erase) is how it is purged before `state="purged"`, "filled" or
    "preconditioned". It writes without asking.
    """
    if not 0 <= spares <= MOST_SPARES:
        raise UserError("spares", "", str(spares), f"expected a whole number from 0 to {MOST_SPARES}")
    spec = _spec("run", named(workload, "workload"), named(on, "on"), duration, seed, changes(set, settings))
    spec = replace(
        spec,
        out=None if out is None else Path(out),
        io_log=None if io_log is None else Path(io_log),
        power_loss=power_loss,
        events=texts(events, "events"),
        repair=Repair(texts(fail, "fail"), spares, rebuild_rate, rebuild_after),
    )
    asked = intervals_asked(interval, draws)
    expect_models(executor, [spec.machine])
    hardware = _executor([spec], RealAsked(erase, size, keep, hosts, expect, power, purge_by))
    if asked is not None:
        from hotband.inference.interval.of_run import pinned

        spec = pinned(spec)
    with as_interrupt():
        with using(executor), into_store(into, at_end=asked is not None):
            with watch.watch(f"{spec.workload} on {spec.machine}", progress) as tick:
                experiment = Experiment(points_of([spec]), what=f"the runs {spec.workload} on {spec.machine}")
                finished = experiment.run(executor=hardware, progress=tick).finished[0]
            if asked is not None:
                _add_intervals(spec, finished, asked, progress)
        return record_of(finished)


@public
def sequence(
    workloads: Sequence[Spec],
    *,
    on: Spec,
    duration: str | None = None,
    seed: int = 1,
    fresh_seeds: bool = False,
    events: str | Sequence[str] = (),
    set: Mapping[str, object] | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    into: str | PathLike[str] | None = None,
    erase: str | None = None,
    size: str | None = None,
    keep: bool = False,
    hosts: str | None = None,
    expect: str | None = None,
    power: str | None = None,
    purge_by: str | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> list[Record]:
    """Runs workloads one after the other on one machine, each as the one before left it; a record each.

    With `fresh_seeds` each asks for offsets of its own. `events` count from the measured time of the first run, and may
    come in a later one. With a folder `out` records are kept in folders of it, named 1, 2 and so on, and where all of
    them are there they are not run again, on hardware none that is there; `fresh` starts over. Hardware is brought into
    a `state` before the first alone. Otherwise as `run`, and raises what it raises.
    """
    from hotband.execution.runs.sequence import in_sequence

    folder = None if out is None else Path(out)
    expect_out(fresh, folder)
    asked = [named(one, "workload") for one in workloads]
    if not asked:
        raise UserError("workloads", "", "[]", "expected at least one workload")
    first = _spec("run", asked[0], named(on, "on"), duration, seed, changes(set, settings))
    folders = [None if folder is None else folder / f"{n}" for n in range(1, len(asked) + 1)]
    specs = in_sequence(replace(first, events=texts(events, "events")), asked, folders, fresh_seeds)
    expect_models(executor, [first.machine])
    hardware = _executor(specs, RealAsked(erase, size, keep, hosts, expect, power, purge_by))
    title = f"{', '.join(one.workload for one in specs)} on {first.machine}"
    with as_interrupt(), using(executor), into_store(into), watch.watch(title, progress) as tick:
        experiment = Experiment(points_of(specs), what=f"the runs {title}")
        done = experiment.run(out=folder, fresh=fresh, executor=hardware, progress=tick)
        return [record_of(one) for one in done.finished]


def _executor(specs: Sequence[RunSpec], asked: RealAsked) -> Executor | None:
    """Who runs them on hardware; None for a model."""
    if is_real(specs[0].machine):
        from hotband.questions.targets.expected import expected_of

        executor = executor_for(specs, replace(asked, predict=expected_of))
        expect_folder(executor.place, asked)
        return executor
    if is_emulated(specs[0].machine):
        accepted = f"emulate runs on served machines: expected hb.emulate, and a machine without {EMULATED}"
        raise UserError("on", "", specs[0].machine, accepted)
    for name in ("erase", "size", "keep", "hosts", "expect", "power", "purge_by"):
        if getattr(asked, name) not in (None, False):
            raise UserError(name, "", str(getattr(asked, name)), 'is for hardware: expected on="real:PATH" with it')
    return None


def intervals_asked(level: float | None, draws: int | None) -> Asked | None:
    """What intervals are asked for, if any. UserError for what cannot be, before the run."""
    expect_interval(level, draws)
    if level is None:
        return None
    from hotband.inference.interval.of_run import Asked

    return Asked(level) if draws is None else Asked(level, draws)


def _add_intervals(spec: RunSpec, finished: Finished, asked: Asked, progress: Wanted) -> None:
    """Makes the intervals of a run, into its record and, where it has one, its folder."""
    from hotband.inference.interval.of_record import intervals_of, keep

    intervals, _ = intervals_of(spec, finished, asked, None, lambda _: None, lambda title: watch.watch(title, progress))
    keep(finished, intervals)
    if spec.out is not None:
        save(finished, spec.out)


def _spec(
    name: str, workload: Named, on: Named, duration: str | None, seed: int, settings: Mapping[str, object]
) -> RunSpec:
    """A run as the engine takes it."""
    expect_seed(seed)
    return RunSpec(
        name,
        on.name,
        workload.name,
        settings_of(settings),
        seed,
        duration,
        machine_text=on.text,
        workload_text=workload.text,
        in_use=True,
    )
