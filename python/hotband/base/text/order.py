"""Natural order of names."""

from __future__ import annotations

import re


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in names by value: read-2 before read-16."""
    pieces = re.findall(r"\d{1,18}|\D+|\d", name)
    return [(int(piece), "") if piece.isascii() and piece.isdigit() else (-1, piece) for piece in pieces]
