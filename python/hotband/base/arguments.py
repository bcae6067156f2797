"""The boundary of the Python API: arguments are checked against the signatures of public functions before anything
runs, and every error that an invalid argument causes becomes a UserError.

Left out: types whose names the module of the function imports only for type checkers; the function checks those itself.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Set
from difflib import get_close_matches
from functools import cache, wraps
from keyword import iskeyword
from os import PathLike
from pathlib import PurePath
from types import NoneType
from typing import Literal, ParamSpec, TypeVar, get_origin

from hotband.base.errors import CallError, UserError, no_text, reason_of
from hotband.base.text.nearest import hint
from hotband.base.text.regular import NotRegular
from hotband.base.text.write import is_mistake

P = ParamSpec("P")
R = TypeVar("R")

MISFIT = object()
"""Result for a value that does not fit a type."""
EXAMPLES = {
    "afr": '"0.9 %"',
    "capacity": '"50 TB"',
    "duration": '"5 s"',
    "grow": '"30 %/year"',
    "mtbf": '"1400000 h"',
    "on": '"ent-10k"',
    "power_loss": '"30 s"',
    "protect": '"two failures"',
    "rebuild_time": '"6 h"',
    "replacement": '"24 h"',
    "question": '"IOPS at p99 < 10 ms"',
    "range": '"1..64"',
    "slo": '"p99 < 5 ms"',
    "sql": '"select * from runs"',
    "workload": '"fio-randread"',
}
"""Example texts by argument."""
WORDS = {
    "str": "text",
    "bool": "True or False",
    "int": "a whole number",
    "float": "a number",
    "PathLike": "a path",
    "Path": "a path",
    "Mapping": "a dict with texts as keys",
}
"""Words for types in a signature."""
SEVERAL = {"text": "texts", "a dict with texts as keys": "dicts with texts as keys"}
"""Plurals of list elements that do not end in s."""
MEANT = {
    **dict.fromkeys(("target", "targets", "machine", "machines", "drive", "drives", "device", "disk"), "on"),
    **dict.fromkeys(("runtime", "time", "seconds"), "duration"),
    **dict.fromkeys(("job", "load", "jobs"), "workload"),
    **dict.fromkeys(("objective", "condition"), "slo"),
    **dict.fromkeys(("output", "folder", "path"), "out"),
}
"""Arguments by words of similar meaning, whose letters resemble other arguments more, or none."""
ARGUMENT_CUTOFF = 0.75
"""Similarity to an argument's name that counts as a typing error of a letter or two."""
DEEPEST = 20
"""Levels of nested values that are searched for text."""
MOST_LISTED = 1_000_000
"""Most values of a range that may replace a list: more are a mistake, and do not fit into memory as a list."""
PLAIN: Mapping[str, type] = {"None": NoneType, "str": str, "PathLike": PathLike}


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that raises UserError for mistakes and names its own arguments in them, not options of the
    command line. Numbers of numpy are accepted as numbers, arrays and series as lists."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = _signature(function).bind(*args, **kwargs)
        except TypeError as error:
            if hasattr(function, "__signature__"):
                # A function of a question also accepts former names of its arguments.
                return function(*args, **kwargs)
            raise miscalled(function.__name__, _signature(function), kwargs, error) from None
        for name, value in bound.arguments.items():
            _expect_text(name, value)
            bound.arguments[name] = _fitting(function, name, value)
        try:
            return function(*bound.args, **bound.kwargs)
        except UserError as error:
            raise _meant(in_python(error), function, kwargs) from None
        except BaseException as error:
            mistake = _mistake(error, bound.arguments)
            if mistake is None:
                raise
            raise mistake from error

    return called


