"""Ranges of uncertain values: a value with two ends, and the sampler that runs both, one range at a time.

Left out: ranges that act together. Each is moved separately; all other values stay nominal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from hotband.base.errors import UserError
from hotband.base.heavy import tomlkit
from hotband.base.text.values import Toml
from hotband.data.catalog.entries import workload
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.texts import text_of
from hotband.execution.experiment.point import Point

End = Literal["low", "high"]
ENDS: tuple[End, End] = ("low", "high")
KINDS = ("set", "workload", "machine")


@dataclass(frozen=True)
class Range:
    """A value with the two ends of its range. `of` names the owner of `key`: the settings ("set"), the text of
    the workload or that of the machine. `nominal` is the text of the value that runs have without it, if known."""

    name: str
    key: str
    low: Any
    high: Any
    nominal: str = ""
    of: str = "set"

    def at(self, end: End) -> Any:
        """The value at an end."""
        return self.low if end == "low" else self.high

    def moves(self) -> list[End]:
        """The ends that differ from the nominal value."""
        return [end for end in ENDS if str(self.at(end)) != self.nominal]


def at_end(spec: RunSpec, range_: Range, end: End, prefix: str = "") -> RunSpec:
    """A run with a range at one of its ends; `prefix` goes before its id and that of the run before it. Raises
    UserError if the text has no such key."""
    return at_value(renamed(spec, prefix), range_, range_.at(end))


def at_value(spec: RunSpec, range_: Range, value: Any) -> RunSpec:
    """A run with any value of a range. Raises UserError if the text has no such key."""
    if range_.of == "set":
        return replace(spec, set=tuple((dict(spec.set) | {range_.key: str(value)}).items()))
    if range_.of == "workload":
        return replace(spec, workload_text=edited(workload_text(spec), spec.workload, {range_.key: value}))
    return replace(spec, machine_text=edited(machine_text(spec), spec.machine, {range_.key: value}))


def renamed(spec: RunSpec, prefix: str) -> RunSpec:
    """A run with something before its id and that of the run before it."""
    return replace(spec, id=prefix + spec.id, after=prefix + spec.after if spec.after else "")


def one_at_a_time(points: Sequence[Point], ranges: Sequence[Range]) -> list[Point]:
    """The points as they are, and all of them at both ends of each range: columns `range` and `end` say which. An end
    that is the nominal value is not run again."""
    sampled = [Point(point.spec, {**point.at, "range": "", "end": "nominal"}) for point in points]
    for range_ in ranges:
        for end in range_.moves():
            for point in points:
                spec = at_end(point.spec, range_, end, f"{range_.name}.{end}.")
                sampled.append(Point(spec, {**point.at, "range": range_.name, "end": end}))
    return sampled


def machine_text(spec: RunSpec) -> str | None:
    """The text of a run's machine, None if it is a name of the catalog or a short form."""
    return text_of(spec.machine, "machine") if spec.machine_text is None else spec.machine_text


def workload_text(spec: RunSpec) -> str:
    """The text of a run's workload. Raises UserError for a name that the catalog does not have."""
    text = text_of(spec.workload, "workload") if spec.workload_text is None else spec.workload_text
    return str(workload(spec.workload)["text"]) if text is None else text


def edited(text: str | None, file: str, changes: Mapping[str, Toml]) -> str:
    """A TOML text with other values at dotted keys, such as `scripts.0.steps.0.ios`. Raises UserError."""
    if text is None:
        raise UserError(file, ", ".join(changes), "", "the machine is not a file: its text has no keys to change")
    document: Any = tomlkit.parse(text)
    for key, value in changes.items():
        node: Any = document
        *path, last = (int(name) if name.isdigit() else name for name in key.split("."))
        try:
            for name in path:
                node = node[name]
            node[last]  # a key that is not there yet is a mistake in its name
            node[last] = _as_toml(value)
        except (KeyError, IndexError, TypeError):
            raise UserError(file, key, str(value), "no such key in the text") from None
    return str(tomlkit.dumps(document))


def _as_toml(value: Any) -> Any:
    """A list of tables as tables of their own: written inline they would belong to the table before them."""
    if not (isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value)):
        return value
    tables = tomlkit.aot()
    for entry in value:
        tables.append(tomlkit.item(entry))
    return tables
