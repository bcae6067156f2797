"""Energy of a record: lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import between, counted, energy, number

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


def joules(value: float, low: float | None, high: float | None) -> str:
    """Format an energy, with its range in brackets."""
    return (
        energy(value)
        if low is None or high is None or low == high
        else f"{energy(value)} ({between(low, high, energy)})"
    )


def energy_lines(record: RecordDoc) -> list[str]:
    """Return the power of the drives in one line; none if it is unknown."""
    energy = record.get("energy")
    if energy is None:
        return []
    seconds = record["duration_ns"] / 1e9
    low, high = energy["energy_low_j"], energy["energy_high_j"]
    span = "" if low == high else f"{between(low / seconds, high / seconds)} W by the ranges of its values; "
    parts = [f"{number(energy['mean_w'])} W on average ({span}{number(energy['idle_w'])} W at rest)"]
    parts.append(joules(energy["energy_j"], low, high))
    if energy["joules_per_io"] is not None:
        per_io = joules(energy["joules_per_io"], energy["joules_per_io_low"], energy["joules_per_io_high"])
        parts.append(per_io.replace("J", "J per I/O", 1))
    drives = counted(energy["drives"], "drive")
    if energy["drives_unknown"]:
        drives += f"; {energy['drives_unknown']} of unknown power left out"
    return [f"Energy of {drives}: {', '.join(parts)}"]
