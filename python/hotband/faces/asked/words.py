"""The command line of a question, which the page shows for copying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hotband.base.question import Field, Question, given
from hotband.data.inputs.specify import Named, each_of, setting
from hotband.faces.asked.kinds import is_lines, is_settings, kind_of
from hotband.faces.questions import function_name
from hotband.faces.renamed import command_words

PACKAGE = "hotband"
STORED = ("out", "into", "fresh")
"""Fields that set where runs are stored, not what is computed."""
BETWEEN = "vs"
"""The word between the repeats of one side and those of the next; a file with this name is written `./vs`."""


def words(question: Question) -> list[str]:
    """Return the command and its arguments, without defaults: arguments, then options."""
    fields = [(field, value) for field, value in given(question) if not field.says.only_python]
    arguments = [word for field, value in fields if field.says.positional for word in written(field, value)]
    options = [word for field, value in fields if not field.says.positional for word in optional(field, value)]
    return [*command_words(question.name), *arguments, *options]


def call(question: Question) -> str:
    """Return the equivalent Python call, without storage options."""
    fields = [(field, value) for field, value in given(question) if not field.says.hidden and field.name not in STORED]
    function, _, method = function_name(question.name).partition(".")
    if method:
        (_, subject), *fields = fields
        function = f"{function}({next(texts(subject))!r}).{method}"
    arguments = ", ".join(_written(field, value) for field, value in fields)
    return f"{PACKAGE}.{function}({arguments})"


def _written(field: Field, value: Any) -> str:
    if is_lines(field):
        return f"**{dict(value)!r}"
    return f"{field.name}={_argument(value)!r}"


def _argument(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def written(field: Field, value: Any) -> Iterator[str]:
    """Yield positional arguments; the word `vs` separates the repeats of sides."""
    if not kind_of(field).is_spread:
        yield from texts(value)
        return
    has_repeats = any(len(side) > 1 for side in value)
    for at, side in enumerate(value):
        yield from (*[BETWEEN] * (has_repeats and at > 0), *texts(side))


def optional(field: Field, value: Any) -> Iterator[str]:
    """Yield an option and its value, once per value of a list; for a flag only the option."""
    if is_settings(field):
        yield from (word for key, values in value for word in ("--set", f"{key}={changed(key, values)}"))
    elif is_lines(field):
        yield from (word for name, text in value for word in (f"--{name}", text))
    elif value is True:
        yield field.option
    elif value is False:
        yield opposite(field)
    else:
        yield from (word for text in texts(value) for word in (field.option, text))


def opposite(field: Field) -> str:
    """Return the option that turns a flag off."""
    return field.option.replace("--", "--no-", 1)


def changed(key: str, values: Any) -> str:
    """Return the value of a setting as `--set` accepts it; several with commas."""
    return values if isinstance(values, str) else ",".join(setting(key, value) for value in each_of(values))


def texts(value: Any) -> Iterator[str]:
    """Yield a value as the command line accepts it."""
    if isinstance(value, tuple):
        yield from (text for item in value for text in texts(item))
    elif isinstance(value, Mapping):
        yield ",".join(f"{key}={text}" for key, text in value.items())
    elif isinstance(value, Named):
        yield value.name
    else:
        yield f"{value:g}" if isinstance(value, float) else str(value)
