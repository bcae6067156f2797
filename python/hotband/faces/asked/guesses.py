"""Guesses that the inputs of a question leave open, for every face."""

from __future__ import annotations

from collections.abc import Iterable

from hotband.base.guess import Guess
from hotband.base.question import Question, fields_of
from hotband.data.inputs.specify import Named
from hotband.data.traces.guesses import guesses_in


def guesses_of(question: Question) -> list[Guess]:
    """Return the guesses about the files of a question, and about the traces that its workloads replay."""
    guesses = list(question.guesses())
    for workload in _workloads(question):
        guesses += guesses_in(workload.name, workload.text)
    return list(dict.fromkeys(guesses))


def _workloads(question: Question) -> Iterable[Named]:
    """Yield the machines and workloads of a question, of which only a workload has traces."""
    for field in fields_of(type(question)):
        value = getattr(question, field.name)
        yield from (each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, Named))
