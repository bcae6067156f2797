"""Conversion of the engine's errors to UserError."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import hotband._core as _core
from hotband.base import memory
from hotband.base.errors import UserError
from hotband.base.fields import of_question
from hotband.base.text.quantities import in_units
from hotband.base.version import __version__


def user_error(error: _core.SpecError) -> UserError:
    """Return an error of the engine as UserError, which names a file or a field of the question."""
    file, key, value, accepted = error.args
    ours = in_units(value)
    return UserError(of_question(file), key, value, accepted if ours == value else f'did you mean "{ours}"? {accepted}')


@contextmanager
def mistakes_of(machine: str) -> Iterator[None]:
    """Convert the engine's errors about a machine to UserError: a mistake, or too little memory."""
    try:
        yield
    except _core.SpecError as error:
        raise user_error(error) from None
    except _core.OutOfMemory as error:
        raise too_large(machine, *error.args) from None


@contextmanager
def mistakes_without_load(
    machine: str, settings: Sequence[tuple[str, str]], accepted: str, taken: Sequence[str] = ()
) -> Iterator[None]:
    """Convert errors as `mistakes_of` does, for settings of the machine alone, or for a load that the user does not
    choose. A workload key outside `taken` is refused with the text `accepted`, and is not listed among the accepted
    keys."""
    refused = [key for key in _core.SET_KEYS if key not in taken]
    for key, value in settings:
        if key in refused or key.startswith("app."):
            raise UserError("question.settings", key, value, f"belongs to a workload, {accepted}")
    try:
        with mistakes_of(machine):
            yield
    except UserError as error:
        before, one_of, keys = error.accepted.partition("expected one of ")
        left = ", ".join(key for key in keys.split(", ") if key not in refused)
        before = "" if any(f'"{key}"?' in before for key in refused) else before
        raise UserError(error.where, error.key, error.value, f"{before}{one_of}{left}") from None


def too_large(machine: str, needs: int, left: int | None) -> UserError:
    """Return the error for a machine that does not fit into memory, with a way out."""
    available = "the system refuses it" if left is None else f"{memory.in_gigabytes(left)} are available"
    way = "question.settings scale=64 simulates its solid-state drives at a 64th of their size"
    return UserError("question.on", "", machine, f"needs {memory.in_gigabytes(needs)} of memory, {available}: {way}")


@cache
def version() -> str:
    """Return the version of Hotband with the build of its engine; a developer's engine changes under one version."""
    with Path(_core.__file__).open("rb") as file:
        build = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{__version__}+{build[:12]}"
