"""Remarks on a device: settings and wear that affect its figures, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hotband.base.text.numbers import percent, share
from hotband.execution.devices.host import Host

if TYPE_CHECKING:
    from hotband.data.documents.context import ContextDoc
    from hotband.data.documents.counters import DeviceCountersDoc, ReadingDoc
    from hotband.execution.devices.device import Device

# Shares of all processors' time beyond which the run is said to have been disturbed: a twentieth of others moves means
# by about as much where processors are short; what the host of a virtual machine takes stops everything meanwhile, so
# a hundredth shows in the 99th percentile (estimates).
MUCH_OTHERS, MUCH_STOLEN, MUCH_OURS = 0.05, 0.01, 0.9
# NVMe drives throttle from about 70 degrees Celsius on (data sheets' operating range ends there).
HOT_C = 70.0


def remarks(device: Device, context: ContextDoc, counters: ReadingDoc, host: Host) -> list[str]:
    """Return settings that affect the figures, and signs of wear or failure."""
    return [*worn(counters), *_sectors(device), *_paths(device, host), *_holes(device, host), *_of_host(context)]


def worn(counters: ReadingDoc) -> Iterator[str]:
    """Yield signs of wear or failure."""
    if counters["passed"] is False:
        yield "SMART reports failure or a warning: copy its data while it is readable"
    if counters["media_errors"]:
        yield f"{counters['media_errors']:,} media errors since it was new"
    if counters["available_spare_pct"] == 0:
        yield "no spare blocks are left: the next bad block loses data, or the drive accepts no more writes"
    used = counters["percentage_used"]
    if used is not None and used >= 100:
        yield f"{percent(used, signed=False)} of its rated endurance is used"


def _sectors(device: Device) -> Iterator[str]:
    logical, physical = device.logical_block_bytes or 0, device.physical_block_bytes or 0
    if device.aligned is False:
        yield "does not begin at a physical sector: every write of a physical sector costs a read and two writes"
    if physical > logical > 0:
        yield f"sectors of {logical} bytes on physical ones of {physical}: smaller writes cost a read first"
    in_use = [format_["data_bytes"] for format_ in device.formats if format_["in_use"]]
    if in_use and max(format_["data_bytes"] for format_ in device.formats) > in_use[0]:
        yield f"is formatted with sectors of {in_use[0]} bytes, but offers larger ones, which some drives serve faster"


def _paths(device: Device, host: Host) -> Iterator[str]:
    """Yield remarks on the path between this host and the drive."""
    if device.link and device.link_max and device.link != device.link_max:
        yield f"is connected with {device.link}, but supports {device.link_max}"
    scheduler = None if device.queue is None else device.queue["scheduler"]
    if scheduler not in (None, "none") and device.transport == "nvme":
        yield f"its scheduler is {scheduler}: a fast drive is slower with a scheduler than without"
    if device.kind == "loop" and host.text(f"{host.sysfs(device.name)}/loop/dio") == "0":
        yield "is a loop device without direct I/O: memory serves its file (losetup --direct-io=on)"


def _holes(device: Device, host: Host) -> list[str]:
    return holes_of(device.path, device.size_bytes or 0, host) if device.kind == "file" else []


def holes_of(path: str, size_bytes: int, host: Host) -> list[str]:
    """Return a sentence on the holes of a file, which its file system completes; none without holes."""
    try:
        # stat's unit is 512 bytes.
        stored = host.at(path).stat().st_blocks * 512
    except OSError:
        return []
    if stored >= size_bytes:
        return []
    return [f"{share(1 - stored / size_bytes)} of the file are holes: reads of them never reach a drive"]


def _of_host(context: ContextDoc) -> Iterator[str]:
    governor = context["cpu"]["governor"]
    if governor not in (None, "performance"):
        yield f"processors use the governor {governor}: I/Os of low loads take longer than with performance"
    if context["cpu"]["is_virtual"]:
        yield "this is a virtual machine: other activity on its host affects the figures unseen"


def of_run(context: ContextDoc, counters: DeviceCountersDoc | None) -> list[str]:
    """Return disturbances of a run and events of the drive in it, as notes of its record."""
    return [*_disturbed(context), *([] if counters is None else _in_the_run(counters))]


def _disturbed(context: ContextDoc) -> Iterator[str]:
    around = context.get("background")
    if around is None:
        return
    if around["cpu_others"] > MUCH_OTHERS:
        names = list(dict.fromkeys(process["name"] for process in around["processes"]))[:3]
        who = f" ({', '.join(names)})" if names else ""
        taken = share(around["cpu_others"])
        yield f"other processes took {taken} of the processors' time{who}: run it again without them"
    if around["cpu_stolen"] > MUCH_STOLEN:
        taken = share(around["cpu_stolen"])
        yield f"the host of this virtual machine took {taken} of its time: tails of latency show it"
    if around["cpu_ours"] + around["cpu_kernel"] > MUCH_OURS:
        yield "processors were busy issuing I/Os: the drive may be faster than this host"


def _in_the_run(counters: DeviceCountersDoc) -> Iterator[str]:
    begin, end = counters["at_begin"], counters["at_end"]
    slow = (end["throttled_s"] or 0) - (begin["throttled_s"] or 0)
    times = (end["throttle_events"] or 0) - (begin["throttle_events"] or 0)
    errors = (end["media_errors"] or 0) - (begin["media_errors"] or 0)
    if slow > 0 or times > 0:
        long = f" for {slow} s" if slow > 0 else ""
        yield f"the drive slowed down to cool{long}: the figures are those of a hot drive"
    elif (end["temperature_c"] or 0) >= HOT_C:
        yield f"the drive is at {end['temperature_c']:.0f} degrees Celsius, near where it slows down"
    if errors > 0:
        yield f"{errors} media errors in the run"
    if begin["passed"] is not False and end["passed"] is False:
        yield "SMART has reported failure or a warning since this run"
