"""A PTS run on the terminal: the answer first, then a table of figures, then what is to be known."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hotband.data.documents.pts import PtsDoc, TestDoc
from hotband.questions.suites.pts.verdict import verdict
from hotband.views.suites.page import value_text


def views(document: PtsDoc) -> Iterator[Table | Text | str]:
    """What is printed, in order."""
    device = document["device"]
    yield Text(f"{device['title']} ({device['name']})", style="bold")
    yield from document["answer"]
    yield verdict(document)
    if document["tests"]:
        yield figures_table(document["tests"])
    for why in document["specification"]["departures"]:
        yield f"  not as the specification has it: {why}"
    for test in document["tests"]:
        for note in test["notes"]:
            yield f"  {test['title']}: {note}"
    for note in document["notes"]:
        yield f"  {note}"


def figures_table(tests: list[TestDoc]) -> Table:
    """Every figure of every test."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("test", "figure"):
        table.add_column(name, overflow="fold")
    table.add_column("value", justify="right")
    table.add_column("steady state")
    for test in tests:
        for number, figure in enumerate(test["figures"]):
            first = number == 0
            table.add_row(
                test["title"] if first else "", figure["name"], value_text(figure), _steady(test) if first else ""
            )
    return table


def _steady(test: TestDoc) -> str:
    if test["steady"] is None:
        return ""
    rounds = ", ".join(str(len(loop["rounds"])) for loop in test["loops"])
    return f"round {rounds}" if test["steady"] else f"not in {rounds} rounds"
