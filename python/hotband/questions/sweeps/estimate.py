"""Estimate the time of a sweep from the start of one run; it is printed if the sweep is too large."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.data.inputs.values import MOST_RUNS
from hotband.execution.experiment import cores
from hotband.execution.runs.run import prepare
from hotband.questions.sweeps.plan import Grid

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.inference.interval.of_run import Asked

PATIENCE_S = 2.0
"""Seconds after which the first run is stopped; its progress by then gives its duration."""
SCREENING = 66
"""Runs to screen a point's intervals, in addition to its samples, for a disk: thirty uncertain values at both ends."""


def expect_size(grid: Grid, intervals: Asked | None, jobs: int | None) -> None:
    """Raise UserError for more runs than a sweep may have, with the time that they would take."""
    runs = runs_of(grid, intervals)
    if runs <= MOST_RUNS:
        return
    first = grid.spec({name: values.listed[0] for name, values in grid.axes.items()})
    seconds = seconds_of(first) * runs / cores(jobs)
    axes = ", ".join(f"{name} {values.count:,}" for name, values in grid.axes.items() if values.count > 1)
    drawn = f", each with {intervals.draws} draws and more" if intervals is not None else ""
    took = f"about {_in_words(seconds)} on {cores(jobs)} cores, estimated from its first run"
    accepted = f"would take {took} ({axes}{drawn}): expected at most {MOST_RUNS:,} runs; double (1..1024) or step wider"
    raise UserError("question.settings", "", f"{runs:,} runs", accepted)


def _in_words(seconds: float) -> str:
    """Format seconds with two digits, as many as the estimate supports."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size:
            return f"{number(seconds / size, 2)} {unit}"
    return f"{number(seconds, 2)} s"


def runs_of(grid: Grid, intervals: Asked | None) -> int:
    """Return how many runs a sweep has, those of intervals included."""
    drawn = 0 if intervals is None else grid.count // grid.seeds.count * (intervals.draws + SCREENING)
    return grid.count + drawn


def seconds_of(spec: RunSpec) -> float:
    """Return the seconds that a run takes on one core, from a run that is checked and begun. Raises UserError for a
    mistake in it."""
    begin = time.monotonic()
    run = prepare(spec).run
    over = threading.Event()

    def work() -> None:
        try:
            run.execute()
        except Exception:  # The run was stopped, or refused on its way: its progress by then gives the duration.
            pass
        finally:
            over.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    over.wait(PATIENCE_S)
    share = 1.0 if over.is_set() else run.progress()[0]
    took = time.monotonic() - begin
    run.stop()
    thread.join()
    return took / max(share, 1e-6)
