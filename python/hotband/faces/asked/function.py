"""Build the public Python function of a question from its fields."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from os import PathLike
from types import MethodType
from typing import Any

from hotband.base.arguments import miscalled, public
from hotband.base.question import Field, Question, fields_of, further, in_words_of, summary
from hotband.data.inputs.specify import Spec, changes
from hotband.data.record.record import Record
from hotband.faces.asked.ask import ask
from hotband.faces.asked.kinds import OF_NO_LOAD, arguments_of, is_lines, is_settings, kind_of, mark, takes_more
from hotband.faces.questions import by_function, declared, function_name, opened
from hotband.faces.renamed import selected_by, with_current_arguments

TYPES = (Mapping, PathLike, Record, Sequence, Spec)
"""Types in annotations of arguments: `public` looks them up in this module."""
SENTENCES = ("Callable[[str], None] | None", "Function called with each line of progress, also from other threads.")
EXECUTION = {
    "executor": ("str | Executor | None", "Where runs execute: local, ray (starts one here) or ray://HOST:PORT."),
    "progress": ("Wanted", "How progress is shown: True, False, or a function."),
}
SET = "Values to change"
FURTHER = "; further keyword arguments are also values to change"


@cache
def __getattr__(name: str) -> Any:
    """Return the function of a question, by the name of the function."""
    questions = by_function()
    if name not in questions:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return made(declared(questions[name]))


def is_method(question: type[Question]) -> bool:
    """Return whether the function is a method of another function's result."""
    return "." in function_name(question.name)


def subject(question: type[Question]) -> str:
    """Return the name of the first field, which is the object of a method."""
    return fields_of(question)[0].name


def shown_fields(question: type[Question]) -> list[Field]:
    """Return the fields that are arguments, positional ones first. The first field of a method is its object."""
    shown = [field for field in fields_of(question)[is_method(question) :] if not field.says.hidden]
    return sorted(shown, key=lambda field: (is_lines(field), not is_ordered(field)))


def execution(question: type[Question]) -> list[tuple[str, tuple[str, str]]]:
    """Return the arguments that control the run, each with its type and meaning."""
    if question.tells:
        return [("progress", SENTENCES)]
    if not question.runs:
        return []
    return [(name, names) for name, names in EXECUTION.items() if question.has_executor or name != "executor"]


def is_ordered(field: Field) -> bool:
    """Return whether the argument's name may be omitted in a call."""
    return field.says.positional or field.says.ordered


def parameters(question: type[Question]) -> Iterator[inspect.Parameter]:
    """Yield the arguments of the function, with their types as text."""
    fields = shown_fields(question)
    if is_method(question):
        yield inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    for argument in fields:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if is_ordered(argument) else inspect.Parameter.KEYWORD_ONLY
        name = arguments_of(argument)[0]
        if kind_of(argument).is_starred:
            starred = inspect.Parameter.VAR_KEYWORD if is_lines(argument) else inspect.Parameter.VAR_POSITIONAL
            yield inspect.Parameter(name, starred, annotation=kind_of(argument).annotation)
            continue
        is_needed = argument.is_needed or argument.says.lists
        default = inspect.Parameter.empty if is_needed else None if is_settings(argument) else argument.default
        default = str(default) if isinstance(default, str) else default
        optional = " | None" if default is None else ""
        yield inspect.Parameter(name, kind, default=default, annotation=f"{kind_of(argument).annotation}{optional}")
        for several in arguments_of(argument)[1:]:
            yield inspect.Parameter(several, inspect.Parameter.VAR_POSITIONAL, annotation=kind_of(argument).annotation)
    for name, (annotation, _) in execution(question):
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    if any(takes_more(field) for field in fields):
        yield inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD, annotation="object")


def _question_of(question: type[Question], values: Mapping[str, Any]) -> Question:
    """Return the question of a call. Raises UserError."""
    fields: dict[str, Any] = {}
    if is_method(question):
        fields[subject(question)] = values[subject(question)]
    for field in shown_fields(question):
        name = arguments_of(field)[0]
        if is_settings(field):
            of_load = mark(field) not in OF_NO_LOAD
            changed = changes(values.get("set"), values.get("settings", {}), of_load=of_load)
            fields[field.name] = kind_of(field).value(field, changed)
        elif kind_of(field).is_spread:
            first, others = arguments_of(field)
            fields[field.name] = kind_of(field).value(field, [values[first], *values.get(others, ())])
        elif values.get(name) is not None:
            fields[field.name] = kind_of(field).value(field, values[name])
    return question(**fields)


def made(question: type[Question]) -> Callable[..., Any]:
    """Return the public function of a question, or the method."""
    signature = inspect.Signature(list(parameters(question)), return_annotation=returned(question))

    def function(*arguments: Any, **keywords: Any) -> Any:
        other, named = selected_by(function.__name__, keywords)
        if other is not None:
            return made(declared(other))(*arguments, **named)
        try:
            current = with_current_arguments(named, signature.parameters, function.__name__)
            values = signature.bind(*arguments, **current).arguments
        except TypeError as error:
            raise miscalled(function.__name__, signature, named, error) from None
        if is_method(question):
            values[subject(question)] = getattr(values.pop("self"), subject(question))
        built = _question_of(question, values)
        if question.enters:
            return opened(built)
        result = built.in_python(ask(built, values.get("progress"), values.get("executor")))
        return result.frame if question.as_frame else result

    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = function_name(question.name).rpartition(".")[2]
    function.__doc__ = docstring(question)
    return public(function)


def returned(question: type[Question]) -> str:
    """Return the type of the function's result ("module:Class")."""
    return "polars:DataFrame" if question.as_frame else question.enters or question.answers


class Method:
    """A method whose object is the first field of a question."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, subject: object, kind: type) -> Any:
        function = _method(self.name)
        return function if subject is None else MethodType(function, subject)


@cache
def _method(name: str) -> Callable[..., Any]:
    return made(declared(name))


def said(question: type[Question]) -> Iterator[tuple[str, str]]:
    """Yield the arguments of the function, with their meanings."""
    for field in shown_fields(question):
        if is_settings(field):
            yield "set", f"{SET}{FURTHER if takes_more(field) else ''}."
        else:
            text = in_words_of(question, field, lambda other: other.name)
            yield from ((name, text) for name in arguments_of(field))
    yield from ((name, text) for name, (_, text) in execution(question))


def docstring(question: type[Question]) -> str:
    """Return the text of the function: its purpose, arguments and result."""
    width = 112 if is_method(question) else 116
    lines = [
        textwrap.fill(f"{name}: {text}", width, initial_indent="    ", subsequent_indent="        ")
        for name, text in said(question)
    ]
    head = textwrap.fill(summary(question), width - 3)
    arguments = ["Args:", *lines, ""] if lines else []
    return "\n".join([head, "", *arguments, further(question)]).rstrip() + "\n"
