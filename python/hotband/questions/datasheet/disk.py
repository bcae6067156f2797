"""Values that follow from the data sheet of a disk (docs/models/data-sheets.md has the rules and their sources)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hotband.base.errors import UserError
from hotband.questions.datasheet.bounds import DISK_BOUNDS
from hotband.questions.datasheet.lines import INTERFACES, Answers, number, powers, stated_number
from hotband.questions.datasheet.values import (
    Expected,
    Value,
    counted,
    estimate,
    fixed,
    follows,
    forced_writes,
    given,
    text,
)

MS = 1e-3
SORTED_BY_ADDRESS = 48e6
"""Memory, in bytes, up to which disks write their cache in order of address: those of 16 and 32 MB (2007 to 2009) write
within 1 GiB hardly faster than half a revolution allows, those of 64 MB and more (since 2014) several times as fast
[corpus]."""
SEGMENTS = 32
"""Segments of the memory, as in the catalog's disks. Data read ahead fits into one: more would be evicted at once."""
FULL_OVER_AVERAGE = (1.88, 1.82, 1.95)
"""Ratio of the full to the average seek in four measured curves: middle, least, most [facts/physics.md]."""
OUTER_OVER_INNER = (1.9, 1.67, 2.05)
"""Ratio of the outer to the inner rate of the catalog's disks that state both [facts/physics.md]."""
LONGEST_READ = 48 * 3600.0
"""The longest time in seconds to read a whole disk at the outer rate: twice the 24 hours that are the most in the
catalog (24 TB at 285 MB/s)."""
MEAN_OVER_OUTER = 0.76
"""The mean rate of a disk over that of its outer tracks, as the outer over the inner rate gives it."""
MOST_TRACKS = 3.5e6
"""The most tracks of a surface: the model accepts 4 million, disks of 2025 have 1 million."""
MOST_HEADS = 24
AGREE = 0.10
"""The accepted disagreement of the seek and the rate of single reads, as a share of the latter: data sheets round both,
and count reads of 4 KiB with or without the overhead (up to 0.2 of 12 ms)."""


@dataclass(frozen=True)
class Tracks:
    """Typical times in seconds of the catalog's disks of one speed of rotation."""

    least_rpm: float
    read: float
    write: float
    head_skew: float
    track_skew: float


TRACKS = (
    Tracks(13_000, 0.2 * MS, 0.4 * MS, 0.4 * MS, 0.5 * MS),
    Tracks(9_000, 0.3 * MS, 0.56 * MS, 0.5 * MS, 0.65 * MS),
    Tracks(6_500, 0.4 * MS, 0.7 * MS, 0.7 * MS, 0.9 * MS),
    Tracks(0, 0.5 * MS, 0.8 * MS, 0.8 * MS, 1.1 * MS),
)
SHINGLES = (
    ("smr_cache_at", "outer", "outer", "inner"),
    ("smr_cache_extents", 250_000, 200_000, 250_000),
    ("smr_band", "28 MiB", "15 MiB", "40 MiB"),
    ("smr_band_copy", "on", "off", "on"),
    ("smr_buffer", "48 MiB", "28 MiB", "96 MiB"),
    ("smr_step", "4 MiB", "1 MiB", "28 MiB"),
    ("smr_append_revolutions", 1, 0, 2),
    ("smr_idle_delay", "1 s", "0.5 s", "2 s"),
    ("smr_clean_from", "0 %", "0 %", "10 %"),
    ("smr_clean_full", "100 %", "90 %", "100 %"),
    ("smr_stream_from", "1 MiB", "256 KiB", "28 MiB"),
    ("smr_filled", "100 %", "0 %", "100 %"),
)
"""Values of the catalog's drive-managed shingled disk, ST8000AS0002 [docs/models/smr.md], with their ranges."""
LEAST_CACHE = 64 << 20
"""Bytes of the smallest media cache: two bands."""
MEDIA_CACHE = (0.003, 0.001, 0.01)
"""Share of the capacity that the media cache takes: 25 GB of 8 TB [ST8000AS0002], least and most estimated."""


