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


def groups_of(figure_class: str, load: Load, metric: str) -> tuple[str, ...]:
    """Return the groups whose families say how wide the interval of a figure is, the narrowest first."""
    device = "disk" if load.kind == "disk" else "SSD"
    what = "latencies" if metric.startswith("lat_p") else "rates"
    narrow: tuple[str, ...] = ()
    reads_or_writes = "reads" if load.direction == "read" else "writes and mixes"
    if figure_class in TAILS:
        narrow = (f"{figure_class} of {reads_or_writes}",)
    elif metric == "lat_p50":
        narrow = (f"{device}, p50 of {reads_or_writes}",)
    elif figure_class == "SSD, random writes, new or unknown":
        narrow = (f"{figure_class}, {'one at a time' if load.depth == 1 else 'several at a time'}",)
    return (*narrow, figure_class, f"{device}, {what} of any load", f"{what} of any drive")


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
