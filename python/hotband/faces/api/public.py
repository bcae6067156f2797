"""The public Python API: run workloads on machines, sweep settings, run studies, read records (docs/guides/python.md).

```python
import hotband as hb

r = hb.run("fio-randread", on="exos-15e900-512n", qd=32, duration="5 s")
r.iops, r.read.p99, r.series
```

A workload is a catalog name, a path, TOML text or a dict; a machine is a catalog drive, a short form such as
`raid5:8xent-10k`, a path, TOML text or a dict. Sizes and times are text with their unit ("4 KiB", "5 s"); plain counts
are numbers. A mistake raises `UserError` with `file`, `key`, `value` and `accepted`. Nothing is printed, and nothing
ends the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError as UserError
from hotband.data.catalog.named import EMULATED, NONE, is_emulated, is_real
from hotband.data.inputs.specify import Named, Spec, changes, expect_interval, expect_seed, named, settings_of, texts
from hotband.data.jobs.converted import Converted as Converted
from hotband.data.record.record import Record as Record
from hotband.data.record.record import record_of
from hotband.data.record.steadiness import Steadiness as Steadiness
from hotband.data.record.steadiness import steady as steady
from hotband.data.results.records import load_all as load_all
from hotband.data.store.results_store import ResultsStore as ResultsStore
from hotband.execution.experiment.executor import Progress as Progress
from hotband.execution.targets.found import Found, Listed
from hotband.execution.targets.found import found as found_device
from hotband.execution.targets.found import listed as listed_devices
from hotband.execution.targets.real_asked import RealAsked
from hotband.execution.targets.target import executor_for, expect_folder
from hotband.faces.api import catalog as catalog_api
from hotband.faces.api import serve as serve_api
from hotband.faces.api import traces as traces_api
from hotband.faces.api.advise import advise as advise
from hotband.faces.api.audit import Compared as Compared
from hotband.faces.api.audit import Result
from hotband.faces.api.audit import audit as audit
from hotband.faces.api.audit import compare as compare
from hotband.faces.api.calibrate import calibrate as calibrate
from hotband.faces.api.calibrate import calibration_plan as calibration_plan
from hotband.faces.api.catalog import Product as Product
from hotband.faces.api.expect import expect as expect
from hotband.faces.api.find import find as find
from hotband.faces.api.fleet import fleet as fleet
from hotband.faces.api.interval import why as why
from hotband.faces.api.programs import ProgramResult as ProgramResult
from hotband.faces.api.programs import program as program
from hotband.faces.api.programs import programs as programs
from hotband.faces.api.record import load as load
from hotband.faces.api.reliability import reliability as reliability
from hotband.faces.api.review import review as review
from hotband.faces.api.serve import BothWays as BothWays
from hotband.faces.api.store import store as store
from hotband.faces.api.suites import PtsResult as PtsResult
from hotband.faces.api.suites import QuickResult as QuickResult
from hotband.faces.api.suites import pts as pts
from hotband.faces.api.suites import quick as quick
from hotband.inference.audit.result import AuditResult as AuditResult
from hotband.inference.interval.explained import Why as Why
from hotband.inference.reliability.result import Reliability as Reliability
from hotband.inference.traces.compare import TracesCompared as TracesCompared
from hotband.inference.traces.convert import TraceConverted as TraceConverted
from hotband.inference.traces.fit.fit import TraceFit as TraceFit
from hotband.questions.entropy import Entropy as Entropy
from hotband.questions.entropy import entropy as entropy
from hotband.questions.fleet.result import Fleet as Fleet
from hotband.questions.study.accounted import Accuracy as Accuracy
from hotband.questions.study.accounted import accuracy as accuracy
from hotband.questions.study.accounted import blind_errors as blind_errors
from hotband.questions.sweeps.sweep import Sweep as Sweep
from hotband.views.traces.show import TraceShown as TraceShown

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.data.record.finished import Finished
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.inference.interval.of_run import Asked
    from hotband.questions.study.result import StudyHandle
    from hotband.views.report.kept import Report


# --- on the wall clock ------------------------------------------------------------------------------------------

serve, emulate = serve_api.serve, serve_api.emulate


# --- runs -------------------------------------------------------------------------------------------------------


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
    from hotband.data.documents.run import MOST_SPARES, Repair
    from hotband.data.store.into import into_store
    from hotband.execution.experiment import Experiment, expect_models, points_of, using
    from hotband.execution.experiment.watch import watch
    from hotband.execution.runs.interrupted import as_interrupt

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
    asked = _intervals_asked(interval, draws)
    expect_models(executor, [spec.machine])
    hardware = _executor([spec], RealAsked(erase, size, keep, hosts, expect, power, purge_by))
    if asked is not None:
        from hotband.inference.interval.of_run import pinned

        spec = pinned(spec)
    with as_interrupt():
        with using(executor), into_store(into, at_end=asked is not None):
            with watch(f"{spec.workload} on {spec.machine}", progress) as tick:
                experiment = Experiment(points_of([spec]), what=f"the runs {spec.workload} on {spec.machine}")
                finished = experiment.run(executor=hardware, progress=tick).finished[0]
            if asked is not None:
                _add_intervals(spec, finished, asked, progress)
        return record_of(finished)


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


def _intervals_asked(level: float | None, draws: int | None) -> Asked | None:
    """What intervals are asked for, if any. UserError for what cannot be, before the run."""
    expect_interval(level, draws)
    if level is None:
        return None
    from hotband.inference.interval.of_run import Asked

    return Asked(level) if draws is None else Asked(level, draws)


def _add_intervals(spec: RunSpec, finished: Finished, asked: Asked, progress: Wanted) -> None:
    """Makes the intervals of a run, into its record and, where it has one, its folder."""
    from hotband.execution.experiment.watch import watch
    from hotband.execution.runs.run import save
    from hotband.inference.interval.of_record import intervals_of, keep

    intervals, _ = intervals_of(spec, finished, asked, None, lambda _: None, lambda title: watch(title, progress))
    keep(finished, intervals)
    if spec.out is not None:
        save(finished, spec.out)


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
    from hotband.data.store.into import into_store
    from hotband.execution.experiment import Experiment, expect_models, expect_out, points_of, using
    from hotband.execution.experiment.watch import watch
    from hotband.execution.runs.interrupted import as_interrupt
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
    with as_interrupt(), using(executor), into_store(into), watch(title, progress) as tick:
        experiment = Experiment(points_of(specs), what=f"the runs {title}")
        done = experiment.run(out=folder, fresh=fresh, executor=hardware, progress=tick)
        return [record_of(one) for one in done.finished]


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
    from hotband.data.store.into import into_store
    from hotband.execution.experiment import watch
    from hotband.questions.sweeps import engine, plan

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
    drawn = _intervals_asked(interval, draws)
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


def _spec(
    name: str, workload: Named, on: Named, duration: str | None, seed: int, settings: Mapping[str, object]
) -> RunSpec:
    """A run as the engine takes it."""
    from hotband.data.documents.run import RunSpec

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


# --- records ----------------------------------------------------------------------------------------------------


@public
def report(
    records: Result | Sequence[Result],
    *,
    title: str | None = None,
    audit: bool = False,
    on: Spec | None = None,
    media: str | None = None,
    cache: str | None = None,
) -> Report:
    """The report of records, or of paths of records, of results of other tools, or of one folder of a study's run:
    `.save("page.html")` writes the page, `.charts` has every chart of it by name (`.view` for altair,
    `.save("chart.svg")` or `.png`), `.save_charts("folder")` all of them. The page says first which record is faster
    and by how much; records that differ in their seed alone are repeats of one. Without a `title` it is what was run on
    what. With `audit` it says what the auditor finds, who is told of the target by `on`, `media` and `cache` as in
    `audit`. Raises UserError where there is no record."""
    from hotband.data.record.incomplete import refusing_incomplete
    from hotband.inference.audit.facts import of_options
    from hotband.views.report.kept import expect_fit, places_of, report_of

    found = [records] if isinstance(records, Record | str | PathLike) else list(records)
    if not found:
        raise UserError("records", "", "[]", "expected at least one record")
    given = [one.loaded() if isinstance(one, Record) else Path(one) for one in found]
    machine = of_options(None if on is None else named(on, "on"), media, cache)
    expect_fit(given, title, audit, machine)
    places = places_of(given)
    with refusing_incomplete([one for one in places if isinstance(one, Path)]):
        return report_of(places, title, audit=audit, machine=machine)


# --- catalog ----------------------------------------------------------------------------------------------------


drives, osds, workloads, studies = catalog_api.drives, catalog_api.osds, catalog_api.workloads, catalog_api.studies
layouts, keys, events = catalog_api.layouts, catalog_api.keys, catalog_api.events
drive, new_drive, osd = catalog_api.drive, catalog_api.new_drive, catalog_api.osd


@public
def device(path: str | PathLike[str]) -> Found:
    """A block device or a file of this computer: what it is, what it counts since it was new, what would keep it from
    being written, and what must be typed to have it written. It is opened for reading alone.

    As root, smartctl and nvme tell more. Raises UserError where there is no such device.
    """
    return found_device(str(path))


@public
def device_list() -> list[Listed]:
    """All block devices of this computer with their partitions, each with what keeps it from being written."""
    return listed_devices()


@public
def workload(name: str) -> str:
    """The TOML text of a workload of the catalog, to read or to change. Raises UserError for an unknown name."""
    from hotband.data.catalog import entries

    return str(entries.workload(name)["text"])


@public
def convert(workload: Spec, to: str = "toml", *, target: str | None = None) -> Converted:
    """A workload or a job file in another form: `to` is "toml", "fio" or "vdbench". The result has the `text` and
    `losses`, what became of each option. `target` is the device or file that a written job runs on. Raises UserError
    for a mistake, and for a workload that is more than a job can say."""
    from hotband.data.inputs.convert import converted_to, text_named

    given = named(workload, "workload")
    return converted_to(given.name, given.text or text_named(given.name), to, target)


convert_trace, show_trace = traces_api.convert_trace, traces_api.show_trace
compare_traces, fit_trace = traces_api.compare_traces, traces_api.fit_trace


# --- studies ----------------------------------------------------------------------------------------------------


@public
def study(name: str | PathLike[str], *, data: str | PathLike[str] | None = None) -> StudyHandle:
    """A study of the catalog by its name, or one from a folder; `.run()` predicts its figures. `data` is the folder
    that it needs, of a study that does (real-disks). Raises UserError."""
    from hotband.questions.study import file
    from hotband.questions.study.result import StudyHandle

    return StudyHandle(file.with_data(file.load(str(name)), None if data is None else Path(data)))
