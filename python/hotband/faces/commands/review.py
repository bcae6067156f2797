"""`hotband review`: machines measured as reviewers measure drives."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from hotband.base.errors import UserError
from hotband.data.catalog.named import NONE
from hotband.execution.experiment.progress import run_progress
from hotband.execution.runs.signals import INTERRUPTED
from hotband.execution.targets.real_asked import RealAsked
from hotband.faces.commands import names, real
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import IntervalOption, asked_intervals
from hotband.faces.commands.into import into_store
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    MachineArgument,
    OutOption,
    listed,
    parse_set,
    print_json,
    say,
    show,
)
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.questions.review import PARTS
from hotband.questions.review.many import review_all
from hotband.views.review import comparison_views, review_views

EventOption = Annotated[
    list[str] | None,
    typer.Option("--event", metavar="EVENT", help="What happens in every run, such as 'at 0 s: fail d3'."),
]
DrawsOption = Annotated[
    int | None,
    typer.Option("--draws", help=f"Draws of the uncertain values for --interval; {DRAWS_OF_MANY} where not said."),
]


@on_executor
@into_store
def review(
    on: MachineArgument,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="MACHINE", help="Review this too, and compare.", **names.MACHINE),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a value of the drives, data or state.",
            autocompletion=names.set_keys,
        ),
    ] = None,
    volume: Annotated[str | None, typer.Option(metavar="NAME", help="Which, where a machine has several.")] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="PART[,PART]", help="These parts alone.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A quarter of the I/Os, fewer places and depths.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    jobs: Annotated[int | None, typer.Option(min=1, max=1024, help="Runs at a time; all cores where not said.")] = None,
    events: EventOption = None,
    interval: IntervalOption = None,
    draws: DrawsOption = None,
    yes: real.YesOption = False,
    erase: real.EraseOption = None,
    size: real.SizeOption = None,
    keep: real.KeepOption = False,
    out: OutOption = None,
    fresh: FreshOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Review a machine, or hardware (real:PATH): transfer curve, access time, block sizes, streams, server patterns,
    files; compare it with others.

    Parts: linear, access, block-sizes, streams, patterns, files, streaming, defragmentation, applications, energy.
    """
    if only and not listed(only):
        raise UserError("--only", "", ",".join(only), f"names no part; expected one or more of {', '.join(PARTS)}")

    machines = [on, *(against or [])]
    of_real = RealAsked(erase, size, keep, None, NONE)
    real.expect_some(machines, yes, of_real)
    with real.interruptible(machines):
        done = review_all(
            machines,
            set=parse_set(settings or []),
            volume=volume,
            seed=seed,
            quick=quick,
            only=listed(only),
            events=events or [],
            jobs=jobs,
            out=out,
            fresh=fresh,
            say=say,
            progress=run_progress,
            intervals=asked_intervals(interval, draws, DRAWS_OF_MANY),
            hardware=partial(real.hardware, asked=of_real, yes=yes),
            size_bytes=of_real.how().size_bytes,
        )
    if as_json and done.reviews and against:
        print_json({"reviews": done.reviews, "comparison": done.comparison}, "hotband-reviews")
    elif as_json and done.reviews:
        print_json(done.reviews[0], "hotband-review")
    elif done.comparison is not None:
        show(*comparison_views(done.reviews, done.comparison))
    else:
        show(*(view for one in done.reviews for view in review_views(one)))
    if not as_json and done.files:
        pages = [path for path in done.files if path.suffix in (".json", ".html")]
        show(*(f"Written: {path}" for path in pages))
    if done.interrupted:
        whole = len(done.reviews) - done.in_part
        last = ", and one in part" if done.in_part else ""
        sys.stderr.write(f"hotband: interrupted; finished reviews: {whole}{last}\n")
        raise typer.Exit(INTERRUPTED)
