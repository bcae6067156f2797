"""Find the measured figures that belong to a name: a family or model as people write it, or a drive of the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from hotband.data.catalog import entries
from hotband.data.catalog.names import drive_names
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.files import shipped

SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(t|g)b\b")


@cache
def family_of(drive: str) -> str:
    """Return the family of a drive of the catalog; empty if the corpus has none."""
    return family_among(entries.drive(drive)["title"], _families(shipped())) if drive in drive_names() else ""


def family_among(title: str, families: Iterable[str]) -> str:
    """Return the family with the most letters whose words a title all has; empty if there is none."""
    words = _words(title)
    return max((family for family in families if _words(family) <= words), key=len, default="")


def _families(figures: Iterable[Figure]) -> list[str]:
    return list(dict.fromkeys(figure.family for figure in figures))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w.-]+", text.lower()))


def drive_named(model: str) -> str:
    """Return the drive of the catalog with a model's name, or whose model has all words of it, its capacity in any
    unit; empty if there is none."""
    sizes = [float(number) * (1000 if unit == "t" else 1) for number, unit in SIZE.findall(model.lower())]
    words = {*_words(model), *re.findall(r"\w+", model.lower())}
    words |= {word for size in sizes for word in (f"{size:g}", f"{size / 1000:g}tb")}
    fitting = (name for name in drive_names() if {*name.split("-")} <= words or name == model.lower())
    return max(fitting, key=len, default="")


def figures_of(name: str, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures of a drive of the catalog, of a family, or of devices whose name has all words of `name`."""
    wanted = [word for word in (family_of(name), " ".join(name.lower().split())) if word]
    exact = [figure for figure in figures if figure.family in wanted]
    if exact:
        return exact
    words = re.findall(r"[\w.]+", wanted[-1])
    return [figure for figure in figures if all(word in _names(figure) for word in words)]


def figures_of_family(drive: str, text: str | None, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures of a drive of the catalog or, by the title in its `text`, of a drive's file; none for machines
    that are not a single drive."""
    title = re.search(r'^title *= *"([^"]+)"', text or "", re.MULTILINE)
    is_file = title is not None and re.search(r"^kind *=", text or "", re.MULTILINE)
    known = family_among(title[1], _families(figures)) if title and is_file else ""
    family = family_of(drive) if text is None else known
    return [figure for figure in figures if figure.family == family] if family else []


def _names(figure: Figure) -> str:
    return f"{figure.family} {figure.device} {figure.model}".lower()
