"""The file of a drive, from lines of its data sheet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.questions.datasheet.assumed import Assumed, flash_of, memory_of, with_class
from hotband.questions.datasheet.cloud import CLOUD_LINES, cloud_values
from hotband.questions.datasheet.disk import disk_limits, disk_values
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
    shown,
)
from hotband.questions.datasheet.ssd import ssd_limits, ssd_values
from hotband.questions.datasheet.values import GIVEN, Expected, Value

RULES = "docs/models/data-sheets.md"


Limits = Callable[[Answers, Mapping[str, Expected]], dict[str, Expected]]


@dataclass(frozen=True)
class Kind:
    """A kind of drive: its mechanism, the lines of its data sheet, the functions that limit expected values to
    possible ones and derive the values of the drive, and the lines that a terminal prompts for, by class."""

    mechanism: str
    lines: Sequence[Line]
    values: Callable[[Answers, Mapping[str, Expected]], list[Value]]
    limits: Limits | None = None
    prompts: Mapping[str, Sequence[str]] | None = None

    def prompts_of(self, drive_class: str) -> Sequence[str]:
        """Return the lines to prompt for, of a class that may be unknown."""
        prompts = self.prompts or {}
        return prompts.get(drive_class) or next(iter(prompts.values()), [line.key for line in self.lines])


DISK_PROMPTS = ("class", "capacity", "rpm", "interface", "bandwidth", "year", "read-iops", "seek", "recording", "cache")
FLASH_PROMPTS = {
    "consumer": ("write-iops-burst", "slc-cache", "write-bandwidth-after-cache", "dram", "year"),
    "enterprise": ("write-iops", "read-latency", "write-latency", "dwpd", "power-loss-protection"),
}


def _flash_prompts(port: str) -> dict[str, Sequence[str]]:
    """Return the most telling lines of a drive at this port, by class."""
    first = ("class", "capacity", port, "flash", "read-bandwidth", "write-bandwidth", "read-iops")
    return {name: (*first, *keys) for name, keys in FLASH_PROMPTS.items()}


KINDS = {
    "hdd": Kind("disk", DISK_LINES, disk_values, disk_limits, {"": DISK_PROMPTS}),
    "ssd": Kind("ssd", SSD_LINES, ssd_values, ssd_limits, _flash_prompts("interface")),
    "nvme": Kind("ssd", NVME_LINES, ssd_values, ssd_limits, _flash_prompts("pcie")),
    "cloud": Kind("black-box", CLOUD_LINES, lambda sheet, _: cloud_values(sheet)),
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
    "smr": "recording",
    "sector_format": "sector-format",
    "pcie_generation": "pcie",
    "pcie_lanes": "pcie",
    "plp": "power-loss-protection",
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

    `kind` is a key of `KINDS`; `lines` has texts with units by the keys of `KINDS[kind].lines`; `expect` returns the
    expected values of such a drive. Raise UserError for the first mistake.
    """
    if kind not in KINDS:
        raise UserError("question.kind", "", kind, f"expected one of {', '.join(KINDS)}")
    drive_kind = KINDS[kind]
    stated = read_lines(drive_kind.lines, lines)
    try:
        if drive_kind.limits is None:
            return drive_kind.values(stated, {})
        sheet, assumed = with_class(kind, stated)
        port = assumed.get("interface") or assumed.get("pcie")
        values = [*drive_kind.values(sheet, expect(kind, sheet)), *lives(sheet, drive_kind.mechanism)]
        return [replace(value, rule=port.why, given=False) if port and value.key in PORT else value for value in values]
    except UserError as error:
        # Show the value as it was typed: 0.79 ms, not 790 us.
        typed = next((answer for line, answer in lines.items() if field(line) == error.where), error.value)
        raise UserError(error.where, error.key, typed, error.accepted) from None


@dataclass(frozen=True)
class Assumption:
    """A line that a data sheet lacks: the assumed value, its range, and its basis, as texts."""

    line: str
    value: str
    ends: tuple[str, str] | None
    why: str


EXPECTED_LINES = {
    "slc-cache": "slc_cache",
    "write-bandwidth-after-cache": "write_stream_after_cache",
    "write-iops": "write_rate_steady",
    "write-iops-burst": "write_rate_new",
    "read-iops": "read_rate",
    "read-latency": "read_time",
    "write-latency": "write_time",
    "capacity": "capacity",
    "bandwidth": "bandwidth",
    "rpm": "rpm",
    "seek": "seek_read",
    "seek-write": "seek_write",
    "read-bandwidth": "read_stream",
    "write-bandwidth": "write_stream",
    "cache": "cache",
    "heads": "heads",
}
"""The expected quantity that replaces each line, the most informative first."""


def assumptions(kind: str, lines: Mapping[str, str], expect: Expect = expected) -> list[Assumption]:
    """Return assumed values of a drive for missing lines, the most informative first. Raise UserError."""
    drive_kind = KINDS[kind]
    if drive_kind.limits is None:
        return []
    sheet, assumed = with_class(kind, read_lines(drive_kind.lines, lines))
    if drive_kind.mechanism == "ssd":
        usual = "usual for its class and year"
        assumed |= {"flash": Assumed(flash_of(sheet), usual), "dram": Assumed(memory_of(sheet), usual)}
        assumed["power-loss-protection"] = Assumed("off", "not promised by the data sheet, so assumed to be absent")
    known = {line.key: line for line in drive_kind.lines}
    limited = drive_kind.limits(sheet, expect(kind, sheet))
    chosen = [Assumption(key, found.value, None, found.why) for key, found in assumed.items() if key not in lines]
    ranged = []
    for key, name in EXPECTED_LINES.items():
        if key in known and key not in lines and name in limited:
            value, low, high = (_shown(known[key], number) for number in limited[name].numbers())
            ranged.append(Assumption(key, value, (low, high), limited[name].why))
    return [*chosen, *ranged]


def _shown(line: Line, value: float) -> str:
    """Return a number of a line to three digits, or the word for none."""
    if line.key == "slc-cache" and value <= 0:
        return "none"
    return shown(line, float(f"{value:.3g}"))


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
    return "\n".join([*head, sections(values, lambda _: (source, "high"))])


SourceOf = Callable[[str], tuple[str, str]]
"""Returns the source of a line of the data sheet (empty: of the sheet as a whole), and the confidence in it."""


def sections(values: Sequence[Value], source_of: SourceOf) -> str:
    """Return values as the TOML of a drive's file, each after an empty line."""
    return "".join(f"{_section(value, source_of)}\n" for value in values)


def _section(value: Value, source_of: SourceOf) -> str:
    section = value.key if value.key.startswith("reference.") else f"values.{value.key}"
    lines = [f"\n[{section}]", f"value = {quoted(value.value)}"]
    if value.range is not None:
        lines.append(f"range = [{quoted(value.range[0])}, {quoted(value.range[1])}]")
    source, confidence = f"{RULES}: {value.rule}", "high" if value.given else "low"
    if value.given and value.rule == GIVEN:
        source, confidence = source_of(LINE_OF.get(value.key, ""))
    lines += [f"source = {quoted(source)}", f'confidence = "{confidence}"']
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
