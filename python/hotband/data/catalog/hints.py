"""What to type for words that name no drive of the catalog: cloud volumes, file systems, layouts, daemons, devices."""

from __future__ import annotations

import re
from collections.abc import Callable

from hotband.data.catalog import is_file
from hotband.data.catalog.layouts import LayoutOutline, layout_meant, plain_name
from hotband.data.catalog.names import daemon_names, drive_names

CLOUD = re.compile(
    r"(?:(?:aws|amazon|azure|gcp|google|oci|ebs)-?)*(?:gp[23]|io[12]|st1|sc1|ebs|cloud|pd-\w+|hyperdisk\S*"
    r"|(?:premium|standard|ultra|persistent|managed)-?(?:ssd|disk)\S*)|aws|azure|gcp"
)
"""Volumes of Amazon (EBS), Google (persistent disk, Hyperdisk) and Microsoft (managed disks), by their names there."""
SOFTWARE = (
    (("zfs", "zpool", "vdev", "truenas"), "is a file system; expected raid1, raid10 or raidz1..3", "raidz2:6xent-10k"),
    (
        ("lvm", "lvm2", "mdadm", "raid", "btrfs", "storagespaces", "swraid", "hwraid"),
        "has several layouts; expected concat, raid0, raid1, raid5, raid6 or raid10",
        "raid10:4xent-10k",
    ),
    (
        ("vsan", "s2d", "gluster", "glusterfs", "minio", "drbd", "linstor", "longhorn", "hdfs"),
        "is not modelled; the nearest layout is replicated or erasure (Ceph)",
        "replicated:9xent-10k",
    ),
)
"""Words for software, what to expect in their place, and an example."""
COUNTED = r"(\d+) ?[x*] ?"
FORM = re.compile(r"(?P<layout>[a-z][a-z0-9 _-]*?)[:(](?P<drives>[^()]*)\)?")
"""A layout with its drives, as LAYOUT:COUNTxDRIVE or LAYOUT(COUNTxDRIVE)."""

FirstOfKind = Callable[[str], str | None]
"""A function that returns the first drive of a kind, such as nvme; None for another word."""


def drive_hint(word: str, first: FirstOfKind) -> str | None:
    """Return what to type in place of a word that no list of drives has; None if nothing is known about it."""
    if (layout := layout_of(word)) is not None:
        return f"is a layout, not a drive; with drives it is {layout.example} (hotband layouts)"
    return _hint(word.lower(), first)


def machine_hint(name: str, first: FirstOfKind) -> str | None:
    """Return what to type in place of a name that is no machine; None if nothing is known about it."""
    word = name.lower().strip()
    if (layout := layout_of(word)) is not None:
        return f"is a layout; expected it with drives, such as {layout.example} (hotband layouts)"
    if re.fullmatch(r"(?:sd|vd|xvd)[a-z]{1,2}|nvme\d+n\d+|md\d+|dm-\d+", word):
        return f"is a device of this computer; expected question.on real:/dev/{word}"
    return _of_form(word, first) or _hint(word, first)


def layout_of(word: str) -> LayoutOutline | None:
    """Return the layout that a word means, if it has a form of LAYOUT:COUNTxDRIVE."""
    layout = layout_meant(word)
    return layout if layout is not None and ":" in layout.example else None


def _hint(word: str, first: FirstOfKind) -> str | None:
    volume = "-".join(word.split())
    if CLOUD.fullmatch(volume):
        lines = 'question.lines.iops 16000 question.lines.throughput "250 MB/s" question.lines.latency "1 ms"'
        return f"is a cloud volume; describe yours: hotband drives new {volume} question.kind cloud {lines}"
    if word in daemon_names():
        return f"is a daemon of a pool (hotband drives question.kind osd {word}); expected a drive"
    for words, accepted, example in SOFTWARE:
        if plain_name(word) in words:
            return f"{accepted}, such as {example} (hotband layouts)"
    return _of_parts(word, first)


def _of_parts(word: str, first: FirstOfKind) -> str | None:
    """Return the hint for a drive or a kind of drive with a layout: "raid10 of 4 ent-15k", "nvme-raid1"."""
    parts = re.split(r"[-_ /]+", word)
    names = ["".join(parts[at : at + length]) for length in (2, 1) for at in range(len(parts))]
    layouts = [layout for layout in map(layout_of, names) if layout is not None]
    if not layouts:
        return None
    example = layouts[0].example
    for name in drive_names():
        named = re.search(rf"(?<![\w-])(?:(\d+) ?[x*]? ?)?{re.escape(name)}(?![\w-])", word)
        if named is not None:
            machine = f"{layouts[0].name}:{named[1]}x{name}" if named[1] else example.replace("ent-10k", name)
            return f"expected {machine} (hotband layouts)"
    kinds = [(part, drive) for part in parts if (drive := first(part)) is not None]
    if not kinds:
        return None
    kind, drive = kinds[0]
    return f"is a layout and a kind of drive; expected {example.replace('ent-10k', drive)} (hotband drives {kind})"


def _of_form(word: str, first: FirstOfKind) -> str | None:
    """Return the hint for a layout and drives in another form than LAYOUT:COUNTxDRIVE, or with a word for software."""
    if re.fullmatch(rf"{COUNTED}[a-z0-9]\S*", word) and first(word) is None:
        return f"has no layout; expected one before the drives, such as raid10:{_counted(word)} (hotband layouts)"
    form = FORM.fullmatch(word)
    if form is None:
        return None
    layout, drives = layout_of(form["layout"]), form["drives"].strip()
    if layout is None:
        return _hint(form["layout"], first)
    if layout.name == "controller" and not drives.startswith("1x"):
        return "a controller has one layout behind it; expected a machine file (docs/guides/machines.md)"
    return _of_drives(word, layout, drives, first)


def _of_drives(word: str, layout: LayoutOutline, drives: str, first: FirstOfKind) -> str | None:
    """Return the hint for the drives of a layout; None if they are written as COUNTxDRIVE."""
    if "+" in drives:
        return "has drives of several kinds; expected a machine file (docs/guides/machines.md); no SLOG, no L2ARC"
    if alone := re.fullmatch(r"(\d+) ?[x*]?", drives):
        return f"has no drive; expected one, such as {layout.name}:{alone[1]}xent-10k"
    if not re.match(COUNTED, drives):
        example = layout.example.replace("ent-10k", drives if drives in drive_names() else "ent-10k")
        return f"has no number of drives; expected LAYOUT:COUNTxDRIVE, such as {example}"
    if not (word.endswith(f":{drives}") and re.match(r"\d+x\S", drives)):
        return f"expected {layout.name}:{_counted(drives)}"
    count, _, rest = drives.partition("x")
    drive = rest.partition(":")[0]
    if drive in drive_names() or is_file(drive):
        return None
    if (member := first(drive)) is not None:
        return f"has a kind of drive; expected one of hotband drives {drive}, such as {layout.name}:{count}x{member}"
    return _hint(drive, first)


def _counted(drives: str) -> str:
    """Return a number of drives in the form of machines: "4 * ent-10k" as "4xent-10k"."""
    return re.sub(COUNTED, r"\1x", drives, count=1)
