"""The user's own drives, each described in a file that is made from lines of its data sheet."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.write import write_file
from hotband.data import catalog
from hotband.questions.datasheet import blamed, described_text
from hotband.questions.datasheet.learned import shipped_rules

if TYPE_CHECKING:
    from hotband._core import CatalogEntry


def describe(path: Path, kind: str, lines: Mapping[str, str], *, title: str | None, source: str) -> CatalogEntry:
    """Write the file of a drive with these lines on its data sheet, and return the drive.

    `kind` is a key of `KINDS`. Raise UserError for lines that do not describe a possible drive, and OSError.
    """
    expect = shipped_rules().expected
    text = described_text(kind, lines, title=title or path.stem, source=source, expect=expect)
    drive = checked(text, lines)
    write_file(path, text)
    # It was read from a temporary file, whose path is of no use.
    drive["name"] = str(path) if path.is_absolute() else f"./{path}"
    return drive


def checked(text: str, lines: Mapping[str, str]) -> CatalogEntry:
    """Return the drive that this text of a file describes. Raise UserError, about one of `lines`, if it is
    impossible."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drive.toml")
        write_file(path, text)
        try:
            return _core.drive(catalog.CATALOG_DIR, str(path))
        except _core.SpecError as error:
            raise blamed(error, lines) from None


def file_of(name: str, force: bool) -> Path:
    """Return the path of a new drive's file. Raise UserError if it exists, or if the catalog has a drive of the
    name."""
    stem = name.removesuffix(".toml")
    if not re.fullmatch(r"[\w./-]*[\w-][\w.-]*", stem) or stem.endswith("."):
        raise UserError("question.name", "", name, "expected letters, digits, - and _, such as x16")
    if stem in _core.catalog_names(catalog.CATALOG_DIR, "drives"):
        raise UserError("question.name", "", name, "is a drive of the catalog: give your drive another name")
    path = Path(f"{stem}.toml")
    if path.exists() and not force:
        raise UserError("question.name", "", name, f"{path} exists: give another name, or question.force to replace it")
    return path
