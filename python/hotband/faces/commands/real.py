"""Hardware on the command line: what is ahead is asked for on the terminal, and requests to end are interruptions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from hotband.data.catalog.named import is_emulated, is_real
from hotband.execution.runs.signals import stoppable

if TYPE_CHECKING:
    from collections.abc import Iterator


def can_ask(yes: bool) -> bool:
    """Whether somebody can be asked before something is written, or has said yes already."""
    return yes or sys.stdin.isatty()


def goes_on(yes: bool) -> bool:
    """Whether what was said to be ahead may be done: asked on the terminal, unless `--yes` says it."""
    if yes:
        return True
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def interruptible(on: Sequence[str]) -> Iterator[None]:
    """Requests to end are interruptions where hardware or an emulated drive is among the machines: fio has to be
    ended, and what is served."""
    with stoppable() if any(is_real(one) or is_emulated(one) for one in on) else nullcontext():
        yield
