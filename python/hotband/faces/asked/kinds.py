"""How Python takes a type of a field: the annotation of the argument, and how the value is made of what is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import EnumMeta
from pathlib import Path
from typing import Any

from hotband.base.errors import UserError
from hotband.base.question import Field, Question, fields_of, word
from hotband.data.catalog.named import is_family
from hotband.data.inputs.specify import Named, each_of, is_toml, named


@dataclass(frozen=True)
class Kind:
    """The annotation of an argument, and what makes the value of the field of what is given."""

    annotation: str
    value: Callable[[Field, Any], Any] = lambda _, given: given
    is_spread: bool = False
    """Whether the call has an argument for each of several: `first`, and `others`."""


def of_name(one: Field, given: object) -> Named:
    """A machine or a workload."""
    return named(given, one.name)


def of_machines(one: Field, given: object) -> tuple[Named, ...]:
    """Machines, also such whose number of drives is left open."""
    several = given if isinstance(given, list) else [given]
    return tuple(
        Named(spec) if isinstance(spec, str) and not is_toml(spec) and is_family(spec) else named(spec, one.name)
        for spec in several
    )


def of_several(one: Field, given: object) -> tuple[Named, ...]:
    """Workloads, each of which is named in a mistake."""
    several = given if isinstance(given, list) else [given]
    many = len(several) > 1
    return tuple(named(spec, f"{one.name} {at}" if many else one.name) for at, spec in enumerate(several, 1))


def of_record(_: Field, given: Any) -> Any:
    """A record in memory, or its path."""
    return given if hasattr(given, "to_dict") else Path(given)


def of_records(one: Field, given: object) -> tuple[Any, ...]:
    """Records in memory, or their paths."""
    several = given if isinstance(given, list) else [given]
    return tuple(of_record(one, record) for record in several)


def of_sides(one: Field, given: Any) -> tuple[tuple[Any, ...], ...]:
    """Two sides or more, each of a record or several. Raises UserError."""
    sides = tuple(of_records(one, side) for side in given)
    if len(sides) < 2:
        raise UserError("others", "", "", "expected at least two sides to compare")
    if not all(sides):
        raise UserError("others", "", "[]", "expected a result or more on every side")
    return sides


def each_given(given: Any) -> list[Any]:
    """Several, or the one."""
    return each_of(given)


def of_paths(_: Field, given: Any) -> tuple[Path, ...]:
    """Paths, or one of them."""
    return tuple(map(Path, each_given(given)))


def of_key_values(one: Field, given: object) -> str:
    """KEY=VALUES,... of a dict of lists, or as it is."""
    if isinstance(given, Mapping):
        return ",".join(f"{key}={','.join(map(str, each_of(values)))}" for key, values in given.items())
    if not isinstance(given, str):
        accepted = "expected text or a dict of lists, such as {'layouts': ['raid6']}"
        raise UserError(f"question.{one.name}", "", str(given), accepted)
    return given


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
    "targets": Kind(PATHS.annotation, lambda _, given: tuple(os.fspath(one) for one in each_given(given))),
    "drive": Kind("str | PathLike[str]", of_name),
    "values": Kind("Mapping[str, object]"),
    "names": Kind("str | Sequence[str]", lambda _, given: tuple(str(name) for name in each_of(given))),
    "each name": Kind(
        "str | Sequence[str]", lambda _, given: tuple(str(name) for name in each_of(given)) if given else ()
    ),
    "key-values": Kind("str | Mapping[str, Sequence[str | int]]", of_key_values),
    "target": Kind("str"),
    "settings": Kind("Mapping[str, object]"),
    "settings of drives": Kind("Mapping[str, object]"),
}
WORD = Kind("str", word)
"""Of a field that takes one of several words."""


def mark(one: Field) -> Any:
    """Return what tells the kind of a field: the mark of its annotation, or its type."""
    marks = getattr(one.base, "__metadata__", ())
    return marks[0] if marks else one.base


def is_word(one: Field) -> bool:
    """Whether it takes one of several words."""
    return isinstance(one.base, EnumMeta)


def kind_of(one: Field) -> Kind:
    """Return the kind of a field."""
    return WORD if is_word(one) else KINDS[mark(one)]


def arguments_of(one: Field) -> tuple[str, ...]:
    """Return the names of a field in a call."""
    if kind_of(one).is_spread:
        return ("first", "others")
    return ("set",) if is_settings(one) else (one.name,)


def is_settings(one: Field) -> bool:
    """Whether it is what `--set` and `set` change."""
    return mark(one) in ("settings", "settings of drives", "values")


def takes_more(one: Field) -> bool:
    """Whether further arguments of the function are such values, too."""
    return is_settings(one) and mark(one) != "values"


def machines_of(asked: Question) -> list[str]:
    """Return the names of the machines and the hardware of a question."""
    named = [
        getattr(asked, one.name) for one in fields_of(type(asked)) if mark(one) in ("machine", "machines", "targets")
    ]
    each = [one for given in named for one in (given if isinstance(given, tuple) else [given]) if one is not None]
    return [one.name if isinstance(one, Named) else str(one) for one in each]
