"""Lines of a data sheet from the uniform keys of the corpus' sheets (`sheets.csv`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hotband.base.errors import UserError
from hotband.data.corpus.sheets import SheetRow
from hotband.questions.datasheet.choices import chosen
from hotband.questions.datasheet.drive import KINDS, described
from hotband.questions.datasheet.lines import INTERFACES, PCIE, answer, field


class SheetLines(NamedTuple):
    """The kind of a drive, the lines of its data sheet as texts, and omitted or chosen lines, in words."""

    kind: str
    lines: dict[str, str]
    notes: list[str]


PLAIN = {
    "year": ("year", ""),
    "cache_mb": ("cache", "MB"),
    "sustained_mb_s": ("bandwidth", "MB/s"),
    "seek_read_ms": ("seek", "ms"),
    "seek_write_ms": ("seek-write", "ms"),
    "heads": ("heads", ""),
    "seq_read": ("read-bandwidth", "MB/s"),
    "seq_write": ("write-bandwidth", "MB/s"),
    "seq_write_after_cache": ("write-bandwidth-after-cache", "MB/s"),
    "lat_read": ("read-latency", "us"),
    "lat_write": ("write-latency", "us"),
    "dwpd": ("dwpd", ""),
    "idle_w": ("power-idle", "W"),
    "active_w": ("power-active", "W"),
    "sector": ("sector-format", ""),
}
"""Keys whose value is that of a line, with the unit; latencies of sequential I/O and QoS have no line."""
SOFT = ("series", "family", "up to", "best of", "platform", "announce", "pre-launch", "smaller", "range", "at least")
"""Words in the unit of a value that is not about this drive alone: others of the same key come first."""
DISK_KEYS = ("rpm", "recording", "platters", "heads", "sustained_mb_s", "seek_read_ms", "cache_mb")
SINGLE = re.compile(r"\bqd ?1\b(?! ?[x6])|depth 1\b", re.IGNORECASE)
DEPTH = re.compile(r"\bqd ?(\d+)|depth (\d+)", re.IGNORECASE)
STEADY = re.compile(r"steady|sustained|full span", re.IGNORECASE)
FRESH = re.compile(r"fresh|out.of.box|slc|burst", re.IGNORECASE)
GIGA = {"GB": 1.0, "TB": 1000.0}
MOST_DROPPED = 10


def lines_of(rows: Sequence[SheetRow], capacity_gb: str = "") -> SheetLines:
    """Return the lines of a drive whose sheet has these rows; `capacity_gb` is the capacity of the tested drive.

    Values that no drive can have, and lines that contradict others, are left out with a note. Keys without a line are
    ignored.
    """
    notes: list[str] = []
    stated = next((row.value for row in rows if row.key == "capacity_gb"), capacity_gb)
    capacity = float(stated) if re.fullmatch(r"\d+(\.\d+)?", stated) else None
    chosen_rows = [
        row for key in dict.fromkeys(row.key for row in rows) for row in _rows_of(key, rows, capacity, notes)
    ]
    kind = _kind(chosen_rows)
    lines = {"capacity": f"{capacity:.12g} GB"} if capacity is not None else {}
    lines |= _plain(chosen_rows, notes)
    lines |= _disk(chosen_rows) if kind == "hdd" else _flash(chosen_rows, kind, notes)
    return SheetLines(kind, _possible(kind, lines, notes), notes)


def _rows_of(key: str, rows: Sequence[SheetRow], capacity: float | None, notes: list[str]) -> Iterable[SheetRow]:
    """Return the rows of a key that are about a drive of this capacity, the most telling first."""
    of_key = [row for row in rows if row.key == key]
    conditional = [row for row in of_key if re.search(r"\bif [\d, ]+[GT]B", row.unit)]
    if conditional and capacity is not None:
        fitting = [row for row in conditional if _is_about(row.unit, capacity)]
        of_key = fitting or [row for row in of_key if row not in conditional]
    elif conditional:
        middle = conditional[(len(conditional) - 1) // 2]
        notes.append(f"{key}: the middle one of several capacities, {middle.unit}")
        of_key = [middle]
    return sorted(of_key, key=lambda row: sum(word in row.unit for word in SOFT))


def _is_about(unit: str, capacity: float) -> bool:
    """Return whether a condition such as "if 250, 500 GB" or "if 1TB and up" holds at a capacity in GB."""
    condition = unit.partition("if ")[2]
    sizes, pending = [], []
    for number, name in re.findall(r"(\d+) ?([GT]B)?", condition):
        pending.append(float(number))
        if name:
            sizes += [size * GIGA[name] for size in pending]
            pending = []
    if "and up" in condition and sizes:
        return capacity >= 0.9 * min(sizes)
    return any(abs(capacity / size - 1.0) < 0.07 for size in sizes)


def _kind(rows: Sequence[SheetRow]) -> str:
    texts = {row.key: row.value.lower() for row in reversed(rows)}
    if "nand" not in texts and any(key in texts for key in DISK_KEYS):
        return "hdd"
    is_lanes = "pcie" in texts.get("link", "") or texts.get("protocol", "") in ("nvme", "ahci-pcie")
    return "nvme" if is_lanes else "ssd"


def _number(row: SheetRow) -> str:
    """Return the number of a row; the middle of a range."""
    if ends := re.fullmatch(r"([\d.]+)-([\d.]+)", row.value):
        return f"{(float(ends[1]) + float(ends[2])) / 2:.12g}"
    return row.value


def _plain(rows: Sequence[SheetRow], notes: list[str]) -> dict[str, str]:
    lines: dict[str, str] = {}
    for row in rows:
        if row.key not in PLAIN or PLAIN[row.key][0] in lines:
            continue
        line, unit = PLAIN[row.key]
        unit = "MiB/s" if row.unit.startswith("MiB/s") else unit
        lines[line] = f"{_number(row)} {unit}".strip()
        if any(word in row.unit for word in SOFT):
            notes.append(f"{line}: {row.unit}")
    return lines


def _first(rows: Sequence[SheetRow], key: str) -> str:
    return next((row.value for row in rows if row.key == key), "")


def _disk(rows: Sequence[SheetRow]) -> dict[str, str]:
    """Return the lines that only disks have."""
    lines = {}
    form, disk_class = _first(rows, "form"), _first(rows, "class")
    if disk_class:
        is_client = disk_class in ("client", "consumer")
        lines["class"] = ("laptop" if form.startswith("2.5") else "desktop") if is_client else disk_class
    if rpm := _first(rows, "rpm"):
        lines["rpm"] = f"{rpm} rpm"
    if recording := _first(rows, "recording"):
        lines["recording"] = recording.split()[0]
    if (platters := _first(rows, "platters")) and not _first(rows, "heads"):
        lines["heads"] = f"{2 * float(platters):.0f}"
    if interface := _interface(_first(rows, "interface"), _first(rows, "year")):
        lines["interface"] = interface
    return lines | _ratings(rows)


def _ratings(rows: Sequence[SheetRow]) -> dict[str, str]:
    """Return the stated rates of random I/O of a disk; computed ones are none."""
    lines = {}
    for row in rows:
        if row.key not in ("rand_read_iops", "rand_write_iops") or "compu" in row.unit:
            continue
        is_read = row.key == "rand_read_iops"
        if is_read and SINGLE.search(row.unit):
            lines["read-iops-qd1"] = _number(row)
        elif not SINGLE.search(row.unit):
            lines["read-iops" if is_read else "write-iops"] = _number(row)
            depth = DEPTH.search(row.unit)
            if is_read and depth:
                lines["read-iops-depth"] = depth[1] or depth[2]
    return lines


def _interface(words: str, year: str) -> str:
    """Return the interface of a disk; empty if the words name none."""
    words = re.sub(r"\(.*?\)", "", words).removeprefix("Ultra/").strip()
    if words.upper() == "SAS":
        since = int(year) if year.isdigit() else 2015
        return "sas12" if since >= 2013 else "sas6" if since >= 2009 else "sas3"
    return chosen(words, tuple(INTERFACES)) or ""


def _flash(rows: Sequence[SheetRow], kind: str, notes: list[str]) -> dict[str, str]:
    """Return the lines that only solid-state drives have."""
    lines = _link(rows, kind)
    drive_class = _first(rows, "class")
    if drive_class:
        lines["class"] = "consumer" if drive_class == "client" else drive_class
    if nand := _first(rows, "nand"):
        flash = chosen(nand, ("SLC", "MLC", "TLC", "QLC", "XPoint"))
        lines |= {"flash": flash} if flash else {}
    for row in rows:
        if row.key == "dram" and "host memory" not in row.unit:
            lines.setdefault("dram", {"none": "none", "hmb": "hmb"}.get(row.value.lower(), "full"))
        elif row.key == "plp":
            lines.setdefault("power-loss-protection", "on" if row.value == "yes" else "off")
    lines |= _cache([row for row in rows if row.key == "slc_cache_gb"])
    return lines | _random(rows, drive_class, notes)


def _link(rows: Sequence[SheetRow], kind: str) -> dict[str, str]:
    links = [row for row in rows if row.key == "link"]
    for row in sorted(links, key=lambda row: " x" not in row.value):
        words = row.value.split(" / ")[0]
        if kind == "nvme" and (pcie := re.fullmatch(r"PCIe (\d)\.\d(?: x(\d+))?", words)):
            lanes = f"{pcie[1]}x{pcie[2] or 4}"
            return {"pcie": lanes} if lanes in PCIE else {}
        if kind == "ssd" and (speed := re.match(r"(?:SATA |SAS )?([\d.]+) Gb/s", words)):
            port = "sas" if _first(rows, "protocol") == "sas" or "SAS" in f"{words} {row.unit}" else "sata"
            interface = chosen(f"{port} {speed[1]} Gb/s", tuple(INTERFACES))
            return {"interface": interface} if interface else {}
    return {"interface": "sata"} if _first(rows, "protocol") == "sata" else {}


def _cache(rows: Sequence[SheetRow]) -> dict[str, str]:
    """Return the line of the SLC cache: the total, or the sum of its parts."""
    if not rows:
        return {}
    whole = [row for row in rows if "total" in row.unit] or rows
    sizes = [float(row.value) for row in whole if re.fullmatch(r"[\d.]+", row.value)]
    parts = sizes if all(part in "".join(row.unit for row in whole) for part in ("static", "dynamic")) else sizes[:1]
    if "total" in whole[0].unit:
        parts = sizes[:1]
    if not parts:
        return {"slc-cache": "dynamic"}
    return {"slc-cache": f"{sum(parts):.12g} GB" if sum(parts) > 0 else "none"}


def _random(rows: Sequence[SheetRow], drive_class: str, notes: list[str]) -> dict[str, str]:
    """Return rates of random I/O; those at depth 1 as latencies."""
    lines: dict[str, str] = {}
    state = _first(rows, "burst_or_steady")
    for row in rows:
        if row.key not in ("rand_read_iops", "rand_write_iops"):
            continue
        direction = "read" if row.key == "rand_read_iops" else "write"
        if SINGLE.search(row.unit):
            latency = f"{1e6 / float(_number(row)):.4g} us"
            if not any(other.key == f"lat_{direction}" for other in rows):
                lines.setdefault(f"{direction}-latency", latency)
            continue
        line = "read-iops"
        if direction == "write":
            is_steady = STEADY.search(row.unit) or (not FRESH.search(row.unit) and _is_steady(state, drive_class))
            line = "write-iops" if is_steady else "write-iops-burst"
        if line not in lines and any(word in row.unit for word in SOFT):
            notes.append(f"{line}: {row.unit}")
        lines.setdefault(line, _number(row))
    return lines


def _is_steady(state: str, drive_class: str) -> bool:
    """Return whether a random-write rating is one of the steady state: as stated, or usual for the class."""
    if state.startswith(("burst", "steady")):
        return state.startswith("steady")
    return drive_class == "enterprise"


def _possible(kind: str, lines: dict[str, str], notes: list[str]) -> dict[str, str]:
    """Return the lines without those that no drive can have or that contradict others."""
    known = {line.key: line for line in KINDS[kind].lines}
    kept: dict[str, str] = {}
    for key, words in lines.items():
        try:
            answer(known[key], words)
            kept[key] = words
        except UserError as error:
            notes.append(f"{key} {words} left out: {error.accepted}")
    for _ in range(MOST_DROPPED):
        try:
            described(kind, kept)
            break
        except UserError as error:
            blamed = next((key for key in kept if field(key) == error.where), None)
            if blamed is None:
                raise
            notes.append(f"{blamed} {kept.pop(blamed)} left out: {error.accepted}")
    return kept
