"""`--executor` of the commands that run many runs, declared once for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, TypeVar

import typer

from hotband.execution.runs.signals import stoppable

R = TypeVar("R")
ExecutorOption = Annotated[
    str | None,
    typer.Option(
        "--executor", metavar="WHERE", help="Where runs execute: local, ray (starts one here) or ray://HOST:PORT."
    ),
]
MACHINES = ("on", "machine", "against")
"""Parameters of commands that name machines."""


def on_executor(command: Callable[..., R]) -> Callable[..., R]:
    """Return the command with `--executor`: all experiments within it run on that executor. A cluster that it starts
    has `--jobs` processes, and ends with the command in every case."""

    @wraps(command)
    def called(*, executor: str | None = None, **given: object) -> R:
        if executor is None:
            return command(**given)
        from hotband.execution.experiment import expect_models, using

        machines = [name for key in MACHINES for name in _names(given.get(key))]
        expect_models(executor, machines)
        jobs = given.get("jobs")
        with stoppable(), using(executor, jobs if isinstance(jobs, int) else None):
            return command(**given)

    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("executor", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=ExecutorOption)
    parameters = list(signature.parameters.values())
    position = next(
        (n for n, parameter in enumerate(parameters) if parameter.name in ("out", "as_json")), len(parameters)
    )
    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in [*parameters[:position], option, *parameters[position:]]
        ]
    )
    called.__annotations__ = {**command.__annotations__, "executor": ExecutorOption}
    return called


def _names(given: object) -> list[str]:
    return [given] if isinstance(given, str) else [str(name) for name in given] if isinstance(given, list) else []
