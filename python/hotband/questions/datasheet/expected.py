"""Expected values of a drive with some stated lines: every quantity with its 90 % range.

A stated line is expected as it is; a missing one as usual for the class, the port, the flash and the year. No other
module has numbers for classes of these quantities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hotband.base.heavy import np
from hotband.inference.amplification import uniform
from hotband.questions.datasheet.assumed import flash_of, memory_of
from hotband.questions.datasheet.lines import Answers, stated_number
from hotband.questions.datasheet.ports import channel_of, era_of, port_rate
from hotband.questions.datasheet.values import Expected

__all__ = ["Expect", "Expected", "expected"]

Expect = Callable[[str, Answers], Mapping[str, Expected]]
"""The signature of `expected`."""
MS, US = 1e-3, 1e-6
PAGE = 4096
FLASH = {
    "SLC": ((25 * US, 20 * US, 35 * US), (250 * US, 200 * US, 300 * US)),
    "MLC": ((50 * US, 40 * US, 75 * US), (1.3 * MS, 0.9 * MS, 1.8 * MS)),
    "TLC": ((60 * US, 40 * US, 80 * US), (2 * MS, 1.5 * MS, 2.5 * MS)),
    "QLC": ((90 * US, 70 * US, 140 * US), (6 * MS, 3 * MS, 8 * MS)),
    "XPoint": ((8 * US, 1 * US, 8 * US), (15 * US, 5 * US, 30 * US)),
}
"""tR and the time of a pass of all pages of a cell, middle, least, most: planar SLC and MLC [facts/physics.md], 3D TLC
and QLC at ISSCC; XPoint as the catalog's P4800X."""
TLC_READ = {"sata": (70 * US, 50 * US, 80 * US), "nvme": (55 * US, 40 * US, 75 * US)}
"""tR: 3D TLC of 2017 [facts/physics.md]; of 2019 and later 40 to 60 us stated at ISSCC, and what verifying adds."""
OVERHEAD = {
    "sata": ((22 * US, 12 * US, 60 * US), (37 * US, 28 * US, 45 * US)),
    "nvme": ((12 * US, 6 * US, 25 * US), (8 * US, 5 * US, 25 * US)),
}
"""Time of a read and of a write in the controller: drives of the class in the catalog."""
SPARE = ((2, 0.10), (6, 0.28), (math.inf, 0.60))
"""Over-provisioning by drive writes per day: 7 to 15 % (1), 28 % (3), 40 % and more (10)."""
DISK_YEARS = (
    (1994, 1e9, 5e6, 0.5e6),
    (1999, 9e9, 22e6, 2e6),
    (2003, 80e9, 55e6, 8e6),
    (2006, 300e9, 75e6, 16e6),
    (2009, 1e12, 120e6, 32e6),
    (2013, 4e12, 175e6, 64e6),
    (2017, 12e12, 240e6, 256e6),
    (2021, 18e12, 270e6, 256e6),
    (2025, 30e12, 295e6, 512e6),
)
"""Year; capacity, outer rate and memory of large 3.5-inch disks of 7,200 rpm [estimated from the catalog's disks]."""
WAITING = (32e6, 1.4)
"""Bytes of memory with which 64 extents wait and 16 are weighed, and the exponent with which both grow: disks of 32 MB
write 110 to 150 times a second at random, those of 256 and 512 MB 300 to 660 times [corpus]."""
CAPACITIES = {
    "nearline": 12e12,
    "nas": 8e12,
    "desktop": 2e12,
    "surveillance": 4e12,
    "mission-critical": 600e9,
    "laptop": 1e12,
    "archive": 14e12,
}
"""The usual capacity of a disk of which not even the year is stated."""
SPEEDS = (
    (13_000, 2.8 * MS, 0.3 * MS, 150e9),
    (9_000, 3.9 * MS, 0.5 * MS, 300e9),
    (6_500, 8.5 * MS, 0.5 * MS, 1.1e12),
    (0, 11.0 * MS, 1.0 * MS, 1.1e12),
)
"""Least speed of rotation; average read seek, time to settle for writes, and bytes per surface of the newest disks."""


def expected(kind: str, stated: Answers) -> Mapping[str, Expected]:
    """Return the expected values of a drive of this kind, by quantity, whether or not a line states it."""
    return _disk(stated) if kind == "hdd" else _flash_drive(stated)


