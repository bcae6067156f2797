"""The page of a quick suite, and the evidence that the terminal prints: the answer first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hotband.base.heavy import pl
from hotband.base.text import table as tables
from hotband.base.text.numbers import ABSENT, number
from hotband.base.text.table import OF_ROW
from hotband.base.views import View
from hotband.questions.suites.quick import QuickDoc, unit_of
from hotband.views.draw.review import Axis, curves, palette
from hotband.views.report.page import Cards, Cell, Chart, Charts, Group, Page, Prose, Section, Table, write_report


def write_quick(document: QuickDoc, out: Path) -> Path:
    """Writes the page to the file `out`. Raises UserError, OSError."""
    of = document["expected_of"]
    rows = [
        [
            Cell(row["name"]),
            Cell(unit_of(row).shown(row["value"]), True),
            *([Cell(unit_of(row).shown(row["expected"]), True), Cell(row["verdict"] or ABSENT)] if of else []),
        ]
        for row in document["loads"]
    ]
    heads = ["Load", how(document).capitalize(), *([f"Expected of {of}", "Verdict"] if of else [])]
    first = Section("answer", "What was found", [Prose(document["answer"], lead=True)])
    table = Table(heads, [Group(rows)], tight=True)
    sections = [first, Section("loads", "Loads", [table])]
    if document["going_on"]:
        chart = Chart("Sustained writes", over_time(document), "each point is the mean of a piece")
        sections.append(Section("writes", "Sustained writes", [Charts([chart])]))
    if document["health"]:
        cards = [(number(value), name) for name, value in document["health"].items()]
        sections.append(Section("health", "By its own count", [Cards(cards)]))
    if document["notes"]:
        sections.append(Section("notes", "Notes", [Prose(document["notes"])]))
    minutes = f"{number(document['seconds'] / 60)} minute{'' if document['seconds'] == 60 else 's'}"
    about = f"A look of {minutes}, made with Hotband {document['hotband']}"
    return write_report(out, Page(_question(document), sections, about, "Hotband quick"))


def _question(document: QuickDoc) -> str:
    """Return the question that the page answers."""
    name, of = document["title"], document["expected_of"]
    return f"Is {name} as fast as {of} should be?" if of else f"How fast is {name}?"


def how(document: QuickDoc) -> str:
    """Return how the figures were found: those of a model are predicted."""
    return "predicted" if document["kind"] == "model" else "measured"


def over_time(document: QuickDoc) -> View:
    """Return the rate of the writes that continue."""
    values = document["going_on"]
    name = "sequential writes"
    rows = [{"line": name, "piece": n, "value": value / 1e6} for n, value in enumerate(values, start=1)]
    x, y = Axis("piece", "Piece", "zero"), Axis("value", "MB/s", "rate")
    return curves(pl.DataFrame(rows), x, y, palette("Load", [name]))


def views(document: QuickDoc) -> Iterator[tables.View]:
    """Yield all that is known of a quick test, the answer first."""
    from rich.text import Text

    yield Text(f"{document['title']} ({document['name']})", style="bold")
    yield from document["answer"]
    beside = bool(document["expected_of"])
    expected = [tables.numeric("expected", OF_ROW), tables.column("verdict")] if beside else []
    columns = [tables.column("load"), tables.numeric(how(document), OF_ROW), *expected]
    table = tables.Table("", columns, plain=True)
    for row in document["loads"]:
        of = [row["expected"], row["verdict"]] if beside else []
        table.add(row["name"], row["value"], *of, unit=unit_of(row))
    yield table
    for note in document["notes"]:
        yield f"  {note}"
