"""Tests of a drive that you have, grouped as in `hotband measure`: `hb.measure.quick` is `hb.quick`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hotband.faces.asked.function import made
from hotband.faces.questions import QUESTIONS as DECLARED
from hotband.faces.questions import declared
from hotband.faces.renamed import RENAMED

QUESTIONS = {words.split()[1]: name for name, words in RENAMED.items() if words.startswith("measure ")}
QUESTIONS |= {name.split()[1]: name for name in DECLARED if name.startswith("measure ")}
"""Questions by the word after `hotband measure`."""


class Measure:
    """Quick test, SNIA test, SMART data, self-test, calibration and compressibility: `hb.measure.quick(...)`."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function of a question of the group."""
        if name not in QUESTIONS:
            raise AttributeError(f"hotband.measure has no attribute {name!r}; it has {', '.join(QUESTIONS)}")
        return made(declared(QUESTIONS[name]))

    def __dir__(self) -> list[str]:
        """Return the names of the functions."""
        return sorted(QUESTIONS)


measure = Measure()
