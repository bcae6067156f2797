"""The picture of a quick look to paste: four rows of MB/s, reads and writes, as CrystalDiskMark shows them."""

from __future__ import annotations

from html import escape
from pathlib import Path

from hotband.base.foreign import all_visible
from hotband.base.text.numbers import ABSENT, number
from hotband.base.text.write import make_folder, write_file
from hotband.questions.suites.quick import PictureRowDoc, QuickDoc
from hotband.views.draw.charts import INK, MUTED, RULE

FONT = "DejaVu Sans, Arial, sans-serif"
WIDTH, HEAD, ROW, FOOT, EDGE = 640, 112, 74, 40, 18
NAMES = 110
"""Pixels of the column of loads."""
SCALE = 2.0
"""Pixels of the file per pixel of the drawing: legible on dense screens."""
READ, WRITE = "#0072b2", "#d55e00"
LONGEST = 46
"""Characters of the title that fit on its line."""


def write_picture(document: QuickDoc, out: Path) -> Path:
    """Write the picture to the file `out`. Raises UserError, OSError."""
    import vl_convert

    make_folder(out.parent)
    write_file(out, vl_convert.svg_to_png(picture_svg(document), scale=SCALE))
    return out


def picture_svg(document: QuickDoc) -> str:
    """Return the picture as SVG."""
    rows = document["picture"]
    values = [value for row in rows for value in (row["read_bytes_per_s"], row["write_bytes_per_s"]) if value]
    largest = max(values, default=1.0)
    height = HEAD + ROW * len(rows) + FOOT
    drawn = [_row(row, HEAD + n * ROW, largest) for n, row in enumerate(rows)]
    how = "predicted by Hotband" if document["kind"] == "model" else "measured with fio"
    how += "; Q8T1 writes as sustained" if document["going_on"] else ""
    left = EDGE + NAMES
    middle = left + (WIDTH - left - EDGE) / 2
    title = all_visible(document["title"])
    title = title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
    parts = [
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        _text(EDGE, 36, title, 22, weight=700),
        _text(EDGE, 60, how, 15, MUTED),
        _text(left + 8, 98, "Read (MB/s)", 15, READ, weight=700),
        _text(middle + 8, 98, "Write (MB/s)", 15, WRITE, weight=700),
        *drawn,
        _text(EDGE, height - 14, f"Hotband {document['hotband']} quick look", 12, MUTED),
        _text(WIDTH - EDGE, height - 14, "1 MB/s = 1,000,000 bytes/s", 12, MUTED, anchor="end"),
    ]
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}">{"".join(parts)}</svg>'


def _row(row: PictureRowDoc, top: float, largest: float) -> str:
    """Return a row: the load, and for reads and writes a bar with its number; I/Os per second of small blocks."""
    left = EDGE + NAMES
    width = (WIDTH - left - EDGE) / 2
    is_small = row["load"].startswith("RND")
    reads = _half(left, top, width, row["read_bytes_per_s"], row["read_iops"] if is_small else None, largest, READ)
    writes = _half(
        left + width, top, width, row["write_bytes_per_s"], row["write_iops"] if is_small else None, largest, WRITE
    )
    names = _text(EDGE, top + 30, row["load"], 19, weight=700) + _text(EDGE, top + 52, row["queue"], 15, MUTED)
    return names + reads + writes


def _half(
    x: float, top: float, width: float, value: float | None, iops: float | None, largest: float, color: str
) -> str:
    box = f'<rect x="{x + 4}" y="{top}" width="{width - 8}" height="{ROW - 8}" rx="4" fill="white" stroke="{RULE}"/>'
    if value is None:
        return box + _text(x + width - 16, top + 40, ABSENT, 24, MUTED, anchor="end")
    length = max(2.0, (width - 10) * value / largest)
    bar = f'<rect x="{x + 5}" y="{top + ROW - 17}" width="{length:.1f}" height="8" fill="{color}"/>'
    shown = _text(x + width - 16, top + 32, number(value / 1e6, 4), 24, anchor="end", weight=700)
    small = _text(x + width - 16, top + 50, f"{number(iops)} IOPS", 12, MUTED, anchor="end") if iops else ""
    return box + bar + shown + small


def _text(
    x: float, y: float, text: str, size: int, color: str = INK, *, anchor: str = "start", weight: int = 400
) -> str:
    look = f'font-size="{size}" font-weight="{weight}" fill="{color}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'
