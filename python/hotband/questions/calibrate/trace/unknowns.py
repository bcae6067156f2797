"""Unknown values of a disk that a trace may determine: times of its controller, seeks, the rate of its port, policies.

A number has a coordinate with the standard normal distribution as prior. A range of the product is its middle 90 %;
without one an overhead may be off by half a millisecond, seeks by a tenth, and the rate of the port by a factor of 2.7,
as for a drive behind the bus of a rig. These are our priors, wide enough for a few hundred I/Os to change them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hotband.base.errors import UserError
from hotband.data.catalog.entries import drive
from hotband.questions.calibrate.model import Product, expect_one_volume
from hotband.questions.calibrate.unknowns import number_of

MS, RATE = "ms", "MB/s"
NORMAL_90 = 1.6449
MOST = 3.0
"""Largest coordinate, from the middle of the prior."""


@dataclass(frozen=True)
class Number:
    """A continuous value: `middle` and `spread` of its prior in its unit (of its logarithm if `is_log`)."""

    key: str
    middle: float
    spread: float
    unit: str
    is_log: bool

    def at(self, coordinate: float) -> float:
        """Return the value at a coordinate."""
        if self.is_log:
            return self.middle * math.exp(self.spread * coordinate)
        return max(self.middle + self.spread * coordinate, 0.0)

    def text(self, coordinate: float) -> str:
        """Format the value at a coordinate for a file."""
        return f"{self.at(coordinate):.4f} {self.unit}"


@dataclass(frozen=True)
class Switch:
    """A policy; the first option is that of the product."""

    key: str
    options: tuple[str, ...]


# Deviation of a value without a range: absolute in ms, or as a share.
OVERHEADS = {"command_overhead": 0.5, "cache_overhead": 0.5}
WRITES = {"command_overhead": "command_overhead_write", "cache_overhead": "cache_overhead_write"}
SEEKS = ("seek_read_track", "seek_read_average", "seek_read_full", "seek_write_average")
SHARES = dict.fromkeys(SEEKS, 0.1) | {"port_rate": 1.0}
SWITCHES = {
    "read_ahead": ("streams", "always", "off"),
    "read_overlap": ("off", "on"),
    "write_overlap": ("off", "on"),
    "zero_latency": ("off", "on"),
}


def unknowns_of(like: Product) -> tuple[list[Number], list[Switch]]:
    """Return the numbers and the switches of a disk, without fixed ones. Raises UserError for other products."""
    values, ranges = values_of(like)
    held = {key for key, _ in like.held}
    numbers: list[Number] = []
    for key, spread in OVERHEADS.items():
        for name in (key, WRITES[key]):
            if name not in held and key in values:
                middle = in_unit(values.get(name, values[key]), MS)
                numbers.append(Number(name, middle, _spread(ranges.get(name), MS, spread), MS, is_log=False))
    for key, share in SHARES.items():
        if key not in held and key in values:
            unit = RATE if key == "port_rate" else MS
            low_high = ranges.get(key)
            spread = share if low_high is None else _log_spread(low_high, unit)
            numbers.append(Number(key, in_unit(values[key], unit), spread, unit, is_log=True))
    switches = []
    for key, options in SWITCHES.items():
        if key not in held:
            stated = values.get(key, options[0])
            switches.append(Switch(key, (stated, *(option for option in options if option != stated))))
    return numbers, switches


def settings(
    numbers: Sequence[Number], places: Sequence[float], switches: Sequence[Switch], options: Sequence[int]
) -> dict[str, str]:
    """Return the values at coordinates, with chosen options."""
    by_key = {number.key: number.text(coordinate) for number, coordinate in zip(numbers, places, strict=True)}
    chosen = zip(switches, options, strict=True)
    return by_key | {switch.key: switch.options[option] for switch, option in chosen}


def values_of(like: Product) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Return the values of a disk as text, and their ranges. Raises UserError."""
    disk = drive(like.name)
    if disk["kind"] != "disk":
        accepted = "expected a disk; only disks can be fitted to traces"
        raise UserError("question.like", "", like.name, f"is a product of kind {disk['kind']}; {accepted}")
    expect_one_volume(like)
    values = {value["key"]: value["value"] for value in disk["values"]} | dict(like.held)
    ranges = {value["key"]: (value["range"][0], value["range"][1]) for value in disk["values"] if value["range"]}
    return values, ranges


def in_unit(text: str, unit: str) -> float:
    """Convert a time to ms, or a rate to MB/s."""
    return number_of(text) * 1e3 if unit == MS else number_of(text) / 1e6


def _spread(low_high: tuple[str, str] | None, unit: str, otherwise: float) -> float:
    if low_high is None:
        return otherwise
    low, high = (in_unit(end, unit) for end in low_high)
    return max((high - low) / 2 / NORMAL_90, 1e-3)


def _log_spread(low_high: tuple[str, str], unit: str) -> float:
    low, high = (in_unit(end, unit) for end in low_high)
    return max(math.log(high / low) / 2 / NORMAL_90, 1e-3)
