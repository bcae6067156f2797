"""The file of a drive, from lines of its data sheet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.questions.datasheet.assumed import with_class
from hotband.questions.datasheet.disk import disk_values
from hotband.questions.datasheet.expected import Expect, expected
from hotband.questions.datasheet.lines import (
    DISK_LINES,
    NVME_LINES,
    SSD_LINES,
    Answers,
    Line,
    field,
    number,
    read_lines,
)
from hotband.questions.datasheet.ssd import ssd_values
from hotband.questions.datasheet.values import GIVEN, Expected, Value

RULES = "docs/models/data-sheets.md"


@dataclass(frozen=True)
class Kind:
    """A kind of drive: its mechanism, the lines of its data sheet, and the function that derives its values."""

    mechanism: str
    lines: Sequence[Line]
    values: Callable[[Answers, Mapping[str, Expected]], list[Value]]


KINDS = {
    "hdd": Kind("disk", DISK_LINES, disk_values),
    "ssd": Kind("ssd", SSD_LINES, ssd_values),
    "nvme": Kind("ssd", NVME_LINES, ssd_values),
}

PORT = ("port_rate", "pcie_generation", "pcie_lanes")
"""Values of the port, which is assumed if no line states it."""
LINE_OF = {
    "capacity": "capacity",
    "rpm": "rpm",
    "heads": "heads",
    "sustained_outer": "bandwidth",
    "sustained_inner": "bandwidth",
    "port_rate": "interface",
    "seek_read_average": "seek",
    "seek_read_full": "seek",
    "seek_write_average": "seek-write",
    "seek_write_full": "seek-write",
    "cache_size": "cache",
    "dies": "capacity",
    "block": "capacity",
    "link_rate": "read-bandwidth",
    "program_rate": "write-bandwidth",
    "command_interval": "read-iops",
    "write_interval": "write-iops-burst",
    "pslc_static": "slc-cache",
    "pslc_dynamic": "slc-cache",
    "pslc_program_rate": "write-bandwidth",
    "smr_cache_size": "capacity",
    "over_provisioning": "write-iops",
    "read_overhead": "read-latency",
    "write_overhead": "write-latency",
    "rated_cycles": "dwpd",
    "power_idle": "power-idle",
    "power_active": "power-active",
    "power_seek": "power-active",
    "power_read": "power-active",
    "power_write": "power-active",
    "unrecoverable_error_bits": "error-rate",
    "reference.unrecoverable_error_bits": "error-rate",
    "reference.mtbf": "mtbf",
}
"""The line from which each value of the file follows: messages name lines, since users have not seen the file."""


def blamed(error: _core.SpecError, lines: Mapping[str, str]) -> UserError:
    """Return a mistake in the file as one in the line that the wrong value follows from."""
    _, key, value, accepted = error.args
    name = key.removeprefix("values.")
    line = LINE_OF.get(name)
    if line is None or line not in lines:
        return UserError("data sheet", "", "", f"does not describe a possible drive: {name} = {value!r}: {accepted}")
    same = name in ("capacity", "rpm", "heads")
    return UserError(
        field(line), "", lines[line], accepted if same else f"{accepted} ({name} follows from it: {value})"
    )


def described(kind: str, lines: Mapping[str, str], expect: Expect = expected) -> list[Value]:
    """Return every value of a drive with these lines on its data sheet.

    `kind` is "hdd", "ssd" or "nvme"; `lines` has texts with units by the keys of `KINDS[kind].lines`; `expect` returns
    what is expected of such a drive. Raise UserError for the first mistake.
    """
    if kind not in KINDS:
        raise UserError("question.kind", "", kind, f"expected one of {', '.join(KINDS)}")
    drive_kind = KINDS[kind]
    sheet, assumed = with_class(kind, read_lines(drive_kind.lines, lines))
    port = assumed.get("interface") or assumed.get("pcie")
    try:
        values = [*drive_kind.values(sheet, expect(kind, sheet)), *lives(sheet, drive_kind.mechanism)]
        return [replace(value, rule=port.why, given=False) if port and value.key in PORT else value for value in values]
    except UserError as error:
        # Show the value as it was typed: 0.79 ms, not 790 us.
        typed = next((answer for line, answer in lines.items() if field(line) == error.where), error.value)
        raise UserError(error.where, error.key, typed, error.accepted) from None


def described_text(kind: str, lines: Mapping[str, str], *, title: str, source: str, expect: Expect = expected) -> str:
    """Return the text of the drive's file (see `described`); `source` names the data sheet. Raise UserError."""
    values = described(kind, lines, expect)
    head = [
        f"# Made by `hotband drives new` from {len(lines)} lines of: {source}.",
        f"# Values that were not stated follow from the rules of {RULES}, each with its range:",
        "# replace them with better values, and state your source.",
        f'kind = "{KINDS[kind].mechanism}"',
        f"title = {quoted(title)}",
        'model = ""',
    ]
    return "\n".join([*head, *(_section(value, source) for value in values)]) + "\n"


def _section(value: Value, source: str) -> str:
    """Return one value as TOML."""
    from_sheet = value.given and value.rule == "data sheet"
    section = value.key if value.key.startswith("reference.") else f"values.{value.key}"
    lines = [f"\n[{section}]", f"value = {quoted(value.value)}"]
    if value.range is not None:
        lines.append(f"range = [{quoted(value.range[0])}, {quoted(value.range[1])}]")
    lines.append(f"source = {quoted(source if from_sheet else f'{RULES}: {value.rule}')}")
    lines.append(f'confidence = "{"high" if value.given else "low"}"')
    if value.range is not None:
        lines.append("estimate = true")
    return "\n".join(lines)


def quoted(value: str | int) -> str:
    """Return a text or a count as TOML: a JSON string is a basic string of TOML."""
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)


def lives(sheet: Answers, mechanism: str) -> list[Value]:
    """Return the values of disks and solid-state drives about failures; the model uses only the sector errors of
    disks."""
    ratings = []
    if "mtbf" in sheet:
        ratings.append(Value("reference.mtbf", f"{number(sheet, 'mtbf'):.15g} h", GIVEN, given=True))
    if "error-rate" in sheet:
        key = "unrecoverable_error_bits"
        key = key if mechanism == "disk" else f"reference.{key}"
        ratings.append(Value(key, f"{number(sheet, 'error-rate'):g}".replace("e+", "e"), GIVEN, given=True))
    return ratings
