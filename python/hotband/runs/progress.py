"""Progress of runs on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hotband.experiment import Progress


@contextmanager
def run_progress(title: str) -> Iterator[Callable[[Progress], None]]:
    """A progress bar on stderr; yields the callback that `Experiment.run` and `run.execute` take.

    The bar appears with the first call, which comes after every run was checked: a mistake shows no bar.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
    )
    bar = Bar(*columns, console=Console(stderr=True))
    task = bar.add_task(title, total=1.0, detail="")

    def update(told: Progress) -> None:
        if not bar.live.is_started:
            bar.start()
        detail = f"{told.done} of {told.of} runs, {told.ios / 1e6:.1f} M I/Os"
        bar.update(task, completed=told.share, detail=detail)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()
