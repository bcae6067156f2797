"""Build a question from a form of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hotband.base.arguments import in_python
from hotband.base.errors import UserError
from hotband.base.question import Field, Question, fields_of
from hotband.data.inputs.specify import Named, changes, named, rate_text, settings_of
from hotband.execution.targets.fields import NAMES, OnHardware
from hotband.faces.asked.ask import quietly
from hotband.faces.asked.kinds import guesses_of, mark
from hotband.faces.asked.words import STORED

if TYPE_CHECKING:
    from hotband.execution.experiment import Tick
    from hotband.faces.ui.form import Form

Q = TypeVar("Q", bound=Question)
ELSEWHERE = ("jobs", "io_log", *STORED)
"""Fields of the command line and of Python only: the page stores results itself and uses all cores."""
NO_MORE = 10**9
DOUBTS: ContextVar[list[str]] = ContextVar("doubts")
"""Ambiguous readings of the call that this thread answers."""


def number(form: Form, field: Field) -> float | None:
    """Return a number; a percentage if its bounds are those of one."""
    return form.percent(field.name) if field.says.metavar == "PERCENT" else form.number(field.name)


def whole(form: Form, field: Field) -> int | None:
    """Return a whole number within its bounds."""
    least, most = field.says.least, field.says.most
    return form.whole(field.name, 0 if least is None else int(least), NO_MORE if most is None else int(most))


def dropped(form: Form, field: Field) -> Path | None:
    """Return the path of a dropped file."""
    path = form.dropped(field.name)
    return None if path is None else Path(path)


def of_name(form: Form, field: Field) -> Named | None:
    """Return a machine or a workload: a name, or a dropped file."""
    given = form.text(field.name)
    return None if given is None else named(form.placed(field.name, given), field.name)


def settings(form: Form, _: Field) -> tuple[tuple[str, str], ...]:
    """Return settings as pairs of key and value."""
    return settings_of(changes(form.settings(), {}))


def rates(form: Form, field: Field) -> str | None:
    """Return one rate or several, as text."""
    given = form.text(field.name)
    return None if given is None else rate_text(given)


READ: Mapping[Any, Callable[[Form, Field], Any]] = {
    str: lambda form, field: form.text(field.name),
    int: whole,
    float: number,
    bool: lambda form, field: form.flag(field.name),
    Path: dropped,
    "workload": of_name,
    "rate": rates,
    "texts": lambda form, field: tuple(form.texts(field.name)),
    "each name": lambda form, field: tuple(form.texts(field.name)),
    "filters": lambda form, field: tuple(form.texts(field.name)),
    "seeds": whole,
    "settings": settings,
    "axes": settings,
    "values": settings,
}


def is_elsewhere(question: type[Question], field: Field) -> bool:
    """Return whether no form has the field, such as fields for hardware."""
    is_of_hardware = issubclass(question, OnHardware) and field.name in NAMES
    return is_of_hardware or field.name in ELSEWHERE or field.says.hidden or field.says.only_python


def of_form(question: type[Q], form: Form, fixed: Mapping[str, object]) -> Q:
    """Return the question; `fixed` has fields from elsewhere. Raises UserError with the names of the form's fields."""
    values: dict[str, Any] = dict(fixed)
    with in_fields():
        for field in fields_of(question):
            if field.name not in fixed and not is_elsewhere(question, field):
                value = READ[mark(field)](form, field)
                values |= {} if value is None else {field.name: value}
        return question(**values)


def answered(question: Question, tick: Tick | bool) -> Any:
    """Return the answer, and report progress to `tick`; ambiguous readings are added to those of the call. Raises
    UserError with the names of the form's fields."""
    with in_fields():
        DOUBTS.get([]).extend(f"! {guess.sentence}." for guess in guesses_of(question))
        return quietly(question, tick)


@contextmanager
def doubts() -> Iterator[list[str]]:
    """Yield the list that receives the ambiguous readings of the questions answered within the block."""
    sentences: list[str] = []
    token = DOUBTS.set(sentences)
    try:
        yield sentences
    finally:
        DOUBTS.reset(token)


@contextmanager
def in_fields() -> Iterator[None]:
    """Raise mistakes within the block as UserErrors with the names of the form's fields."""
    try:
        yield
    except UserError as error:
        raise in_python(error) from None
