"""Kinds of fields in Python: the annotation of the argument, and the function that converts it to the field's value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import EnumMeta
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.arguments import argument_of, listed
from hotband.base.errors import UserError
from hotband.base.question import Field, Question, fields_of, word
from hotband.data.catalog.named import is_family
from hotband.data.inputs.specify import Named, each_of, is_toml, named, rate_text, settings_of, texts

if TYPE_CHECKING:
    from hotband.base.guess import Guess


@dataclass(frozen=True)
class Kind:
    """The annotation of an argument, and the function that converts it to the value of the field."""

    annotation: str
    value: Callable[[Field, Any], Any] = lambda _, given: given
    is_spread: bool = False
    """Whether a call passes several values as separate arguments: `first` and `*others`."""
    is_starred: bool = False
    """Like `is_spread`, with one name for all: `*words`, or `**lines` for pairs."""


def of_name(field: Field, given: object) -> Named:
    """Return the machine or the workload of an argument."""
    return named(given, field.name)


def of_machines(field: Field, given: object) -> tuple[Named, ...]:
    """Return machines; the number of drives of a machine may be open."""
    return tuple(
        Named(spec) if isinstance(spec, str) and not is_toml(spec) and is_family(spec) else named(spec, field.name)
        for spec in each_of(given)
    )


def of_several(field: Field, given: object) -> tuple[Named, ...]:
    """Return workloads. An error names its workload."""
    several = each_of(given)
    many = len(several) > 1
    return tuple(named(spec, f"{field.name} {at}" if many else field.name) for at, spec in enumerate(several, 1))


def of_alike(field: Field, given: object) -> tuple[Named, ...]:
    """Return workloads; those without a title share a name."""
    return tuple(named(spec, field.name) for spec in each_of(given))


def of_settings(_: Field, given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return settings in the form that a run accepts."""
    return settings_of(given)


