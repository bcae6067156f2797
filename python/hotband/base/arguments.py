"""The arguments of public functions, each looked at by what its signature says before anything is done.

What it leaves out: types whose names the module of the function has for type checkers alone; the function looks at
those itself.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache, wraps
from keyword import iskeyword
from os import PathLike
from types import NoneType
from typing import ParamSpec, TypeVar

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint

P = ParamSpec("P")
R = TypeVar("R")

MISFIT = object()
"""What a value is as something that it is not."""
EXAMPLES = {
    "capacity": '"50 TB"',
    "duration": '"5 s"',
    "grow": '"30 %/year"',
    "on": '"ent-10k"',
    "power_loss": '"30 s"',
    "protect": '"two failures"',
    "question": '"IOPS at p99 < 10 ms"',
    "range": '"1..64"',
    "slo": '"p99 < 5 ms"',
    "sql": '"select * from runs"',
    "workload": '"fio-randread"',
}
"""Of texts, by argument."""
WORDS = {
    "str": "text",
    "bool": "True or False",
    "int": "a whole number",
    "float": "a number",
    "PathLike": "a path",
    "Path": "a path",
    "Mapping": "a dict with texts as keys",
}
"""Types of a signature in words."""
SEVERAL = {"text": "texts", "a dict with texts as keys": "dicts with texts as keys"}
"""Of the elements of a list, where an s does not do."""
ARGUMENT_CUTOFF = 0.75
"""How near the name of an argument is to be meant: a slip of a letter or two."""
PLAIN: Mapping[str, type] = {"None": NoneType, "str": str, "PathLike": PathLike}


def public(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose mistakes are UserError and name its own arguments, not options of the command line. Numbers of
    numpy are taken as numbers, arrays and series as lists."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = _signature(function).bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # says which argument is missing, or is not one of its
        for name, value in bound.arguments.items():
            bound.arguments[name] = _fitting(function, name, value)
        try:
            return function(*bound.args, **bound.kwargs)
        except UserError as error:
            raise _meant(in_python(error), function, kwargs) from None

    return called


def _meant(error: UserError, function: Callable[..., object], given: Mapping[str, object]) -> UserError:
    """The mistake, with the argument that was meant where its value is a further argument that no setting is called."""
    known = [name for name, one in _signature(function).parameters.items() if one.kind != one.VAR_KEYWORD]
    meant, one_of, keys = error.accepted.partition("expected one of ")
    if not one_of or error.value not in given or error.value in known:
        return error
    near = hint(error.value, [*known, *keys.split(", ")], ARGUMENT_CUTOFF) or meant
    return UserError(error.where, error.key, error.value, f"{near}{one_of}{keys}").with_traceback(error.__traceback__)


@cache
def _signature(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(function)


def _fitting(function: Callable[..., object], argument: str, value: object) -> object:
    """An argument as the signature has it. Raises UserError for what does not fit."""
    parameter, names = _signature(function).parameters[argument], function.__globals__
    annotation = parameter.annotation
    if parameter.kind == parameter.VAR_KEYWORD or not isinstance(annotation, str):
        return value
    if parameter.kind == parameter.VAR_POSITIONAL and isinstance(value, tuple):
        return tuple(_fitting_one(argument, annotation, names, one) for one in value)
    return _fitting_one(argument, annotation, names, value)


def _fitting_one(argument: str, annotation: str, names: Mapping[str, object], value: object) -> object:
    of_path = "Path" in annotation and isinstance(value, str)
    if of_path and not value:
        raise UserError(argument, "", "", "is empty; expected a path")
    fitting = _fit(annotation, names, value)
    if fitting is MISFIT or (of_path and "\0" in str(value)):
        shown = value if isinstance(value, str) else short(value)
        such = f", such as {EXAMPLES[argument]}" if argument in EXAMPLES else ""
        raise UserError(argument, "", shown, f"expected {' or '.join(_words(annotation, names))}{such}")
    return fitting


def _kinds(annotation: str) -> list[str]:
    """The types of an annotation, at its bars that are not within brackets."""
    kinds: list[str] = []
    for part in annotation.split(" | "):
        if kinds and kinds[-1].count("[") > kinds[-1].count("]"):
            kinds[-1] += f" | {part}"
        else:
            kinds.append(part)
    return kinds


def _fit(annotation: str, names: Mapping[str, object], value: object) -> object:
    """The value as the first type of an annotation that it fits, else MISFIT."""
    tried = (_as(kind, names, value) for kind in _kinds(annotation))
    return next((one for one in tried if one is not MISFIT), MISFIT)


def _as(kind: str, names: Mapping[str, object], value: object) -> object:
    """The value as one type, or MISFIT. One that the module does not know takes any."""
    base, _, inner = kind.partition("[")
    number, of = plain(value), names.get(base)
    fits = not isinstance(of, type) or isinstance(value, of)
    if base == "Sequence":
        several = listed(value)
        fitted = [_fit(inner[:-1], names, one) for one in several or ()]
        return MISFIT if several is None or any(one is MISFIT for one in fitted) else fitted
    if isinstance(of, str):
        return _fit(of, names, value)
    if base == "int":
        return MISFIT if whole(value) is None else whole(value)
    if base in ("bool", "float"):
        fits = isinstance(number, bool) == (base == "bool") and isinstance(number, bool | int | float)
        return number if fits else MISFIT
    if base == "Mapping":
        fits = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
    elif base in PLAIN:
        fits = isinstance(value, PLAIN[base])
    return value if fits else MISFIT


def _words(annotation: str, names: Mapping[str, object]) -> list[str]:
    """What an annotation takes, in words."""
    found: list[str] = []
    for kind in _kinds(annotation):
        base, _, inner = kind.partition("[")
        of = names.get(kind)
        if base == "Sequence":
            elements = [SEVERAL.get(word, f"{word.removeprefix('a ')}s") for word in _words(inner[:-1], names)]
            found.append(f"a list of {' or '.join(dict.fromkeys(elements))}")
        else:
            found += _words(of, names) if isinstance(of, str) else [WORDS.get(base, f"a {base}")]
    return [word for word in dict.fromkeys(found) if word != "a None"]


def whole(given: object) -> int | None:
    """A whole number, be it one of numpy's; None for anything else."""
    if isinstance(given, bool) or not hasattr(given, "__index__") or hasattr(given, "__len__"):
        return None
    return operator.index(given)


def plain(given: object) -> object:
    """A number of numpy as Python's; everything else as it is."""
    return given.item() if hasattr(given, "item") and getattr(given, "ndim", None) == 0 else given


def listed(given: object) -> list[object] | None:
    """Several values: those of a list, tuple, range, set or generator, of an array or a series. None for one value, a
    dict among them."""
    if isinstance(given, list | tuple | range | Set | Iterator):
        return list(given)
    for name in ("tolist", "to_list"):
        if hasattr(given, name):
            found = getattr(given, name)()
            return found if isinstance(found, list) else None
    return None


def in_python(error: UserError) -> UserError:
    """Return the same mistake with the names of Python's arguments: those of the fields, with a line below after those
    that are words of the language."""
    where = error.where.split("[")[0]
    meant = UserError(where, error.key, error.value, error.accepted).worded(argument_of)
    return meant.with_traceback(error.__traceback__)


def argument_of(field: str) -> str:
    """Return the name of the argument of a field."""
    return f"{field}_" if iskeyword(field) else field


def short(value: object) -> str:
    """A value as an error shows it."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
