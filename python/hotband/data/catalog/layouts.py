"""Available layouts: their short forms, and the failures they survive."""

from __future__ import annotations

import re
from typing import NamedTuple


class LayoutOutline(NamedTuple):
    """A layout of drives: its name in machine files, its form for `--on`, the fewest members, the usable share of the
    members' capacity, the failures that it survives, and its other names."""

    name: str
    example: str
    least: int
    usable: str
    survives: str
    words: str


LAYOUTS = (
    LayoutOutline("single", "ent-10k", 1, "all", "none", "one drive"),
    LayoutOutline("concat", "concat:2xent-10k", 1, "all", "none", "JBOD, linear"),
    LayoutOutline("raid0", "raid0:4xent-10k", 1, "all", "none", "stripe"),
    LayoutOutline("raid1", "raid1:2xent-10k", 2, "1/n", "all but one", "mirror"),
    LayoutOutline("raid10", "raid10:4xent-10k", 2, "1/2", "1 per pair", "RAID 1+0"),
    LayoutOutline("raid5", "raid5:4xent-10k", 3, "(n-1)/n", "any 1", ""),
    LayoutOutline("raid6", "raid6:6xent-10k", 4, "(n-2)/n", "any 2", ""),
    LayoutOutline("raid50", "raid50:6xent-10k", 6, "(n-g)/n", "1 per group", "RAID 5+0"),
    LayoutOutline("raid60", "raid60:8xent-10k", 8, "(n-2g)/n", "2 per group", "RAID 6+0"),
    LayoutOutline("raidz1", "raidz1:4xent-10k", 2, "(n-1)/n", "any 1", "RAID-Z"),
    LayoutOutline("raidz2", "raidz2:6xent-10k", 3, "(n-2)/n", "any 2", "RAID-Z2"),
    LayoutOutline("raidz3", "raidz3:8xent-10k", 4, "(n-3)/n", "any 3", "RAID-Z3"),
    LayoutOutline("replicated", "replicated:3xent-10k", 1, "1/copies", "copies - 1", "Ceph"),
    LayoutOutline("erasure", "erasure:6xent-10k", 2, "k/(k+m)", "any m", "Ceph EC"),
    LayoutOutline("md", "", 3, "as RAID 5/6", "as RAID 5/6", "Linux md"),
    LayoutOutline("controller", "controller:1xent-10k", 1, "as inner", "as inner", "RAID card"),
)
"""All layouts. One without an example needs a machine file (docs/guides/machines.md)."""


def layout_meant(word: str) -> LayoutOutline | None:
    """Return the layout that people mean by a word, such as `mirror`, `RAID 1+0`, `raid_10` or `raid-z2`."""
    plain = plain_name(word)
    names = {plain_name(name): layout for layout in LAYOUTS for name in (layout.name, *layout.words.split(","))}
    return names.get(plain) if plain else None


def plain_name(word: str) -> str:
    """Return a name without what people write differently: case, spaces, hyphens, underscores and plus signs."""
    return re.sub(r"[\s+_-]", "", word.lower())
