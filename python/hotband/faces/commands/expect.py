"""`hotband expect`: is a result of another tool good or bad?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.pipes import with_pipes
from hotband.data.inputs.specify import Named
from hotband.data.inputs.texts import text_of
from hotband.execution.experiment.progress import run_progress
from hotband.faces.commands import names
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import DrawsOption, JobsOption
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import JsonFlag, OnOption, SetOption, parse_set, print_json, say, show_views
from hotband.inference.interval import DRAWS_OF_MANY, LEVEL
from hotband.questions.expect.expect import Asked
from hotband.questions.expect.expect import expect as expected_of
from hotband.questions.expect.predict import Settings
from hotband.views.expect import views

EPILOG = """\
[bold]Examples[/]

hotband expect fio.json --on raid10:8xexos-15e900-512n

hotband expect vdbench-output/            (which drives come nearest?)

hotband expect terse.txt -w my.fio --on s4500-960
"""


@with_epilog(EPILOG)
@on_executor
def expect(
    result: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Results of fio, vdbench, DiskSpd or Iometer.")
    ],
    on: OnOption = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--workload",
            metavar="WORKLOAD",
            help="What was run, if the result does not say.",
            **names.WORKLOAD,
        ),
    ] = None,
    settings: SetOption = None,
    level: Annotated[
        float, typer.Option("--interval", min=1, max=99, metavar="PERCENT", help="Level of the intervals, 1 to 99.")
    ] = LEVEL,
    draws: DrawsOption = DRAWS_OF_MANY,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help='Measured time of a prediction, such as "60 s".')
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    jobs: JobsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say whether a result is as good as the model expects: its load is rebuilt and run on a machine.

    Without --on the drives of the catalog are ranked by how near they come.
    """
    asked = Asked(
        with_pipes(result),
        None if on is None else Named(on, text_of(on, "machine")),
        None if workload is None else Named(workload, text_of(workload, "workload")),
        Settings(parse_set(settings or []), seed, duration, level=level, draws=draws, jobs=jobs),
    )
    found = expected_of(asked, run_progress, say)
    if as_json:
        return print_json(found.to_dict(), "hotband-expect")
    return show_views(views(found))