def _line(stated: Answers, key: str, value: float, ends: tuple[float, float], why: str) -> Expected:
    """Return the number of a line, or the usual one if it is missing."""
    found = stated_number(stated, key)
    return Expected(value, *ends, why) if found is None else Expected(found, found, found, "of the data sheet")


def _around(stated: Answers, key: str, value: float, factor: float, why: str) -> Expected:
    """Return the number of a line, or the usual one, within a factor of it."""
    return _line(stated, key, value, (value / factor, value * factor), why)


def _flash_drive(stated: Answers) -> dict[str, Expected]:
    drives = f"typical of {stated['class']} drives with {flash_of(stated)}"
    is_consumer = stated["class"] == "consumer"
    usual, factor = (1e12, 2.0) if is_consumer else (3.84e12, 4.0)
    capacity = _around(stated, "capacity", usual, factor, drives)
    streams = _streams(stated, capacity.value, drives)
    rates = _rates(stated, streams, capacity.value, drives)
    era, flash = era_of(stated), flash_of(stated)
    read, program = FLASH[flash]
    if flash == "TLC":
        read = TLC_READ[era]
    reading, writing = OVERHEAD[era]
    wire = PAGE / streams["read_stream"].value
    after = PAGE / channel_of(stated, flash)[0] + wire
    # A protected buffer completes a flush; an unprotected one is programmed first, with changes of the map.
    is_protected = stated.get("power-loss-protection") == "on"
    map_saved = {"sata": 750 * US, "nvme": 300 * US}[era]
    cached = streams["slc_cache"].value > 0
    flushed = writing[0] if is_protected else 450 * US if cached else program[0] + map_saved
    return {
        "capacity": capacity,
        **streams,
        **rates,
        "read_time": _line(
            stated,
            "read-latency",
            read[0] + reading[0] + after,
            (read[1] + reading[1] + after, read[2] + reading[2] + after),
            drives,
        ),
        "write_time": _line(stated, "write-latency", writing[0] + wire, (writing[1] + wire, writing[2] + wire), drives),
        "write_tail": Expected(1.0, 1.0, 5.0, "of drives of which no percentile is known"),
        "flush_time": Expected(flushed, flushed / 4, flushed * 4, drives),
        "die_read_time": Expected(*read, f"tR of {flash} of these years"),
        "die_program_time": Expected(*program, f"typical of {flash} of these years"),
    }


def _streams(stated: Answers, capacity: float, drives: str) -> dict[str, Expected]:
    """Return rates of streams, and the SLC cache."""
    port = port_rate(stated)
    is_consumer = stated["class"] == "consumer"
    read = _line(stated, "read-bandwidth", 0.9 * port, (0.4 * port, port), drives)
    share = 0.92 if era_of(stated) == "sata" else 0.8 if is_consumer else 0.5
    write = _line(stated, "write-bandwidth", share * read.value, (0.15 * read.value, read.value), drives)
    cache = _slc_cache(stated, capacity, drives)
    key, stream = "write-bandwidth-after-cache", write.value
    if cache.value == 0:
        after = _line(stated, key, stream, (write.low, write.high), drives)
    elif flash_of(stated) == "QLC":
        # A die of QLC programs 20 to 40 MB/s when cells are moved as well: 80 MB/s per TB.
        slow = min(0.3 * stream, 80e6 * capacity / 1e12)
        after = _line(stated, key, slow, (slow / 2, min(stream, slow * 2.5)), drives)
    else:
        after = _line(stated, key, 0.35 * stream, (0.12 * stream, stream), drives)
    return {"read_stream": read, "write_stream": write, "write_stream_after_cache": after, "slc_cache": cache}


def _slc_cache(stated: Answers, capacity: float, drives: str) -> Expected:
    if stated.get("slc-cache") == "none":
        return Expected(0.0, 0.0, 0.0, "of the data sheet")
    flash, year = flash_of(stated), stated_number(stated, "year")
    share = {"TLC": 0.12, "QLC": 0.2}.get(flash, 0.0) if stated["class"] == "consumer" else 0.0
    if stated.get("slc-cache") == "dynamic":
        share = max(share, 0.12)
    elif year is not None and year <= 2016:
        share *= 0.1
    return _line(stated, "slc-cache", share * capacity, (share / 4 * capacity, share * 2 * capacity), drives)


