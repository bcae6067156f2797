"""Wear of a run's drives, in lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import number, size

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc, SmartDoc

# Drives whose figures differ by at most this share one line with the lowest and highest. Preconditioned members of one
# layout differ by 3 % (a RAID 5 of 16 S4500 after a second of writes), members of other parts or spares by multiples.
ALIKE = 0.05


def smart_lines(record: RecordDoc) -> list[str]:
    """Return write amplification, wear and projected endurance, a line per drive that wears, or per group of similar
    ones."""
    return [_line(group) for group in _groups(record.get("smart", []))]


def _figures(drive: SmartDoc) -> tuple[float | None, ...]:
    used = drive["at_end"]["percentage_used"]
    return drive["write_amplification"], drive["write_amplification_total"], used, drive["endurance_bytes"]


def _groups(drives: Sequence[SmartDoc]) -> list[list[SmartDoc]]:
    """Return groups of neighbouring similar drives."""
    groups: list[list[SmartDoc]] = []
    for drive in drives:
        if groups and _alike([*groups[-1], drive]):
            groups[-1].append(drive)
        else:
            groups.append([drive])
    return groups


def _alike(drives: Sequence[SmartDoc]) -> bool:
    for figures in zip(*(_figures(drive) for drive in drives), strict=True):
        known = [figure for figure in figures if figure is not None]
        if known and (len(known) < len(drives) or max(known) > (1 + ALIKE) * min(known)):
            return False
    return len({drive.get("scale", 1) for drive in drives}) == 1


def _line(drives: Sequence[SmartDoc]) -> str:
    amplification, total, used, endurance = (
        [figure for figure in figures if figure is not None]
        for figures in zip(*(_figures(drive) for drive in drives), strict=True)
    )
    since_new = _range(total, number)
    parts = [
        f"write amplification {_range(amplification, number)} ({since_new} since new)",
        f"{_range(used, number)} % used",
    ]
    # For a run without writes it would be that of the preconditioning.
    if endurance and amplification:
        scale = drives[0].get("scale", 1)
        whole = "" if scale == 1 else f" of the whole drive (scale {scale})"
        each = " to each" if len(drives) > 1 else ""
        parts.append(f"projected endurance{whole} {_range(endurance, size)} written by the host{each}")
    names = [drive["drive"] for drive in drives]
    joined = " and ".join(names) if len(names) <= 2 else f"{names[0]} to {names[-1]}"
    return f"{joined}: {', '.join(parts)}"


def _range(values: Sequence[float], shown: Callable[[float], str]) -> str:
    """Return the lowest and highest value, or one text if both print the same; a common unit is printed once. A dash if
    empty."""
    if not values:
        return number(None)
    low, high = shown(min(values)), shown(max(values))
    if low == high:
        return low
    figure, space, unit = low.partition(" ")
    return f"{figure if space and high.endswith(f' {unit}') else low} to {high}"
