"""Values that follow from the data sheet of a solid-state drive (docs/models/data-sheets.md has rules and sources)."""

from __future__ import annotations

import math

from hotband.base.errors import UserError
from hotband.inference.amplification import uniform
from hotband.questions.datasheet.lines import INTERFACES, Answers, field, number, powers
from hotband.questions.datasheet.values import GIVEN, Value, estimate, fixed, forced_writes, given, text

US = 1e-6
GIB = 1 << 30
LANE = {"2": 500e6, "3": 984.6e6, "4": 1969.2e6, "5": 3938.5e6, "6": 7375e6}
"""Bytes per second of a PCIe lane after coding: 8b/10b (2.0), 128b/130b, and flits, 236 of 256 bytes (6.0)."""
PACKET = 24
"""Bytes of framing and header of each packet [Intel AN 829]."""
USUAL_PAYLOAD, LARGEST_PAYLOAD = 256, 512
"""Bytes of data in a packet. The platform sets it, not the drive; makers measure on platforms with large ones."""
ROUNDED = 1.01
"""The factor by which data sheets round rates up."""
PAGE = 4096
CLASS = "drives of its class in the catalog"
READ_TIME = {"sata": (70 * US, 50 * US, 80 * US), "nvme": (55 * US, 40 * US, 75 * US)}
"""tR: 3D TLC of 2017 [facts/physics.md]; of 2019 and later 40 to 60 us stated at ISSCC, and what verifying adds."""
PROGRAM_TIME = 2e-3
"""Seconds of one pass of 3D TLC, three pages of 16 KiB in each plane [facts/physics.md]."""
PLANES = {"sata": 2, "nvme": 4}
CHANNEL = {
    "sata": (400e6, 333e6, 533e6),
    "2": (200e6, 133e6, 400e6),
    "3": (667e6, 533e6, 800e6),
    "4": (1.2e9, 0.8e9, 1.6e9),
    "5": (1.6e9, 1.2e9, 2.4e9),
    "6": (2.4e9, 1.6e9, 3.6e9),
}
"""Rates of ONFI and Toggle interfaces: SATA drives of 2017, and PCIe generations of 2010, 2017, 2020, 2023 and 2025
[ONFI 2.0 has 133 MT/s, 2.1 has 200, 3.0 has 400, 4.0 has 800, 4.2 has 1,600, 5.0 has 2,400, 5.1 has 3,600; Toggle 4.0
has 1,200]."""
OPEN_BLOCKS = 6
"""Blocks of all dies that are open, or free for the next writes, and so hold no overwritten data: three free ones
(`gc_free_low`), and open ones for hosts and relocated data [our estimate, as in the catalog's files]."""


