"""A device, or the list of all devices, in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text import numbers
from hotband.base.text.table import BYTES, Table, column, numeric
from hotband.data.inputs.reports import products_by_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hotband.data.documents.counters import ReadingDoc
    from hotband.data.inputs.reports import DriveReport
    from hotband.execution.targets.found import DeviceFound, DeviceReported, Listed
    from hotband.questions.device import DeviceList, DeviceQuestion


def table_of(rows: Sequence[Listed]) -> Table:
    """Return all devices, one row each."""
    names = ("device", "model", "type to erase", "protection from writing")
    columns = [column(name) for name in names]
    table = Table("Devices", [columns[0], numeric("size", BYTES), *columns[1:]])
    for listed in rows:
        device = listed.device
        why = (
            ""
            if not listed.refused
            else listed.refused[0] + (f" (and {len(listed.refused) - 1} more)" * (len(listed.refused) > 1))
        )
        model = device.model or device.transport or device.kind
        table.add(device.path, device.size_bytes, model, "" if listed.refused else listed.erase or "", why)
    return table


def list_terminal(devices: DeviceList, _: DeviceQuestion) -> list[Table]:
    """Return the table of all devices."""
    return [table_of(devices.devices)]


def terminal(device: DeviceFound, _: DeviceQuestion) -> list[str]:
    """Return the lines about a device."""
    return lines_of(device)


def reported_terminal(reported: DeviceReported, _: DeviceQuestion) -> list[str]:
    """Return the lines about a drive in a file of smartctl or nvme."""
    report = reported.report
    what = ", ".join(_identity(report.kind or "drive", report.size_bytes, report.model, report.serial, report.firmware))
    lines = [f"{report.path}: {what}{report.trouble}", *(f"  note: {remark}" for remark in reported.remarks)]
    speed = f"rotates at {report.rotation_rpm} rpm" if report.rotation_rpm else ""
    if report.link or speed:
        lines.append(f"  connected by: {', '.join(text for text in (report.link, speed) if text)}")
    if report.logical_block_bytes:
        physical = f", physical {report.physical_block_bytes} B" if report.physical_block_bytes else ""
        lines.append(f"  sectors: {report.logical_block_bytes} B{physical}")
    return [*lines, _counted(reported.counters), *_next(report)]


def _next(report: DriveReport) -> list[str]:
    """Return the command that follows from the report."""
    if report.model is None:
        return []
    products = products_by_model(report.model)
    if len(products) == 1:
        return [f"The catalog has it as {products[0]}.  Next: hotband expect RESULT --on {_quoted(str(report.path))}"]
    return [f"Not in the catalog.  Next: hotband drives new {_quoted(str(report.path))}"]


def lines_of(shown: DeviceFound) -> list[str]:
    """Return the lines about a device: identity, counters, protection from being written, remarks."""
    device = shown.device
    lines = [f"{device.path}: {', '.join(_what(shown))}"]
    lines += [f"  {name}: {text}" for name, text in _settings(shown) if text]
    lines.append(_counted(shown.counters))
    if shown.power_from:
        lines.append(f"  power: by {' and '.join(shown.power_from)}")
    if shown.absent:
        lines.append(f"  not installed, but would report more: {', '.join(shown.absent)}")
    lines += [f"  note: {remark}" for remark in shown.remarks]
    if shown.refused:
        lines.append("It is never written:")
        return [*lines, *(f"  {reason}" for reason in shown.refused)]
    lines.append(f"It may be written with --erase {_quoted(shown.erase or '')}; all its data is then lost.")
    return [*lines, f"  purged by: {', '.join(shown.purge) or 'no supported method'}"]


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


def _what(shown: DeviceFound) -> Iterator[str]:
    device = shown.device
    kind = device.kind if device.kind != "file" else f"a file on {device.disk or 'an unknown disk'}"
    serial = device.serial if device.kind != "file" else None
    return _identity(kind, device.size_bytes, device.model, serial, device.firmware)


def _identity(
    kind: str, size_bytes: int | None, model: str | None, serial: str | None, firmware: str | None
) -> Iterator[str]:
    yield kind
    if size_bytes is not None:
        yield numbers.size(size_bytes)
    for name, text in (("", model), ("serial ", serial), ("firmware ", firmware)):
        if text:
            yield f"{name}{text}"


def _settings(shown: DeviceFound) -> Iterator[tuple[str, str]]:
    device, queue, context = shown.device, shown.device.queue, shown.context
    medium = {True: "rotates", False: "does not rotate"}.get(device.rotational) if device.rotational is not None else ""
    speed = f" at {device.rotation_rpm} rpm" if device.rotation_rpm else ""
    link = f"{device.transport or 'bus not known'}{f' ({device.link})' if device.link else ''}"
    yield "connected by", ", ".join(text for text in (link, f"{medium}{speed}") if text)
    yield "sectors", f"{device.logical_block_bytes} B, physical {device.physical_block_bytes} B"
    yield "write cache", device.write_cache or ""
    if queue is not None:
        yield "queue", f"scheduler {queue['scheduler']}, {queue['requests']} requests, merges {queue['merges']}"
    system = context["file_system"]
    if system is not None:
        yield "file system", f"{system['kind']} on {system['source']} ({','.join(system['options'])})"
    cpu = context["cpu"]
    yield "host", f"Linux {context['kernel']}, {cpu['count']} processors ({cpu['model'] or 'model not known'})"


def _counted(counts: ReadingDoc) -> str:
    counted = ", ".join(_counters(counts))
    return f"  counters: {counted}" if counted else "  counters: none reported"


def _counters(counts: ReadingDoc) -> Iterator[str]:
    for value, before, after in (
        (counts["host_bytes"], "", " written by hosts"),
        (counts["flash_bytes"], "", " written to flash"),
        (counts["endurance_bytes"], "endurance ", " by its maker's estimate"),
    ):
        if value is not None:
            yield f"{before}{numbers.size(value)}{after}"
    for count, unit in (
        (counts["percentage_used"], "% used"),
        (counts["temperature_c"], "degrees Celsius"),
        (counts["media_errors"], "media errors"),
        (counts["power_on_hours"], "h powered on"),
    ):
        if count is not None:
            yield numbers.quantity(count, unit)
