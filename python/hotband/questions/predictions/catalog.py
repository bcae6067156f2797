"""Predictions of the catalog's drives for the figures that others measured on them (`make accuracy`)."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import hotband._core as _core
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.names import drive_names
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.files import shipped
from hotband.data.corpus.named import figures_of_family
from hotband.inference.corpus.known import line_of
from hotband.inference.interval.of_catalog import SHIPPED_CATALOG
from hotband.questions.predictions.predicted import Drive, Predicted, predict
from hotband.questions.predictions.setup import Size


def write_catalog_predictions(out: Path, jobs: int | None = None) -> int:
    """Predict the figures of each catalog drive's family, and write the predictions; return their number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("drive", "id", "predicted"))
    rows: list[tuple[str, str, str]] = []
    for name in drive_names():
        figures = figures_of_family(name, None, shipped())
        if figures:
            predictions = predict(figures, _always(_drive(name)), out=out, jobs=jobs)
            rows += [(name, each.figure.id, f"{each.value:.6g}") for each in predictions if each.value is not None]
    writer.writerows(rows)
    write_file(SHIPPED_CATALOG, text.getvalue())
    return len(rows)


def predictions_of_drive(name: str, figures: Sequence[Figure], out: Path) -> list[Predicted]:
    """Return the predictions of a drive of the catalog for figures that were measured on it, which count as figures of
    its product line."""
    line = line_of(name, entries.drive(name)["title"])
    return predict([replace(figure, family=line) for figure in figures], _always(_drive(name)), out=out)


def _always(drive: Drive) -> Callable[[Figure], Drive]:
    """Return a maker that makes this drive for every figure."""
    return lambda _: drive


def _drive(name: str) -> Drive:
    """Return a drive of the catalog in the form that predictions use."""
    values = {value["key"]: value["value"] for value in entries.drive(name)["values"]}
    size = {key: _core.quantity("size", values[key]) for key in ("capacity", "block", "program_pass") if key in values}
    passes = size["block"] * int(values["planes"]) / size["program_pass"] if "block" in size else 1.0
    scale = 1 << max(0, int(math.log2(max(1.0, passes / 2))))
    return Drive(CATALOG_DIR / "drives" / f"{name}.toml", Size(size["capacity"], scale), {}, math.inf)
