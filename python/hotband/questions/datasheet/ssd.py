"""Values that follow from the data sheet of a solid-state drive (docs/models/data-sheets.md has rules and sources)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from hotband.base.errors import UserError
from hotband.questions.datasheet.assumed import flash_of, memory_of
from hotband.questions.datasheet.flash import CLASS, Chips, chips_of, flash_values, quick_values, writing_values
from hotband.questions.datasheet.lines import Answers, field, number, powers, stated_number
from hotband.questions.datasheet.ports import (
    LARGEST_PAYLOAD,
    USUAL_PAYLOAD,
    channel_of,
    era_of,
    lane_count,
    lane_rate,
    port_rate,
)
from hotband.questions.datasheet.values import (
    GIVEN,
    Expected,
    Value,
    estimate,
    fixed,
    follows,
    forced_writes,
    given,
    text,
)

US = 1e-6
PAGE = 4096
SATA_TAGS = 32
"""Commands that SATA drives accept."""
BUSY_CORES = 0.978
"""The share of their rate that two cores reach with as many (the drives' test ssd_cores): the rates of
SATA drives are stated and measured with these."""
P99 = 2.326
"""Deviations of a normal distribution from its median to its 99th percentile."""
ROUNDED = 1.01
"""The factor by which data sheets round rates up."""
PASSED = 1.008
"""The same in a file, whose rates are texts of four digits."""
COUNTED = 1.05
"""The factor by which random I/Os of a data sheet may exceed its stream: both are rounded, and measured apart."""


def ssd_values(sheet: Answers, expected: Mapping[str, Expected]) -> list[Value]:
    """Return every value of the drive's file. Raise UserError for lines that contradict each other."""
    limited = ssd_limits(sheet, expected)
    chips = chips_of(sheet, limited)
    over, endurance = writing_values(sheet, limited, chips)
    era = era_of(sheet)
    return [
        follows("capacity", limited["capacity"], "bytes", stated_number(sheet, "capacity")),
        Value("scale", 1, "model setting: 1 is the whole drive", given=True),
        *_namespaces(era),
        *over,
        *flash_values(sheet, limited, chips),
        *quick_values(sheet, limited, chips),
        *_controller(sheet, limited, chips),
        *_collection(endurance),
        *_power(sheet),
    ]


def ssd_limits(sheet: Answers, expected: Mapping[str, Expected]) -> dict[str, Expected]:
    """Return the expected values, limited by the port and the stated lines. Raise UserError if stated lines
    contradict each other."""
    _check_rates(sheet)
    port = port_rate(sheet) * PASSED
    limited = dict(expected)

    def limit(key: str, most: float, least: float = 1.0) -> Expected:
        limited[key] = limited[key].within(min(least, most), most)
        return limited[key]

    read = limit("read_stream", port)
    write = limit("write_stream", port)
    after = limit("write_stream_after_cache", write.value)
    steady = limit("write_rate_steady", min(write.value, after.value * COUNTED) / PAGE)
    new = limit("write_rate_new", write.value * COUNTED / PAGE, steady.value)
    limit("write_rate_steady", new.value)
    limit("read_rate", min(port, read.value * COUNTED) / PAGE)
    limit("slc_cache", limited["capacity"].value / 3, 0.0)
    # Reads at depth 1 are never faster than the flash, so its time is as short as they require.
    rest = PAGE / channel_of(sheet, flash_of(sheet))[0] + PAGE / read.value
    flash = limited["die_read_time"]
    limit("die_read_time", max(flash.low, limited["read_time"].value - rest), flash.low)
    limited["die_read_time"] = Expected(limited["die_read_time"].value, flash.low, flash.high, flash.why)
    return limited


def _check_rates(sheet: Answers) -> None:
    """Raise UserError for rates above the port's, and for random I/Os that are faster than sequential ones or slower
    than single ones."""
    port = port_rate(sheet)
    pcie = sheet.get("pcie")
    name = f"the port of {pcie or sheet['interface']} carries"
    what = f"{text(port, 'rate')}, what {name}" + (f" in packets of {LARGEST_PAYLOAD} B" if pcie else "")
    for line in ("read-bandwidth", "write-bandwidth", "write-bandwidth-after-cache"):
        if line in sheet and number(sheet, line) > port * ROUNDED:
            raise UserError(field(line), "", text(number(sheet, line), "rate"), f"expected at most {what}")
    _check_order(sheet, "write-bandwidth-after-cache", "write-bandwidth", "rate")
    _check_random(sheet, "read-iops", "read-bandwidth", (port, what))
    _check_random(sheet, "write-iops-burst", "write-bandwidth", (port, what))
    after = "write-bandwidth-after-cache" if "write-bandwidth-after-cache" in sheet else "write-bandwidth"
    _check_random(sheet, "write-iops", after, (port, what))
    _check_order(sheet, "write-iops", "write-iops-burst", "iops")
    if "read-latency" in sheet and "read-iops" in sheet:
        reads, alone = number(sheet, "read-iops"), 1.0 / number(sheet, "read-latency")
        if reads < 0.9 * alone:
            accepted = f"contradicts question.lines.read_latency: one at a time already gives {alone:,.0f}"
            raise UserError(field("read-iops"), "", f"{reads:g}", accepted)


def _check_order(sheet: Answers, lower: str, higher: str, quantity: str) -> None:
    """Raise UserError if a rate that is sustained exceeds that of a new drive or of the SLC cache."""
    if lower in sheet and higher in sheet and number(sheet, lower) > number(sheet, higher) * ROUNDED:
        rates = (number(sheet, line) for line in (lower, higher))
        least, most = (f"{rate:,.12g}" if quantity == "iops" else text(rate, quantity) for rate in rates)
        raise UserError(field(lower), "", least, f"expected at most {field(higher)}, {most}")


def _check_random(sheet: Answers, line: str, stream: str, port: tuple[float, str]) -> None:
    """Raise UserError if random I/Os of 4 KiB exceed the port or the stream."""
    if line not in sheet:
        return
    rate = number(sheet, line) * PAGE
    state = " in steady state" if line == "write-iops" else ""
    stated = f"{number(sheet, line):g}"
    if rate > port[0] * ROUNDED:
        accepted = f"impossible{state}: {text(rate, 'rate')} in {line.partition('-')[0]}s of 4 KiB, more than {port[1]}"
        raise UserError(field(line), "", stated, accepted)
    if stream in sheet and rate > number(sheet, stream) * COUNTED:
        passed = f"{text(number(sheet, stream), 'rate')}, {field(stream)}"
        accepted = f"impossible{state}: {text(rate, 'rate')} in {line.partition('-')[0]}s of 4 KiB, more than {passed}"
        raise UserError(field(line), "", stated, accepted)


def _lanes(sheet: Answers, expected: Mapping[str, Expected]) -> list[Value]:
    if "pcie" not in sheet:
        return []
    pcie = str(sheet["pcie"])
    agreed = "negotiated down to the smallest on the path: most hosts allow 256 or 512"
    payload = fixed("pcie_payload", f"{USUAL_PAYLOAD} B", "128 B", f"{LARGEST_PAYLOAD} B", agreed)
    if max(expected["read_stream"].value, expected["write_stream"].value) > lane_rate(pcie, USUAL_PAYLOAD):
        largest = f"{LARGEST_PAYLOAD} B"
        rule = f"the stated rate takes packets of {LARGEST_PAYLOAD} bytes: the platform it was measured on has them"
        payload = fixed("pcie_payload", largest, f"{USUAL_PAYLOAD} B", largest, rule)
    return [
        Value("pcie_generation", int(pcie.split("x")[0]), GIVEN, given=True),
        Value("pcie_lanes", lane_count(sheet), GIVEN, given=True),
        payload,
    ]


def _namespaces(era: str) -> list[Value]:
    rule = "NVMe drives are delivered with one namespace of all their capacity"
    return [Value("namespaces", "all", rule, given=True)] if era == "nvme" else []


def _controller(sheet: Answers, expected: Mapping[str, Expected], chips: Chips) -> list[Value]:
    era = era_of(sheet)
    if era == "nvme":
        duplex, why = "on", "PCIe carries both directions at once"
        tags = fixed("queue_tags", 1024, 256, 65_536, "NVMe: up to 64 Ki commands a queue; at work at once, fewer")
    else:
        is_sata = str(sheet["interface"]).startswith("sata")
        duplex, why = ("off", "SATA carries one direction at a time") if is_sata else ("on", "SAS")
        tags = Value("queue_tags", SATA_TAGS, "Serial ATA: native command queueing has 32 tags", given=True)
        if not is_sata:
            tags = fixed("queue_tags", 128, 64, 256, CLASS)
    link = follows(
        "link_rate",
        expected["read_stream"],
        "rate",
        stated_number(sheet, "read-bandwidth"),
        "sequential read: usable rate of the port",
    )
    reads, writes = "random reads a second, deep queue", "random writes a second of a new drive, deep queue"
    cores = _cores(sheet, era)
    busy = BUSY_CORES if cores and tags.value == SATA_TAGS else 1.0
    return [
        link,
        *_link_of_writes(sheet, expected, duplex),
        Value("link_duplex", duplex, why, given=True),
        *_lanes(sheet, expected),
        tags,
        _interval("command_interval", expected["read_rate"], stated_number(sheet, "read-iops"), reads, busy),
        _interval("write_interval", expected["write_rate_new"], stated_number(sheet, "write-iops-burst"), writes),
        *cores,
        *_latencies(sheet, expected),
        *_admission(expected, chips),
        *_read_ahead(era),
        fixed("idle_delay", "20 ms", "1 ms", "1 s", CLASS),
        fixed("stall_time", "2 ms", "500 us", "10 ms", CLASS),
        fixed("stall_interval", "10 s" if era == "sata" else "20 s", "1 s" if era == "sata" else "5 s", "60 s", CLASS),
        _buffer(sheet, era),
        *_protection(sheet, expected, chips),
        *_map(sheet, era),
    ]


def _link_of_writes(sheet: Answers, expected: Mapping[str, Expected], duplex: str) -> list[Value]:
    """Return the rate of the link for writes, where writes are streamed faster than reads."""
    written = expected["write_stream"]
    if duplex == "off" or written.value <= expected["read_stream"].value:
        return []
    rule = "sequential write: usable rate of the port"
    return [follows("link_write_rate", written, "rate", stated_number(sheet, "write-bandwidth"), rule)]


def _interval(key: str, rate: Expected, stated: float | None, rule: str, busy: float = 1.0) -> Value:
    interval = rate.inverted().each(lambda time: time * busy)
    return follows(key, interval, "time", busy / stated if stated else None, rule)


def _cores(sheet: Answers, era: str) -> list[Value]:
    """Return the cores of the controller, of drives whose deep reads queue unevenly."""
    if flash_of(sheet) == "XPoint":
        return []
    rule = "deep reads of five measured families, whose errors were known when it was chosen"
    return [fixed("controller_cores", *((2, 1, 4) if era == "sata" else (4, 2, 8)), rule)]


def _buffer(sheet: Answers, era: str) -> Value:
    if memory_of(sheet) != "full":
        return fixed("write_buffer", "1 MB", "500 kB", "8 MB", "memory of the controller: it has no DRAM")
    return fixed("write_buffer", "16 MB" if era == "sata" else "64 MB", "4 MB", "256 MB", CLASS)


def _map(sheet: Answers, era: str) -> list[Value]:
    """Return the values of the mapping table, in part outside of the controller if the drive has no DRAM for it."""
    overhead = fixed("mapping_overhead", "1 %", "0.2 %", "3 %", CLASS)
    memory = memory_of(sheet)
    if memory == "full":
        return [overhead]
    lent = fixed("hmb_size", "64 MiB", "0 B", "200 MB", "what hosts lend drives of its class")
    if memory == "none" or era == "sata":
        lent = Value("hmb_size", "0 B", "no memory of the host is stated", given=True)
    return [
        overhead,
        fixed("map_memory", "1 MiB", "256 KiB", "4 MiB", "as the catalog's 980: memory of the controller"),
        fixed("map_page", "4 KiB", "4 KiB", "16 KiB", "as the catalog's 980"),
        lent,
        fixed("hmb_latency", "1.5 us", "0.7 us", "3 us", "as the catalog's 980: a read of the host's memory"),
    ]


def _latencies(sheet: Answers, expected: Mapping[str, Expected]) -> list[Value]:
    """Return the time in the controller: the latency less the time of flash, channel and link."""
    wire = PAGE / expected["read_stream"].value
    way = PAGE / channel_of(sheet, flash_of(sheet))[0] + wire
    flash = expected["die_read_time"]
    alone = expected["read_time"]
    left = max(0.0, alone.value - flash.value - way)
    rule = "read latency one at a time, less flash, channel and link"
    ends = (max(0.0, alone.low - flash.value - way), max(0.0, alone.high - flash.value - way))
    if "read-latency" in sheet:
        least = flash.low + way
        if number(sheet, "read-latency") < 0.98 * least:
            accepted = (
                f"less than flash, channel and link of its class take: {text(least, 'time')}; leave it out if the "
                f"sheet means sequential reads"
            )
            raise UserError(field("read-latency"), "", text(number(sheet, "read-latency"), "time"), accepted)
        ends = (max(0.0, min(ends[0], left - 10 * US)), max(ends[1], left + 20 * US))
    read = estimate("read_overhead", left, ends, "time", f"{rule}; {alone.why}")
    single = expected["write_time"]
    written = single.each(lambda time: max(1e-7, time - wire))
    stated = stated_number(sheet, "write-latency")
    least = 1.0 / expected["read_rate"].value
    rule = "write latency one at a time, less the link"
    limited = written.within(least, max(least, written.high))
    write = follows("write_overhead", limited, "time", stated and max(least, stated - wire), rule)
    return [read, write]


def _admission(expected: Mapping[str, Expected], chips: Chips) -> list[Value]:
    """Return the spread of single write times, and the time for which a full buffer admits no writes."""
    tail = expected["write_tail"].within(1.0, math.exp(P99))
    spread = tail.each(lambda ratio: math.log(ratio) / P99)
    rule = "99th percentile over median of single writes"
    release = max(chips.first_program, chips.stripe / expected["write_stream"].value)
    together = "dies are programmed together; the time in which the stream of writes fills all of them once"
    return [
        follows("write_spread", spread, "share", None, rule),
        estimate("buffer_release", release, (0.0, 2 * release), "time", together),
    ]


def _read_ahead(era: str) -> list[Value]:
    """Return the values of reading ahead (docs/models/ssd.md)."""
    overhead = {"sata": ("10 us", "5 us", "20 us"), "nvme": ("5 us", "3 us", "12 us")}[era]
    return [
        fixed("read_ahead", "1 MiB", "256 KiB", "4 MiB", CLASS),
        fixed("read_ahead_streams", 8, 1, 64, CLASS),
        fixed("read_ahead_overhead", *overhead, CLASS),
    ]


def _protection(sheet: Answers, expected: Mapping[str, Expected], chips: Chips) -> list[Value]:
    """Return whether the write buffer survives, whether the drive reports it as volatile, and the times of flush and
    map."""
    era = era_of(sheet)
    stated = sheet.get("power-loss-protection")
    plp = fixed("plp", "off", "off", "on", "not promised by the data sheet, so assumed to be absent")
    if stated:
        plp = Value("plp", str(stated), "data sheet", given=True)
    is_sata = str(sheet.get("interface", "")).startswith("sata")
    is_protected = stated == "on"
    shown = is_sata or not is_protected
    rule = "SATA drives are sold with it on; NVMe and SAS drives with a protected buffer report none"
    time = expected["flush_time"]
    journal = fixed("journal_time", "750 us" if era == "sata" else "300 us", "100 us", "2 ms", CLASS)
    flush = Value("flush", "write-out", "no power-loss protection: nothing else is possible", given=True)
    if is_protected:
        durable = "with power-loss protection a flush is durable in the cache, unless the product is known to write out"
        flush = fixed("flush", "durable", "durable", "write-out", durable)
        if time.value > chips.first_program:
            flush = fixed(
                "flush", "write-out", "durable", "write-out", f"a flush takes longer than a write; {time.why}"
            )
    if flush.value == "write-out":
        ends = [max(10 * US, end - chips.first_program) for end in (time.value, time.low, time.high)]
        rule_of_time = f"time of a flush, less programming; {time.why}"
        journal = estimate("journal_time", ends[0], (ends[1], ends[2]), "time", rule_of_time)
    return [
        plp,
        Value("wce", "on" if shown else "off", rule, given=True),
        flush,
        forced_writes(str(sheet.get("interface", "pcie"))),
        journal,
        fixed("journal_entries", 2048, 200, 8192, CLASS),
    ]


def _collection(cycles: int) -> list[Value]:
    """Return the values of collection, wear and compression."""
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
            "power_read",
            max(idle, 0.8 * active),
            (max(idle, 0.6 * active), active),
            "power",
            "reads draw 60 to 100 % of the active power",
        ),
        given("power_write", active, "power"),
    ]
