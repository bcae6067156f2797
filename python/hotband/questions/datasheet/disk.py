"""Values that follow from the data sheet of a disk (docs/models/data-sheets.md has the rules and their sources)."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.errors import UserError
from hotband.questions.datasheet.bounds import DISK_BOUNDS
from hotband.questions.datasheet.lines import INTERFACES, Answers, number, powers
from hotband.questions.datasheet.values import Value, estimate, fixed, forced_writes, given, text

MS = 1e-3
FULL_OVER_AVERAGE = (1.88, 1.82, 1.95)
"""Ratio of the full to the average seek in four measured curves: middle, least, most [facts/physics.md]."""
OUTER_OVER_INNER = (1.9, 1.67, 2.05)
"""Ratio of the outer to the inner rate of the catalog's disks that state both [facts/physics.md]."""
LONGEST_READ = 48 * 3600.0
"""The longest time in seconds to read a whole disk at the outer rate: twice the 24 hours that are the most in the
catalog (24 TB at 285 MB/s)."""
AGREE = 0.10
"""The accepted disagreement of the seek and the rate of single reads, as a share of the latter: data sheets round both,
and count reads of 4 KiB with or without the overhead (up to 0.2 of 12 ms)."""
OVERHEAD = 0.1 * MS
"""Firmware time of a command, in the range 0.05 to 0.2 ms [Savvio manual 0.2 ms; estimated for later drives]."""


@dataclass(frozen=True)
class Class:
    """Typical times of the catalog's disks of one speed of rotation, in seconds; `surface` is the bytes per surface of
    the newest of them."""

    least_rpm: float
    read_track: float
    read_average: float
    write_track: float
    settle: float
    head_skew: float
    track_skew: float
    surface: float


CLASSES = (
    Class(13_000, 0.2 * MS, 2.8 * MS, 0.4 * MS, 0.3 * MS, 0.4 * MS, 0.5 * MS, 150e9),
    Class(9_000, 0.3 * MS, 3.9 * MS, 0.56 * MS, 0.5 * MS, 0.5 * MS, 0.65 * MS, 300e9),
    Class(6_500, 0.4 * MS, 8.5 * MS, 0.7 * MS, 0.5 * MS, 0.7 * MS, 0.9 * MS, 1.1e12),
    Class(0, 0.5 * MS, 11.0 * MS, 0.8 * MS, 1.0 * MS, 0.8 * MS, 1.1 * MS, 1.1e12),
)


def disk_values(sheet: Answers) -> list[Value]:
    """Return every value of the disk's file. Raise UserError for lines that contradict each other."""
    rpm = number(sheet, "rpm")
    disk_class = next(candidate for candidate in CLASSES if rpm >= candidate.least_rpm)
    return [*_media(sheet, disk_class), *_seeks(sheet, disk_class, 60.0 / rpm), *_electronics(sheet), *_power(sheet)]