def miscalled(name: str, signature: inspect.Signature, keywords: Mapping[str, object], error: TypeError) -> CallError:
    """Return the error for a call that does not fit a signature, with the argument that was probably meant."""
    kinds = {argument: parameter.kind for argument, parameter in signature.parameters.items() if argument != "self"}
    by_name = [argument for argument, kind in kinds.items() if kind == inspect.Parameter.KEYWORD_ONLY]
    by_place = [argument for argument, kind in kinds.items() if kind == inspect.Parameter.POSITIONAL_OR_KEYWORD]
    unknown = [keyword for keyword in keywords if keyword not in kinds]
    if "too many positional" in str(error) and by_name:
        others = f"expected only {', '.join(by_place)} without a name" if by_place else "expected names"
        return CallError(f"{name}()", "", "", f"{error}; {others}, the others as {by_name[0]}=...")
    accepted = [argument for argument in (*by_place, *by_name) if argument not in keywords]
    for keyword in unknown:
        near = MEANT.get(keyword) or next(iter(get_close_matches(keyword, accepted, n=1)), None)
        if near in accepted and ("missing" not in str(error) or f"'{near}'" in str(error)):
            return CallError(f"{name}()", "", "", f"{error}; did you mean {near}= instead of {keyword}=?")
    return CallError(f"{name}()", "", "", str(error))


def _expect_text(argument: str, value: object, depth: int = 0) -> None:
    """Raise UserError for a text within a value that neither UTF-8 nor a file name can represent."""
    if isinstance(value, str):
        try:
            # A surrogate that represents a byte of a file name is valid.
            value.encode(errors="surrogateescape")
        except UnicodeEncodeError:
            raise no_text(argument, value) from None
    elif isinstance(value, PurePath):
        _expect_text(argument, str(value))
        if "\0" in str(value):
            raise UserError(argument, "", repr(str(value)), "contains a null byte; expected a path")
    elif depth < DEEPEST and isinstance(value, Mapping | list | tuple):
        for item in (*value, *value.values()) if isinstance(value, Mapping) else value:
            _expect_text(argument, item, depth + 1)


def _mistake(error: BaseException, given: Mapping[str, object]) -> UserError | None:
    """Return the mistake in an argument that caused an exception of Python, the system or the engine; None for other
    causes, such as a full disk."""
    if isinstance(error, UnicodeEncodeError):
        return no_text("arguments", error.object)
    if isinstance(error, UnicodeDecodeError):
        return UserError("arguments", "", "", f"name a file that is not UTF-8 at byte {error.start}")
    if isinstance(error, OSError):
        is_argument = is_mistake(error) or isinstance(error, NotRegular)
        return UserError(str(error.filename or ""), "", "", reason_of(error)) if is_argument else None
    # A panic's type belongs to the engine's runtime and has no public name; null bytes in paths have no type.
    is_panic, has_null = type(error).__name__ == "PanicException", "null byte" in str(error)
    if not (
        is_panic or isinstance(error, OverflowError | RecursionError) or (isinstance(error, ValueError) and has_null)
    ):
        return None
    shown = {name: short(value) for name, value in given.items() if not isinstance(value, bool) and value is not None}
    blamed = [name for name, value in given.items() if isinstance(value, int) and abs(value) >= 1 << 31] or list(shown)
    argument = blamed[0] if blamed else "arguments"
    return UserError(argument, "", shown.get(argument, ""), f"is out of range ({short_line(str(error))})")


def _meant(error: UserError, function: Callable[..., object], given: Mapping[str, object]) -> UserError:
    """Return the mistake with the intended argument, if its value is not the name of a setting."""
    known = [
        name for name, parameter in _signature(function).parameters.items() if parameter.kind != parameter.VAR_KEYWORD
    ]
    meant, one_of, keys = error.accepted.partition("expected one of ")
    if not one_of or error.value not in given or error.value in known:
        return error
    near = hint(error.value, [*known, *keys.split(", ")], ARGUMENT_CUTOFF) or meant
    return UserError(error.where, error.key, error.value, f"{near}{one_of}{keys}").with_traceback(error.__traceback__)