def ssd_values(sheet: Answers) -> list[Value]:
    """Return every value of the drive's file. Raise UserError for lines that contradict each other."""
    era = "nvme" if "pcie" in sheet else "sata"
    _check_rates(sheet)
    dies, die_rule = _dies(sheet, era)
    program, over, endurance = _writing(sheet, dies, OPEN_BLOCKS * _block(sheet, era, dies) * dies * PLANES[era])
    return [
        given("capacity", number(sheet, "capacity"), "bytes"),
        Value("scale", 1, "a switch of the model: 1 is the whole drive", given=True),
        *_namespaces(era),
        over,
        fixed("bad_block_reserve", "2 %", "1 %", "4 %", CLASS),
        fixed("dies", dies, max(2, dies // 2), dies * 2, die_rule),
        *_flash(sheet, era, dies),
        program,
        *_controller(sheet, era),
        *_collection(endurance),
        *_power(sheet),
    ]


def _lane_rate(pcie: str, payload: int) -> float:
    """Return the bytes of data per second that lanes carry in one direction, in packets of `payload` bytes."""
    generation, lanes = pcie.split("x")
    return LANE[generation] * int(lanes) * payload / (payload + PACKET)


def _port(sheet: Answers) -> tuple[float, str]:
    """Return the most bytes per second that the port carries in one direction, and words for it."""
    if "pcie" not in sheet:
        return INTERFACES[str(sheet["interface"])], f"the port of {sheet['interface']} carries"
    pcie = str(sheet["pcie"])
    return _lane_rate(pcie, LARGEST_PAYLOAD), f"the port of {pcie} carries in packets of {LARGEST_PAYLOAD} B"


def _check_rates(sheet: Answers) -> None:
    """Raise UserError for rates above the port's, and for random reads that are faster than sequential ones or slower
    than single ones."""
    port, carrier = _port(sheet)
    what = f"{text(port, 'rate')}, what {carrier}"
    for line in ("read-bandwidth", "write-bandwidth"):
        if number(sheet, line) > port * ROUNDED:
            raise UserError(field(line), "", text(number(sheet, line), "rate"), f"expected at most {what}")
    reads, sequential = number(sheet, "read-iops"), number(sheet, "read-bandwidth")
    if reads * PAGE > min(port * ROUNDED, sequential * 1.05):
        passed = what if reads * PAGE > port * ROUNDED else f"{text(sequential, 'rate')}, question.lines.read_bandwidth"
        accepted = f"impossible: {text(reads * PAGE, 'rate')} in reads of 4 KiB, more than {passed}"
        raise UserError("question.lines.read_iops", "", f"{reads:g}", accepted)
    if "read-latency" in sheet and reads < 0.9 / number(sheet, "read-latency"):
        alone = 1.0 / number(sheet, "read-latency")
        accepted = f"contradicts question.lines.read_latency: one at a time already gives {alone:,.0f}"
        raise UserError("question.lines.read_iops", "", f"{reads:g}", accepted)


def _lane_count(sheet: Answers) -> int:
    return int(str(sheet["pcie"]).split("x")[1])


def _lanes(sheet: Answers) -> list[Value]:
    if "pcie" not in sheet:
        return []
    pcie = str(sheet["pcie"])
    agreed = "agreed to the least on the way: most hosts allow 256 or 512"
    payload = fixed("pcie_payload", f"{USUAL_PAYLOAD} B", "128 B", f"{LARGEST_PAYLOAD} B", agreed)
    stated = max(number(sheet, "read-bandwidth"), number(sheet, "write-bandwidth"))
    if stated > _lane_rate(pcie, USUAL_PAYLOAD):
        largest = f"{LARGEST_PAYLOAD} B"
        rule = f"the stated rate takes packets of {LARGEST_PAYLOAD} bytes: the platform it was measured on has them"
        payload = fixed("pcie_payload", largest, f"{USUAL_PAYLOAD} B", largest, rule)
    return [
        Value("pcie_generation", int(pcie.split("x")[0]), GIVEN, given=True),
        Value("pcie_lanes", _lane_count(sheet), GIVEN, given=True),
        payload,
    ]


def _namespaces(era: str) -> list[Value]:
    rule = "NVMe drives are delivered with one namespace of all their capacity"
    return [Value("namespaces", "all", rule, given=True)] if era == "nvme" else []


def _dies(sheet: Answers, era: str) -> tuple[int, str]:
    """Return the fewest dies of 128, 64 or 32 GiB that reach the stated rates, and the rule.

    A die is busy for tR per read and for one pass of programming. Dies are never all busy at once, so the number must
    be half as many again.
    """
    reading = number(sheet, "read-iops") * READ_TIME[era][0]
    programming = number(sheet, "write-bandwidth") * PROGRAM_TIME / (48 * 1024 * PLANES[era])
    needed = 1.5 * max(reading, programming)
    raw = number(sheet, "capacity") * 1.1
    for size in (128, 64, 32):
        dies = max(4, 4 * math.ceil(raw / (size * GIB) / 4))
        if dies >= needed:
            break
    return dies, "the largest die of 32 to 128 GiB with which reads and programs reach the stated rates"


def _flash(sheet: Answers, era: str, dies: int) -> list[Value]:
    read, least, most = READ_TIME[era]
    rate, slow, fast = _channel(sheet)
    channels = min(dies, 8 if era == "sata" else 16 if _lane_count(sheet) <= 4 else 32)
    planes = PLANES[era]
    block = _block(sheet, era, dies) >> 20
    return [
        fixed("channels", channels, max(1, channels // 2), min(256, channels * 2), CLASS),
        fixed("planes", planes, 2, 4, "3D TLC: two planes until 2018, four since"),
        Value("flash_page", "16 KiB", "every 3D TLC die of these years has pages of 16 KiB", given=True),
        fixed("block", f"{block} MiB", "12 MiB", "48 MiB", "blocks of 3D TLC of 32 to 176 layers"),
        fixed("program_pass", f"{48 * planes} KiB", "48 KiB", "192 KiB", "three pages of 16 KiB a plane in one pass"),
        estimate("read_time", read, (least, most), "time", "tR of 3D TLC of these years"),
        fixed("program_time", "2 ms", "1.5 ms", "2.5 ms", "3D TLC, three pages in one pass"),
        fixed("erase_time", "10 ms", "5 ms", "10 ms", "3D TLC"),
        estimate("channel_rate", rate, (slow, fast), "rate", "ONFI and Toggle interfaces of these years"),
        fixed("suspend", "on", "on", "off", CLASS),
        fixed("suspend_time", "50 us", "20 us", "100 us", CLASS),
        fixed("patience", "10 ms", "2 ms", "50 ms", CLASS),
        fixed("parity", "on", "on", "off", CLASS),
        *_senses(era),
    ]


def _senses(era: str) -> list[Value]:
    """Return the values behind slow single reads, from the catalog's drives with a stated QoS
    (docs/models/ssd-tails.md)."""
    share, again = {"sata": ("1.5 %", "35 %"), "nvme": ("0.15 %", "20 %")}[era]
    return [
        fixed("page_time_spread", "20 %", "10 %", "40 %", "three kinds of pages in a cell of TLC"),
        fixed("retry_share", share, "0.05 %", "3 %", CLASS),
        fixed("retry_again", again, "10 %", "50 %", CLASS),
        fixed("retry_growth", 20, 5, 100, CLASS),
        fixed("retry_steps", 6, 4, 12, CLASS),
        fixed("soft_decode_time", "500 us", "200 us", "2 ms", CLASS),
        Value("prior_wear", "0 %", "a switch of the model: 0 % is new flash", given=True),
        Value("data_age", "0 d", "a switch of the model: 0 d is data just written", given=True),
        fixed("scan_share", "0.05 %", "0.01 %", "0.5 %", CLASS),
    ]


def _block(sheet: Answers, era: str, dies: int) -> int:
    """Return the bytes of a block of one plane, 12 to 48 MiB: the block of all dies has about 1/1,000 of the
    capacity."""
    share = number(sheet, "capacity") / 1000 / dies / PLANES[era] / (6 << 20)
    return (6 << 20) * max(2, min(8, round(share)))


def _channel(sheet: Answers) -> tuple[float, float, float]:
    return CHANNEL[str(sheet["pcie"])[0] if "pcie" in sheet else "sata"]


def _writing(sheet: Answers, dies: int, held: float) -> tuple[Value, Value, int]:
    """Return the rate of programming, the over-provisioning, and the rated cycles of blocks; `held` bytes are in blocks
    that are open or free."""
    bandwidth = number(sheet, "write-bandwidth")
    # Besides data, one pass in `dies` is parity, and mapping tables are 1 %.
    program = bandwidth * dies / (dies - 1) * 1.01
    dwpd = number(sheet, "dwpd") if "dwpd" in sheet else 1.0
    usual = 0.10 if dwpd < 2 else 0.28 if dwpd < 6 else 0.60
    if "write-iops" not in sheet:
        rule = "over-provisioning by drive writes per day: 7 to 15 % (1), 28 % (3), 40 % and more (10)"
        over = estimate("over_provisioning", usual, (0.07, max(0.15, usual * 1.4)), "share", rule)
        amplification = uniform(usual)
    else:
        written = number(sheet, "write-iops") * PAGE
        if written > bandwidth * 1.05:
            stated = f"{number(sheet, 'write-iops'):g}"
            accepted = f"impossible in steady state: {text(written, 'rate')}, more than question.lines.write_bandwidth"
            raise UserError("question.lines.write_iops", "", stated, accepted)
        amplification = max(1.02, bandwidth / written)
        share = over_provisioning_of(amplification) + held / number(sheet, "capacity")
        share = min(1.0, max(0.05, share))
        rule = (
            f"sequential over random writes give a write amplification of {amplification:.2f}, "
            "and Xiang and Kurkoski's formula the share, beside open and free blocks"
        )
        over = estimate("over_provisioning", share, (max(0.04, 0.8 * share), min(1.0, 1.5 * share)), "share", rule)
    # Five years of the drive writes per day, at the amplification of random writes; TLC endures 3,000 to 10,000 cycles.
    cycles = round(min(20_000, max(3_000, dwpd * 365 * 5 * amplification)), -2)
    rule = "sequential write, times parity and mapping tables"
    rate = estimate("program_rate", program, (program, 1.6 * program), "rate", rule)
    return rate, over, int(cycles)


def over_provisioning_of(amplification: float) -> float:
    """Return the share of over-provisioning that gives this write amplification (`uniform`), by bisection to 1e-6."""
    low, high = 1e-4, 20.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if uniform(middle) > amplification else (low, middle)
    return (low + high) / 2


def _controller(sheet: Answers, era: str) -> list[Value]:
    if era == "nvme":
        duplex, why = "on", "PCIe carries both directions at once"
        tags = fixed("queue_tags", 1024, 256, 65_536, "NVMe: up to 64 Ki commands a queue; at work at once, fewer")
    else:
        duplex, why = ("off", "SATA carries one direction at a time") if sheet["interface"] == "sata" else ("on", "SAS")
        tags = Value("queue_tags", 32, "Serial ATA: native command queueing has 32 tags", given=True)
        if sheet["interface"] != "sata":
            tags = fixed("queue_tags", 128, 64, 256, CLASS)
    read = number(sheet, "read-bandwidth")
    interval = 1.0 / number(sheet, "read-iops")
    return [
        Value("link_rate", text(read, "rate"), "sequential read: what the port passes in practice", given=True),
        Value("link_duplex", duplex, why, given=True),
        *_lanes(sheet),
        tags,
        Value("command_interval", text(interval, "time"), "random reads a second, deep queue", given=True),
        *_latencies(sheet, era, read),
        *_read_ahead(era),
        fixed("idle_delay", "20 ms", "1 ms", "1 s", CLASS),
        fixed("stall_time", "2 ms", "500 us", "10 ms", CLASS),
        fixed("stall_interval", "10 s" if era == "sata" else "20 s", "1 s" if era == "sata" else "5 s", "60 s", CLASS),
        fixed("write_buffer", "16 MB" if era == "sata" else "64 MB", "4 MB", "256 MB", CLASS),
        *_protection(sheet, era),
        fixed("mapping_overhead", "1 %", "0.2 %", "3 %", CLASS),
    ]


def _latencies(sheet: Answers, era: str, link: float) -> list[Value]:
    """Return the time in the controller: the stated latency less the time of flash, channel and link."""
    flash = READ_TIME[era][0] + PAGE / _channel(sheet)[0]
    wire = PAGE / link
    usual = {
        "sata": (22 * US, 12 * US, 60 * US, 37 * US, 28 * US, 45 * US),
        "nvme": (12 * US, 6 * US, 25 * US, 8 * US, 5 * US, 15 * US),
    }[era]
    values = []
    if "read-latency" in sheet:
        left = number(sheet, "read-latency") - flash - wire
        if left < 0.0:
            accepted = f"less than flash, channel and link of its class take: {text(flash + wire, 'time')}"
            raise UserError("question.lines.read_latency", "", text(number(sheet, "read-latency"), "time"), accepted)
        rule = "read latency one at a time, less flash, channel and link"
        values.append(estimate("read_overhead", left, (max(0.0, left - 10 * US), left + 20 * US), "time", rule))
    else:
        values.append(estimate("read_overhead", usual[0], usual[1:3], "time", CLASS))
    if "write-latency" in sheet:
        left = max(1.0 / number(sheet, "read-iops"), number(sheet, "write-latency") - wire)
        rule = "write latency one at a time, less the link"
        values.append(Value("write_overhead", text(left, "time"), rule, given=True))
    else:
        values.append(estimate("write_overhead", usual[3], usual[4:6], "time", CLASS))
    return values


def _read_ahead(era: str) -> list[Value]:
    """Return the values of reading ahead (docs/models/ssd.md)."""
    overhead = {"sata": ("10 us", "5 us", "20 us"), "nvme": ("5 us", "3 us", "12 us")}[era]
    return [
        fixed("read_ahead", "1 MiB", "256 KiB", "4 MiB", CLASS),
        fixed("read_ahead_streams", 8, 1, 64, CLASS),
        fixed("read_ahead_overhead", *overhead, CLASS),
    ]


def _protection(sheet: Answers, era: str) -> list[Value]:
    """Return whether the write buffer survives, whether the drive reports it as volatile, and the times of flush and
    map."""
    stated = sheet.get("power-loss-protection")
    plp = fixed("plp", "off", "off", "on", "what a data sheet does not promise is not there")
    if stated:
        plp = Value("plp", str(stated), "data sheet", given=True)
    is_sata = sheet.get("interface") == "sata"
    is_protected = stated == "on"
    shown = is_sata or not is_protected
    rule = "SATA drives are sold with it on; NVMe and SAS drives with a protected buffer report none"
    flush = Value("flush", "write-out", "no power-loss protection: there is nothing else to do", given=True)
    if is_protected:
        durable = "with power-loss protection a flush is durable in the cache, unless the product is known to write out"
        flush = fixed("flush", "durable", "durable", "write-out", durable)
    time, entries = ("750 us", 600) if era == "sata" else ("300 us", 2048)
    return [
        plp,
        Value("wce", "on" if shown else "off", rule, given=True),
        flush,
        forced_writes(str(sheet.get("interface", "pcie"))),
        fixed("journal_time", time, "100 us", "2 ms", CLASS),
        fixed("journal_entries", entries, 200, 8192, CLASS),
    ]


def _collection(cycles: int) -> list[Value]:
    rule = "five years of the stated drive writes a day, at the write amplification of random ones"
    return [
        fixed("gc_victims", "greedy", "greedy", "cost-benefit", CLASS),
        fixed("gc_window", 64, 16, 256, CLASS),
        fixed("gc_separation", "relocated", "none", "hot-cold", CLASS),
        fixed("gc_free_low", 3, 3, 8, CLASS),
        fixed("gc_free_high", 8, 5, 32, CLASS),
        fixed("wear_gap", 50, 10, 200, CLASS),
        fixed("rated_cycles", cycles, cycles // 2, cycles * 2, rule),
        fixed("cycle_spread", "10 %", "5 %", "20 %", CLASS),
        Value("compression", "off", "no such feature is stated", given=True),
        fixed("compression_efficiency", "87.5 %", "75 %", "100 %", "Seagate's rule for DuraWrite; not in use"),
        fixed("compression_granule", "512 B", "64 B", "4 KiB", "not in use"),
        fixed("compression_header", "16 B", "0 B", "64 B", "not in use"),
        fixed("decompression_time", "4 us", "1 us", "10 us", "not in use"),
    ]


def _power(sheet: Answers) -> list[Value]:
    stated = powers(sheet)
    if stated is None:
        return []
    idle, active = stated
    return [
        given("power_idle", idle, "power"),
        estimate(
            "power_read", 0.8 * active, (0.6 * active, active), "power", "reads draw 60 to 100 % of the active power"
        ),
        given("power_write", active, "power"),
    ]
