"""Choice of the executor: made once, where a command or a call of the library begins; all experiments within it use it
(docs/guides/sweeps.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog.named import EMULATED, REAL
from hotband.execution.experiment.executor import Executor, Local

if TYPE_CHECKING:
    from hotband.execution.experiment.on_ray import OnRay

LOCAL, RAY = "local", "ray"
FORMS = 'expected "local", "ray" or "ray://HOST:PORT"'

_chosen: ContextVar[Executor | None] = ContextVar("executor", default=None)


def executor_of(text: str | None, jobs: int | None = None) -> Executor:
    """The executor of a text. None and "local" are the cores of this computer, `jobs` at a time (None: all).
    "ray" is the cluster that RAY_ADDRESS names, else one of `jobs` processes on this computer, started when first
    needed; "ray://HOST:PORT" a cluster that runs. Raises UserError for another text, if Ray is not installed, or if
    nothing responds at the address."""
    if text is None or text == LOCAL:
        return Local(jobs)
    return _on_ray(text, jobs)


def _on_ray(text: str, jobs: int | None) -> OnRay:
    scheme, separator, address = text.partition("://")
    if scheme != RAY or bool(separator) != bool(address):
        raise UserError("question.executor", "", text, FORMS)
    from hotband.execution.experiment.on_ray import OnRay

    return OnRay(address or None, jobs)


@contextmanager
def using(executor: str | Executor | None, jobs: int | None = None) -> Iterator[None]:
    """Within it experiments for which no other executor is named run on this one, in this thread. One that is named by
    text is closed at the end: a cluster that it started ends. None changes nothing. Raises UserError."""
    _expect_executor(executor)
    if executor is None or executor == LOCAL:
        yield
        return
    if not isinstance(executor, str):
        with _set(executor):
            yield
        return
    made = _on_ray(executor, jobs)
    try:
        with _set(made):
            yield
    finally:
        made.close()


@contextmanager
def _set(executor: Executor) -> Iterator[None]:
    token = _chosen.set(executor)
    try:
        yield
    finally:
        _chosen.reset(token)


def chosen() -> Executor | None:
    """The executor that `using` chose; None if none was chosen."""
    return _chosen.get()


def _expect_executor(executor: object) -> None:
    """Raise UserError for a value that is neither an executor nor the name of one."""
    if executor is not None and not isinstance(executor, str) and not hasattr(executor, "execute"):
        raise UserError("question.executor", "", f"{executor!r}"[:60], f"{FORMS}, or an Executor")


def cores(jobs: int | None) -> int:
    """Return how many runs execute at a time."""
    executor = chosen()
    return getattr(executor, "jobs", None) or jobs or os.cpu_count() or 1


def expect_models(executor: str | Executor | None, machines: Iterable[str]) -> None:
    """Raise UserError if hardware or a served machine is to be run by others than this computer, which has it."""
    _expect_executor(executor)
    if executor is None or executor == LOCAL or isinstance(executor, Local):
        return
    for name in machines:
        if name.startswith((REAL, EMULATED)):
            accepted = f"runs models only, and {name} is on this computer: remove question.executor"
            raise UserError("question.executor", "", executor if isinstance(executor, str) else RAY, accepted)
