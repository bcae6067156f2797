"""From what a user says to what a PTS run does, for the command and for `hb.pts`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hotband.errors import UserError
from hotband.suites.pts import spec
from hotband.suites.pts.suite import Asked
from hotband.suites.pts.tests import TESTS
from hotband.suites.target import executor_for, target_of


def asked_of(
    machine: str,
    *,
    drive_class: str = "enterprise",
    tests: Sequence[str] = (),
    quick: bool = False,
    threads: int | None = None,
    depth: int | None = None,
    sponsor: str = "",
    set: Sequence[tuple[str, str]] = (),
    erase: str | None = None,
    seed: int = 1,
    out: Path | None = None,
    fresh: bool = False,
) -> Asked:
    """A run of these tests (all where none is named, in the specification's order) on a machine. Raises UserError for
    the first mistake: a machine or test that is not there, a device that must not be erased."""
    from hotband.catalog.entries import unknown

    if drive_class not in spec.RULES:
        raise unknown("--class", drive_class, list(spec.RULES))
    for name in tests:
        if name not in TESTS:
            raise unknown("--test", name, list(TESTS))
    target = target_of(machine, set)
    if target.is_model and erase is not None:
        raise UserError("--erase", "", erase, f"is for a real device; {machine} is a model")
    chosen = [name for name in TESTS if not tests or name in tests]
    executor = None if target.is_model else executor_for(target, erase)
    asked = Asked(
        target, spec.RULES[drive_class].name, chosen, quick, threads, depth, sponsor, seed, out, fresh, executor
    )
    asked.plan()
    return asked
