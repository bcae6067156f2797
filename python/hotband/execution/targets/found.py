"""Report on a device: its identity, what protects it from being overwritten, its counters, and remarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hotband.base.text.schema import to_object
from hotband.base.text.values import Json
from hotband.data.documents.context import ContextDoc
from hotband.data.documents.counters import ReadingDoc
from hotband.data.inputs.reports import DriveReport, report_of
from hotband.execution.devices import blocks
from hotband.execution.devices.context import context_of, device_doc
from hotband.execution.devices.counters import endurance_of
from hotband.execution.devices.device import Device, block_device, device_of, devices
from hotband.execution.devices.host import Host
from hotband.execution.devices.power import sources
from hotband.execution.devices.readings import of_nvme, of_smartctl, reading_of
from hotband.execution.devices.refusals import Seen
from hotband.execution.devices.remarks import remarks, worn
from hotband.execution.devices.safety import identity_of, refusals
from hotband.execution.targets.purge import ways_to_purge


@dataclass(frozen=True)
class DeviceFound:
    """A device or file: `device` is its identity, `context` as in a record, `counters` since it was new, `refused` the
    reasons not to write it, `erase` the text that permits writing it."""

    device: Device
    context: ContextDoc
    counters: ReadingDoc
    refused: tuple[str, ...]
    erase: str | None
    purge: tuple[str, ...]
    power_from: tuple[str, ...]
    remarks: tuple[str, ...]
    absent: tuple[str, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON (docs/guides/measure.md): `erase` is the text that permits writing it, None if it is always
        refused, for the reasons in `refused`; `purge` lists the methods to purge it, the best first."""
        endurance, source = endurance_of(self.counters, self.counters)
        return to_object(
            {
                "context": {**self.context, "absent_tools": list(self.absent)},
                "counters": self.counters,
                "endurance_bytes": endurance,
                "endurance_from": source,
                "refused": list(self.refused),
                "erase": None if self.refused else self.erase,
                "purge": list(self.purge),
                "power_from": list(self.power_from),
                "partitions": list(self.device.partitions),
                "remarks": list(self.remarks),
            }
        )


def found(path: str | Path, host: Host | None = None) -> DeviceFound:
    """Return the report on a device or a file, which is opened only for reading. Raises UserError."""
    host = host or Host()
    device = device_of(path, host)
    absent = list(device.absent)
    counters = reading_of(path, host, absent)
    context = context_of(path, host)
    kind = "file" if device.kind == "file" else "block"
    return DeviceFound(
        device,
        context,
        counters,
        tuple(refusals(path, host)),
        identity_of(path, host),
        tuple(ways_to_purge(device.path, kind, host)),
        tuple(dict.fromkeys(source.name for source in sources(path, host))),
        tuple(remarks(device, context, counters, host)),
        tuple(dict.fromkeys(absent)),
    )


@dataclass(frozen=True)
class DeviceReported:
    """A drive as smartctl or nvme printed it into a file: its identity, and its counters since it was new."""

    report: DriveReport
    counters: ReadingDoc

    @property
    def remarks(self) -> list[str]:
        """Return signs of wear or failure."""
        return list(worn(self.counters))

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON."""
        shown = {name: value for name, value in asdict(self.report).items() if name != "document"}
        return to_object(
            {"report": {**shown, "path": str(self.report.path)}, "counters": self.counters, "remarks": self.remarks}
        )


def reported(path: Path) -> DeviceReported | None:
    """Return what a file of smartctl or nvme says of a drive; None for any other file. Raises UserError."""
    report = report_of(path)
    if report is None:
        return None
    document = report.document
    return DeviceReported(report, of_nvme(document) if "data_units_written" in document else of_smartctl(document))


@dataclass(frozen=True)
class Listed:
    """A device in the list of all: partitions of disks are listed after them."""

    device: Device
    refused: tuple[str, ...]
    erase: str | None


def listed(host: Host | None = None) -> list[Listed]:
    """Return all block devices with a size, each with the reasons not to write it."""
    host = host or Host()
    every = [device for disk in devices(host) for device in (disk, *_parts(disk, host))]
    seen = Seen(host)
    return [
        Listed(device, tuple(refusals(device.path, host, seen)), identity_of(device.path, host, seen))
        for device in every
    ]


def _parts(disk: Device, host: Host) -> list[Device]:
    return [block_device(name, host) for name in blocks.partitions_of(disk.name, host)]


LISTED = ("name", "path", "kind", "size_bytes", "model", "serial", "transport", "rotational")


def listed_doc(listed_: Listed) -> dict[str, Json]:
    """Return a device of the list as JSON."""
    whole: Mapping[str, Any] = device_doc(listed_.device)
    erase = None if listed_.refused else listed_.erase
    return to_object({**{key: whole[key] for key in LISTED}, "refused": list(listed_.refused), "erase": erase})