def of_lines(_: Field, given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return lines of a data sheet by their names: `class_` stands for `class`, which Python reserves."""
    return tuple((name.rstrip("_").replace("_", "-"), value) for name, value in settings_of(given))


def of_axes(_: Field, given: Mapping[str, object]) -> tuple[tuple[str, Any], ...]:
    """Return settings with all their values; several are a tuple."""
    several = ((key, value, listed(value)) for key, value in given.items())
    return tuple((key, value if values is None else tuple(values)) for key, value, values in several)


def of_seeds(_: Field, given: object) -> Any:
    """Return a seed, or several."""
    return given if isinstance(given, int) else tuple(each_of(given))


def of_record(_: Field, given: Any) -> Any:
    """Return a record in memory, or its path."""
    return given if hasattr(given, "to_dict") else Path(given)


def of_records(field: Field, given: object) -> tuple[Any, ...]:
    """Return records in memory, or their paths."""
    return tuple(of_record(field, record) for record in each_of(given))


def of_sides(field: Field, given: Any) -> tuple[tuple[Any, ...], ...]:
    """Return two sides or more, each of one or more records. Raises UserError."""
    sides = tuple(of_records(field, side) for side in given)
    if len(sides) < 2:
        raise UserError("others", "", "", "expected at least two sides to compare")
    if not all(sides):
        raise UserError("others", "", "[]", "expected at least one result on every side")
    return sides


def of_paths(field: Field, given: object) -> tuple[Path, ...]:
    """Return one or several paths."""
    return tuple(map(Path, of_targets(field, given)))


def of_targets(_: Field, given: object) -> tuple[str, ...]:
    """Return the names of one or several machines, places or files."""
    several: list[Any] = each_of(given)
    return tuple(map(fspath, several))


def of_key_values(field: Field, given: object) -> str:
    """Return KEY=VALUES,... of a dict of lists; text stays as it is."""
    if isinstance(given, Mapping):
        return ",".join(f"{key}={','.join(map(str, each_of(values)))}" for key, values in given.items())
    if not isinstance(given, str):
        accepted = "expected text or a dict of lists, such as {'layouts': ['raid6']}"
        raise UserError(f"question.{field.name}", "", str(given), accepted)
    return given


def of_rate(_: Field, given: object) -> str:
    """Return one rate or several, as text."""
    rates: list[Any] = each_of(given)
    return ",".join(f"{rate:.15g}" if isinstance(rate, float) else rate_text(str(rate)) for rate in rates)


def guesses_of(question: Question) -> list[Guess]:
    """Return the guesses about the files of a question, and about the traces that its workloads replay."""
    guesses = list(question.guesses())
    for field in fields_of(type(question)):
        value = getattr(question, field.name)
        for named_ in value if isinstance(value, tuple) else (value,):
            # Only a workload has traces, and one of the catalog has none.
            if isinstance(named_, Named) and named_.text is not None:
                from hotband.data.traces.guesses import guesses_in

                guesses += guesses_in(named_.name, named_.text)
    return list(dict.fromkeys(guesses))


PATHS = Kind("str | PathLike[str] | Sequence[str | PathLike[str]]", of_paths)
KINDS: Mapping[Any, Kind] = {
    str: Kind("str"),
    int: Kind("int"),
    float: Kind("float"),
    bool: Kind("bool"),
    Path: Kind("str | PathLike[str]", lambda _, given: Path(given)),
    "machine": Kind("Spec", of_name),
    "machines": Kind("Spec | Sequence[Spec]", of_machines),
    "workload": Kind("Spec", of_name),
    "workloads": Kind("Spec | Sequence[Spec]", of_several),
    "record": Kind("Record | str | PathLike[str]", of_record),
    "records": Kind("Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]]", of_records),
    "sides": Kind("Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]]", of_sides, is_spread=True),
    "document": Kind(
        "str | PathLike[str] | Mapping[str, Toml]",
        lambda _, given: given if isinstance(given, str | Mapping) else Path(given),
    ),
    "name or path": Kind("str | PathLike[str]", lambda _, given: str(given)),
    "paths": PATHS,
    "results": PATHS,
    "targets": Kind(PATHS.annotation, of_targets),
    "first targets": Kind("str | Sequence[str]", of_targets),
    "other targets": Kind("str | Sequence[str]", of_targets),
    "drive": Kind("str | PathLike[str]", of_name),
    "study": Kind("str"),
    "share": Kind("str | float", lambda _, given: given if isinstance(given, str) else f"{given:.12f}"),
    "rate": Kind("float | str | Sequence[float]", of_rate),
    "texts": Kind("str | Sequence[str]", lambda field, given: texts(given, field.name)),
    "seeds": Kind("int | Sequence[int]", of_seeds),
    "alike workloads": Kind("Spec | Sequence[Spec]", of_alike),
    "values": Kind("Mapping[str, object]", of_settings),
    "axes": Kind("Mapping[str, object]", of_axes),
    "names": Kind("str | Sequence[str]", lambda _, given: tuple(str(name) for name in each_of(given))),
    "each name": Kind(
        "str | Sequence[str]", lambda _, given: tuple(str(name) for name in each_of(given)) if given else ()
    ),
    "key-values": Kind("str | Mapping[str, Sequence[str | int]]", of_key_values),
    "filters": Kind("str | int | Sequence[str | int]", lambda _, given: tuple(str(text) for text in each_of(given))),
    "columns": Kind("Mapping[str, object]"),
    "table": Kind("Mapping[str, object]"),
    "target": Kind("str"),
    "workload name": Kind("str"),
    "daemon name": Kind("str"),
    "program name": Kind("str"),
    "program place": Kind("str"),
    "drive words": Kind("str", lambda _, given: tuple(given), is_starred=True),
    "lines": Kind("object", of_lines, is_starred=True),
    "settings": Kind("Mapping[str, object]", of_settings),
    "settings of drives": Kind("Mapping[str, object]", of_settings),
    "settings of a program": Kind("Mapping[str, object]", of_settings),
}
OF_NO_LOAD = ("settings of drives", "settings of a program")
"""Descriptions of settings that do not include words of fio."""
QUANTITY = Kind("str | float")
"""Text with a unit, or a number in the field's unit."""
WORD = Kind("str", word)
"""Type of a field that takes one of several words."""


def mark(field: Field) -> Any:
    """Return the key of a field's kind: the mark of its annotation, or its type."""
    marks = getattr(field.base, "__metadata__", ())
    return marks[0] if marks else field.base


def is_word(field: Field) -> bool:
    """Return whether the field takes one of several words."""
    return isinstance(field.base, EnumMeta)


def kind_of(field: Field) -> Kind:
    """Return the kind of a field."""
    if is_word(field):
        return WORD
    return QUANTITY if field.says.unit else KINDS[mark(field)]


def arguments_of(field: Field) -> tuple[str, ...]:
    """Return the names of a field in a call."""
    if kind_of(field).is_spread:
        return ("first", "others")
    return ("set",) if is_settings(field) else (argument_of(field.name.rstrip("_")),)


def is_settings(field: Field) -> bool:
    """Return whether the field holds the values of `--set` and `set`."""
    return mark(field) in ("settings", "values", "axes", *OF_NO_LOAD)


def is_lines(field: Field) -> bool:
    """Return whether the field collects options and arguments that no other field names."""
    return bool(mark(field) == "lines")


def takes_more(field: Field) -> bool:
    """Return whether further arguments of the function are values of this field, too."""
    return is_settings(field) and mark(field) != "values"


def machines_of(question: Question) -> list[str]:
    """Return the names of the machines and the hardware of a question."""
    marks = ("machine", "machines", "targets", "first targets", "other targets")
    named = [getattr(question, field.name) for field in fields_of(type(question)) if mark(field) in marks]
    each = [
        machine
        for given in named
        for machine in (given if isinstance(given, tuple) else [given])
        if machine is not None
    ]
    return [machine.name if isinstance(machine, Named) else str(machine) for machine in each]
