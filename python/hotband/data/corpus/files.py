"""Read and write corpora: the one in the package, and the user's own."""

from __future__ import annotations

import csv
import io
import lzma
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.data.corpus.figure import Figure, columns_of_file, read_figures, row_of

SHIPPED = Path(__file__).parent / "figures.csv.xz"


def unpacked(path: Path) -> io.StringIO:
    """Return the lines of a packed file that ships with Hotband."""
    return io.StringIO(lzma.decompress(path.read_bytes()).decode())


@cache
def shipped() -> tuple[Figure, ...]:
    """Return the figures that ship with Hotband."""
    return tuple(read_figures(unpacked(SHIPPED), SHIPPED.name))


def own_file() -> Path:
    """Return the user's own corpus: HOTBAND_CORPUS, or a file in the user's data folder (XDG base folders)."""
    named = os.environ.get("HOTBAND_CORPUS")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(data, "hotband", "corpus.csv")


def figures_in(path: Path) -> tuple[Figure, ...]:
    """Return the figures of a file in the format of the corpus. Raises UserError, OSError."""
    return tuple(read_figures(io.StringIO(file_text(path)), str(path)))


def own() -> tuple[Figure, ...]:
    """Return the figures of the user's own corpus; none if there is no such file. Raises UserError."""
    path = own_file()
    return figures_in(path) if path.exists() else ()


def all_figures() -> tuple[Figure, ...]:
    """Return the shipped figures, then the user's own. Raises UserError for a mistake in the latter."""
    return (*shipped(), *own())


def write_own(figures: Sequence[Figure]) -> Path:
    """Write the user's own corpus; return its file. Raises OSError."""
    path = own_file()
    make_folder(path.parent)
    write_file(path, as_csv(figures))
    return path


def as_csv(figures: Iterable[Figure]) -> str:
    """Return figures as text in the format of the corpus."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns_of_file(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row_of(figure) for figure in figures)
    return text.getvalue()
