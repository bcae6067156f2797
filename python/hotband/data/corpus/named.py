"""Find the measured figures that belong to a name: a family or model as people write it, or a drive of the catalog."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hotband.data.corpus.figure import Figure

FAMILY_OF = {
    "7450-pro": "micron 7450",
    "p4510": "intel p4510",
    "p4800x": "intel optane p4800x",
    "p5336": "solidigm d5-p5336",
    "pm1743": "samsung pm1743",
    "pm9a3": "samsung pm9a3",
    "ps1010": "solidigm d7-ps1010",
}
"""Families of drives of the catalog, by how the names of these drives begin."""


def family_of(drive: str) -> str:
    """Return the family of a drive of the catalog; empty if the corpus has none of it."""
    return next((family for start, family in FAMILY_OF.items() if drive.startswith(start)), "")


def figures_of(name: str, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures of a drive of the catalog, of a family, or of devices whose name has all words of `name`."""
    family = family_of(name)
    wanted = family or " ".join(name.lower().split())
    exact = [figure for figure in figures if figure.family == wanted]
    if exact or family:
        return exact
    words = re.findall(r"[\w.]+", wanted)
    return [figure for figure in figures if all(word in _names(figure) for word in words)]


def _names(figure: Figure) -> str:
    return f"{figure.family} {figure.device} {figure.model}".lower()
