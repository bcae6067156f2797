"""Build a question from a form of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hotband.base.arguments import in_python
from hotband.base.errors import UserError
from hotband.base.question import Field, Question, fields_of
from hotband.data.inputs.specify import Named, changes, named, rate_text, settings_of
from hotband.execution.targets.fields import NAMES, OnHardware
from hotband.faces.asked.ask import ask
from hotband.faces.asked.kinds import mark
from hotband.faces.asked.words import STORED

if TYPE_CHECKING:
    from hotband.execution.experiment import Tick
    from hotband.faces.ui.form import Form

Q = TypeVar("Q", bound=Question)
ELSEWHERE = ("jobs", "io_log", *STORED)
"""Fields of the command line and of Python only: the page stores results itself and uses all cores."""
NO_MORE = 10**9


def number(form: Form, one: Field) -> float | None:
    """Return a number; a percentage if its bounds are those of one."""
    return form.percent(one.name) if one.says.metavar == "PERCENT" else form.number(one.name)


def whole(form: Form, one: Field) -> int | None:
    """Return a whole number within its bounds."""
    least, most = one.says.least, one.says.most
    return form.whole(one.name, 0 if least is None else int(least), NO_MORE if most is None else int(most))


def dropped(form: Form, one: Field) -> Path | None:
    """Return the path of a dropped file."""
    found = form.dropped(one.name)
    return None if found is None else Path(found)


def of_name(form: Form, one: Field) -> Named | None:
    """Return a machine or a workload: a name, or a dropped file."""
    given = form.text(one.name)
    return None if given is None else named(form.placed(one.name, given), one.name)


def settings(form: Form, _: Field) -> tuple[tuple[str, str], ...]:
    """Return settings as pairs of key and value."""
    return settings_of(changes(form.settings(), {}))


def rates(form: Form, field: Field) -> str | None:
    """Return one rate or several, as text."""
    given = form.text(field.name)
    return None if given is None else rate_text(given)


READ: Mapping[Any, Callable[[Form, Field], Any]] = {
    str: lambda form, one: form.text(one.name),
    int: whole,
    float: number,
    bool: lambda form, one: form.flag(one.name),
    Path: dropped,
    "workload": of_name,
    "rate": rates,
    "texts": lambda form, one: tuple(form.texts(one.name)),
    "each name": lambda form, one: tuple(form.texts(one.name)),
    "filters": lambda form, one: tuple(form.texts(one.name)),
    "seeds": whole,
    "settings": settings,
    "axes": settings,
    "values": settings,
}


def is_elsewhere(question: type[Question], one: Field) -> bool:
    """Return whether no form has the field, such as fields for hardware."""
    is_of_hardware = issubclass(question, OnHardware) and one.name in NAMES
    return is_of_hardware or one.name in ELSEWHERE or one.says.hidden or one.says.only_python


def of_form(question: type[Q], form: Form, own: Mapping[str, object]) -> Q:
    """Return the question; `own` are fields that the form has in another way. Raises UserError with the names of these
    fields."""
    asked: dict[str, Any] = dict(own)
    with in_fields():
        for one in fields_of(question):
            if one.name not in own and not is_elsewhere(question, one):
                value = READ[mark(one)](form, one)
                asked |= {} if value is None else {one.name: value}
        return question(**asked)


def answered(question: Question, tick: Tick | bool) -> Any:
    """Return the answer, and report progress to `tick`. Raises UserError with the names of the form's fields."""
    with in_fields():
        return ask(question, tick)


@contextmanager
def in_fields() -> Iterator[None]:
    """Raise mistakes within the block as UserErrors with the names of the form's fields."""
    try:
        yield
    except UserError as error:
        raise in_python(error) from None
