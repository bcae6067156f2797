"""The drives of this computer."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.execution.targets.found import Found, Listed
from hotband.execution.targets.found import found as found_device
from hotband.execution.targets.found import listed as listed_devices

if TYPE_CHECKING:
    pass


@public
def device(path: str | PathLike[str]) -> Found:
    """A block device or a file of this computer: what it is, what it counts since it was new, what would keep it from
    being written, and what must be typed to have it written. It is opened for reading alone.

    As root, smartctl and nvme tell more. Raises UserError where there is no such device.
    """
    return found_device(str(path))


@public
def device_list() -> list[Listed]:
    """All block devices of this computer with their partitions, each with what keeps it from being written."""
    return listed_devices()
