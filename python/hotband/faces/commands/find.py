"""`hotband find`: inverse questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.faces.commands import names
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import IntervalOption, JobsOption, RunDrawsOption, expect_interval
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import JsonFlag, SetOption, parse_set, print_json, say, show_views
from hotband.inference.interval import DRAWS

EPILOG = """\
[bold]Questions[/]: "IOPS at p99 < 10 ms" (the highest rate of an open loop), "IOPS at p99 < 10 ms by queue depth", \
"drives for 50000 IOPS at p99 < 2 ms" (--on raid10:{n}xDRIVE), "queue depth for 90 % of the most", "bs for 500 MB/s", \
any key of --set that is a number. Figures: IOPS, MB/s, mean, p50, p99, p99.9, read.p99, write.p99.

[bold]Examples[/]

hotband find "IOPS at p99 < 20 ms" -w fio-randread --on exos-15e900-512n --on ent-10k

hotband find "drives for 3000 IOPS at p99 < 30 ms" -w iometer-database --on "raid10:{n}xexos-15e900-512n"
"""


@with_epilog(EPILOG)
@on_executor
def find(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help='Such as "IOPS at p99 < 10 ms".')],
    workload: Annotated[
        str,
        typer.Option(
            "-w",
            "--workload",
            metavar="WORKLOAD",
            help="A catalog name, a TOML file, a job file or an I/O log.",
            **names.WORKLOAD,
        ),
    ],
    on: Annotated[
        list[str],
        typer.Option(
            "--on",
            metavar="MACHINE",
            help="A drive, LAYOUT:COUNTxDRIVE, LAYOUT:{n}xDRIVE or a TOML file. May be repeated.",
            **names.MACHINE,
        ),
    ],
    settings: SetOption = None,
    range_: Annotated[
        str | None, typer.Option("--range", metavar="LOW..HIGH", help="Of what is varied, such as 1..64.")
    ] = None,
    within: Annotated[
        float, typer.Option("--within", metavar="PERCENT", help="How near the answer is to the crossing.")
    ] = 2.0,
    arrival: Annotated[str, typer.Option(metavar="KIND", help="Of an open loop: poisson or fixed.")] = "poisson",
    ios: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Measured I/Os of a trial; 60,000 to 300,000 where not said.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help='Measured time of a trial instead, such as "60 s".')
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    interval: IntervalOption = None,
    draws: RunDrawsOption = None,
    jobs: JobsOption = None,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="A store (hotband store) that takes the answers' runs.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Find the rate, queue depth, number of drives or value that meets a condition, in at most 12 runs a machine."""
    from hotband.data.inputs.specify import Named
    from hotband.data.inputs.texts import text_of
    from hotband.execution.experiment.progress import run_progress
    from hotband.questions.find import find as finding
    from hotband.questions.find.kept import answers_kept
    from hotband.views.find import answer_views

    expect_interval(interval, draws)
    machines = [Named(name, None if "{" in name else text_of(name, "machine")) for name in on]
    asked = finding.Asked(
        question,
        Named(workload, text_of(workload, "workload")),
        machines,
        parse_set(settings or []),
        seed,
        duration,
        ios,
        within,
        range_,
        arrival,
        interval,
        draws or DRAWS,
        jobs,
    )
    with answers_kept(into) as keep:
        found = finding.find(asked, run_progress, say)
        try:
            keep(found)
        finally:
            # The search is done, whether the store takes its answers or not.
            if as_json:
                print_json(found.to_dict(), "hotband-find")
            else:
                show_views(answer_views(found))