def disk_values(sheet: Answers, expected: Mapping[str, Expected]) -> list[Value]:
    """Return every value of the disk's file. Raise UserError for lines that contradict each other."""
    limited = disk_limits(sheet, expected)
    rpm = limited["rpm"].value
    tracks = next(candidate for candidate in TRACKS if rpm >= candidate.least_rpm)
    read, rule = _average(sheet, limited, 60.0 / rpm)
    return [
        *_media(sheet, limited, tracks),
        *_seeks(sheet, limited, tracks, (read, rule)),
        *_electronics(sheet, limited),
        *_shingles(sheet, limited),
        *_power(sheet, read.value / (read.value + 30.0 / rpm)),
    ]


def disk_limits(sheet: Answers, expected: Mapping[str, Expected]) -> dict[str, Expected]:
    """Return the expected values, limited by the port and the stated lines. Raise UserError if stated lines
    contradict each other."""
    _check_rate(sheet)
    port = INTERFACES[str(sheet["interface"])]
    rpm = expected["rpm"].within(DISK_BOUNDS["rpm"].least, DISK_BOUNDS["rpm"].most)
    capacity = expected["capacity"].within(DISK_BOUNDS["capacity"].least, DISK_BOUNDS["capacity"].most)
    heads = expected["heads"].within(1, stated_number(sheet, "heads") or MOST_HEADS)
    # The slowest disk has as many tracks as there can be, and is read whole in two days.
    of_surface = MOST_TRACKS * MEAN_OVER_OUTER * 60.0 / rpm.value
    most_heads = heads.value if "heads" in sheet else MOST_HEADS
    slowest = capacity.value * max(1.0 / LONGEST_READ, 1.0 / (of_surface * most_heads))
    outer = expected["bandwidth"].within(0.0 if "bandwidth" in sheet else min(slowest, port), port)
    if "capacity" not in sheet:
        capacity = capacity.within(0.0, outer.value * min(LONGEST_READ, of_surface * most_heads))
    if "heads" not in sheet:
        least_heads = math.ceil(capacity.value / (outer.value * of_surface))
        heads = heads.within(min(least_heads, MOST_HEADS), MOST_HEADS)
    return {**expected, "rpm": rpm, "capacity": capacity, "bandwidth": outer, "heads": heads}


