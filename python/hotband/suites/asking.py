"""From what a user says to what a quick suite does, for the command and for `hb.quick`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hotband.errors import UserError
from hotband.suites.quick import QuickAsked
from hotband.suites.target import executor_for, target_of
from hotband.text.quantities import SPAN_EXPECTED, span_ns


def quick_of(
    machine: str,
    *,
    time: str = "5 min",
    expect: str | None = None,
    set: Sequence[tuple[str, str]] = (),
    erase: str | None = None,
    seed: int = 1,
    out: Path | None = None,
    fresh: bool = False,
) -> QuickAsked:
    """A look at a machine. A real one is written to where `erase` says that it may be, else read alone. Raises
    UserError for the first mistake."""
    span = span_ns(time)
    if span is None:
        raise UserError("--for", "", time, f"expected {SPAN_EXPECTED}")
    target = target_of(machine, set)
    if target.is_model and erase is not None:
        raise UserError("--erase", "", erase, f"is for a real device; {machine} is a model")
    if expect is not None:
        target_of(expect)
    writes = target.is_model or erase is not None
    executor = None if target.is_model else executor_for(target, erase, writes)
    return QuickAsked(target, span / 1e9, writes, expect, seed, out, fresh, executor)
