"""The page of a quick suite, and what the terminal prints of it: the answer first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.text.numbers import ABSENT, number
from hotband.questions.suites.quick import QuickDoc, told
from hotband.views.report.page import Cards, Cell, Chart, Charts, Group, Page, Prose, Section, Table, write_report

if TYPE_CHECKING:
    from rich.table import Table as Grid
    from rich.text import Text

    from hotband.base.views import View


def write_quick(document: QuickDoc, out: Path) -> Path:
    """Writes the page to the file `out`. Raises UserError, OSError."""
    of = document["expected_of"]
    rows = [
        [
            Cell(row["name"]),
            Cell(told(row, row["value"]) or ABSENT, True),
            *([Cell(told(row, row["expected"]) or ABSENT, True), Cell(row["verdict"] or ABSENT)] if of else []),
        ]
        for row in document["loads"]
    ]
    heads = ["Load", "Measured", *([f"Expected of {of}", "Verdict"] if of else [])]
    first = Section("answer", "What was found", [Prose(document["answer"], lead=True)])
    table = Table(heads, [Group(rows)], tight=True)
    sections = [first, Section("loads", "Loads", [table])]
    if document["going_on"]:
        chart = Chart("Writes that go on", over_time(document), "each point is a tenth of their time")
        sections.append(Section("writes", "Writes that go on", [Charts([chart])]))
    if document["health"]:
        cards = [(number(value), name) for name, value in document["health"].items()]
        sections.append(Section("health", "By its own count", [Cards(cards)]))
    if document["notes"]:
        sections.append(Section("notes", "Notes", [Prose(document["notes"])]))
    minutes = f"{number(document['seconds'] / 60)} minute{'' if document['seconds'] == 60 else 's'}"
    about = f"A look of {minutes}, made with Hotband {document['hotband']}"
    return write_report(out, Page(f"Quick look: {document['title']}", sections, about, "Hotband quick"))


def over_time(document: QuickDoc) -> View:
    """The rate of the writes that go on."""
    import polars as pl

    from hotband.views.draw.review import Axis, curves, palette

    values = document["going_on"]
    name = "sequential writes"
    rows = [{"line": name, "piece": n, "value": value / 1e6} for n, value in enumerate(values, start=1)]
    x, y = Axis("piece", "Tenth of the time", "zero"), Axis("value", "MB/s", "rate")
    return curves(pl.DataFrame(rows), x, y, palette("Load", [name]))


def views(document: QuickDoc) -> Iterator[Grid | Text | str]:
    """What is printed, in order."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    yield Text(f"{document['title']} ({document['name']})", style="bold")
    yield from document["answer"]
    table = Grid(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("load", overflow="fold")
    table.add_column("measured", justify="right")
    if document["expected_of"]:
        table.add_column("expected", justify="right")
        table.add_column("verdict", overflow="fold")
    for row in document["loads"]:
        beside = [told(row, row["expected"]), row["verdict"]] if document["expected_of"] else []
        table.add_row(row["name"], told(row, row["value"]), *beside)
    yield table
    for note in document["notes"]:
        yield f"  {note}"