def _media(sheet: Answers, expected: Mapping[str, Expected], tracks: Tracks) -> list[Value]:
    outer = expected["bandwidth"]
    middle, least, most = OUTER_OVER_INNER
    # Data sheets round the capacity, drives have whole sectors.
    sector = 512 if sheet.get("sector-format") == "512n" and sheet.get("recording") != "SMR" else 4096
    capacity = expected["capacity"]
    whole = capacity.each(lambda size: size // sector * sector)
    skew = "a head switch of disks of its class takes as long"
    return [
        follows("capacity", whole, "bytes", stated_number(sheet, "capacity")),
        follows("rpm", expected["rpm"], "speed", stated_number(sheet, "rpm")),
        counted("heads", expected["heads"], stated_number(sheet, "heads")),
        fixed("zones", 24, 16, 32, "zones of the catalog's disks"),
        follows("sustained_outer", outer, "rate", stated_number(sheet, "bandwidth")),
        estimate(
            "sustained_inner",
            outer.value / middle,
            (outer.low / most, outer.high / least),
            "rate",
            "outer over inner rate of disks with both stated: 1.67 to 2.05",
        ),
        estimate("head_skew", tracks.head_skew, (0.75 * tracks.head_skew, 1.4 * tracks.head_skew), "time", skew),
        estimate("track_skew", tracks.track_skew, (tracks.track_skew, 1.4 * tracks.track_skew), "time", skew),
    ]


def _check_rate(sheet: Answers) -> None:
    """Raise UserError if the stated rate exceeds that of the stated port, or is too low for the stated capacity."""
    if "bandwidth" not in sheet:
        return
    outer, port = number(sheet, "bandwidth"), INTERFACES[str(sheet["interface"])]
    if outer > port:
        port_name = f"the port of question.lines.interface {sheet['interface']}"
        accepted = f"expected at most {text(port, 'rate')}, the rate of {port_name}"
        raise UserError("question.lines.bandwidth", "", text(outer, "rate"), accepted)
    capacity = stated_number(sheet, "capacity") or 0.0
    hours = capacity / outer / 3600
    if hours > LONGEST_READ / 3600:
        accepted = (
            f"is too low for question.lines.capacity {text(capacity, 'size')}: reading the whole disk "
            f"would take {hours:.0f} hours, and takes at most 24 in disks on the market"
        )
        raise UserError("question.lines.bandwidth", "", text(outer, "rate"), accepted)


def _seeks(
    sheet: Answers, expected: Mapping[str, Expected], tracks: Tracks, average_read: tuple[Expected, str]
) -> list[Value]:
    read, rule = average_read
    if "seek-write" in sheet:
        write = expected["seek_write"]
        if "seek" in sheet and number(sheet, "seek-write") < number(sheet, "seek"):
            stated = text(number(sheet, "seek-write"), "time")
            raise UserError("question.lines.seek_write", "", stated, "expected at least the average read seek")
    else:
        settle = expected["settle"] if rule else _difference(expected)
        ends = (read.value + settle.low, read.value + settle.high)
        why = f"the read seek plus settling {settle.why}" if rule else settle.why
        write = Expected(read.value + settle.value, *ends, why)
    write = write.within(read.value, 1.0)
    middle, least, most = FULL_OVER_AVERAGE
    track = "single-track seek of disks of its class"
    full = "full over average seek of four measured curves: 1.82 to 1.95"
    values = []
    for key, average, single in (("read", read, tracks.read), ("write", write, tracks.write)):
        line = "seek" if key == "read" else "seek-write"
        values += [
            estimate(f"seek_{key}_track", single, (0.7 * single, 1.3 * single), "time", track),
            follows(f"seek_{key}_average", average, "time", stated_number(sheet, line), rule if key == "read" else ""),
            estimate(
                f"seek_{key}_full",
                middle * average.value,
                (least * average.value, most * average.value),
                "time",
                full,
            ),
        ]
    return values


def _difference(expected: Mapping[str, Expected]) -> Expected:
    """Return the expected difference between write and read seek."""
    read, write = expected["seek_read"].value, expected["seek_write"]
    return write.each(lambda time: max(0.0, time - read))


def _average(sheet: Answers, expected: Mapping[str, Expected], turn: float) -> tuple[Expected, str]:
    """Return the average read seek, as stated, from the rate of single reads, or expected; and the rule behind it."""
    least, most = DISK_BOUNDS["seek"].least, DISK_BOUNDS["seek"].most
    overhead = expected["command_overhead"].value
    if "seek" in sheet or "read-iops-qd1" not in sheet:
        _check_reads(sheet, expected, turn)
        return expected["seek_read"].within(least, most), ""
    seek = 1.0 / number(sheet, "read-iops-qd1") - turn / 2 - overhead
    rule = "time of a random read one at a time, less half a revolution and the overhead"
    if not least <= seek <= most:
        if "rpm" not in sheet:
            return Expected(seek, 0.95 * seek, 1.05 * seek, "").within(least, most), rule
        fastest, slowest = (1.0 / (end + turn / 2 + overhead) for end in (least, most))
        accepted = (
            f"impossible: half a revolution alone takes {text(turn / 2, 'time')}; expected {slowest:.0f} to "
            f"{fastest:.0f}, for an average seek of {text(least, 'time')} to {text(most, 'time')}"
        )
        raise UserError("question.lines.read_iops_qd1", "", f"{number(sheet, 'read-iops-qd1'):g}", accepted)
    return Expected(seek, 0.95 * seek, 1.05 * seek, ""), rule


def _check_reads(sheet: Answers, expected: Mapping[str, Expected], turn: float) -> None:
    """Raise UserError if seek, speed and rate of single reads are stated and contradict each other."""
    if not {"read-iops-qd1", "seek", "rpm"} <= sheet.keys():
        return
    overhead = expected["command_overhead"].value
    stated, implied = number(sheet, "read-iops-qd1"), 1.0 / (number(sheet, "seek") + turn / 2 + overhead)
    if abs(stated / implied - 1.0) > AGREE:
        accepted = (
            f"contradicts question.lines.seek {text(number(sheet, 'seek'), 'time')}, which with half a revolution of "
            f"{text(turn / 2, 'time')} gives {implied:.0f}: expected within {AGREE:.0%} of that, or one of the two"
        )
        raise UserError("question.lines.read_iops_qd1", "", f"{stated:g}", accepted)


def _electronics(sheet: Answers, expected: Mapping[str, Expected]) -> list[Value]:
    interface = str(sheet["interface"])
    is_sata = interface.startswith("sata")
    is_client = is_sata or interface.startswith("ata")
    likely = "drives of its class in the catalog"
    sectors = (
        Value("sector_format", str(sheet["sector-format"]), "data sheet", given=True)
        if "sector-format" in sheet
        else fixed("sector_format", "512e", "512n", "4Kn", likely)
    )
    tags = fixed("queue_tags", 128, 64, 256, likely)
    if is_client:
        queueing = "Serial ATA: native command queueing has 32 tags" if is_sata else "parallel ATA has no queue"
        tags = Value("queue_tags", 32 if is_sata else 1, queueing, given=True)
    return [
        sectors,
        Value("port_rate", text(INTERFACES[interface], "rate"), f"interface {interface}, after coding", given=True),
        tags,
        Value(
            "queue_order", "positioning", "every drive of this class orders its queue by positioning time", given=True
        ),
        counted("reorder_window", expected["reorder_window"].within(1, 65_536), None),
        *_destaging(expected),
        estimate("age_bound", 1.0, (0.5, 2.0), "time", likely),
        follows("command_overhead", expected["command_overhead"], "time", None),
        estimate("cache_overhead", 0.03 * MS, (0.01 * MS, 0.05 * MS), "time", likely),
        follows(
            "cache_size",
            expected["cache"].within(DISK_BOUNDS["cache"].least, DISK_BOUNDS["cache"].most),
            "size",
            stated_number(sheet, "cache"),
        ),
        fixed("cache_segments", SEGMENTS, 16, 64, likely),
        Value("rcd", "off", "T10 SBC-4, caching mode page 08h: RCD = 0 is the default, reads are cached", given=True),
        _part_of_cache("look_ahead", 1e6, (0.5e6, 4e6), expected, SEGMENTS),
        fixed(
            "wce",
            "on" if is_client else "off",
            "off",
            "on",
            "as shipped: SATA disks with, SAS disks without write cache",
        ),
        forced_writes(interface),
        _part_of_cache("write_cache_size", 32e6, (8e6, 64e6), expected),
    ]


def _destaging(expected: Mapping[str, Expected]) -> list[Value]:
    """Return how many writes wait in the memory, and which of them is written next."""
    waiting = expected["write_cache_extents"].within(8, 65_536)
    order = "clook" if expected["cache"].value <= SORTED_BY_ADDRESS else "positioning"
    return [
        counted("write_cache_extents", waiting, None),
        counted("destage_window", expected["destage_window"].within(1, 65_536), None),
        fixed("destage_order", order, "clook", "positioning", "random writes of seven measured families"),
    ]


def _part_of_cache(
    key: str, usual: float, ends: tuple[float, float], expected: Mapping[str, Expected], parts: int = 2
) -> Value:
    """Return the size of a part of the memory: at most one of `parts` equal ones."""
    most = expected["cache"].value / parts
    low, value, high = (min(end, most) for end in (ends[0], usual, ends[1]))
    return estimate(key, value, (low, high), "size", "drives of its class in the catalog")


def _shingles(sheet: Answers, expected: Mapping[str, Expected]) -> list[Value]:
    """Return the values of shingled tracks, where the sheet states SMR."""
    if sheet.get("recording") != "SMR":
        return []
    like = "as the catalog's ST8000AS0002 (docs/models/smr.md)"
    middle, least, most = (share * expected["capacity"].value for share in MEDIA_CACHE)
    return [
        Value("smr", "drive-managed", "data sheet", given=True),
        estimate("smr_cache_size", max(middle, LEAST_CACHE), (least, max(most, LEAST_CACHE)), "size", like),
        *(fixed(key, value, low, high, like) for key, value, low, high in SHINGLES),
    ]


def _power(sheet: Answers, seeking: float) -> list[Value]:
    """Return the power when idle, in random reads, and of the arm, which moves for the share `seeking` of their time:
    between none and all of the difference of the two (docs/models/disk.md)."""
    stated = powers(sheet)
    if stated is None:
        return []
    idle, active = stated
    most = active + (active - idle) * (1 - seeking) / seeking
    rule = "between power_active, and all of it above power_idle drawn by the arm"
    return [
        given("power_idle", idle, "power"),
        given("power_active", active, "power"),
        estimate("power_seek", (active + most) / 2, (active, most), "power", rule),
    ]
