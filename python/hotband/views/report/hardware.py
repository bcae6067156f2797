"""Additional content for records of real hardware: the prediction, and the measured device."""

from __future__ import annotations

from collections.abc import Mapping

from hotband.base.text.numbers import cell, share
from hotband.base.text.table import Range, unit_of
from hotband.data.documents.record import RecordDoc
from hotband.data.record.expected import sentence_of
from hotband.data.record.load import LoadedRecord
from hotband.views.expect import label_of
from hotband.views.report.page import Block, Cell, Group, Prose, Section, Table, plain


def hardware_sections(records: Mapping[str, LoadedRecord]) -> list[Section]:
    """Return the sections of the records that have them."""
    sections = [
        Section("expected", "Measured beside predicted", _expected(records)),
        Section("hardware", "Device and host", _contexts(records)),
    ]
    return [section for section in sections if section.blocks]


def _expected(records: Mapping[str, LoadedRecord]) -> list[Block]:
    groups, parts, levels = [], [], set()
    for label, loaded in records.items():
        expected = loaded.record.get("expected")
        if expected is None:
            continue
        name = f"{label}: " if len(records) > 1 else ""
        parts.append(f"{name}{sentence_of(expected)}.")
        parts += [f"{name}{text}" for text in expected["explanations"]]
        levels.add(expected["level"])
        rows = []
        for judged in (figure for row in expected["rows"] for figure in row["figures"]):
            unit = unit_of(judged["figure"])
            values = (unit.shown(judged[key]) for key in ("measured", "predicted"))
            numbers = [Cell(text, True) for text in (*values, unit.ends(Range(judged["low"], judged["high"])))]
            rows.append([Cell(label_of(judged["figure"])), *numbers, Cell(judged["verdict"] or "–")])
        groups.append(Group(rows, label if len(records) > 1 else ""))
    if not groups:
        return []
    level = " or ".join(f"{level:g} %" for level in sorted(levels))
    return [Prose(parts), Table(["Figure", "Measured", "Predicted", f"{level} interval", "Is"], groups)]


def _contexts(records: Mapping[str, LoadedRecord]) -> list[Block]:
    groups = [
        Group(rows, label if len(records) > 1 else "")
        for label, loaded in records.items()
        if (rows := _context(loaded.record))
    ]
    return [Table(["What", "Is"], groups)] if groups else []


def _context(record: RecordDoc) -> list[list[Cell]]:
    context = record.get("context")
    if context is None:
        return []
    device, files, cpu = context["device"], context["file_system"], context["cpu"]
    queue, background = device["queue"], context.get("background")
    celsius = [context["temperature_before_c"], context.get("temperature_after_c")]
    kept_state = record.get("state_kept")
    rows = {
        "device": " ".join(filter(None, [device["model"], device["serial"], device["firmware"]])) or device["path"],
        "blocks": f"{cell(device['logical_block_bytes'])} B, {cell(device['physical_block_bytes'])} B physical",
        "write cache": cell(device["write_cache"]),
        "scheduler": cell(queue["scheduler"] if queue else None),
        "file system": f"{files['kind']} ({','.join(files['options'])})" if files else "none: the device itself",
        "kernel": context["kernel"],
        "processors": f"{cpu['count']} x {cell(cpu['model'])}, governor {cell(cpu['governor'])}",
        "temperature": " to ".join(f"{reading:g} °C" for reading in celsius if reading is not None) or "not told",
        "before the run": f"{kept_state['state']}, by {', '.join(kept_state['by'])}"
        if kept_state
        else "as it was found",
    }
    if background is not None:
        ours, others = background["cpu_ours"], background["cpu_others"] + background["cpu_stolen"]
        rows["processor time"] = f"{share(ours)} ours, {share(others)} of others and stolen"
    return [plain([name, value]) for name, value in rows.items()]
