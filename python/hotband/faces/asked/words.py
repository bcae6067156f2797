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
    of = [(one, value) for one, value in given(question) if not one.says.only_python]
    arguments = [word for one, value in of if one.says.positional for word in written(one, value)]
    options = [word for one, value in of if not one.says.positional for word in optional(one, value)]
    return [*command_words(question.name), *arguments, *options]


def call(question: Question) -> str:
    """Return the equivalent Python call, without storage options."""
    fields = [(one, value) for one, value in given(question) if not one.says.hidden and one.name not in STORED]
    function, _, method = function_name(question.name).partition(".")
    if method:
        (_, subject), *fields = fields
        function = f"{function}({next(texts(subject))!r}).{method}"
    arguments = ", ".join(_written(one, value) for one, value in fields)
    return f"{PACKAGE}.{function}({arguments})"


def _written(one: Field, value: Any) -> str:
    if is_lines(one):
        return f"**{dict(value)!r}"
    return f"{one.name}={_argument(value)!r}"


def _argument(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def written(one: Field, value: Any) -> Iterator[str]:
    """Yield positional arguments; the word `vs` separates the repeats of sides."""
    if not kind_of(one).is_spread:
        yield from texts(value)
        return
    has_repeats = any(len(side) > 1 for side in value)
    for at, side in enumerate(value):
        yield from (*[BETWEEN] * (has_repeats and at > 0), *texts(side))


def optional(one: Field, value: Any) -> Iterator[str]:
    """Yield an option and its value, once per value of a list; for a flag only the option."""
    if is_settings(one):
        yield from (word for key, values in value for word in ("--set", f"{key}={changed(key, values)}"))
    elif is_lines(one):
        yield from (word for name, text in value for word in (f"--{name}", text))
    elif value is True:
        yield one.option
    elif value is False:
        yield opposite(one)
    else:
        yield from (word for text in texts(value) for word in (one.option, text))


def opposite(one: Field) -> str:
    """Return the option that turns a flag off."""
    return one.option.replace("--", "--no-", 1)


def changed(key: str, values: Any) -> str:
    """Return the value of a setting as `--set` accepts it; several with commas."""
    return values if isinstance(values, str) else ",".join(setting(key, value) for value in each_of(values))


def texts(value: Any) -> Iterator[str]:
    """Yield a value as the command line accepts it."""
    if isinstance(value, tuple):
        yield from (text for one in value for text in texts(one))
    elif isinstance(value, Mapping):
        yield ",".join(f"{key}={text}" for key, text in value.items())
    elif isinstance(value, Named):
        yield value.name
    else:
        yield f"{value:g}" if isinstance(value, float) else str(value)
