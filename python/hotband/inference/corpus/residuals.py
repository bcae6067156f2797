"""Errors of predictions of the corpus that ships, each with its family left out: what intervals rest on."""

from __future__ import annotations

import csv
import io
import lzma
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hotband.base.text.write import write_file
from hotband.data.corpus import files
from hotband.data.corpus.loads import Load
from hotband.inference.corpus.conformal import Pools, Residual

SHIPPED_RESIDUALS = Path(files.__file__).parent / "residuals.csv.xz"
"""Written by `scripts/corpus_learn.py` (`make accuracy`)."""
TAILS = ("disk, p99", "SSD, p99", "p99.9")
LARGE = 65_536
"""Bytes from which a sequential I/O is large: one of a few fills the port."""
MANY = 1_024
"""I/Os outstanding that only tests of a controller's limits keep."""


def groups_of(figure_class: str, load: Load, metric: str) -> tuple[str, ...]:
    """Return the groups whose families say how wide the interval of a figure is, the narrowest first."""
    device = "disk" if load.kind == "disk" else "SSD"
    what = "latencies" if metric.startswith("lat_p") else "rates"
    narrow = _narrow(figure_class, load, metric, device)
    groups = (*narrow, figure_class, f"{device}, {what} of any load", f"{what} of any drive")
    return tuple(dict.fromkeys(groups))


def _narrow(figure_class: str, load: Load, metric: str, device: str) -> tuple[str, ...]:
    """Return the groups that are narrower than the class of a figure."""
    reads_or_writes = "reads" if load.direction == "read" else "writes and mixes"
    if figure_class in TAILS or figure_class == "other":
        name = {"lat_p50": "p50", "lat_p9999": "p99.99"}.get(metric, "p90 and p95")
        tail = figure_class if figure_class in TAILS else f"{device}, {name}"
        return (f"{tail} of {reads_or_writes}",)
    if metric == "lat_p50":
        return (f"{device}, p50 of {reads_or_writes}",)
    if figure_class == "sequential":
        if load.part:
            return ("sequential, writes that fill a drive",)
        size = "large" if load.block >= LARGE else "small"
        return (f"sequential, {size} {reads_or_writes} of {device}s", f"sequential, {size} I/Os")
    if load.depth >= MANY:
        return (f"{figure_class}, {MANY:,} and more outstanding",)
    if figure_class in ("SSD, random writes, new or unknown", "sync writes and flushes"):
        return (f"{figure_class}, {'one at a time' if load.depth == 1 else 'several at a time'}",)
    return ()


@cache
def shipped_residuals() -> tuple[Residual, ...]:
    """Return the residuals that ship with Hotband."""
    rows = csv.DictReader(files.unpacked(SHIPPED_RESIDUALS))
    return tuple(
        Residual(row["family"], row["source"], tuple(row["groups"].split("|")), float(row["value"])) for row in rows
    )


@cache
def shipped_pools() -> Pools:
    """Return the residuals that ship, by group."""
    return Pools(shipped_residuals())


def write_residuals(residuals: Iterable[Residual]) -> int:
    """Write the residuals that ship; return how many there are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("family", "source", "groups", "value"))
    rows = [(each.family, each.source, "|".join(each.groups), f"{each.value:.4f}") for each in residuals]
    writer.writerows(rows)
    write_file(SHIPPED_RESIDUALS, lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(rows)
