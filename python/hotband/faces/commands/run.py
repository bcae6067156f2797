"""`hotband run`: a workload on a machine in virtual time, on a served machine, on hardware."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.views import view_of
from hotband.data.catalog.named import is_emulated, is_real
from hotband.data.documents.run import Repair, RunSpec
from hotband.data.inputs.specify import Named
from hotband.data.record.files import RECORD_FILE
from hotband.data.results.manifest import EXPERIMENT_FILE
from hotband.execution.experiment import (
    Experiment,
    Lock,
    expect_no_experiment,
    expect_out,
    expect_own_page,
    expect_same_run,
    points_of,
)
from hotband.execution.experiment.progress import run_progress
from hotband.execution.runs.sequence import in_sequence
from hotband.execution.runs.signals import INTERRUPTED
from hotband.execution.targets.real_asked import RealAsked
from hotband.faces.commands import names, real, targets
from hotband.faces.commands.examples import RUN_EPILOG
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import IntervalOption, RunDrawsOption, add_intervals, expect_one_run
from hotband.faces.commands.into import into_store_at_end
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    MachineOption,
    OutOption,
    SetOption,
    WorkloadArgument,
    parse_set,
    print_text,
    say,
    show,
    show_views,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hotband.data.record.finished import Finished
    from hotband.execution.experiment import Executor, Tick


@with_epilog(RUN_EPILOG)
@on_executor
@into_store_at_end
def run(
    workload: WorkloadArgument,
    on: MachineOption,
    settings: SetOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help='Measured time of a step, as "60 s".')] = None,
    out: OutOption = None,
    io_log: Annotated[Path | None, typer.Option(metavar="FILE", help="Log every I/O, to .parquet or .csv.")] = None,
    power_loss: Annotated[
        str | None, typer.Option(metavar="TIME", help='Cut power at this measured time, such as "30 s".')
    ] = None,
    fail: Annotated[
        list[str] | None, typer.Option(metavar="DRIVE@TIME", help='A drive fails, such as d3@"60 s". May be repeated.')
    ] = None,
    spares: Annotated[
        int,
        typer.Option("--spare", min=0, max=2**32 - 1, metavar="COUNT", help="Drives that wait to replace failed ones."),
    ] = 0,
    rebuild_rate: Annotated[
        str | None, typer.Option(metavar="RATE", help='Most that a rebuild writes, such as "50 MB/s".')
    ] = None,
    rebuild_after: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long after a failure a spare is taken.")
    ] = None,
    events: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="EVENT", help="What happens, such as 'at 60 s: fail d3'. May be repeated."),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option("--then", metavar="WORKLOAD", help="Run this after it, on the machine as left.", **names.WORKLOAD),
    ] = None,
    fresh_seeds: Annotated[bool, typer.Option("--fresh-seeds", help="Runs of --then ask for other offsets.")] = False,
    fresh: FreshOption = False,
    interval: IntervalOption = None,
    draws: RunDrawsOption = None,
    yes: real.YesOption = False,
    erase: real.EraseOption = None,
    size: real.SizeOption = None,
    keep: real.KeepOption = False,
    hosts: real.HostsOption = None,
    expect: real.ExpectOption = None,
    power: real.PowerOption = None,
    purge_by: real.PurgeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Run a workload on a machine in virtual time, or on hardware (--on real:PATH) through fio; with --then several,
    one after the other on the same machine."""
    expect_out(fresh, out)
    asked = [workload, *(then or [])]
    if fresh_seeds and len(asked) == 1:
        raise UserError("--fresh-seeds", "", "", "is for runs that follow each other: expected --then WORKLOAD")
    if len(asked) > 1 and io_log:
        accepted = "an I/O log is of one run: leave out --then"
        raise UserError("--then", "", asked[1], accepted)
    expect_one_run(interval, draws, len(asked))
    of_real = RealAsked(erase, size, keep, hosts, expect, power, purge_by)
    real.expect_fit(on, yes, of_real, interval)
    if is_emulated(on):
        virtual: dict[str, object] = {"--then": then, "--io-log": io_log, "--power-loss": power_loss, "--fail": fail}
        virtual |= {
            "--spare": spares,
            "--rebuild-rate": rebuild_rate,
            "--rebuild-after": rebuild_after,
            "--interval": interval,
        }
        spec = RunSpec("run", on, workload, parse_set(settings or []), seed, duration, out, events=tuple(events or ()))
        return targets.run_emulated(spec, virtual, fresh, as_json)
    repair = Repair(tuple(fail or ()), spares, rebuild_rate, rebuild_after)
    folders = [out if out is None or len(asked) == 1 else out / f"{n}" for n in range(1, len(asked) + 1)]
    first = RunSpec(
        "run",
        on,
        workload,
        parse_set(settings or []),
        seed,
        duration,
        io_log=io_log,
        power_loss=power_loss,
        repair=repair,
        events=tuple(events or ()),
        in_use=True,
    )
    if interval is not None:
        from hotband.inference.interval.of_run import pinned

        first = pinned(first)
    specs = in_sequence(first, [Named(workload, first.workload_text), *map(Named, then or [])], folders, fresh_seeds)
    title = f"{', '.join(asked)} on {on}"
    with real.measuring(title, specs, of_real, yes) if is_real(on) else on_model(title) as (executor, progress):
        finished = run_all(specs, title, out, fresh, executor, progress)
    try:
        is_whole = interval is None or add_intervals(specs[0], finished[0], interval, draws)
    finally:
        # The run is done, whatever becomes of its intervals.
        show_all(finished, io_log, as_json)
    if is_real(on) and out is not None and not as_json:
        show(f"Report: {real.write_report(out, specs)}")
    if not is_whole:
        raise typer.Exit(INTERRUPTED)
    return None


@contextmanager
def on_model(title: str) -> Iterator[tuple[None, Tick]]:
    """A progress bar; no executor but the cores of this computer."""
    with run_progress(title) as progress:
        yield None, progress


def run_all(
    specs: Sequence[RunSpec], title: str, out: Path | None, fresh: bool, executor: Executor | None, progress: Tick
) -> list[Finished]:
    """Runs them; of several those that are in the folder are not run again. Raises UserError, RunsInterrupted."""
    experiment = Experiment(points_of(specs), what=f"the runs {title}")
    if out is not None and not fresh and is_real(specs[0].machine):
        expect_own_page(out, (EXPERIMENT_FILE, RECORD_FILE))
    if len(specs) > 1:
        return experiment.run(out=out, fresh=fresh, executor=executor, progress=progress, say=say).finished
    # One run is always run: there is nothing to go on from. It takes the place of itself.
    with nullcontext() if out is None else Lock(out):
        if out is not None:
            expect_no_experiment(out)
            if not fresh:
                expect_same_run(out, specs[0])
        return experiment.run(executor=executor, progress=progress).finished


def show_all(finished: Sequence[Finished], io_log: Path | None, as_json: bool) -> None:
    """Prints what runs left."""
    if as_json:
        texts = [one.text for one in finished]
        return print_text(texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]")
    for one in finished:
        show_run(one)
    return show(f"I/O log: {io_log}") if io_log is not None else None


def show_run(finished: Finished) -> None:
    """Prints what a run left."""
    show_views(view_of("hotband-run", "terminal")(finished))
