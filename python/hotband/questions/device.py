"""The question what is plugged in here, what keeps it from being written, and what it counts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotband.base.question import Question, Way, asks
from hotband.base.text.formats import as_rows
from hotband.data.catalog.named import REAL
from hotband.execution.targets.found import DeviceFound, Listed, found, listed, listed_doc


@dataclass(frozen=True)
class DeviceList:
    """All block devices of this computer with their partitions."""

    devices: Sequence[Listed]


@dataclass(frozen=True, kw_only=True)
class DeviceQuestion(Question):
    """Show a drive's identity, SMART data and what protects it from being overwritten. Nothing is written.

    A block device or a file of this computer: what it is, what it counts since it was new, what would keep it from
    being written, and what must be typed to have it written. It is opened for reading alone. As root, tools such as
    smartctl and nvme tell more, and what holds data is seen. Raises UserError where there is no such device.
    """

    name = "device"
    schema = "hotband-device"
    answers = "hotband.execution.targets.found:DeviceFound"
    shown = (answers, "hotband.questions.device:DeviceList")

    path: Path | None = asks(
        "A block device or a file; all devices without it.", default=None, metavar="PATH", positional=True, lists=True
    )

    def document(self, found: DeviceFound | DeviceList) -> tuple[Any, str]:
        """Return a device, or the rows of the list."""
        if isinstance(found, DeviceList):
            return [listed_doc(row) for row in found.devices], ""
        return super().document(found)

    def afterwards(self) -> str:
        """Return a sentence about what only root sees in the list."""
        if self.path is not None or os.geteuid() == 0 or as_rows():
            return ""
        return "not run as root: what devices hold cannot be read, so all are taken to be in use"


def device(question: DeviceQuestion, _: Way) -> DeviceFound | DeviceList:
    """Return a device, or all. Raises UserError."""
    if question.path is None:
        return DeviceList(listed())
    return found(str(question.path).removeprefix(REAL))
