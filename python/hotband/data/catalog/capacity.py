"""Usable capacity of a layout, computed by its kind. The engine may build up to a stripe less, and a pool without
`image` has less capacity by the excess of its fullest daemon over the others.

Left out: logical units of a disk, and volumes of part of a layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from hotband.base.text.quantities import share, size_bytes
from hotband.base.text.values import Toml

PARITIES = {"raid5": 1, "raid6": 2, "raid50": 1, "raid60": 2, "raidz1": 1, "raidz2": 2, "raidz3": 3}
POOLS = ("replicated", "erasure")
KINDS = ("single", "concat", "raid0", "raid1", "raid10", *PARITIES, *POOLS)
CACHES = ("controller", "md")
"""Caches, whose addresses are those of their first member."""
GROUPS = 2
"""Default number of groups of RAID 50 and 60 [crates/layouts/src/lib.rs]."""
RECORD, SECTOR, FILLED = 128 << 10, 4 << 10, 0.8
"""Default record size, sector size and filled share of RAID-Z [docs/models/layouts.md]."""
POOL_FILLED = 0.7
"""Share of a pool's space that the image fills, if no `image` is stated [docs/guides/machines.md]."""
MOST_DRIVES = 4096
"""Maximum number of drives of a machine [crates/machine/src/spec]."""
COPIES, SHARDS = 3, (2, 2)
"""Default copies of a replicated pool and shards of an erasure-coded one [docs/models/pool.md]."""


def usable_bytes(kind: str, sizes: list[float], options: Mapping[str, Toml]) -> float | None:
    """Return the bytes of a layout on members of these sizes; None if it is unknown, or cannot be built."""
    if not sizes or kind not in (*KINDS, *CACHES):
        return None
    count, smallest = len(sizes), min(sizes)
    if kind in ("single", "concat"):
        return sum(sizes)
    if kind in CACHES:
        return sizes[0]
    if kind == "raid1":
        return smallest
    if kind.startswith("raidz"):
        return _raidz(PARITIES[kind], count, smallest, options)
    if kind in POOLS:
        return _pool(kind, sum(sizes), options)
    groups = _number(options, "groups", GROUPS) if kind in ("raid50", "raid60") else 1
    members = count / 2 if kind == "raid10" else count - groups * PARITIES.get(kind, 0)
    return members * smallest if members > 0 else None


def capacity_of(machine: Mapping[str, Toml], drives: Mapping[str, float]) -> float | None:
    """Return the bytes that hosts address on a machine whose drives have these sizes by name; None unless it is one
    layout whose members are whole drives and layouts."""
    layouts = machine.get("layouts")
    sizes, inner = dict(drives), set()
    capacities: list[str] = []
    for name, table in layouts.items() if isinstance(layouts, dict) else ():
        kind, options = next(iter(table.items()), ("", None)) if isinstance(table, dict) else ("", None)
        if not isinstance(options, dict):
            return None
        members = _members(str(options.get("members", "")), sizes)
        inner.update(members)
        given = [_part(sizes[member], options) for member in members if member in sizes]
        capacity = usable_bytes(kind, given, options) if len(given) == len(members) else None
        capacities.append(name)
        if capacity is not None:
            sizes[name] = capacity
    roots = [name for name in capacities if name not in inner]
    return sizes.get(roots[0]) if len(roots) == 1 else None


def _members(text: str, known: Mapping[str, float]) -> list[str]:
    """Return the names in a selection such as "d0..d3, mirror" or "d*"."""
    names: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        ends = re.fullmatch(r"(.*?)(\d+)\.\.(.*?)(\d+)", part)
        if ends and ends[1] == ends[3]:
            first = int(ends[2])
            names.extend(f"{ends[1]}{number}" for number in range(first, min(int(ends[4]), first + MOST_DRIVES) + 1))
        elif "*" in part:
            names.extend(name for name in known if fnmatchcase(name, part))
        else:
            names.append(part)
    return names


def _part(size: float, options: Mapping[str, Toml]) -> float:
    """Return the bytes of a member that a layout uses."""
    begin = size_bytes(str(options.get("from", ""))) or 0.0
    most = size_bytes(str(options.get("size", "")))
    return size - begin if most is None else min(most, size - begin)


def _raidz(parities: int, count: int, smallest: float, options: Mapping[str, Toml]) -> float | None:
    """Return the bytes of RAID-Z: each record has its data, parity for every row of it, and padding to a multiple of
    the number of parities plus one [docs/models/layouts.md]."""
    sector = size_bytes(str(options.get("sector", ""))) or SECTOR
    record = size_bytes(str(options.get("record", ""))) or max(RECORD, sector)
    filled = share(str(options.get("filled", ""))) or FILLED
    if count <= parities:
        return None
    data = -(-record // sector)
    needed = data + parities * -(-data // (count - parities))
    allocated = -(-needed // (parities + 1)) * (parities + 1) * sector
    return smallest * count / allocated * filled * record


def _pool(kind: str, raw: float, options: Mapping[str, Toml]) -> float:
    image = size_bytes(str(options.get("image", "")))
    if image is not None:
        return image
    data, parities = _number(options, "k", SHARDS[0]), _number(options, "m", SHARDS[1])
    of_data = data / (data + parities) if kind == "erasure" else 1 / _number(options, "replicas", COPIES)
    return POOL_FILLED * raw * of_data


def _number(options: Mapping[str, Toml], key: str, default: int) -> int:
    value = options.get(key, default)
    return value if isinstance(value, int) and value > 0 else default
