"""The questions, a line each: where it is declared, and what it is for. The command line, the Python interface and the
page have each of them from here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.base.question import Question

QUESTIONS = {
    "reliability": (
        "hotband.inference.reliability.asked:ReliabilityQuestion",
        "Say how long an array keeps its data: mean time to data loss and the chance of loss, beside the closed form.",
    ),
}


@cache
def declared(name: str) -> type[Question]:
    """Return the class of a question by its name."""
    module, _, of = QUESTIONS[name][0].partition(":")
    found: type[Question] = getattr(import_module(module), of)
    return found
