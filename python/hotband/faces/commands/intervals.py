"""`hotband why`, and what `hotband run --interval` adds to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.output import (
    JsonFlag,
    MachineOption,
    SetOption,
    WorkloadArgument,
    parse_set,
    print_json,
    say,
    show_views,
)
from hotband.inference.interval import DRAWS, LEAST_DRAWS, LEVEL, MOST_DRAWS

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.data.record.finished import Finished
    from hotband.inference.interval.of_run import Asked

LEVEL_HELP = "Percent of such predictions that the interval is to hold, 1 to 99."
IntervalOption = Annotated[
    float | None,
    typer.Option("--interval", min=1, max=99, metavar="PERCENT", help=f"Intervals of the figures. {LEVEL_HELP}"),
]
LevelOption = Annotated[float, typer.Option("--interval", min=1, max=99, metavar="PERCENT", help=LEVEL_HELP)]
DrawsOption = Annotated[
    int, typer.Option("--draws", min=LEAST_DRAWS, max=MOST_DRAWS, help="Draws of the uncertain values.")
]
RunDrawsOption = Annotated[
    int | None,
    typer.Option(
        "--draws",
        min=LEAST_DRAWS,
        max=MOST_DRAWS,
        help=f"Draws of the uncertain values for --interval; {DRAWS} where not said.",
    ),
]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Runs at a time; all cores where not said.")]


def expect_one_run(level: float | None, draws: int | None, runs: int) -> None:
    """Raises UserError for intervals of several runs, and for draws without intervals."""
    if runs > 1 and level is not None:
        raise UserError("--interval", "", f"{level:g}", "intervals are of one run: leave out --then")
    expect_interval(level, draws)


def expect_interval(level: float | None, draws: int | None) -> None:
    """Raises UserError for draws without intervals."""
    if draws is not None and level is None:
        raise UserError("--draws", "", str(draws), "is for intervals: expected --interval PERCENT with it")


def asked_intervals(level: float | None, draws: int | None, usual: int = DRAWS) -> Asked | None:
    """The intervals that are asked for, with `usual` draws where their number is not said. Raises UserError."""
    expect_interval(level, draws)
    if level is None:
        return None
    return _asked(level, usual if draws is None else draws)


def _asked(level: float, draws: int) -> Asked:
    from hotband.inference.interval.of_run import Asked

    return Asked(level, draws)


def add_intervals(spec: RunSpec, finished: Finished, level: float, draws: int | None) -> bool:
    """Makes the intervals of a run, puts them into its record and, where it has a folder, there too. False where the
    user interrupts before there are draws enough: the record stays as it is."""
    from hotband.execution.experiment.progress import run_progress
    from hotband.execution.runs.run import save
    from hotband.inference.interval.of_record import intervals_of, keep

    asked = _asked(level, DRAWS if draws is None else draws)
    try:
        intervals, _ = intervals_of(spec, finished, asked, None, say, run_progress)
    except RunsInterrupted:
        say("interrupted: the record is kept without intervals")
        return False
    keep(finished, intervals)
    if spec.out is not None:
        save(finished, spec.out)
    return True


@on_executor
def why(
    workload: WorkloadArgument,
    on: MachineOption,
    settings: SetOption = None,
    figure: Annotated[
        str, typer.Option(metavar="FIGURE", help="iops, bandwidth, mean, p50, p99 or p999; read.p99 where both.")
    ] = "iops",
    level: LevelOption = LEVEL,
    draws: DrawsOption = DRAWS,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help='Measured time of a step, as "60 s".')] = None,
    jobs: JobsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say where the uncertainty of a prediction comes from, value by value, and what to measure to reduce it."""
    from hotband.data.documents.run import RunSpec
    from hotband.execution.experiment.progress import run_progress
    from hotband.inference.interval.explained import why_run
    from hotband.views.interval import why_views

    spec = RunSpec("run", on, workload, parse_set(settings or []), seed, duration)
    found = why_run(spec, figure, _asked(level, draws), jobs, say, run_progress)
    return print_json(found, "hotband-why") if as_json else show_views(why_views(found))