@cache
def _signature(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(function)


def _fitting(function: Callable[..., object], argument: str, value: object) -> object:
    """Return an argument as the type in the signature. Raises UserError if it does not fit."""
    parameter, names = _signature(function).parameters[argument], function.__globals__
    annotation = parameter.annotation
    if parameter.kind == parameter.VAR_KEYWORD or not isinstance(annotation, str):
        return value
    if parameter.kind == parameter.VAR_POSITIONAL and isinstance(value, tuple):
        return tuple(_fitting_one(argument, annotation, names, item) for item in value)
    return _fitting_one(argument, annotation, names, value)


def _fitting_one(argument: str, annotation: str, names: Mapping[str, object], value: object) -> object:
    of_path = "Path" in annotation and isinstance(value, str)
    if of_path and not value:
        raise UserError(argument, "", "", "is empty; expected a path")
    try:
        fitting = _fit(annotation, names, value)
    except Exception:  # raised by methods of the value
        fitting = MISFIT
    if fitting is MISFIT or (of_path and "\0" in str(value)):
        shown = value if isinstance(value, str) else short(value)
        such = f", such as {EXAMPLES[argument]}" if argument in EXAMPLES else ""
        raise UserError(argument, "", shown, f"expected {' or '.join(_words(annotation, names))}{such}")
    return fitting


def _kinds(annotation: str) -> list[str]:
    """Split the types of an annotation at its bars outside brackets."""
    kinds: list[str] = []
    for part in annotation.split(" | "):
        if kinds and kinds[-1].count("[") > kinds[-1].count("]"):
            kinds[-1] += f" | {part}"
        else:
            kinds.append(part)
    return kinds


def _fit(annotation: str, names: Mapping[str, object], value: object) -> object:
    """Return the value as the first type of an annotation that it fits, else MISFIT."""
    tried = (_as(kind, names, value) for kind in _kinds(annotation))
    return next((fitted for fitted in tried if fitted is not MISFIT), MISFIT)


def _as(kind: str, names: Mapping[str, object], value: object) -> object:
    """Return the value as one type, or MISFIT. An unknown type accepts any value."""
    base, _, inner = kind.partition("[")
    number, named = plain(value), names.get(base)
    fits = not isinstance(named, type) or isinstance(value, named)
    if base == "Sequence":
        several = listed(value)
        fitted = [_fit(inner[:-1], names, item) for item in several or ()]
        return MISFIT if several is None or any(item is MISFIT for item in fitted) else fitted
    if isinstance(named, str):
        return _fit(named, names, value)
    if get_origin(named) is Literal:
        return value if isinstance(value, str) else MISFIT
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
    """Describe the values that an annotation accepts."""
    accepted: list[str] = []
    for kind in _kinds(annotation):
        base, _, inner = kind.partition("[")
        named = names.get(kind)
        if base == "Sequence":
            elements = [SEVERAL.get(word, f"{word.removeprefix('a ')}s") for word in _words(inner[:-1], names)]
            accepted.append(f"a list of {' or '.join(dict.fromkeys(elements))}")
        else:
            word = "text" if get_origin(names.get(base)) is Literal else WORDS.get(base, f"a {base}")
            accepted += _words(named, names) if isinstance(named, str) else [word]
    return [word for word in dict.fromkeys(accepted) if word != "a None"]


def whole(given: object) -> int | None:
    """Return a whole number, including numpy's; None for anything else."""
    if isinstance(given, bool | type) or not hasattr(given, "__index__") or hasattr(given, "__len__"):
        return None
    return operator.index(given)


def plain(given: object) -> object:
    """Convert a number of numpy to Python's; return everything else unchanged."""
    return given.item() if hasattr(given, "item") and getattr(given, "ndim", None) == 0 else given


def listed(given: object) -> list[object] | None:
    """Return the values of a list, tuple, range, set or generator, of an array or a series; None for a single value,
    including a dict."""
    if isinstance(given, range) and len(given) > MOST_LISTED:
        return None
    if isinstance(given, list | tuple | range | Set | Iterator):
        return list(given)
    for name in ("tolist", "to_list"):
        if hasattr(given, name):
            items = getattr(given, name)()
            return items if isinstance(items, list) else None
    return None


def in_python(error: UserError) -> UserError:
    """Return the mistake with the names of Python's arguments: those of the fields, with a trailing underscore for
    words that Python reserves."""
    where = error.where.split("[")[0]
    meant = UserError(where, error.key, error.value, error.accepted).worded(argument_of)
    return meant.with_traceback(error.__traceback__)


def argument_of(field: str) -> str:
    """Return the name of the argument of a field."""
    return f"{field}_" if iskeyword(field) else field


def short_line(text: str) -> str:
    """Return the first line of a message, at most 200 characters of it."""
    return text.partition("\n")[0][:200]


def short(value: object) -> str:
    """Return a value in the form in which errors show it."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # raised by a method of the value
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
