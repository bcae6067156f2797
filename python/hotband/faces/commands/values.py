"""Values of options that need no conversion: texts, paths and numbers as they are written. For these typer would load
pydantic, which takes as much time as all other parts of a short command together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DECIMAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?")
"""A number without exponent that Python and pydantic read in the same way."""
WHOLE = re.compile(r"-?[0-9]{1,20}")
"""A whole number that Python and pydantic read in the same way; 20 digits hold 64 bits."""


def keep_simple(params: Iterable[Any]) -> None:
    """Pass simple values of options unchanged; typer converts the others and reports errors."""
    for param in params:
        if not isinstance(getattr(param, "get_runtime_param", None), Simple | None):
            param.get_runtime_param = Simple(param, param.get_runtime_param)


class Simple:
    """Conversion of an option's text into a value."""

    def __init__(self, param: Any, other: Any) -> None:
        self.of, self.other = param.type_descriptor, other

    def __call__(self) -> Simple:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value; typer calls this method."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        simple = self.simple(value)
        return simple if simple is not None else self.other().coerce(value, param=param, ctx=ctx)

    def simple(self, value: Any) -> Any:
        """Return the value if it needs no check or conversion, else None."""
        kind, annotation = self.of.annotation, self.of.parameter_info
        if annotation.parser is not None:
            return None
        if kind is str:
            return value if isinstance(value, str) else None
        if kind == list[str]:
            are_texts = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
            return list(value) if are_texts else None
        if kind is bool:
            return value if isinstance(value, bool) else None
        if kind is float:
            return decimal(value, annotation.min, annotation.max)
        if kind is int:
            return whole(value, annotation.min, annotation.max)
        if kind is Path:
            return path(value, annotation)
        if kind == list[Path] and isinstance(value, list | tuple):
            paths = [path(each, annotation) for each in value]
            return paths if None not in paths else None
        return None


def whole(value: Any, least: float | None, most: float | None) -> int | None:
    """Return a whole number within bounds, else None."""
    if isinstance(value, str) and WHOLE.fullmatch(value):
        value = int(value)
    if type(value) is not int or (least is not None and value < least) or (most is not None and value > most):
        return None
    return value


def decimal(value: Any, least: float | None, most: float | None) -> float | None:
    """Return a number within bounds, else None."""
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        value = float(value)
    if type(value) is not float or (least is not None and value < least) or (most is not None and value > most):
        return None
    return value


def path(value: Any, settings: Any) -> Path | None:
    """Return a path, which must be readable if it exists; else None."""
    if (
        not isinstance(value, str)
        or settings.exists
        or settings.resolve_path
        or settings.writable
        or settings.path_type is not None
    ):
        return None
    if not settings.file_okay or not settings.dir_okay or (os.path.exists(value) and not os.access(value, os.R_OK)):
        return None
    return Path(value)
