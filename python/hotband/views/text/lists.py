"""Lists with one line per entry: complete for programs and pipes, cut at the width of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.foreign import console
from hotband.base.text.table import Whole


def entry_lines(rows: Sequence[Sequence[str]]) -> list[Whole]:
    """Return a line per row with aligned cells; the last cells are not padded and end with a narrow terminal."""
    if not rows:
        return []
    out = console()
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    if out.is_terminal:
        lines = [line if len(line) <= out.width else f"{line[: out.width - 1].rstrip()}…" for line in lines]
    return [Whole(line) for line in lines]
