"""Refuse names of another kind than expected: a kind of drive, a workload in place of a machine, a drive in place of a
workload, a device of this computer."""

from __future__ import annotations

import re

from hotband.base.errors import UserError
from hotband.data.catalog.filters import filter_words, first_of_kind, select_drives
from hotband.data.catalog.hints import machine_hint
from hotband.data.catalog.names import drive_names, workload_names

DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|md|dm-|zd|mapper/|disk/)\S*")
"""Block devices of Linux by their names (Documentation/admin-guide/devices.txt of the kernel)."""
NEAR = 3
"""Most names of a kind that an error lists."""


def refuse_other_names(name: str, what: str) -> None:
    """Raise UserError for the name of anything but a "machine" or a "workload"."""
    if what == "workload":
        if name in drive_names():
            accepted = f"is a drive, not a workload; expected a workload, and question.on {name}"
            raise UserError("question.workload", "", name, accepted)
        return
    if DEVICE.fullmatch(name):
        raise UserError("question.on", "", name, f"is a device of this computer; expected question.on real:{name}")
    if name in workload_names():
        raise UserError("question.on", "", name, "is a workload, not a machine; expected a drive (hotband drives)")
    if (hint := machine_hint(name, first_of_kind)) is not None:
        raise UserError("question.on", "", name, hint)
    if name.lower() in filter_words():
        chosen = select_drives([name]).drives
        few = ", ".join(drive.name for drive in chosen[:NEAR])
        accepted = f"is a kind of drive; expected one of {len(chosen)}, such as {few} (hotband drives {name})"
        raise UserError("question.on", "", name, accepted)
