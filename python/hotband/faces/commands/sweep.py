"""`hotband sweep`: a workload on machines at every combination of settings, a row a run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.text.write import expect_page
from hotband.data.catalog.named import NONE
from hotband.data.results.sweep_journal import FRAME_FILE
from hotband.execution.runs.signals import INTERRUPTED
from hotband.execution.targets.real_asked import RealAsked
from hotband.faces.commands import names, real
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import IntervalOption, JobsOption, RunDrawsOption, asked_intervals
from hotband.faces.commands.into import into_store
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    OutOption,
    WorkloadArgument,
    parse_set,
    print_after,
    print_json,
    say,
    show,
    show_lines,
)

if TYPE_CHECKING:
    from hotband.questions.sweeps.sweep import Sweep

SweptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUES", help="Values of a key: one, a list or a range.", autocompletion=names.set_keys
    ),
]
SWEEP_EPILOG = """\
[bold]Ranges[/] of numbers, with units or without: 1..256 doubles, 1..100/5 steps, commas make lists: qd=1,4,16..64.
What stands in quotes, braces or brackets is one value.

[bold]Examples[/]

hotband sweep fio-randread --on exos-15e900-512n --on ent-10k --set qd=1..256 --duration "5 s" -o qd.html

hotband sweep fio-randread --on ent-15k --set qd=1..32 --set bs=4KiB,64KiB --repeat 3 --out bs"""


@with_epilog(SWEEP_EPILOG)
@on_executor
@into_store
def sweep(
    workload: WorkloadArgument,
    on: Annotated[
        list[str],
        typer.Option("--on", metavar="MACHINE", help="A machine, as of run. May be repeated.", **names.MACHINE),
    ],
    settings: SweptOption = None,
    repeat: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Seeds of every point; its mean and spread are shown.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness; the first of several.")] = 1,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help='Measured time of a step, as "60 s".')] = None,
    events: Annotated[
        list[str] | None, typer.Option("--event", metavar="EVENT", help="What happens in every run. May be repeated.")
    ] = None,
    interval: IntervalOption = None,
    draws: RunDrawsOption = None,
    jobs: JobsOption = None,
    out: OutOption = None,
    fresh: FreshOption = False,
    yes: real.YesOption = False,
    erase: real.EraseOption = None,
    size: real.SizeOption = None,
    keep: real.KeepOption = False,
    hosts: real.HostsOption = None,
    purge_by: real.PurgeOption = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Its page.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Run a workload at every combination of settings on one machine or several, models and hardware (real:PATH):
    curves, and what they say."""
    from hotband.execution.experiment.progress import run_progress
    from hotband.questions.sweeps import engine, plan

    if output is not None:
        expect_page("--output", output)
    of_real = RealAsked(erase, size, keep, hosts, NONE, None, purge_by)
    real.expect_some(on, yes, of_real)
    twice = next((name for name in on if on.count(name) > 1), None)
    if twice is not None:
        raise UserError("--on", "", twice, "is given twice; expected each machine once")
    grid = plan.Grid(
        plan.by_name(workload, "workload"),
        plan.by_name(on, "machine"),
        {key: plan.axis_of(key, value) for key, value in dict(parse_set(settings or [])).items()},
        plan.seeds_of(seed, repeat),
        duration,
        tuple(events or ()),
    )
    hardware = partial(real.hardware, asked=of_real, yes=yes)
    asked = engine.Asked(jobs, out, fresh, False, asked_intervals(interval, draws), hardware)
    for remark in grid.remarks:
        say(remark)
    with real.interruptible(on):
        done = engine.sweep(grid, asked, run_progress, say)

    def printed(page: Path | None) -> None:
        if as_json:
            return print_sweep(done)
        show_sweep(done)
        files = (("Page", page), ("Frame", out and out / FRAME_FILE))
        return show_lines(f"{name}: {path}" for name, path in files if path)

    print_after(lambda: done.report(output) if output is not None and len(done) else None, printed)
    if done.missing:
        of = len(done.points)
        where = f"; kept in {out}: the same command goes on from there" if out is not None else ""
        say(f"hotband: interrupted; {of - len(done.missing):,} of {of:,} runs were finished{where}")
        raise typer.Exit(INTERRUPTED)


def show_sweep(done: Sweep) -> None:
    """Prints the answer, a row a point, and what has to be known to read it."""
    from hotband.views.sweeps.show import said_below, sweep_table

    show_lines(done.answers)
    if len(done):
        show(sweep_table(done))
    show_lines(said_below(done))


def print_sweep(done: Sweep) -> None:
    """The answer and the rows of the frames, as JSON."""
    found = {"answers": done.answers, "runs": done.frame.to_dicts(), "points": done.means.to_dicts()}
    print_json(found, "hotband-sweep-answers")
