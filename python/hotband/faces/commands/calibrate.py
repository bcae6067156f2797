"""`hotband calibrate`: a product's uncertain values, fitted to a drive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.data.inputs.specify import Named
from hotband.data.inputs.texts import text_of
from hotband.execution.experiment.progress import run_progress
from hotband.faces.commands import names
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import JobsOption
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    OutOption,
    SetOption,
    parse_set,
    print_json,
    say,
    show_views,
)
from hotband.faces.commands.real import asking, interruptible
from hotband.questions.calibrate.loads import BLACK_BOX
from hotband.questions.calibrate.model import Product
from hotband.questions.calibrate.target import Hardware

EPILOG = """\
[bold]Examples[/]

hotband calibrate real:/dev/sdb --like pm893-3840 --erase S45PNA0M -o mine.toml

hotband calibrate fio-*.json --like exos-15e900-512n -o mine.toml    (results that are there)

hotband calibrate disk7.trace --like ./disk7.toml -o mine.toml    (a trace with latencies)

hotband calibrate real:/srv --size "8 GiB" --like black-box -o volume.toml

hotband run fio-randread --on ./mine.toml
"""


@with_epilog(EPILOG)
@on_executor
def calibrate(
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET|RESULT...|TRACE",
            help="real:PATH, emulated:MACHINE or a machine, which is measured; results or a trace that are there.",
        ),
    ],
    like: Annotated[
        str,
        typer.Option("--like", metavar="PRODUCT", help="The product whose values are fitted.", **names.DRIVE),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The product's file that is written (.toml).")
    ] = None,
    duration: Annotated[str, typer.Option("--for", metavar="TIME", help="What measuring may take.")] = "10 min",
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be measured, and end.")] = False,
    out: OutOption = None,
    fresh: FreshOption = False,
    workload: Annotated[
        str | None,
        typer.Option(
            "-w", "--workload", metavar="WORKLOAD", help="What was run, if a result does not say.", **names.WORKLOAD
        ),
    ] = None,
    settings: SetOption = None,
    reads_only: Annotated[bool, typer.Option("--reads-only", help="Write nothing to the target.")] = False,
    erase: Annotated[
        str | None, typer.Option(metavar="SERIAL", help="real: what may be overwritten; the drive's serial number.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="real: do not ask before writing.")] = False,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="real:DIR: size of the file that is made in it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    jobs: JobsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit a product's values to a drive: measure what tells them, or take results, or a trace, that are there.

    Writes a product's file with values, ranges and sources, for --on ./FILE.
    """
    from hotband.faces.api.calibrate import bytes_of, seconds_of
    from hotband.questions.calibrate.run import Wanted, black_box_plan, plan_only, run, with_folder
    from hotband.views.calibrate import loads_table, plan_views, views

    wanted = Wanted(
        target,
        Product(like, text_of(like, "machine"), parse_set(settings or [])),
        output,
        out,
        seconds_of(duration),
        None if workload is None else Named(workload, text_of(workload, "workload")),
        reads_only,
        seed,
        jobs,
        Hardware(erase, asking(yes), bytes_of(size)),
        fresh,
    )
    if plan and like == BLACK_BOX:
        return show_views([loads_table(*black_box_plan(wanted, say))])
    if plan:
        return show_views(plan_views(plan_only(wanted, say, run_progress)))
    with interruptible(target):
        found = run(with_folder(wanted), lambda of: None if as_json else show_views(plan_views(of)), say, run_progress)
    if as_json:
        return print_json(found.to_dict(), "hotband-calibrate")
    show_views(views(found))
    return say(f"written: {output}") if output is not None else None
