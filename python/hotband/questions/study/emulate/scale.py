"""A part at a scale: fewer drives, less data, volumes cut to size, and caches that hold the same share of the data.

The scale is the share of the study's data. The number of drives has the same share, rounded, but never fewer than the
layout needs. `a_drive` is the share of data per drive that remains, and values such as cache sizes shrink with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.base.text.numbers import number
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.catalog.entries import product
from hotband.execution.programs.program import Size
from hotband.execution.programs.settings import values_of
from hotband.questions.study.definition import PRODUCT

if TYPE_CHECKING:
    from hotband.questions.study.emulate.parts import Part, Side

ROOM = 2
"""Bytes of a volume per byte of data: file systems, their journals, indexes and free space for writes."""
LEAST_VOLUME = 4e9
"""PostgreSQL lets its log grow to 1 GB (`max_wal_size`), and program `ceph` creates the store of a daemon on 4 GiB.
Only written blocks occupy memory."""
NUMBER = "{n}"
"""The placeholder in a line of a machine's file that is repeated for every drive, with its number."""


@dataclass(frozen=True)
class Scaled:
    """A part at a scale."""

    scale: Fraction
    data: float
    drives: int
    volume: float
    a_drive: Fraction
    """Data per drive, as a share of the study's data per drive; at most 1."""
    settings: dict[str, str]


def scaled(part: Part, scale: Fraction | None) -> Scaled:
    """Return a part at a scale (None: its own). Raises UserError if the program cannot work on so little or so much
    data."""
    share = part.scale if scale is None else scale
    drives = max(part.fewest, round(part.drives * share))
    data = part.data * float(share)
    settings = dict(part.settings)
    for key, each in part.fill:
        count = round(data / each)
        settings[key] = f"{count} B" if isinstance(part.program.settings[key], Size) else str(count)
    settings |= {key: str(count * drives) for key, count in part.per_drive}
    try:
        values_of(part.program, settings)
    except UserError as error:
        accepted = f"for {part.program.name} of part {part.id}: {error.accepted}; expected another scale"
        raise UserError("question.scale", error.key, error.value, accepted) from None
    a_drive = min(Fraction(1), share * part.drives / drives)
    return Scaled(share, data, drives, max(LEAST_VOLUME, ROOM * data), a_drive, settings)


def machine_text(side: Side, at: Scaled) -> str:
    """Return the machine's TOML text of a side."""
    lines: list[str] = []
    for line in side.machine.splitlines():
        repeated = range(at.drives) if NUMBER in line else range(1)
        lines += [line.replace(NUMBER, str(number)) for number in repeated]
    text = "\n".join(lines) + "\n"
    values = {PRODUCT: side.product, "{drives}": str(at.drives), "{size}": f"{round(at.volume / 1e6)} MB"}
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def cut_values(part: Part, side: Side, at: Scaled) -> dict[str, tuple[str, str]]:
    """Return the values of the drives that shrink, each before and after. Values that the product does not have are
    left out, and all of them if a drive holds as much as in the study."""
    if at.a_drive == 1 or not part.cut:
        return {}
    known = {value["key"]: value["value"] for value in product(side.product)["values"]}
    # A drive accepts no cache segment below a block of 4 KiB.
    least = {"cache_size": int(known.get("cache_segments", 1))}
    share = float(at.a_drive)
    return {key: (known[key], _cut(known[key], share, least.get(key, 1))) for key in part.cut if key in known}


def _cut(text: str, share: float, least: int) -> str:
    """Multiply a size or a time by a share; a size in whole blocks of 4 KiB, at least `least` of them."""
    size, span = size_bytes(text), span_ns(text)
    if size is not None:
        return f"{max(least, round(size * share / 4096)) * 4} KiB"
    assert span is not None, f"values that are cut are sizes or times: {text}"
    return f"{max(1, round(span * share / 1e6))} ms"


def words(part: Part, at: Scaled) -> str:
    """Describe the scale in a sentence."""
    chosen = ", ".join(f"{key} = {at.settings[key]}" for key in (*dict(part.fill), *dict(part.per_drive)))
    fewest = ", the fewest that it accepts" if at.drives == part.fewest and at.drives < part.drives else ""
    text = (
        f"scale {at.scale}: {numbers.size(at.data)} of {numbers.size(part.data)} of data ({chosen}) on {at.drives} of "
        f"{part.drives} drives{fewest}, volumes of {numbers.size(at.volume)}"
    )
    cut = {key: pair for side in part.sides.values() for key, pair in cut_values(part, side, at).items()}
    if not cut:
        return text
    shown = ", ".join(f"{key} {before} to {_short(after)}" for key, (before, after) in cut.items())
    return (
        f"{text}; a drive holds {number(float(at.a_drive))} of its data in the study, so these values shrink:  {shown}"
    )


def _short(text: str) -> str:
    size, span = size_bytes(text), span_ns(text)
    if size is not None:
        return numbers.size(size)
    return text if span is None else numbers.span(span)
