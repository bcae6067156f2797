"""Errors of predictions of the corpus that ships, each with its family left out: what intervals rest on."""

from __future__ import annotations

import csv
import io
import lzma
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hotband.data.corpus import files
from hotband.inference.corpus.conformal import Residual

SHIPPED_RESIDUALS = Path(files.__file__).parent / "residuals.csv.xz"
"""Written by `scripts/corpus_residuals.py` (`make accuracy`)."""


@cache
def shipped_residuals() -> tuple[Residual, ...]:
    """Return the residuals that ship with Hotband."""
    rows = csv.DictReader(io.StringIO(lzma.decompress(SHIPPED_RESIDUALS.read_bytes()).decode()))
    return tuple(
        Residual(row["family"], row["source"], tuple(row["groups"].split("|")), float(row["value"])) for row in rows
    )


def write_residuals(residuals: Iterable[Residual]) -> int:
    """Write the residuals that ship; return how many there are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("family", "source", "groups", "value"))
    rows = [(each.family, each.source, "|".join(each.groups), f"{each.value:.4f}") for each in residuals]
    writer.writerows(rows)
    SHIPPED_RESIDUALS.write_bytes(lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(rows)
