"""The `with` block of Python that serves a machine."""

from __future__ import annotations

from hotband.base.arguments import in_python
from hotband.base.errors import UserError
from hotband.execution.serve.asked import ServeQuestion
from hotband.execution.serve.served import Served


def served(question: ServeQuestion) -> Served:
    """Return the machine, which is served once the block begins."""
    return _Served(question.spec())


class _Served(Served):
    """Names its mistakes by the arguments of `serve`."""

    def __enter__(self) -> Served:
        try:
            return super().__enter__()
        except UserError as error:
            raise in_python(error) from None
