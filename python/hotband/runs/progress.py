"""Progress of runs on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hotband.experiment import Progress
from hotband.text.foreign import console, visible


@contextmanager
def run_progress(title: str) -> Iterator[Callable[[Progress], None]]:
    """A progress bar on stderr; yields the callback that `Experiment.run` and `run.execute` take.

    The bar appears with the first call, which comes after every run was checked: a mistake shows no bar.
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
    bar = Bar(*columns, console=console(sys.stderr))
    task = bar.add_task(visible(title), total=1.0, detail="")

    def update(told: Progress) -> None:
        if not bar.live.is_started:
            bar.start()
        runs = f"{told.done} of {told.of} runs, " if told.of > 1 else ""
        phase = f"{visible(told.phase)}, " if told.phase else ""
        detail = f"{runs}{phase}{told.ios / 1e6:.1f} M I/Os"
        bar.update(task, completed=told.share, detail=detail)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()
