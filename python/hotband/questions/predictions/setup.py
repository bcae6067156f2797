"""The machine and the workload that represent a row of a corpus: one rule for all families.

Values that the row states are set; the others have one value for all drives of a kind, and the interval covers their
uncertainty (docs/models/data-sheets.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hotband.data.corpus.loads import Load
from hotband.inference.corpus.observed import host_time

MODELLED = 4e9
"""Bytes of a solid-state drive that are modelled: the remainder has the same proportions."""
LARGEST_BLOCK = 64 << 20
"""Largest I/O of a workload in bytes: larger ones are split, as kernels do."""
LEAST_SHARE = 0.002
"""Smallest share of a scaled drive that a load touches: with fewer pages, I/Os would share dies that they do not share
on a real drive."""
PROBE_RATE = 10_000.0
"""I/Os per second of the probe of the open loops (README of the corpus: rows `ssdiq`)."""
BULK_READ_PCT, PROBE_READ_PCT = 1.0, 50.0
FILL_BLOCK = 1 << 20
OVERWRITES = 3
"""Overwrites of a span on an otherwise empty drive (SNIA's PTS writes twice, and then until rates are steady)."""

BUFFER = 8 << 20
"""Bytes of the write buffer of a scaled drive: if it were scaled, too, it would not hold one large write."""
FRAMES = 6.5e-6
"""Seconds for the frames of a command at 3 Gb/s: twice the time at 6 Gb/s, at which drives are rated for up to 99,000
commands of 4 KiB."""
READ_BYTES = 1e9
FEWEST = 8


@dataclass(frozen=True)
class Amount:
    """The number of I/Os of a load before and during the measurement, and its longest time."""

    before: int
    measured: int
    most: str


@dataclass(frozen=True)
class Size:
    """The capacity of a drive in bytes, and the factor by which its blocks can be scaled down."""

    capacity: float
    largest_scale: int = 1

    @property
    def scale(self) -> int:
        """Factor by which it is scaled down: a power of two."""
        scale = 1
        while self.capacity / (scale * 2) >= MODELLED and scale * 2 <= self.largest_scale:
            scale *= 2
        return scale


def amount_of(load: Load, size: Size) -> Amount:
    """Return the amount of a load to run on a drive: enough for its figures, and within the drive's state."""
    if load.kind == "disk":
        before = 2000 if load.direction == "read" else 8000
        return Amount(before, 8000, "3000 s") if load.random else Amount(200, 3000, "600 s")
    modelled = size.capacity / size.scale
    if load.part == "fill":
        return Amount(0, max(1, int(0.95 * modelled / load.block)), "3000 s")
    if load.rate is not None:
        return Amount(20_000, 100_000, "60 s")
    if load.seconds is not None:
        return Amount(0, max(1, int(modelled / load.block)), f"{load.seconds / size.scale:.6g} s")
    if load.direction == "read":
        return Amount(1000, _ios(load, 40_000, READ_BYTES), "60 s")
    if load.random and (load.state == "steady" or load.part == "beyond"):
        return Amount(_ios(load, 60_000, modelled), _ios(load, 100_000, modelled), "120 s")
    return Amount(_ios(load, 500, 0.005 * modelled), _ios(load, 30_000, 0.04 * modelled), "60 s")


def _ios(load: Load, most: int, of_bytes: float) -> int:
    """Return the number of I/Os that move these bytes: at most `most`, but at least four times those in flight."""
    return max(FEWEST, min(most, int(of_bytes / load.block)), 4 * load.depth)


def workload_text(load: Load, size: Size) -> str:
    """Return the workload of a load on a drive of this size, as TOML."""
    amount, capacity = amount_of(load, size), size.capacity
    lines = ['title = "a row of the corpus"', 'source = "its columns"']
    streams = 'streams = ["load"]'
    if load.rate is None:
        lines += ["[load]", f"closed = {{ threads = {load.threads}, depth = {max(1, load.depth // load.threads)} }}"]
        lines += _stream("load", load, capacity, load.read_pct)
    else:
        streams = 'streams = ["bulk", "probe"]'
        lines += _stream("bulk", load, capacity, BULK_READ_PCT, _bulk_rate(load))
        lines += _stream("probe", load, capacity, PROBE_READ_PCT, PROBE_RATE)
    if load.is_rest_empty:
        lines += _fill(load, size)
    if amount.before:
        lines += ["[[phases]]", 'name = "before"', streams, f'until = ["{amount.before} I/Os", "{amount.most}"]']
    lines += [
        "[[phases]]",
        'name = "measure"',
        streams,
        f'until = ["{amount.measured} I/Os", "{amount.most}"]',
        "measure = true",
    ]
    return "\n".join(lines) + "\n"


def _bulk_rate(load: Load) -> float:
    """Return the rate of the load next to the probe, which follows from the share of reads of both."""
    assert load.rate is not None, "only open loops have a probe"
    reads = load.read_pct / 100
    if not BULK_READ_PCT / 100 < reads < PROBE_READ_PCT / 100:
        return max(load.rate - PROBE_RATE / 2, 1.0)
    return PROBE_RATE * (PROBE_READ_PCT / 100 - reads) / (reads - BULK_READ_PCT / 100)


def _fill(load: Load, size: Size) -> list[str]:
    """Return the stream and the phases that fill a span in order, and overwrite it if rates must be steady; the other
    blocks of the drive stay empty."""
    start, end = _range(load, size.capacity)
    modelled = (end - start) * size.capacity / size.scale
    lines = ["[[streams]]", 'name = "fill"', "read_pct = 0", "random_pct = 0", f'size = "{FILL_BLOCK} B"']
    lines.append(f'range = ["{start * 100:.6g} %", "{end * 100:.6g} %"]')
    lines += ["[[phases]]", 'name = "fill"', 'streams = ["fill"]', "untimed = true"]
    lines.append(f"ios = {math.ceil(modelled / FILL_BLOCK)}")
    if load.state == "steady":
        ios = math.ceil(OVERWRITES * modelled / load.block)
        lines += ["[[phases]]", 'name = "overwrite"', 'streams = ["load"]', "untimed = true", f"ios = {ios}"]
    return lines


def _stream(name: str, load: Load, capacity: float, read_pct: float, rate: float | None = None) -> list[str]:
    lines = ["[[streams]]", f'name = "{name}"', f"read_pct = {read_pct:g}", f"random_pct = {100 if load.random else 0}"]
    lines.append(f'size = "{min(load.block, LARGEST_BLOCK)} B"')
    start, end = _range(load, capacity)
    if (start, end) != (0.0, 1.0):
        lines.append(f'range = ["{start * 100:.6g} %", "{end * 100:.6g} %"]')
    if load.zipf is not None:
        lines.append(f"offsets = {{ zipf = {{ exponent = {load.zipf:g} }} }}")
    if read_pct < 100 and (load.sync == "flush" or load.of_flush):
        lines.append("flush_every = 1")
    elif read_pct < 100 and load.sync == "force":
        lines.append("fua = true")
    if rate is not None:
        lines.append(f'load = {{ open = {{ rate_iops = {rate:g}, arrival = "poisson" }} }}')
    return lines


def _range(load: Load, capacity: float) -> tuple[float, float]:
    """Return the accessed part of the drive, as shares."""
    if load.where == "inner":
        return 0.99, 1.0
    if load.where == "middle":
        return 0.45, 0.55
    if load.where == "outer" and load.span is None:
        return 0.0, 0.01
    share = 1.0 if load.span is None else min(1.0, load.span / capacity)
    if load.kind == "ssd":
        share = max(share, LEAST_SHARE)
    return 0.0, 1.0 if share > 0.99 else share


def machine_text(load: Load, product: str) -> str:
    """Return the machine of a load, whose drive's file is `product`, as TOML."""
    lines = ["[drives.d]", f'product = "{product}"']
    if load.kind == "ssd":
        half = host_time(load) / 2 * 1e9
        lines += ["[host]", f"cores = {load.threads}", f'submit = "{half:.0f} ns"', f'complete = "{half:.0f} ns"']
    return "\n".join(lines) + "\n"


def settings_of(load: Load, size: Size, rates: Mapping[str, float]) -> dict[str, str]:
    """Return the settings of the machine: the state of flash, its scale, the write cache, a slower port. `rates` has
    the drive's own rate of its port (bytes per second) by the key that limits it."""
    settings = {}
    if load.kind == "ssd":
        settings["scale"] = str(size.scale)
        settings["write_buffer"] = f"{BUFFER * size.scale} B"
        # All data that a load or a mix reads was written before, whatever state the row states.
        is_new = load.direction == "write" and load.part != "beyond" and load.state != "steady"
        settings["state"] = "fob" if is_new or load.is_rest_empty else "preconditioned"
    if load.cache == "off" or (load.cache == "on" and load.kind == "disk"):
        settings["wce"] = load.cache  # a protected drive reports no cache, so that it cannot be switched on
    if load.controller == "usb":
        settings["queue_tags"] = "1"  # USB Mass Storage Class, Bulk-Only Transport: one command at a time
    if load.port is not None:
        rate = load.block / (load.block / load.port + FRAMES)
        settings |= {key: f"{rate:.0f} B/s" for key, drive_rate in rates.items() if drive_rate > load.port}
    return settings
