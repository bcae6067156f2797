"""Drives of one's own, described in a file from lines of their data sheets."""

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

if TYPE_CHECKING:
    from hotband._core import CatalogEntry


def describe(path: Path, kind: str, lines: Mapping[str, str], *, title: str | None, source: str) -> CatalogEntry:
    """Writes the file of a drive of a kind ("hdd", "ssd", "nvme") that has these lines on its data sheet; the drive
    that it is. Raises UserError for lines that make none, OSError."""
    text = described_text(kind, lines, title=title or path.stem, source=source)
    drive = checked(text, lines)
    write_file(path, text)
    return drive


def checked(text: str, lines: Mapping[str, str]) -> CatalogEntry:
    """The drive that a file of this text, made of these lines, would be. Raises UserError for what no drive can be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drive.toml")
        write_file(path, text)
        try:
            return _core.drive(catalog.CATALOG_DIR, str(path))
        except _core.SpecError as error:
            raise blamed(error, lines) from None


def file_of(name: str, force: bool) -> Path:
    """The file of a new drive. Raises UserError where it is there, or is the name of one of the catalog."""
    stem = name.removesuffix(".toml")
    if not re.fullmatch(r"[\w./-]*[\w-][\w.-]*", stem) or stem.endswith("."):
        raise UserError("question.name", "", name, "expected letters, digits, - and _, such as x16")
    if stem in _core.catalog_names(catalog.CATALOG_DIR, "drives"):
        raise UserError("question.name", "", name, "is a drive of the catalog: give yours another name")
    path = Path(f"{stem}.toml")
    if path.exists() and not force:
        raise UserError(
            "question.name", "", name, f"{path} is there: give another name, or question.force to replace it"
        )
    return path
