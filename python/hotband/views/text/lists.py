"""Lists with one line per entry; on a terminal, an entry that is wider continues on the next line."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from hotband.base.foreign import console
from hotband.base.text.table import Whole

INDENT = 4 * " "
"""Indent of lines that continue an entry: entries begin at the left edge, which the eye follows."""


def entry_lines(rows: Sequence[Sequence[str]]) -> list[Whole]:
    """Return a line per row with aligned cells; a terminal folds lines that are wider, so that no cell is hidden."""
    if not rows:
        return []
    out = console()
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    if out.is_terminal:
        lines = [part for line in lines for part in _folded(line, out.width)]
    return [Whole(line) for line in lines]


def _folded(line: str, width: int) -> list[str]:
    """Return a line in parts of at most the width; parts after the first are indented."""
    return wrap(line, width, subsequent_indent=INDENT, drop_whitespace=True, break_on_hyphens=False)
