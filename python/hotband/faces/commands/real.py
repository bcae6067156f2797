"""Hardware on the command line: planned writes are confirmed on the terminal, and requests to end are interruptions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from hotband.data.catalog.named import is_emulated, is_real
from hotband.execution.runs.signals import stoppable


def can_ask(yes: bool) -> bool:
    """Return whether the user can confirm a write, or has already confirmed it."""
    return yes or sys.stdin.isatty()


def goes_on(yes: bool) -> bool:
    """Return whether the announced actions may start: confirmed on the terminal, or by `--yes`."""
    if yes:
        return True
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def interruptible(on: Sequence[str]) -> Iterator[None]:
    """Treat requests to end as interruptions if hardware or an emulated drive is among the machines, because fio and
    the server have to be ended."""
    with stoppable() if any(is_real(name) or is_emulated(name) for name in on) else nullcontext():
        yield
