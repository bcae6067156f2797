"""A volume of which no mechanism is known (`--like black-box`): service times, places and limits, fitted.

First guesses come straight from the measurements: the time of one command from those that came alone, the rate of its
data from their sizes, the spread from their percentiles, places and limits from the most that was done. The ranges
around them are wide, and then it goes as with any product (docs/models/black-box.md).

What it leaves out: the guesses of bursts. Limits are met a second after a load began, and bursts are over by then.
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
"""Times, rates and spreads may be so many times less or more than the guess."""
ABOVE = 20.0
"""A limit may lie so far above the most that was done: it was then not met."""
BELOW = 0.5
LEAST_CONTENTION, MOST_CONTENTION = 2.0, 400.0
"""Percent. A share below the first cannot be told from none with some thirty outstanding."""
P99 = 2.326
"""Standard deviations from the median to the 99th percentile of a normal distribution."""
MOST_SPREAD, LEAST_SPREAD = 0.9, 0.01
SIZES = {"4 KiB": 4096, "64 KiB": 65536, "256 KiB": 262144}
Measure = Callable[[Sequence[Measurement], Sequence[int], str], list[Measured]]
"""Measures loads, each so often; runs are kept in a folder of this name."""


@dataclass(frozen=True)
class Guess:
    """A value in its unit, and the ends of its range."""

    value: float
    low: float
    high: float
    unit: str
    why: str


def loads_for(seconds: float, span_bytes: int | None, reads: bool) -> tuple[list[Measurement], list[int]]:
    """The loads, and how often each is measured. Raises UserError where the time is too short for one of each."""
    loads = [one for one in within(candidates(BLACK_BOX, 0), span_bytes) if not (reads and one.writes)]
    left = seconds - sum(one.time for one in (*loads, *held_out(BLACK_BOX, 1.0)))
    if left < 0:
        raise UserError(
            "question.duration", "", f"{seconds:g} s", f"is too short: expected at least {seconds - left:.0f} s"
        )
    again = int(left // sum(load.time for load in loads))
    return loads, [1 + min(again, 2)] * len(loads)


def checks_for(measured: Sequence[Measured], span_bytes: int | None, reads: bool) -> list[Measurement]:
    """The loads that are held out: a mix, and one at a share of the slowest rate of commands that came alone."""
    alone = [means(one.runs).iops for one in measured if one.load.depth == 1 and "KiB" not in one.load.name]
    loads = within(held_out(BLACK_BOX, SHARE_OF_RATE * min(alone)), span_bytes)
    return [load.reads_only() for load in loads] if reads else loads


def guesses(measured: Sequence[Measured]) -> dict[str, Guess]:
    """What the measurements say directly."""
    seen = {one.load.name: means(one.runs) for one in measured if one.runs}
    found: dict[str, Guess] = {}
    sides = ["read", "write"] if "random writes" in seen else ["read"]
    for side in sides:
        found |= _service(side, seen)
    if len(sides) == 1:
        found |= {key.replace("read", "write"): guess for key, guess in found.items()}
    ios = max(of.iops for of in seen.values())
    moved = max(of.iops * _bytes(name) for name, of in seen.items())
    alone = {side: math.exp(seen[f"random {side}s"].logs[side, "mean"]) / 1e9 for side in sides}
    places = max(of.iops * max(alone.values()) for of in seen.values())
    found["slots"] = Guess(
        max(round(places), 2), max(round(places / AROUND), 1), round(places * AROUND) + 2, "", "Little"
    )
    found["contention"] = _contention(measured, seen)
    found["ios_limit"] = Guess(round(2 * ios), round(BELOW * ios), round(ABOVE * ios), "", "the most that was done")
    moved /= 1e6
    found["rate_limit"] = Guess(2 * moved, BELOW * moved, ABOVE * moved, "MB/s", "the most that was moved")
    return found


def _contention(measured: Sequence[Measured], seen: dict[str, Seen]) -> Guess:
    """How much longer reads take for each other outstanding: from the least that were. At least enough to be found."""
    alone = math.exp(seen["random reads"].logs["read", "mean"])
    queued = [
        one.load for one in measured if one.load.depth > 1 and one.load.name in seen and "KiB" not in one.load.name
    ]
    shares = [
        (load.depth, (math.exp(seen[load.name].logs["read", "mean"]) / alone - 1.0) / (load.depth - 1))
        for load in queued
        if ("read", "mean") in seen[load.name].logs
    ]
    share = 100 * min(shares)[1] if shares else 0.0
    share = min(max(share, LEAST_CONTENTION), MOST_CONTENTION / AROUND)
    return Guess(share, share / 2 / AROUND, share * AROUND, "%", "reads that came together took longer by this")


def _service(side: str, seen: dict[str, Seen]) -> dict[str, Guess]:
    """Of one direction: from commands that came alone, of 4 KiB and of 256 KiB."""
    small, large = seen[f"random {side}s"], seen[f"random {side}s of 256 KiB"]
    # Microseconds, and bytes a microsecond, which are MB/s.
    time = math.exp(small.logs[side, "p50"]) / 1e3
    data = max(math.exp(large.logs[side, "p50"]) / 1e3 - time, 1.0)
    rate = (SIZES["256 KiB"] - SIZES["4 KiB"]) / data
    spread = (small.logs.get((side, "p99"), small.logs[side, "p50"] + P99) - small.logs[side, "p50"]) / P99
    spread = 100 * min(max(spread, LEAST_SPREAD), MOST_SPREAD)
    return {
        f"{side}_time": Guess(time, time / AROUND, time * AROUND, "us", "the median of commands that came alone"),
        f"{side}_rate": Guess(rate, rate / AROUND, rate * AROUND, "MB/s", "larger commands took longer by this"),
        f"{side}_spread": Guess(spread, spread / AROUND, min(spread * AROUND, 100.0), "%", "p99 over p50"),
    }


def _bytes(name: str) -> int:
    return next((size for text, size in SIZES.items() if f"of {text}" in name), 16384 if "half" in name else 4096)


def product_text(found: dict[str, Guess], capacity: int) -> str:
    """A product's file with the guesses."""
    lines = ['kind = "black-box"', 'title = "a volume as it was measured"', 'model = ""', ""]
    lines += ["[values.capacity]", f'value = "{capacity} B"', 'source = "its size"', 'confidence = "high"', ""]
    for key, guess in found.items():
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
    """The guesses as a product, whose file is written into a folder."""
    text = product_text(guesses(measured), capacity)
    path = folder / "black-box.toml"
    write_file(path, text)
    return Product(str(path), text)
