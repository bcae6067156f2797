"""The question about a device: its identity, its protection from being overwritten, and its counters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.question import Question, Way, asks
from hotband.base.text.formats import as_rows
from hotband.base.text.values import Json
from hotband.data.catalog.named import REAL
from hotband.execution.devices.host import Host
from hotband.execution.targets.found import DeviceFound, DeviceReported, Listed, found, listed, listed_doc, reported


@dataclass(frozen=True)
class DeviceList:
    """All block devices of this computer with their partitions."""

    devices: Sequence[Listed]

    @property
    def rows(self) -> list[dict[str, Json]]:
        """Return a document per device."""
        return [listed_doc(device) for device in self.devices]


@dataclass(frozen=True, kw_only=True)
class DeviceQuestion(Question):
    """Show a drive's identity, SMART data and its protection from being overwritten. Nothing is written.

    The result has the identity, the counters since the drive was new, the reasons not to write it, and the text that
    permits writing. As root, smartctl and nvme report more, and it shows which devices contain data. Raises UserError
    if there is no such device.
    """

    name = "device"
    schema = "hotband-device"
    answers = "hotband.execution.targets.found:DeviceFound"
    shown = (
        answers,
        "hotband.execution.targets.found:DeviceReported",
        "hotband.questions.device:DeviceList",
    )

    path: Path | None = asks(
        "A block device, a file, or JSON of smartctl or nvme; all devices without it.",
        default=None,
        metavar="PATH",
        positional=True,
        lists=True,
    )

    def afterwards(self) -> str:
        """Return a sentence about the entries that only root can see."""
        if self.path is not None or os.geteuid() == 0 or as_rows():
            return ""
        return "not run as root: the contents of devices cannot be read, so all count as in use"


def device(question: DeviceQuestion, way: Way) -> DeviceFound | DeviceReported | DeviceList:
    """Return a device, a tool's output about it, or all devices. Raises UserError."""
    if question.path is None:
        return DeviceList(listed())
    path = str(question.path).removeprefix(REAL)
    return reported(Path(path)) or found(path, Host(say=way.say))
