"""Intervals of figures: options that several commands share, and what `hotband run --interval` adds to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.faces.commands.output import (
    say,
)
from hotband.inference.interval import DRAWS, LEAST_DRAWS, MOST_DRAWS

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