def _media(sheet: Answers, disk_class: Class) -> list[Value]:
    outer = _outer(sheet)
    middle, least, most = OUTER_OVER_INNER
    likely = 2 * max(1, min(12, round(number(sheet, "capacity") / disk_class.surface / 2)))
    heads = (
        Value("heads", int(number(sheet, "heads")), "data sheet", given=True)
        if "heads" in sheet
        else fixed(
            "heads", likely, max(1, likely // 2), min(24, likely * 2), "capacity a surface of disks of its class"
        )
    )
    # Data sheets round the capacity, drives have whole sectors.
    sector = 512 if sheet.get("sector-format") == "512n" else 4096
    skew = "a head switch of disks of its class takes as long"
    return [
        given("capacity", number(sheet, "capacity") // sector * sector, "bytes"),
        given("rpm", number(sheet, "rpm"), "speed"),
        heads,
        fixed("zones", 24, 16, 32, "zones of the catalog's disks"),
        given("sustained_outer", outer, "rate"),
        estimate(
            "sustained_inner",
            outer / middle,
            (outer / most, outer / least),
            "rate",
            "outer over inner rate of disks with both stated: 1.67 to 2.05",
        ),
        estimate(
            "head_skew", disk_class.head_skew, (0.75 * disk_class.head_skew, 1.4 * disk_class.head_skew), "time", skew
        ),
        estimate(
            "track_skew", disk_class.track_skew, (disk_class.track_skew, 1.4 * disk_class.track_skew), "time", skew
        ),
    ]


def _outer(sheet: Answers) -> float:
    """Return the sustained rate. Raise UserError if the port is slower, or the capacity too large for it."""
    outer, port = number(sheet, "bandwidth"), INTERFACES[str(sheet["interface"])]
    if outer > port:
        port_name = f"the port of question.lines.interface {sheet['interface']}"
        accepted = f"expected at most {text(port, 'rate')}, the rate of {port_name}"
        raise UserError("question.lines.bandwidth", "", text(outer, "rate"), accepted)
    hours = number(sheet, "capacity") / outer / 3600
    if hours > LONGEST_READ / 3600:
        accepted = (
            f"is too low for question.lines.capacity {text(number(sheet, 'capacity'), 'size')}: reading the whole disk "
            f"would take {hours:.0f} hours, and takes at most 24 in disks on the market"
        )
        raise UserError("question.lines.bandwidth", "", text(outer, "rate"), accepted)
    return outer


def _seeks(sheet: Answers, disk_class: Class, turn: float) -> list[Value]:
    read, method = _average(sheet, disk_class, turn)
    write = number(sheet, "seek-write") if "seek-write" in sheet else read + disk_class.settle
    if write < read:
        raise UserError("question.lines.seek_write", "", text(write, "time"), "expected at least the average read seek")
    middle, least, most = FULL_OVER_AVERAGE
    track = "single-track seek of disks of its class"
    full = "full over average seek of four measured curves: 1.82 to 1.95"
    settle = "the read seek and the time to settle for writes of disks of its class"
    values = []
    for key, average, single in (("read", read, disk_class.read_track), ("write", write, disk_class.write_track)):
        values.append(estimate(f"seek_{key}_track", single, (0.7 * single, 1.3 * single), "time", track))
        name = f"seek_{key}_average"
        if key == "read":
            stated = (
                given(name, average, "time")
                if method.stated
                else estimate(name, average, method.ends, "time", method.rule)
            )
            values.append(stated)
        elif "seek-write" in sheet:
            values.append(given(name, average, "time"))
        else:
            values.append(estimate(name, average, (read, read + 2 * disk_class.settle), "time", settle))
        values.append(estimate(f"seek_{key}_full", middle * average, (least * average, most * average), "time", full))
    return values


@dataclass(frozen=True)
class _How:
    """The source of an average seek: whether it is stated, or else the rule and the range."""

    stated: bool
    rule: str = ""
    ends: tuple[float, float] = (0.0, 0.0)


def _average(sheet: Answers, disk_class: Class, turn: float) -> tuple[float, _How]:
    """Return the average read seek: as stated, from the rate of single reads, or that of its class."""
    if "seek" in sheet:
        _check_reads(sheet, turn)
        return number(sheet, "seek"), _How(stated=True)
    if "read-iops-qd1" in sheet:
        seek = 1.0 / number(sheet, "read-iops-qd1") - turn / 2 - OVERHEAD
        rule = "time of a random read one at a time, less half a revolution and the overhead"
        least, most = DISK_BOUNDS["seek"].least, DISK_BOUNDS["seek"].most
        if not least <= seek <= most:
            fastest, slowest = (1.0 / (end + turn / 2 + OVERHEAD) for end in (least, most))
            accepted = (
                f"impossible: half a revolution alone takes {text(turn / 2, 'time')}; expected {slowest:.0f} to "
                f"{fastest:.0f}, for an average seek of {text(least, 'time')} to {text(most, 'time')}"
            )
            raise UserError("question.lines.read_iops_qd1", "", f"{number(sheet, 'read-iops-qd1'):g}", accepted)
        return seek, _How(False, rule, (0.95 * seek, 1.05 * seek))
    seek = disk_class.read_average
    return seek, _How(False, "average seek of disks of its speed of rotation", (0.9 * seek, 1.12 * seek))


def _check_reads(sheet: Answers, turn: float) -> None:
    """Raise UserError if both seek and rate of single reads are stated and contradict each other."""
    if "read-iops-qd1" not in sheet:
        return
    stated, follows = number(sheet, "read-iops-qd1"), 1.0 / (number(sheet, "seek") + turn / 2 + OVERHEAD)
    if abs(stated / follows - 1.0) > AGREE:
        accepted = (
            f"contradicts question.lines.seek {text(number(sheet, 'seek'), 'time')}, which with half a revolution of "
            f"{text(turn / 2, 'time')} gives {follows:.0f}: expected within {AGREE:.0%} of that, or one of the two"
        )
        raise UserError("question.lines.read_iops_qd1", "", f"{stated:g}", accepted)


def _electronics(sheet: Answers) -> list[Value]:
    interface = str(sheet["interface"])
    sata = interface == "sata"
    likely = "drives of its class in the catalog"
    cache = (
        given("cache_size", number(sheet, "cache"), "size")
        if "cache" in sheet
        else estimate("cache_size", 256e6, (64e6, 512e6), "size", likely)
    )
    stated = "sector-format" in sheet
    sectors = (
        Value("sector_format", str(sheet["sector-format"]), "data sheet", given=True)
        if stated
        else fixed("sector_format", "512e", "512n", "4Kn", likely)
    )
    tags = "Serial ATA: native command queueing has 32 tags" if sata else likely
    return [
        sectors,
        Value("port_rate", text(INTERFACES[interface], "rate"), f"interface {interface}, after coding", given=True),
        Value("queue_tags", 32, tags, given=True) if sata else fixed("queue_tags", 128, 64, 256, tags),
        Value(
            "queue_order", "positioning", "every drive of this class orders its queue by positioning time", given=True
        ),
        estimate("age_bound", 1.0, (0.5, 2.0), "time", likely),
        estimate("command_overhead", OVERHEAD, (0.05 * MS, 0.2 * MS), "time", likely),
        estimate("cache_overhead", 0.03 * MS, (0.01 * MS, 0.05 * MS), "time", likely),
        cache,
        fixed("cache_segments", 32, 16, 64, likely),
        Value("rcd", "off", "T10 SBC-4, caching mode page 08h: RCD = 0 is the default, reads are cached", given=True),
        estimate("look_ahead", 1e6, (0.5e6, 4e6), "size", likely),
        fixed(
            "wce", "on" if sata else "off", "off", "on", "as shipped: SATA disks with, SAS disks without write cache"
        ),
        forced_writes(str(sheet["interface"])),
        fixed("write_cache_extents", 64, 16, 128, likely),
        estimate("write_cache_size", 32e6, (8e6, 64e6), "size", likely),
    ]


def _power(sheet: Answers) -> list[Value]:
    """Return the power when idle, in random reads, and of the arm: between none and all of the difference of the two
    (docs/models/disk.md)."""
    stated = powers(sheet)
    if stated is None:
        return []
    idle, active = stated
    # The arm moves for a share of 0.57 to 0.67 of the time of random reads in the catalog's disks.
    most = active + (active - idle) * (1 - 0.62) / 0.62
    rule = "between power_active, and all of it above power_idle drawn by the arm"
    return [
        given("power_idle", idle, "power"),
        given("power_active", active, "power"),
        estimate("power_seek", (active + most) / 2, (active, most), "power", rule),
    ]
