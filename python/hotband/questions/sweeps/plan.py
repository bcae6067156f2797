"""A sweep as a grid of runs: every workload on every machine with every combination of settings and every seed;
machines vary slowest, seeds fastest."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from hotband.base.arguments import plain, whole
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Named, each_of, setting
from hotband.data.inputs.values import MOST_RUNS, Value, Values, base_of, values_of

Coordinates = Mapping[str, Value]
MOST_KEPT = 1000
"""Most values of an axis that a folder lists."""
NOT_SET = ("target", "workload", "seed")
"""Coordinates that are not settings."""


@dataclass(frozen=True)
class Grid:
    """The request: names and texts of workloads and machines, the values of each setting, the seeds."""

    workloads: Mapping[str, Named]
    machines: Mapping[str, Named]
    settings: Mapping[str, Values]
    seeds: Values
    duration: str | None = None
    events: tuple[str, ...] = ()

    @property
    def axes(self) -> dict[str, Values]:
        """Return every coordinate with its values, the slowest first."""
        names: dict[str, Values] = {
            "target": Values(tuple(self.machines), len(self.machines)),
            "workload": Values(tuple(self.workloads), len(self.workloads)),
        }
        return {**names, **self.settings, "seed": self.seeds}

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return prod(values.count for values in self.axes.values())

    @property
    def remarks(self) -> list[str]:
        """Return remarks on ranges whose steps do not reach their end."""
        return [values.remark for values in self.settings.values() if values.remark]

    def in_words(self) -> str:
        """Describe the grid for its folder: "fio-randread on A, B: qd, bs"."""
        swept = [key for key, values in self.settings.items() if values.count > 1]
        over = f": {', '.join(swept)}" if swept else ""
        return f"{', '.join(self.workloads)} on {', '.join(self.machines)}{over}"

    def parts(self) -> dict[str, list[str]]:
        """Return as text everything that distinguishes this sweep from others; for long axes and texts, enough to
        distinguish them."""
        parts = {name: [str(value) for value in values.listed[:MOST_KEPT]] for name, values in self.axes.items()}
        parts["duration"] = [self.duration] if self.duration is not None else []
        parts["events"] = ["; ".join(self.events)] if self.events else []
        for named in (*self.machines.values(), *self.workloads.values()):
            if named.text is not None:
                parts[f"text of {named.name}"] = [hashlib.sha256(named.text.encode()).hexdigest()]
        return parts

    def points(self) -> list[dict[str, Value]]:
        """Return the coordinates of every run. Raises UserError for a duplicate value."""
        for name, of in self.axes.items():
            alike = same_of if name in self.settings else repr
            if len({alike(value) for value in of.listed}) < len(of.listed):
                raise UserError(name, "", repr(list(of.listed))[:60], "expected each value once")
        names, listed = list(self.axes), [values.listed for values in self.axes.values()]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*listed)]

    def spec(self, at: Coordinates) -> RunSpec:
        """Return one run, in the form that the engine accepts."""
        workload, machine = self.workloads[str(at["workload"])], self.machines[str(at["target"])]
        return RunSpec(
            name_of(at),
            machine.name,
            workload.name,
            tuple((key, setting(key, at[key])) for key in self.settings),
            cast("int", at["seed"]),
            self.duration,
            machine_text=machine.text,
            workload_text=workload.text,
            events=self.events,
            in_use=True,
        )


def same_of(value: Value) -> object:
    """Return a key that equal values of a setting share: 4 KiB is fio's 4k, 1 is the text 1, True is on."""
    return base_of(value) or setting("", value)


def name_of(at: Coordinates) -> str:
    """Return the text that distinguishes a run of a sweep."""
    settings = (f"{key}={value}" for key, value in at.items() if key not in ("target", "workload"))
    return " ".join([str(at["target"]), str(at["workload"]), *settings])


def by_name(given: Sequence[Named], field: str) -> dict[str, Named]:
    """Return machines or workloads by their names. Duplicate names are refused, because a row of the frame could not
    tell them apart."""
    unique: dict[str, Named] = {}
    for named in given:
        before = unique.setdefault(named.name, named)
        if before is not named and before == named:
            what = "machine" if field == "on" else field
            raise UserError(f"question.{field}", "", named.name, f"is given twice; expected each {what} once")
        if before is not named:
            accepted = 'two have the same name; give each once, and texts and dicts a "title" of their own'
            raise UserError(f"question.{field}", "", "", accepted)
    return unique


def axis_of(key: str, given: object) -> Values:
    """Return the values of a setting: the items of a list, tuple or range, the values in a text, else the single
    value."""
    if isinstance(given, str):
        return values_of(key, given) if given.strip() else Values((given,), 1)
    values = [plain(value) for value in each_of(given)]
    if not values:
        raise UserError(key, "", "[]", "expected at least one value")
    for value in values:
        setting(key, value)  # Refuse a value that is not text, a number or a truth value.
    return Values(tuple(cast("list[Value]", values)[: MOST_RUNS + 1]), len(values))


def seeds_of(given: object, repeat: object) -> Values:
    """Return the seeds: those of a list, or `repeat` seeds from the given one on. Raises UserError."""
    several = 1 if repeat is None else whole(repeat)
    if several is None or several < 1:
        raise UserError("question.repeat", "", str(repeat), "expected a whole number, 1 or more")
    values = each_of(given)
    if repeat is not None and len(values) != 1:
        raise UserError(
            "question.repeat", "", str(repeat), "several seeds are repeats already; expected one, or no repeat"
        )
    if not values:
        raise UserError("question.seed", "", "[]", "expected at least one value")
    seeds = []
    for seed in values:
        number = whole(seed)
        if number is None or not 0 <= number <= 2**64 - several:
            raise UserError("question.seed", "", str(seed), "expected a whole number from 0 to 2^64 - 1")
        seeds.append(number)
    all_seeds = range(seeds[0], seeds[0] + several) if repeat is not None else seeds
    return Values(tuple(all_seeds[: MOST_RUNS + 1]), len(all_seeds))
