"""Answer a question for Python and the page: with progress, an executor, and interruption."""

from __future__ import annotations

import warnings
from typing import Any

from hotband.base.question import Question, Way
from hotband.execution.experiment import Executor, expect_models, using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.faces.asked.kinds import guesses_of, machines_of
from hotband.faces.asked.words import call
from hotband.faces.questions import answer


def ask(question: Question, progress: Any = None, executor: str | Executor | None = None) -> Any:
    """Return the answer, and warn of ambiguous readings; `progress` is `Wanted`, or receives sentences if the question
    `tells`. Raises UserError for a mistake, KeyboardInterrupt if it is stopped, OSError."""
    for guess in guesses_of(question):
        warnings.warn(guess.sentence, stacklevel=4)
    return quietly(question, progress, executor)


def quietly(question: Question, progress: Any = None, executor: str | Executor | None = None) -> Any:
    """Return the answer without warnings, for a face that shows them itself. Raises what `ask` raises."""
    say = progress if question.tells and callable(progress) else lambda _: None
    way = Way(lambda title: watch.watch(title, progress), say, executor=executor, again=call)
    if not question.runs:
        with as_interrupt():
            return answer(question, way)
    expect_models(executor, machines_of(question))
    with as_interrupt(), using(executor, getattr(question, "jobs", None)):
        return answer(question, way)