def _rates(stated: Answers, streams: Mapping[str, Expected], capacity: float, drives: str) -> dict[str, Expected]:
    """Return rates of random reads and writes of 4 KiB."""
    most = streams["read_stream"].value / PAGE
    is_consumer = stated["class"] == "consumer"
    share = 0.65 if era_of(stated) == "sata" or is_consumer else 0.85
    share *= 0.6 if memory_of(stated) != "full" else 1.0
    read = _line(stated, "read-iops", share * most, (0.3 * share * most, most), drives)
    after = streams["write_stream_after_cache"].value / PAGE
    dwpd = stated_number(stated, "dwpd") or (0.3 if is_consumer else 1.0)
    spare = next(share for most, share in SPARE if dwpd < most)
    if flash_of(stated) == "XPoint":
        steady = _line(stated, "write-iops", after, (0.7 * after, after), drives)
    else:
        writes = after / uniform(spare)
        ends = (after / uniform(0.07), after / uniform(max(0.15, 1.4 * spare)))
        steady = _line(stated, "write-iops", writes, ends, drives)
    fresh = min(streams["write_stream"].value / PAGE, read.value)
    fresh = max(steady.value, fresh)
    new = _line(stated, "write-iops-burst", fresh, (max(steady.value, 0.5 * fresh), fresh), drives)
    return {"read_rate": read, "write_rate_new": new, "write_rate_steady": steady}


def _disk(stated: Answers) -> dict[str, Expected]:
    disk_class = str(stated["class"])
    disks = f"typical of {disk_class} disks"
    is_large = disk_class in ("nearline", "nas", "archive")
    is_sorted = is_large or disk_class == "mission-critical"
    rpm = _line(stated, "rpm", *_speed(disk_class), disks)
    year = stated_number(stated, "year")
    usual = CAPACITIES[disk_class]
    if year is not None:
        newest = _along(year, 0, 1)
        usual = newest * (0.8 if is_large else 0.05 if disk_class == "mission-critical" else 0.4)
    capacity = _around(stated, "capacity", usual, 3.0, disks)
    if year is None:
        grown = capacity.value * (8 if disk_class == "mission-critical" else 1)
        year = _along(grown, 1, 0)
    era = f"{disks} of {year:.0f}"
    outer = _along(year, 0, 2)
    outer *= (0.75 if rpm.value < 6_500 else 1.0) * (0.65 if disk_class == "laptop" else 1.0)
    memory = _along(year, 0, 3)
    _, seek, settle, surface = next(row for row in SPEEDS if rpm.value >= row[0])
    read = _line(stated, "seek", seek, (0.9 * seek, 1.12 * seek), disks)
    heads = 2 * max(1, min(12, round(capacity.value / surface / 2)))
    cache = _line(stated, "cache", memory, (memory / 2, memory * 2), era)
    return {
        "capacity": capacity,
        "rpm": rpm,
        "bandwidth": _line(stated, "bandwidth", outer, (0.6 * outer, 1.3 * outer), era),
        "seek_read": read,
        "seek_write": _line(
            stated,
            "seek-write",
            read.value + settle,
            (read.value, read.value + 2 * settle),
            "read seek plus settling",
        ),
        "settle": Expected(settle, 0.0, 2 * settle, disks),
        "cache": cache,
        "heads": _line(
            stated, "heads", heads, (max(1, heads // 2), min(24, heads * 2)), "capacity per surface, " + disks
        ),
        "command_overhead": Expected(0.1 * MS, 0.05 * MS, 0.2 * MS, disks),
        "reorder_window": Expected(128, 16, 128, disks) if is_sorted else Expected(8, 4, 32, disks),
        "write_cache_extents": _waiting(cache, 64),
        "destage_window": _waiting(cache, 16),
    }


def _waiting(cache: Expected, usual: int) -> Expected:
    """Return how many writes wait in the memory, or are weighed for the next, which are `usual` at 32 MB."""
    many = usual * (cache.value / WAITING[0]) ** WAITING[1]
    return Expected(many, many / 4, many * 4, "by the size of the memory: writes of seven measured families")


def _along(value: float, given: int, wanted: int) -> float:
    """Return a column of `DISK_YEARS` where another has this value, between its rows on logarithmic scales."""
    logs = np.log(np.array(DISK_YEARS))
    return float(np.exp(np.interp(math.log(value), logs[:, given], logs[:, wanted])))


def _speed(disk_class: str) -> tuple[float, tuple[float, float]]:
    """Return the usual speed of rotation of a class, with its range."""
    if disk_class == "mission-critical":
        return 10_000, (10_000, 15_000)
    if disk_class in ("surveillance", "laptop"):
        return 5_400, (5_400, 7_200)
    return 7_200, (5_400, 7_200)
