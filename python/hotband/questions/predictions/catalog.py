"""Predictions of the catalog's drives for the figures that others measured on them, made once by `make accuracy`."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.names import drive_names
from hotband.data.corpus import files
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.files import shipped
from hotband.data.corpus.named import family_of
from hotband.questions.predictions.predicted import Drive, predict
from hotband.questions.predictions.setup import Size

SHIPPED_CATALOG = Path(files.__file__).parent / "catalog.csv"


@cache
def catalog_predictions() -> dict[str, float]:
    """Return what the catalog's drives are predicted to do, by the id of the figure that was measured."""
    with SHIPPED_CATALOG.open(encoding="utf-8", newline="") as file:
        return {row["id"]: float(row["predicted"]) for row in csv.DictReader(file)}


def write_catalog_predictions(out: Path, jobs: int | None = None) -> int:
    """Predict the figures of families that are drives of the catalog, and write them; return how many there are."""
    drives = {family: name for name in reversed(drive_names()) if (family := family_of(name))}
    figures = [figure for figure in shipped() if figure.family in drives]
    made = {family: _drive(name) for family, name in drives.items()}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "predicted"))
    predictions = predict(figures, lambda figure: made[figure.family], out=out, jobs=jobs)
    rows = [(each.figure.id, f"{each.value:.6g}") for each in predictions if each.value is not None]
    writer.writerows(rows)
    write_file(SHIPPED_CATALOG, text.getvalue())
    return len(rows)


def _drive(name: str) -> Drive:
    """Return a drive of the catalog as predictions take drives."""
    values = {value["key"]: value["value"] for value in entries.drive(name)["values"]}
    size = {key: _core.quantity("size", values[key]) for key in ("capacity", "block", "program_pass") if key in values}
    passes = size["block"] * int(values["planes"]) / size["program_pass"] if "block" in size else 1.0
    scale = 1 << max(0, int(math.log2(max(1.0, passes / 2))))
    return Drive(CATALOG_DIR / "drives" / f"{name}.toml", Size(size["capacity"], scale), {}, math.inf)
