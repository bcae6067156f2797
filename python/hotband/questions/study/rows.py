"""Rows of a study's tables (CSV): read with their heading; errors name file, row and column."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.regular import text_in
from hotband.base.text.separated import expect_distinct, plain_cell, separator_of
from hotband.questions.study.definition import Published

PUBLISHED_COLUMNS = ("id", "config", "workload", "metric", "value", "unit", "kind", "caveat")


def read_rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the numbered rows of a table by column, which must include `columns`. Raises UserError."""
    try:
        text = text_in(path, "table of figures")
        separator = separator_of(text.partition("\n")[0])
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        rows[:1] = [[name.strip() for name in heading] for heading in rows[:1]]
    except csv.Error as error:
        raise UserError(str(path), "", "", f"not CSV: {error}") from None
    heading = rows[0] if rows else []
    missing = [name for name in columns if name not in heading]
    if missing:
        raise UserError(str(path), "columns", ", ".join(missing), "missing from the published figures")
    expect_distinct(heading, columns, str(path))
    return [(number, _row(path, number, heading, row, separator)) for number, row in enumerate(rows[1:], 1) if row]


def _row(path: Path, number: int, heading: Sequence[str], row: Sequence[str], separator: str) -> dict[str, str]:
    """Return one row by column, which must have a cell for each; its value with a decimal point."""
    if len(row) != len(heading):
        raise UserError(str(path), f"row {number}", f"{len(row)} cells", f"expected {len(heading)}, as the heading has")
    cells = dict(zip(heading, (cell.strip() for cell in row), strict=True))
    if "value" in cells:
        cells["value"] = plain_cell(cells, "value", separator, f"{path}, row {number}")
    return cells


KINDS = ("measured", "derived")
"""Kinds of published figures: measured ones, and ones derived from others, which are not counted again."""
SEPARATED = re.compile(r"[-+]?\d{1,3}([, ']\d{3})+(\.\d+)?")
"""A number with separators for people."""


def number_in(path: Path, key: str, text: str, reading: float | None = None) -> float | None:
    """Read a cell as a number; words become their `reading`. Raises UserError for a number that is not finite."""
    try:
        value: float | None = float(text)
    except ValueError:
        if SEPARATED.fullmatch(text.strip()):
            plain = re.sub(r"[, ']", "", text.strip())
            raise UserError(str(path), key, text, f"expected a plain number, such as {plain}, or words") from None
        value = reading
    if value is not None and not math.isfinite(value):
        raise UserError(str(path), key, text, "expected a finite number, or words")
    return value


def is_number(text: str) -> bool:
    """Return whether a cell holds a number, not words."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def read_published(path: Path, readings: dict[str, float]) -> tuple[Published, ...]:
    """Read the published figures; `readings` are numbers for values printed as words ("nearly 6000")."""
    rows: list[Published] = []
    ids: set[str] = set()
    for number, cells in read_rows(path, PUBLISHED_COLUMNS):
        if cells["id"] in ids:
            raise UserError(str(path), f"row {number}: id", cells["id"], "is given twice")
        ids.add(cells["id"])
        if cells["kind"] not in KINDS:
            raise UserError(str(path), f"row {number}: kind", cells["kind"], f"expected one of {', '.join(KINDS)}")
        known = {name: cells[name] for name in PUBLISHED_COLUMNS if name != "value"}
        value = number_in(path, f"row {number}: value", cells["value"], readings.get(known["id"]))
        if value is None and is_number(alone := cells["value"].strip().removesuffix(known["unit"])):
            accepted = f"expected the number alone, {alone.strip()}: its unit has a column"
            raise UserError(str(path), f"row {number}: value", cells["value"], accepted)
        rows.append(Published(**known, text=cells["value"], value=value))
    return tuple(rows)
