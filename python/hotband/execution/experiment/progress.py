"""Progress of runs on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hotband.base.foreign import console, visible
from hotband.base.text.numbers import number
from hotband.execution.experiment import Progress

SURE_AFTER_S = 2.0
"""Seconds after which a pace is shown: the first runs of many are the quickest, or the slowest."""
UNITS = (("h", 3600.0), ("min", 60.0))


@contextmanager
def run_progress(title: str) -> Iterator[Callable[[Progress], None]]:
    """A progress bar on stderr; yields the callback that `Experiment.run` and `run.execute` take.

    The bar appears with the first call, which comes after every run was checked: a mistake shows no bar. For several
    runs it estimates the remaining time from the pace so far.
    """
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeElapsedColumn(),
    )
    out = console(sys.stderr)
    # A terminal forgets it when the answer is printed; a log of stderr keeps its last line.
    bar = Bar(*columns, console=out, transient=out.is_terminal)
    task = bar.add_task(visible(title), total=1.0, detail="")
    pace = Pace()

    def update(progress_: Progress) -> None:
        if not bar.live.is_started:
            bar.start()
        runs = f"{progress_.done} of {progress_.of} {progress_.noun}, " if progress_.of > 1 else ""
        phase = f"{visible(progress_.phase)}, " if progress_.phase else ""
        left = pace.left(progress_.share) if progress_.of > 1 else ""
        ios = f"{number(progress_.ios)} I/Os" if progress_.noun == "runs" else ""
        detail = f"{runs}{left}{phase}{ios}".removesuffix(", ")
        bar.update(task, completed=progress_.share, detail=detail)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()


class Pace:
    """Estimate of the remaining time, from the work done since the first look; earlier work took no time."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._first: tuple[float, float] | None = None

    def left(self, share: float) -> str:
        """The rest in words, two digits of it, with a comma behind; nothing in the first seconds and at the end."""
        at = self._now()
        if self._first is None:
            self._first = at, share
        begin, already = self._first
        if at - begin < SURE_AFTER_S or share <= already or share >= 1.0:
            return ""
        seconds = (at - begin) * (1.0 - share) / (share - already)
        unit, size = next(((unit, size) for unit, size in UNITS if seconds >= 1.5 * size), ("s", 1.0))
        return f"{max(seconds / size, 1.0):.2g} {unit} left, "
