"""Short and long forms of tests: `make test` runs the short ones, `make test-long` the long ones.

A test marked `long` runs in `make test-long` alone. One marked `sized`, and every property that hypothesis draws, runs
in both, and takes its size from `sized` or its cases from `few`. docs/decisions/0007-twelve-minutes.md says what is in
which, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet

Size = TypeVar("Size")

LONG = os.environ.get("HOTBAND_LONG") == "1"
"""Whether this is a run of `make test-long`."""


def sized(short: Size, long: Size) -> Size:
    """Return the size of a test in the form that is being run."""
    return long if LONG else short


def few(cases: Sequence[Size]) -> Sequence[Size]:
    """Return the first, the middle and the last case in the short form, and all of them in the long one."""
    return sized([cases[0], cases[len(cases) // 2], cases[-1]], cases)


def thinned(step: int, cases: Sequence[Any]) -> list[ParameterSet]:
    """Return parameters of a test: of each `step` cases the first is of both forms, the others of the long one."""
    each = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=[pytest.mark.long] if n % step else []) for n, case in enumerate(each)]


RANDOM_LOADS = ("read", "write", "half", "mixed")
SHORT_LOADS: dict[str, tuple[str, ...]] = {
    "exos-15e900": RANDOM_LOADS,
    "mach2-ceph": ("read-1", "write-1"),
    "durawrite": ("new-drive",),
    "savvio-raid": ("access",),
}
"""Loads of the studies that cost most, of which `make test` runs no others: tests of the whole are marked `long`."""
