"""`hotband advise`: what to buy for workloads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.write import expect_page
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.faces.commands import names
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import DrawsOption, JobsOption, LevelOption
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    OutOption,
    print_after,
    print_json,
    say,
    show_lines,
    show_views,
)
from hotband.inference.interval import DRAWS_OF_MANY, LEVEL
from hotband.questions.advise import YEARS

EPILOG = """\
[bold]Candidates[/]: drives=NAME,...,layouts=raid6,...,counts=12,24,caches=off,on,protected. What is left out is \
searched whole; where counts are left out, the fewest drives that hold the data and 1.5, 2 and 3 times as many.

[bold]Prices[/]: a CSV table with drive,price,currency,watts, or TOML of drives with these keys; 280..320 is a price \
with its ends.

[bold]Examples[/]

hotband advise oltp.fio --slo "p99 < 20 ms" --capacity "50 TB" --protect "two failures" --cost prices.csv

hotband advise iometer-database vdbench-8k-random --slo "p99 < 40 ms" --capacity "40 TB" --protect "one failure" \
--candidates drives=exos-x18-18tb,ent-10k,layouts=raid6,raid10 --grow "20 %/year" -o advice.html
"""


@with_epilog(EPILOG)
@on_executor
def advise(
    workloads: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD...",
            help="Catalog names, TOML files, job files; each is to be met alone.",
            **names.WORKLOAD,
        ),
    ],
    slo: Annotated[str, typer.Option(metavar="CONDITIONS", help='What has to hold, such as "p99 < 5 ms".')],
    capacity: Annotated[str, typer.Option(metavar="SIZE", help='Usable, such as "50 TB".')],
    protect: Annotated[
        str, typer.Option(metavar="FAILURES", help='How many drives may fail, whichever they are: "two failures".')
    ],
    candidates: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUES", help="What is searched. May be repeated.")
    ] = None,
    cost: Annotated[Path | None, typer.Option(metavar="FILE", help="Prices and watts, CSV or TOML.")] = None,
    power: Annotated[str | None, typer.Option(metavar="POWER", help='The most that drives draw, as "500 W".')] = None,
    grow: Annotated[str | None, typer.Option(metavar="SHARE", help='Of the data, such as "30 %/year".')] = None,
    years: Annotated[float, typer.Option(metavar="YEARS", help="How long it is to last.")] = YEARS,
    duty: Annotated[
        str | None, typer.Option(metavar="SHARE", help='Of the time that workloads run, for endurance; "100 %".')
    ] = None,
    slo_degraded: Annotated[
        str | None, typer.Option(metavar="CONDITIONS", help="What has to hold with a drive failed.")
    ] = None,
    level: LevelOption = LEVEL,
    draws: DrawsOption = DRAWS_OF_MANY,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    jobs: JobsOption = None,
    out: OutOption = None,
    fresh: FreshOption = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Its page.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every point of the front.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Say what to buy: drives, layouts, numbers and caches that meet an objective, none of them worse in everything."""
    from hotband.data.inputs.specify import Named
    from hotband.data.inputs.texts import text_of
    from hotband.execution.experiment import expect_out
    from hotband.execution.experiment.progress import run_progress
    from hotband.questions.advise.advise import advise as advice_of
    from hotband.questions.advise.asked import Asked
    from hotband.views.advise.show import advice_views

    expect_out(fresh, out)
    if output is not None:
        expect_page("--output", output)
    asked = Asked(
        [Named(name, text_of(name, "workload")) for name in workloads],
        slo, capacity, protect, ",".join(candidates or []), cost, power, grow, years, duty, slo_degraded, level, draws,
        seed, jobs, out, fresh,
    )  # fmt: skip
    try:
        advice = advice_of(asked, run_progress, say)
    except RunsInterrupted as stop:
        if out is None:
            raise
        say(f"hotband: interrupted; {len(stop.finished)} runs of this round are kept in {out}: "
            "the same command goes on from there")  # fmt: skip
        raise typer.Exit(130) from None

    def printed(page: Path | None) -> None:
        if as_json:
            return print_json(advice.to_dict(), "hotband-advice")
        show_views(advice_views(advice, every))
        return show_lines([f"Page: {page}"] if page else [])

    return print_after(lambda: advice.write_html(output) if output is not None else None, printed)
