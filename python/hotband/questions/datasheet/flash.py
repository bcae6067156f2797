"""Values of the flash of a solid-state drive: its dies, their times, the SLC cache and the over-provisioning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hotband.base.errors import UserError
from hotband.inference.amplification import uniform
from hotband.questions.datasheet.assumed import flash_of
from hotband.questions.datasheet.lines import Answers, field, number, stated_number
from hotband.questions.datasheet.ports import channel_of, era_of, lane_count
from hotband.questions.datasheet.values import Expected, Value, estimate, fixed, follows, text

US = 1e-6
GIB = 1 << 30
KIB = 1 << 10
PAGE = 4096
FLASH_PAGE = 16 * KIB
CLASS = "drives of its class in the catalog"
PLANES = {"sata": 2, "nvme": 4}
BITS = {"SLC": 1, "MLC": 2, "TLC": 3, "QLC": 4, "XPoint": 1}
"""Bits of a cell: the pages of a plane that are programmed in one pass."""
OPEN_BLOCKS = 6
"""Blocks of all dies that are open, or free for the next writes, and so hold no overwritten data: three free ones
(`gc_free_low`), and open ones for hosts and relocated data [our estimate, as in the catalog's files]."""
QUICK_PROGRAM = 200 * US
"""Time of programming a page as SLC, at most: 160 to 300 us [as the catalog's 980 PRO]."""
MOST_SPARE = 0.30
"""The most over-provisioning that drives of less than one drive write per day have: maker's sheets state 7 to 28 %."""


@dataclass(frozen=True)
class Chips:
    """The dies of a drive; `first_program` is the time after which a flushed write is on flash, and `stripe` the bytes
    that all dies program at once."""

    dies: int
    planes: int
    independent: bool
    block: int
    has_parity: bool
    quick_program: float
    first_program: float
    stripe: float

    @property
    def held(self) -> float:
        """Bytes in blocks that are open or free."""
        return float(OPEN_BLOCKS * self.block * self.dies * self.planes)


def chips_of(sheet: Answers, expected: Mapping[str, Expected]) -> Chips:
    """Return the dies with which the expected rates are reached."""
    flash, era = flash_of(sheet), era_of(sheet)
    planes = 1 if flash == "XPoint" else PLANES[era]
    dies, independent = _dies(sheet, expected, planes)
    capacity = expected["capacity"].value
    # The block of all dies has about a thousandth of the capacity.
    unit = (1 << 20) if flash == "XPoint" else (6 << 20)
    block = unit * max(2, min(8, round(capacity / 1000 / dies / planes / unit)))
    quick = 0.0
    if expected["slc_cache"].value > 0:
        transfer = planes * FLASH_PAGE / channel_of(sheet, flash)[0]
        pause = 0.9 * dies * planes * FLASH_PAGE / expected["write_stream"].value
        quick = max(40 * US, min(QUICK_PROGRAM, pause - transfer))
    first = quick or expected["die_program_time"].value
    has_parity = sheet["class"] == "enterprise" and flash != "XPoint"
    stripe = dies * planes * (PAGE if flash == "XPoint" else FLASH_PAGE * (1 if quick else BITS[flash]))
    return Chips(dies, planes, independent, block, has_parity, quick, first, stripe)


def _dies(sheet: Answers, expected: Mapping[str, Expected], planes: int) -> tuple[int, bool]:
    """Return the fewest dies that reach the expected rates, and whether their planes read on their own.

    A die is busy for tR per read and for one pass of programming. Dies are never all busy at once, so the number must
    be half as many again.
    """
    flash, era = flash_of(sheet), era_of(sheet)
    raw = expected["capacity"].value * 1.1
    if flash == "XPoint":
        return min(4096, max(8, 8 * math.ceil(raw / (16 * GIB) / 8))), False
    reading = 1.5 * expected["read_rate"].value * expected["die_read_time"].value
    page = FLASH_PAGE * planes
    after = expected["write_stream_after_cache"].value
    programming = 1.5 * after * expected["die_program_time"].value / (page * BITS[flash])
    if expected["slc_cache"].value > 0:
        transfer = page / channel_of(sheet, flash)[0]
        programming = max(programming, expected["write_stream"].value * (100 * US + transfer) / page)
    together = [(size, False) for size in (128, 64, 32)]
    apart = [(size, True) for size in (128, 64, 32)]
    small = [(size, False) for size in (16, 8)]
    if sheet["class"] == "consumer" and era == "nvme":
        # Few dies of many layers [the catalog's 980 and 980 PRO].
        together = [pair for pairs in zip(together, apart, strict=True) for pair in pairs]
    order = [*together, *apart, *small] if era == "nvme" else [*together, *small, *apart]
    dies, independent = 4, False
    for size, independent in order:
        dies = min(4096, max(4, 4 * math.ceil(raw / (size * GIB) / 4)))
        if dies >= max(reading / (planes if independent else 1), programming):
            return dies, independent
    return dies, independent


def flash_values(sheet: Answers, expected: Mapping[str, Expected], chips: Chips) -> list[Value]:
    """Return the values of the dies."""
    flash, era = flash_of(sheet), era_of(sheet)
    dies = chips.dies
    die_rule = "the largest die of 8 to 128 GiB with which reads and programs reach the rates"
    channels = min(dies, 8 if era == "sata" else 16 if lane_count(sheet) <= 4 else 32)
    rate, slow, fast = channel_of(sheet, flash)
    common = [
        fixed("dies", dies, max(2, dies // 2), dies * 2, die_rule),
        fixed("channels", channels, max(1, channels // 2), min(256, channels * 2), CLASS),
        follows("read_time", expected["die_read_time"], "time", None, "tR"),
        follows("program_time", expected["die_program_time"], "time", None, f"{flash}, all pages of a cell"),
        estimate("channel_rate", rate, (slow, fast), "rate", "ONFI and Toggle interfaces of these years"),
        fixed("suspend_time", "50 us", "20 us", "100 us", CLASS),
        fixed("patience", "10 ms", "2 ms", "50 ms", CLASS),
    ]
    if flash == "XPoint":
        return [*common, *_in_place(chips), *_senses("xpoint")]
    planes, bits = chips.planes, BITS[flash]
    reads = "the expected reads require planes that read independently"
    return [
        *common,
        fixed("planes", planes, 2, 4, "two planes until 2018, four since"),
        *([fixed("plane_reads", "independent", "together", "independent", reads)] if chips.independent else []),
        Value("flash_page", "16 KiB", "every die of these years has pages of 16 KiB", given=True),
        fixed("block", f"{chips.block >> 20} MiB", "12 MiB", "48 MiB", "blocks of 3D flash of 32 to 176 layers"),
        fixed(
            "program_pass",
            f"{16 * bits * planes} KiB",
            f"{16 * bits} KiB",
            f"{64 * bits} KiB",
            "all pages of a cell, 16 KiB each, in every plane",
        ),
        fixed("erase_time", "10 ms", "5 ms", "10 ms", "3D TLC"),
        _suspend(sheet),
        fixed("parity", *(("on", "on", "off") if chips.has_parity else ("off", "off", "on")), CLASS),
        *_senses(era),
    ]


def _suspend(sheet: Answers) -> Value:
    """Return whether reads interrupt programs."""
    if sheet["class"] == "consumer" and str(sheet.get("pcie", "3"))[0] < "4":
        rule = "mixes of three families of consumer drives that were measured: since PCIe 4.0 alone reads interrupt"
        return fixed("suspend", "off", "on", "off", rule)
    return fixed("suspend", "on", "on", "off", CLASS)


def _in_place(chips: Chips) -> list[Value]:
    """Return the values of memory that is written in place, those of the catalog's P4800X."""
    like = "as the catalog's P4800X"
    return [
        Value("overwrite", "in-place", "cells of phase-change memory are rewritten in place", given=True),
        fixed("planes", chips.planes, 1, 4, like),
        fixed("flash_page", "4 KiB", "4 KiB", "16 KiB", like),
        fixed("block", f"{chips.block >> 20} MiB", "1 MiB", "32 MiB", like),
        fixed("program_pass", "4 KiB", "4 KiB", "16 KiB", like),
        fixed("erase_time", "1 us", "1 us", "1 ms", like),
        fixed("suspend", "off", "on", "off", like),
        fixed("parity", "off", "on", "off", like),
    ]


def _senses(era: str) -> list[Value]:
    """Return the values behind slow single reads, from the catalog's drives with a stated QoS
    (docs/models/ssd.md)."""
    share, again, spread, scan = {
        "sata": ("1.5 %", "35 %", "20 %", "0.05 %"),
        "nvme": ("0.15 %", "20 %", "20 %", "0.05 %"),
        "xpoint": ("0 %", "10 %", "0 %", "0.001 %"),
    }[era]
    return [
        fixed("page_time_spread", spread, "0 %" if era == "xpoint" else "10 %", "40 %", "kinds of pages in a cell"),
        fixed("retry_share", share, "0 %" if era == "xpoint" else "0.05 %", "3 %", CLASS),
        fixed("retry_again", again, "10 %", "50 %", CLASS),
        fixed("retry_growth", 20, 5, 100, CLASS),
        fixed("retry_steps", 6, 4, 12, CLASS),
        fixed("soft_decode_time", "500 us", "200 us", "2 ms", CLASS),
        Value("prior_wear", "0 %", "model setting: 0 % is new flash", given=True),
        Value("data_age", "0 d", "model setting: 0 d means data just written", given=True),
        fixed("scan_share", scan, "0 %" if era == "xpoint" else "0.01 %", "0.5 %", CLASS),
    ]


def quick_values(sheet: Answers, expected: Mapping[str, Expected], chips: Chips) -> list[Value]:
    """Return the values of an SLC cache; none if the drive has none."""
    cache = expected["slc_cache"]
    if cache.value <= 0:
        return []
    capacity = expected["capacity"].value
    # Caches that are small for the drive always exist; of larger ones only a small part [the catalog's 980 PRO].
    fixed_part = cache.value if cache.value <= 0.02 * capacity else 0.006 * capacity
    rule = f"SLC cache; {cache.why}"
    stated = stated_number(sheet, "slc-cache")
    ends = [max(0.0, end - fixed_part) for end in (cache.low, cache.high)]
    flexible = cache.value - fixed_part
    kept = (min(cache.low, fixed_part), 2 * fixed_part) if flexible or stated is None else (fixed_part, fixed_part)
    return [
        estimate("pslc_static", fixed_part, kept, "size", rule),
        estimate("pslc_dynamic", flexible, (ends[0], ends[1]), "size", rule),
        fixed("pslc_full", "direct", "direct", "fold", "a level rate after the cache"),
        follows(
            "pslc_program_rate",
            expected["write_stream"],
            "rate",
            stated_number(sheet, "write-bandwidth"),
            "sequential write, into the cache",
        ),
        estimate(
            "pslc_program_time",
            chips.quick_program,
            (0.6 * chips.quick_program, 1.2 * chips.quick_program),
            "time",
            "time with which all dies reach the rate of the cache, at most 200 us",
        ),
        fixed("pslc_read_time", "25 us", "20 us", "35 us", "as the catalog's 980 PRO"),
    ]


def writing_values(sheet: Answers, expected: Mapping[str, Expected], chips: Chips) -> tuple[tuple[Value, ...], int]:
    """Return the rate of programming with the over-provisioning, and the rated cycles of blocks."""
    after, dies = expected["write_stream_after_cache"], chips.dies
    parity = dies / (dies - 1) if chips.has_parity else 1.0
    # Besides data, one pass in `dies` is parity, and mapping tables are 1 %.
    program = after.value * parity * 1.01
    most = max(1.6 * program, after.high * parity * 1.01)
    rule = "sequential write, times parity and mapping tables"
    if expected["slc_cache"].value > 0:
        rule = f"sequential write after the cache, times mapping tables; {after.why}"
    stated = "write-bandwidth-after-cache" if expected["slc_cache"].value > 0 else "write-bandwidth"
    least = program if stated in sheet else min(program, after.low * parity * 1.01)
    rate = estimate("program_rate", program, (least, most), "rate", rule)
    reserve = fixed("bad_block_reserve", "2 %", "1 %", "4 %", CLASS)
    amplification, over = _over_provisioning(sheet, expected, chips)
    # Five years of the drive writes per day, at the amplification of random writes; TLC endures 3,000 to 10,000 cycles.
    least_cycles = 1_000 if flash_of(sheet) == "QLC" else 3_000
    cycles = round(min(20_000, max(least_cycles, _dwpd(sheet) * 365 * 5 * amplification)), -2)
    return (over, reserve, rate), int(cycles)


def _dwpd(sheet: Answers) -> float:
    """Return the drive writes per day: as stated, or 0.3 for consumer drives and 1 for others."""
    return stated_number(sheet, "dwpd") or (0.3 if sheet["class"] == "consumer" else 1.0)


def _over_provisioning(sheet: Answers, expected: Mapping[str, Expected], chips: Chips) -> tuple[float, Value]:
    """Return the write amplification of random writes and the over-provisioning. Raise UserError if lines imply more
    over-provisioning than drives rated for this few writes per day have."""
    if flash_of(sheet) == "XPoint":
        return 1.0, fixed("over_provisioning", "7 %", "2 %", "20 %", "as the catalog's P4800X: nothing is collected")
    steady, after = expected["write_rate_steady"], expected["write_stream_after_cache"].value

    def spare(rate: float) -> float:
        return over_provisioning_of(max(1.02, after / (rate * PAGE)))

    share = spare(steady.value)
    if share > MOST_SPARE and _dwpd(sheet) < 1.0:
        if "write-iops" in sheet and ("write-bandwidth" in sheet or "write-bandwidth-after-cache" in sheet):
            raise _too_much(sheet, share)
        share = MOST_SPARE
    amplification = uniform(share)
    held = chips.held / expected["capacity"].value
    ends = (0.8 * (share + held), 1.5 * (share + held))
    if steady.low < steady.high:
        ends = (spare(steady.low) + held, min(spare(steady.high), 1.5 * share) + held)
    least = max(0.05, held + 0.02)
    low, value, high = (min(1.0, max(least, end)) for end in (ends[0], share + held, ends[1]))
    rule = (
        f"sequential over random writes give a write amplification of {amplification:.2f}, and Xiang and Kurkoski's "
        f"formula the share, beside open and free blocks; {steady.why}"
    )
    return amplification, estimate("over_provisioning", value, (low, high), "share", rule)


def _too_much(sheet: Answers, share: float) -> UserError:
    """Return the error for random writes that a drive with this few writes per day does not sustain."""
    key = "write-bandwidth-after-cache"
    stream = key if key in sheet else "write-bandwidth"
    days = f"{_dwpd(sheet):g} drive writes per day" + ("" if "dwpd" in sheet else ", usual for a consumer drive")
    accepted = (
        f"implies over-provisioning of {share:.0%} with {field(stream)} {text(number(sheet, stream), 'rate')}; "
        f"expected at most {MOST_SPARE:.0%} at {days}; if the sheet states it of a new drive or of the SLC cache, give "
        f"{field('write-iops-burst')} in its place"
    )
    return UserError(field("write-iops"), "", f"{number(sheet, 'write-iops'):g}", accepted)


def over_provisioning_of(amplification: float) -> float:
    """Return the share of over-provisioning that gives this write amplification (`uniform`), by bisection to 1e-6."""
    low, high = 1e-4, 20.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if uniform(middle) > amplification else (low, middle)
    return (low + high) / 2
