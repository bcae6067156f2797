"""Terminal output for a notebook: tables and lines of text as HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from hotband.base.heavy import pl
from hotband.base.text.formats import plain
from hotband.base.text.table import Table, View


def views_html(views: Iterable[View]) -> str:
    """Return tables and paragraphs one below the other."""
    return f"<div>{''.join(table_html(view) if isinstance(view, Table) else line_html(view) for view in views)}</div>"


def line_html(line: object) -> str:
    """Return a line of words as a paragraph; nothing for an empty one."""
    text = plain(line)
    return f"<p>{escape(text)}</p>" if text else ""


def table_html(table: Table) -> str:
    """Return a table under its title."""
    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    head = "".join(f"<th>{escape(plain(column.name))}</th>" for column in table.columns)
    sides = ["left" if column.kind == "text" else "right" for column in table.columns]
    rows = [
        "".join(
            f'<td style="text-align:{side}">{escape(plain(text))}</td>' for side, text in zip(sides, row, strict=True)
        )
        for row in table.texts()
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


SHOWN_ROWS = 20
"""Most rows of a frame in a notebook."""


def frame_html(frame: pl.DataFrame) -> str:
    """Return the first rows of a frame, with every text escaped."""
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
