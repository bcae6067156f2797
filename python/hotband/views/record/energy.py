"""Energy of a record: lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.cells import counted, number

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


def joules(value: float) -> str:
    """An energy in the unit that leaves at least one of it."""
    for unit, size in (("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3)):
        if value >= size:
            return f"{value / size:,.3g} {unit}" if value / size < 1000 else f"{value / size:,.0f} {unit}"
    return f"{value / 1e-6:,.3g} µJ"


def joules_between(low: float | None, high: float | None) -> str:
    """A range of energies in brackets, with the unit once where it is the same; nothing where there is no range."""
    if low is None or high is None or low == high:
        return ""
    first, last = joules(low), joules(high)
    unit = last.rpartition(" ")[2]
    return f" ({first.removesuffix(f' {unit}')} to {last})"


def energy_lines(record: RecordDoc) -> list[str]:
    """What the drives drew, in a line; none where that is not known."""
    energy = record.get("energy")
    if energy is None:
        return []
    seconds = record["duration_ns"] / 1e9
    low, high = energy["energy_low_j"], energy["energy_high_j"]
    span = f"{number(low / seconds)} to {number(high / seconds)} W by the ranges of its values; "
    parts = [
        f"{number(energy['mean_w'])} W on average ({'' if low == high else span}{number(energy['idle_w'])} W at rest)"
    ]
    parts.append(joules(energy["energy_j"]) + joules_between(low, high))
    if energy["joules_per_io"] is not None:
        span = joules_between(energy["joules_per_io_low"], energy["joules_per_io_high"])
        parts.append(f"{joules(energy['joules_per_io'])} an I/O{span}")
    drives = counted(energy["drives"], "drive")
    if energy["drives_unknown"]:
        drives += f"; {energy['drives_unknown']} of unknown draw left out"
    return [f"Energy of {drives}: {', '.join(parts)}"]
