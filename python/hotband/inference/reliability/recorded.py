"""The time of a rebuild, from the record of a run in which a drive failed (`hotband run --fail`)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.errors import UserError, reason_of_input
from hotband.base.text import numbers
from hotband.base.text.regular import file_text
from hotband.data.catalog import CATALOG_DIR
from hotband.data.record.files import record_file
from hotband.data.record.repair import took_ns

if TYPE_CHECKING:
    from hotband.data.documents.record import RebuildDoc, RecordDoc
    from hotband.data.record.record import Record

NS_PER_HOUR = 3.6e12
# A difference of the rebuilt bytes that needs no note: layouts of whole chunks leave out the end of a member.
SAME_BYTES = 1e-3


@dataclass(frozen=True)
class Rebuilt:
    """A rebuild to be assessed: `member_bytes` of a drive for a layout of a machine.

    `values` has the values of each product under the layout, `set` the machine's changes to them.
    """

    machine: str
    layout: str
    member_bytes: float
    values: Mapping[str, Mapping[str, str]]
    set: Mapping[str, str]


@dataclass(frozen=True)
class Replaced:
    """A rebuilt drive of a record: its name, product and changed values, and the hours and bytes of each layout."""

    drive: str
    product: str
    set: Mapping[str, str]
    layouts: Mapping[str, tuple[float, float]]

    def bytes_of(self, layout: str) -> float | None:
        """Return the bytes rebuilt for this layout, or for the only one; None where the layout is ambiguous."""
        if layout not in self.layouts and len(self.layouts) > 1:
            return None
        return self.layouts.get(layout, next(iter(self.layouts.values())))[1]

    @property
    def hours(self) -> float:
        """Hours of all rebuilds of the drive: layouts that share it are rebuilt one after the other."""
        return sum(hours for hours, _ in self.layouts.values())


def recorded_rebuild(given: Path | Record, wanted: Rebuilt) -> tuple[float, str]:
    """Return the mean hours to rebuild a drive according to a record, in proportion to bytes, and their source.

    The record is a file or in memory. Raise UserError if it has no rebuild, or only rebuilds of other products.
    """
    name = str(given) if isinstance(given, Path) else given.name
    file = str(record_file(given)) if isinstance(given, Path) and given.is_dir() else name
    try:
        record = json.loads(file_text(Path(file), pipes=file == name)) if isinstance(given, Path) else given.document
        drives = replaced_drives(record)
        machine = str(record["target"]["machine"])
    except OSError as error:
        raise UserError("question.record", "", file, f"cannot be read: {reason_of_input(error)}") from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        drives, machine = [], ""
    if not drives:
        accepted = "expected the record of a run in which a rebuild was finished"
        raise UserError("question.record", "repair.rebuilds", file, accepted)
    alike = [drive for drive in drives if drive.product in wanted.values]
    if not alike:
        accepted = f"is not the product that is rebuilt here; expected a record of {', '.join(wanted.values)}"
        raise UserError("question.record", f"spec.machine of {file}", drives[0].product, accepted)
    rebuilds = []
    for drive in alike:
        size = drive.bytes_of(wanted.layout)
        if size is None:
            names = ", ".join(drive.layouts)
            accepted = f"expected a rebuild of {wanted.layout}: the record has only those of {names}"
            raise UserError("question.record", "repair.rebuilds", file, accepted)
        rebuilds.append((drive.hours, size))
    hours = sum(hours * wanted.member_bytes / size for hours, size in rebuilds) / len(rebuilds)
    return hours, "; ".join([name, *differences(wanted, machine, alike, [size for _, size in rebuilds])])


def replaced_drives(record: RecordDoc) -> list[Replaced]:
    """Return the drives of a record that were rebuilt in all their layouts.

    Raise KeyError, TypeError or ValueError for other contents.
    """
    parts: dict[tuple[str, str], list[RebuildDoc]] = {}
    for part in record["repair"]["rebuilds"]:
        parts.setdefault((part["drive"], part["spare"]), []).append(part)
    machine = drives_of(record["spec"]["machine"])
    changed = {key: str(value) for key, value in record["spec"]["set"].items()}
    replacements = []
    for (drive, _), rebuilds in parts.items():
        if any(part["state"] != "done" for part in rebuilds):
            continue
        layouts: dict[str, tuple[float, float]] = {}
        for part in rebuilds:
            hours, size = layouts.get(part["layout"], (0.0, 0.0))
            took = took_ns(part["began_ns"], part["ended_ns"], part.get("bytes"), part.get("mean_bytes_per_s"))
            if took is None:
                raise ValueError("a rebuild that is done without its times")
            layouts[part["layout"]] = (hours + took / NS_PER_HOUR, size + float(part["of_bytes"]))
        if not all(0 < value < math.inf for both in layouts.values() for value in both):
            raise ValueError("a rebuild without time or bytes")
        state = machine[drive]
        replacements.append(Replaced(drive, state["product"], state["set"] | changed, layouts))
    return replacements


def drives_of(text: str) -> dict[str, _core.MachineDrive]:
    """Return the drives of a machine's text by name. Raise ValueError for a mistake in the text."""
    try:
        return {drive["name"]: drive for drive in _core.machine(CATALOG_DIR, "spec.machine", text)["drives"]}
    except _core.SpecError as error:
        raise ValueError(str(error)) from None


def differences(wanted: Rebuilt, machine: str, drives: list[Replaced], sizes: list[float]) -> list[str]:
    """Return notes on the differences between the recorded rebuilds and the wanted one."""
    notes = [] if machine == wanted.machine else [f"of {machine}"]
    first = drives[0]
    values = wanted.values[first.product]
    # Changes of other keys concern workloads, and `scale` only changes bytes.
    keys = sorted(key for key in {*first.set, *wanted.set} - {"scale"} if key in values)
    of_catalog = "as in the catalog"
    for key in keys:
        if first.set.get(key) != wanted.set.get(key):
            notes.append(f"with {key} = {first.set.get(key, of_catalog)}, here {wanted.set.get(key, of_catalog)}")
    if any(abs(size / wanted.member_bytes - 1.0) > SAME_BYTES for size in sizes):
        notes.append(f"scaled from {numbers.size(sizes[0])} to {numbers.size(wanted.member_bytes)}")
    others = [name for name in first.layouts if name != wanted.layout]
    if len(first.layouts) > 1:
        notes.append(f"with the part of the drive in {', '.join(others)}")
    return notes
