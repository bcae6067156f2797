"""What a terminal shows, as a notebook shows it: tables of rich and lines of words as HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from hotband.base.text.formats import plain

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table
    from rich.text import Text


def views_html(views: Iterable[Table | Text | str]) -> str:
    """Tables and paragraphs one below the other."""
    from rich.table import Table

    parts = [table_html(one) if isinstance(one, Table) else line_html(one) for one in views]
    return f"<div>{''.join(parts)}</div>"


def line_html(line: Text | str) -> str:
    """A line of words as a paragraph; nothing for an empty one."""
    text = plain(line)
    return f"<p>{escape(text)}</p>" if text else ""


def table_html(table: Table) -> str:
    """A table under its title."""
    title = "" if table.title is None else f"<caption>{escape(plain(table.title))}</caption>"
    head = "".join(f"<th>{escape(plain(column.header))}</th>" for column in table.columns)
    sides = ["right" if column.justify == "right" else "left" for column in table.columns]
    cells = [list(column.cells) for column in table.columns]
    rows = [
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}">{escape(plain(one[n]))}</td>'
            for one, side in zip(cells, sides, strict=True)
        )
        + "</tr>"
        for n in range(len(table.rows))
    ]
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


SHOWN_ROWS = 20
"""Rows of a frame that a notebook shows."""


def frame_html(frame: pl.DataFrame) -> str:
    """The first rows of a frame; every text in it escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in frame.columns)
    rows = [
        "<tr>" + "".join(f'<td style="text-align:right">{escape(_cell(value))}</td>' for value in row) + "</tr>"
        for row in frame.head(SHOWN_ROWS).rows()
    ]
    more = f"<p>and {frame.height - SHOWN_ROWS} more rows: see .frame</p>" if frame.height > SHOWN_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() or abs(value) >= 1e4 else f"{value:,.4g}"
    return "–" if value is None else str(value)
