"""Progress for Python programs: a bar in a notebook or on a terminal, none otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Protocol, TypeAlias

from hotband.base.errors import UserError
from hotband.execution.experiment import Progress, Tick
from hotband.execution.experiment.progress import run_progress

# A run shorter than this shows no bar of its own accord.
PATIENCE_TICKS = 10


Wanted: TypeAlias = "bool | Callable[[Progress], None] | None"
"""A bar, none, a function that receives the progress, or a bar in a notebook or on a terminal (None)."""


class Handle(Protocol):
    """IPython's handle for updating a displayed object."""

    def update(self, shown: object) -> None:
        """Show this in its place."""


@contextmanager
def watch(title: str, progress: Wanted) -> Iterator[Tick | None]:
    """The callback that `Experiment.run` takes, or None.

    `progress` True shows a bar, False none; None shows one in a notebook or on a terminal, once a second has passed. A
    function takes the place of the bar: it receives the `Progress` about ten times per second, in the thread that
    called, and what it raises ends the runs; KeyboardInterrupt does what Ctrl-C does.
    """
    if callable(progress):
        yield progress
        return
    if progress not in (True, False, None):
        raise UserError("progress", "", repr(progress), "expected True, False, None or a function of hb.Progress")
    notebook = in_notebook()
    if progress is False or (progress is None and not notebook and not sys.stderr.isatty()):
        yield None
        return
    with bar_in_notebook(title) if notebook else run_progress(title) as tick:
        yield tick if progress else patient(tick)


def patient(tick: Tick) -> Tick:
    """Pass ticks on once ten of them, which come ten times per second, have not been the last."""
    seen = 0

    def later(progress_: Progress) -> None:
        nonlocal seen
        seen += 1
        if seen > PATIENCE_TICKS:
            tick(progress_)

    return later


def in_notebook() -> bool:
    """Return whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def bar_in_notebook(title: str) -> Iterator[Tick]:
    """One line under the cell, which is gone when the runs are done."""
    from IPython.display import HTML, display

    handle: list[Handle] = []

    def tick(progress_: Progress) -> None:
        shown = HTML(line(title, progress_))
        if handle:
            handle[0].update(shown)
        else:
            handle.append(display(shown, display_id=True))

    try:
        yield tick
    finally:
        for element in handle:
            element.update(HTML(""))


def line(title: str, progress_: Progress) -> str:
    """The bar as HTML; a title is foreign text."""
    count = f" {progress_.done} of {progress_.of} {progress_.noun}" if progress_.of > 1 else ""
    return f'{escape(title)} <progress value="{progress_.share:.3f}" max="1"></progress> {progress_.share:.0%}{count}'
