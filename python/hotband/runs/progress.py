"""Progress of runs on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hotband.runs.run import Prepared
from hotband.text.foreign import console, visible


@contextmanager
def run_progress(title: str) -> Iterator[Callable[[list[Prepared], int], None]]:
    """A progress bar on stderr; yields the callback that `run.execute` takes.

    The bar appears with the first call, which comes after every run was checked: a mistake shows no bar.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=console(sys.stderr))
    task = bar.add_task(visible(title), total=1.0, detail="")

    def update(prepared: list[Prepared], done: int) -> None:
        if not bar.live.is_started:
            bar.start()
        progress = [one.run.progress() for one in prepared]
        weights = [one.spec.weight for one in prepared]
        shares = [share * weight for (share, _), weight in zip(progress, weights, strict=True)]
        share = sum(shares) / (sum(weights) or 1.0)
        ios = sum(count for _, count in progress)
        detail = f"{done} of {len(prepared)} runs, {ios / 1e6:.1f} M I/Os"
        bar.update(task, completed=min(share, 1.0), detail=detail)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()
