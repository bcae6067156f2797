"""What a trace may tell of a disk: times of its controller, its seeks, the rate of its wire, and how it works.

A number has a coordinate of which the prior is the standard normal distribution. Where the product states a range, that
is its middle 90 %; else an overhead may be half a millisecond off, seeks a tenth, and the rate of the wire a factor of
2.7, as of a drive behind the bus of a rig. They are priors of ours, wide enough to be moved by a few hundred I/Os.
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
"""Coordinates go so far from the prior's middle."""


@dataclass(frozen=True)
class Number:
    """A value on a line: `middle` and `spread` in its unit (of its logarithm where it is one), as the prior has it."""

    key: str
    middle: float
    spread: float
    unit: str
    is_log: bool

    def at(self, place: float) -> float:
        """The value at a coordinate."""
        if self.is_log:
            return self.middle * math.exp(self.spread * place)
        return max(self.middle + self.spread * place, 0.0)

    def text(self, place: float) -> str:
        """As a file has it."""
        return f"{self.at(place):.4f} {self.unit}"


@dataclass(frozen=True)
class Switch:
    """A way of working; the first option is the product's own."""

    key: str
    options: tuple[str, ...]


# How far a value may be off where the product has no range: absolute in ms, or as a share.
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
    """The numbers and the switches of a disk, without those that are held. Raises UserError for what is no disk."""
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
            own = values.get(key, options[0])
            switches.append(Switch(key, (own, *(option for option in options if option != own))))
    return numbers, switches


def settings(
    numbers: Sequence[Number], places: Sequence[float], switches: Sequence[Switch], options: Sequence[int]
) -> dict[str, str]:
    """The values at coordinates, with chosen options."""
    found = {number.key: number.text(place) for number, place in zip(numbers, places, strict=True)}
    chosen = zip(switches, options, strict=True)
    return found | {switch.key: switch.options[option] for switch, option in chosen}


def values_of(like: Product) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """The values of a disk as text, and the ranges of those that have one. Raises UserError."""
    found = drive(like.name)
    if found["kind"] != "disk":
        accepted = "expected a disk: other drives are not fitted to traces"
        raise UserError("question.like", "", like.name, f"is a product of kind {found['kind']}; {accepted}")
    expect_one_volume(like)
    values = {value["key"]: value["value"] for value in found["values"]} | dict(like.held)
    ranges = {value["key"]: (value["range"][0], value["range"][1]) for value in found["values"] if value["range"]}
    return values, ranges


def in_unit(text: str, unit: str) -> float:
    """A time in ms, or a rate in MB/s."""
    return number_of(text) * 1e3 if unit == MS else number_of(text) / 1e6


def _spread(low_high: tuple[str, str] | None, unit: str, otherwise: float) -> float:
    if low_high is None:
        return otherwise
    low, high = (in_unit(one, unit) for one in low_high)
    return max((high - low) / 2 / NORMAL_90, 1e-3)


def _log_spread(low_high: tuple[str, str], unit: str) -> float:
    low, high = (in_unit(one, unit) for one in low_high)
    return max(math.log(high / low) / 2 / NORMAL_90, 1e-3)
