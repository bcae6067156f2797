"""Values of a cloud volume from what its provider states: a rate of I/Os, a throughput and a latency
(docs/models/data-sheets.md)."""

from __future__ import annotations

import math

from hotband.base.errors import UserError
from hotband.questions.datasheet.bounds import Bounds
from hotband.questions.datasheet.lines import Answers, Line, bounded, field, number, stated_number
from hotband.questions.datasheet.values import Expected, Value, estimate, fixed, follows, given, text

US = 1e-6
PAGE = 4096
HELD = 0.01
"""Seconds of its limit that a volume passes at once after a rest [our estimate]."""
CLOUD_LINES = bounded(
    (
        Line("iops", "I/Os a second", "iops", "16000"),
        Line("throughput", "Throughput", "rate", "250 MB/s"),
        Line("latency", "Typical latency of 4 KiB, one at a time", "time", "1 ms"),
        Line("capacity", "Capacity", "size", "1 TB"),
    ),
    {
        "iops": Bounds(10, 10e6, "volumes are sold with 100 to 2,000,000 I/Os a second"),
        "throughput": Bounds(1e6, 100e9, "volumes are sold with 10 MB/s to 24 GB/s"),
        "latency": Bounds(10 * US, 1.0, "volumes complete I/Os in 0.2 to 20 ms"),
        "capacity": Bounds(1e9, 1e15, "volumes have 1 GB to 64 TB"),
    },
)


def cloud_values(sheet: Answers) -> list[Value]:
    """Return every value of the volume's file. Raise UserError for a line that is missing."""
    for line in CLOUD_LINES[:3]:
        if line.key not in sheet:
            raise UserError(field(line.key), "", "", f'missing: {line.question}, such as "{line.example}"')
    ios, rate, latency = (number(sheet, key) for key in ("iops", "throughput", "latency"))
    # A single command moves its data at about the limit of the volume, or at a rate usual for networks.
    moved = max(rate, 1e9)
    ends = (max(rate / 2, 250e6), 4 * moved)
    time = max(US, latency - PAGE / moved)
    slots = min(65_536, max(32, math.ceil(2 * ios * latency)))
    size = stated_number(sheet, "capacity")
    capacity = Expected(*((1e12, 100e9, 16e12) if size is None else (size, size, size)), "volumes of usual sizes")
    spread = "p99 over p50 of volumes: 1.3 to 2.5"
    at_once = "10 ms of its limit at once after a rest"
    median = "latency one at a time, less the data"
    values = [follows("capacity", capacity.each(lambda end: end // 512 * 512), "bytes", size)]
    for direction in ("read", "write"):
        values += [
            Value(f"{direction}_time", text(time, "time"), median, given=True),
            estimate(f"{direction}_rate", moved, ends, "rate", "the network of a host carries 2 to 100 Gb/s"),
            fixed(f"{direction}_spread", "20 %", "10 %", "40 %", spread),
        ]
    burst = max(1, round(HELD * ios))
    return [
        *values,
        fixed("slots", slots, max(1, slots // 2), min(65_536, 4 * slots), "enough for its rate at its latency, twice"),
        Value("ios_limit", round(ios), "data sheet", given=True),
        fixed("ios_burst", burst, 1, 100 * burst, at_once),
        given("rate_limit", rate, "rate"),
        estimate("rate_burst", max(1e6, HELD * rate), (256e3, max(4e6, 100 * HELD * rate)), "size", at_once),
    ]
