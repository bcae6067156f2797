"""A volume without a known mechanism (`--like black-box`): fit service times, slots and limits.

First guesses come directly from the measurements: the time of one command from commands that came alone, the rate of
its data from their sizes, the spread from their percentiles, slots and limits from the highest rates. The ranges around
them are wide, and the fit is that of any product (docs/models/data-sheets.md).

Left out: guesses of bursts. Limits apply a second after a load began, when bursts are over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.write import write_file
from hotband.questions.calibrate.figures import Seen, means
from hotband.questions.calibrate.loads import BLACK_BOX, SHARE_OF_RATE, Measurement, candidates, held_out, within
from hotband.questions.calibrate.measured import Measured
from hotband.questions.calibrate.model import Product

AROUND = 4.0
"""Factor by which times, rates and spreads may differ from the guess."""
ABOVE = 20.0
"""Factor by which a limit may exceed the highest measured rate: the load then did not reach it."""
BELOW = 0.5
LEAST_CONTENTION, MOST_CONTENTION = 2.0, 400.0
"""Percent. With some thirty outstanding I/Os, a share below the first cannot be distinguished from none."""
P99 = 2.326
"""Standard deviations from the median to the 99th percentile of a normal distribution."""
MOST_SPREAD, LEAST_SPREAD = 0.9, 0.01
SIZES = {"4 KiB": 4096, "64 KiB": 65536, "256 KiB": 262144}
Measure = Callable[[Sequence[Measurement], Sequence[int], str], list[Measured]]
"""A function that measures loads, each a number of times, and stores the runs in a folder of this name."""


@dataclass(frozen=True)
class Guess:
    """A value in its unit, and the ends of its range."""

    value: float
    low: float
    high: float
    unit: str
    why: str


def loads_for(seconds: float, span_bytes: int | None, reads: bool) -> tuple[list[Measurement], list[int]]:
    """Return the loads and the number of measurements of each. Raises UserError if the time is too short for one
    each."""
    loads = [load for load in within(candidates(BLACK_BOX, 0), span_bytes) if not (reads and load.writes)]
    left = seconds - sum(load.time for load in (*loads, *held_out(BLACK_BOX, 1.0)))
    if left < 0:
        raise UserError(
            "question.duration", "", f"{seconds:g} s", f"is too short: expected at least {seconds - left:.0f} s"
        )
    again = int(left // sum(load.time for load in loads))
    return loads, [1 + min(again, 2)] * len(loads)


def checks_for(measured: Sequence[Measured], span_bytes: int | None, reads: bool) -> list[Measurement]:
    """Return the validation loads: a mix, and one at a share of the slowest rate of commands that came alone."""
    alone = [
        means(load_measured.runs).iops
        for load_measured in measured
        if load_measured.load.depth == 1 and "KiB" not in load_measured.load.name
    ]
    loads = within(held_out(BLACK_BOX, SHARE_OF_RATE * min(alone)), span_bytes)
    return [load.reads_only() for load in loads] if reads else loads


def guesses(measured: Sequence[Measured]) -> dict[str, Guess]:
    """Return first guesses of the values from the measurements."""
    seen = {load_measured.load.name: means(load_measured.runs) for load_measured in measured if load_measured.runs}
    by_key: dict[str, Guess] = {}
    sides = ["read", "write"] if "random writes" in seen else ["read"]
    for side in sides:
        by_key |= _service(side, seen)
    if len(sides) == 1:
        by_key |= {key.replace("read", "write"): guess for key, guess in by_key.items()}
    ios = max(figures.iops for figures in seen.values())
    moved = max(figures.iops * _bytes(name) for name, figures in seen.items())
    alone = {side: math.exp(seen[f"random {side}s"].logs[side, "mean"]) / 1e9 for side in sides}
    places = max(figures.iops * max(alone.values()) for figures in seen.values())
    by_key["slots"] = Guess(
        max(round(places), 2), max(round(places / AROUND), 1), round(places * AROUND) + 2, "", "Little"
    )
    by_key["contention"] = _contention(measured, seen)
    by_key["ios_limit"] = Guess(round(2 * ios), round(BELOW * ios), round(ABOVE * ios), "", "the highest IOPS")
    moved /= 1e6
    by_key["rate_limit"] = Guess(2 * moved, BELOW * moved, ABOVE * moved, "MB/s", "the highest bandwidth")
    return by_key


def _contention(measured: Sequence[Measured], seen: dict[str, Seen]) -> Guess:
    """Guess how much longer a read takes per other outstanding read, from the smallest depth that shows it; at least
    the minimum."""
    alone = math.exp(seen["random reads"].logs["read", "mean"])
    queued = [
        load_measured.load
        for load_measured in measured
        if load_measured.load.depth > 1 and load_measured.load.name in seen and "KiB" not in load_measured.load.name
    ]
    shares = [
        (load.depth, (math.exp(seen[load.name].logs["read", "mean"]) / alone - 1.0) / (load.depth - 1))
        for load in queued
        if ("read", "mean") in seen[load.name].logs
    ]
    share = 100 * min(shares)[1] if shares else 0.0
    share = min(max(share, LEAST_CONTENTION), MOST_CONTENTION / AROUND)
    return Guess(share, share / 2 / AROUND, share * AROUND, "%", "the extra time of concurrent reads")


def _service(side: str, seen: dict[str, Seen]) -> dict[str, Guess]:
    """Guess the values of one direction, from commands of 4 KiB and 256 KiB that came alone."""
    small, large = seen[f"random {side}s"], seen[f"random {side}s of 256 KiB"]
    # Microseconds, and bytes a microsecond, which are MB/s.
    time = math.exp(small.logs[side, "p50"]) / 1e3
    data = max(math.exp(large.logs[side, "p50"]) / 1e3 - time, 1.0)
    rate = (SIZES["256 KiB"] - SIZES["4 KiB"]) / data
    spread = (small.logs.get((side, "p99"), small.logs[side, "p50"] + P99) - small.logs[side, "p50"]) / P99
    spread = 100 * min(max(spread, LEAST_SPREAD), MOST_SPREAD)
    return {
        f"{side}_time": Guess(time, time / AROUND, time * AROUND, "us", "the median of commands issued alone"),
        f"{side}_rate": Guess(rate, rate / AROUND, rate * AROUND, "MB/s", "the extra time of larger commands"),
        f"{side}_spread": Guess(spread, spread / AROUND, min(spread * AROUND, 100.0), "%", "p99 over p50"),
    }


def _bytes(name: str) -> int:
    return next((size for text, size in SIZES.items() if f"of {text}" in name), 16384 if "half" in name else 4096)


def product_text(by_key: dict[str, Guess], capacity: int) -> str:
    """Return a product file with the guesses."""
    lines = ['kind = "black-box"', 'title = "a measured volume"', 'model = ""', ""]
    lines += ["[values.capacity]", f'value = "{capacity} B"', 'source = "its size"', 'confidence = "high"', ""]
    for key, guess in by_key.items():
        value, low, high = (_text(number, guess.unit) for number in (guess.value, guess.low, guess.high))
        lines += [f"[values.{key}]", f"value = {value}", f"range = [{low}, {high}]"]
        lines += [f'source = "guessed: {guess.why}"', 'confidence = "low"', "estimate = true", ""]
    for key, value in (("ios_burst", "1"), ("rate_burst", '"1 MiB"')):
        lines += [f"[values.{key}]", f"value = {value}", 'source = "not measured: limits are met at once"']
        lines += ['confidence = "low"', ""]
    return "\n".join(lines)


def _text(number: float, unit: str) -> str:
    return f'"{number:.6g} {unit}"' if unit else str(round(number))


def product_of(measured: Sequence[Measured], capacity: int, folder: Path) -> Product:
    """Write the guesses as a product file into a folder, and return the product."""
    text = product_text(guesses(measured), capacity)
    path = folder / "black-box.toml"
    write_file(path, text)
    return Product(str(path), text)
