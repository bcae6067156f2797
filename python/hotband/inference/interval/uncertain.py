"""The uncertain values of a run: those of its drives and daemons that have a range, each with its distribution.

A value that the user, the machine's text or a study sets is no longer uncertain. A switch of the drive (`wce`, `awc`)
is the buyer's choice, not an uncertainty: it is as it is set, unless the catalog says that its own choice is an
estimate.

Left out: ranges of links and of layouts, which no catalog entry has; in a study, its assumptions with a swing
represent them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.heavy import tomlkit
from hotband.base.text.tomltable import loads
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.entries import product
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.ranges import Range, at_value, machine_text, workload_text
from hotband.inference.interval.distribution import NOMINAL, Distribution, distribution_of

NOT_DRAWN = ("reference.", "power_")
"""Beginnings of keys that change no rate and no time."""
BUILT = ("dies", "channels", "planes", "flash_page", "block", "heads")
"""Values in steps: a drive has 32 dies or 64, and none has 47. Drawn as a choice."""
TOGETHER = {
    "seek": tuple(f"seek_{way}_{reach}" for way in ("read", "write") for reach in ("track", "average", "full")),
    "skew": ("head_skew", "track_skew"),
}
"""Values that are sampled together, low with low: the seeks of a drive are one arm and one servo, and so are the times
of its switches between tracks."""


@dataclass(frozen=True)
class Uncertain:
    """One uncertain value: its range, distribution, owner and source. Values of one `group` are sampled together.
    `tables` names the drives of the machine's text that have it, if other products also have the key."""

    range: Range
    distribution: Distribution
    part: str
    source: str
    confidence: str
    group: str
    tables: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the key that distinguishes it from the others."""
        return self.range.name

    def at(self, share: float) -> Any:
        """Return the value that a share (0 to 1) of all draws do not exceed, as its key takes it: text for a setting, a
        number where the ends are numbers."""
        value = self.distribution.at(share)
        ends = (self.range.low, self.range.high)
        if self.distribution.kind == "choice" or any(isinstance(end, str) for end in ends):
            return value
        return round(float(value)) if all(isinstance(end, int) for end in ends) else float(value)


def of_run(spec: RunSpec) -> list[Uncertain]:
    """Return the uncertain values of a run's machine. Raises UserError if there is no such machine."""
    try:
        told = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))
    except _core.SpecError as error:
        raise user_error(error) from None
    held = {key for key, _ in spec.set}
    return _of_machine(told, held) + _of_workload(spec, held)


def _of_workload(spec: RunSpec, held: Collection[str]) -> list[Uncertain]:
    """Return values that the author of a workload declares uncertain (`[uncertainty]`), as keys that are set. Streams
    that differ in such a key have no nominal value for it: it is a choice."""
    try:
        table = _core.workload(workload_text(spec), spec.workload)["table"]
    except _core.SpecError as error:
        raise user_error(error) from None
    found = []
    for key, (low, high) in table.get("uncertainty", {}).items():
        name = f"{spec.workload}: {key}"
        of = Range(name, key, low, high, _today(spec, key))
        distribution = None if key in held else distribution_of(of)
        if distribution is not None:
            found.append(Uncertain(of, distribution, spec.workload, table.get("source", ""), "low", name))
    return found


def _today(spec: RunSpec, key: str) -> str:
    """Return the value that a key of the workload has; nothing if it has several."""
    keys = _core.set_keys(
        CATALOG_DIR, spec.workload, spec.machine, workload_text=workload_text(spec), machine_text=machine_text(spec)
    )
    return next((one["value"] or "" for one in keys if one["key"] == key), "")


def _of_machine(told: _core.Machine, held: Collection[str]) -> list[Uncertain]:
    """Return the values of a machine. One that is set for one drive of a product is set for all of them here."""
    drives: dict[str, list[_core.MachineDrive]] = {}
    for one in told["drives"]:
        drives.setdefault(one["product"], []).append(one)
    products: dict[str, Collection[str]] = {
        name: {key for one in of for key in one["set"]} for name, of in drives.items()
    }
    products |= {layout["osd"]: () for layout in told["layouts"] if layout["osd"] is not None}
    own_files = told["own_products"]
    found = [
        one
        for name, own in products.items()
        for one in of_product(name, {*held, *own}, own_files[name]["values"] if name in own_files else None)
    ]
    if len(drives) == 1:
        return found
    tables = _tables(told["text"])
    return [replace(one, tables=tables.get(one.part, ())) for one in found]


def of_product(
    name: str, held: Collection[str] = (), values: Sequence[_core.CatalogValue] | None = None
) -> list[Uncertain]:
    """Return the uncertain values of a drive or a daemon, without those held; `values` are those of a drive that is a
    file, whose name does not state in which folder it lies."""
    known = product(name)["values"] if values is None else values
    found = (of_value(name, value) for value in known if value["key"] not in held)
    return [one for one in found if one is not None]


def of_value(part: str, value: _core.CatalogValue) -> Uncertain | None:
    """Return a value of a product as an uncertain value; None if it has no range, changes nothing or is a switch."""
    key = value["key"]
    if not value["range"] or key.startswith(NOT_DRAWN):
        return None
    of = Range(f"{part}: {key}", key, *value["range"], value["value"])
    distribution = distribution_of(of, is_choice=key in BUILT)
    if distribution is None or (distribution.kind == "choice" and not value["estimate"] and key not in BUILT):
        return None
    return Uncertain(of, distribution, part, value["source"], value["confidence"], group_of(part, key))


def group_of(part: str, key: str) -> str:
    """Return the group in which a value is sampled; its own name if it is sampled alone."""
    return next((f"{part}: {name}" for name, keys in TOGETHER.items() if key in keys), f"{part}: {key}")


def _tables(text: str) -> dict[str, tuple[str, ...]]:
    """Names of the tables of a machine's drives, by their product."""
    found: dict[str, tuple[str, ...]] = {}
    for name, table in cast("dict[str, dict[str, Any]]", loads(text, "question.on").get("drives", {})).items():
        product = str(table.get("product"))
        found[product] = (*found.get(product, ()), name)
    return found


def with_values(spec: RunSpec, values: Iterable[tuple[Uncertain, Any]]) -> RunSpec:
    """Return a run with uncertain values as they were drawn. Raises UserError if its text has no such key."""
    own: list[tuple[Uncertain, Any]] = []
    for of, value in values:
        if value == NOMINAL:
            continue
        if of.tables:
            own.append((of, value))
        else:
            spec = at_value(spec, of.range, value)
    return with_own(spec, own) if own else spec


def with_own(spec: RunSpec, values: Sequence[tuple[Uncertain, Any]]) -> RunSpec:
    """Return a run with values of some of its drives changed in the machine's text: others have the same keys."""
    text = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))["text"]
    document: Any = tomlkit.parse(text)
    for of, value in values:
        for name in of.tables:
            table = document["drives"][name]
            table.setdefault("set", tomlkit.inline_table())
            table["set"][of.range.key] = _in_toml(value)
    return replace(spec, machine_text=str(tomlkit.dumps(document)))


def _in_toml(value: Any) -> Any:
    """Return a value as in a machine's text: a count as a number, not as its digits."""
    for number in (int, float) if isinstance(value, str) else ():
        try:
            return number(value)
        except ValueError:
            continue
    return value
