"""The evidence of a PTS run: the answer, every figure, how the run departs from the specification, and notes."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from hotband.base.text.table import OF_ROW, Table, View, column, numeric
from hotband.data.documents.pts import PtsDoc, TestDoc
from hotband.questions.suites.pts.verdict import verdict
from hotband.views.suites.page import unit_of


def pts_views(document: PtsDoc) -> Iterator[View]:
    """Yield all that is known of a PTS run, the answer first."""
    device = document["device"]
    yield Text(f"{device['title']} ({device['name']})", style="bold")
    yield from document["answer"]
    yield verdict(document)
    if document["tests"]:
        yield figures_table(document["tests"])
    for why in document["specification"]["departures"]:
        yield f"  not as specified: {why}"
    for test in document["tests"]:
        for note in test["notes"]:
            yield f"  {test['title']}: {note}"
    for note in document["notes"]:
        yield f"  {note}"


def figures_table(tests: list[TestDoc]) -> Table:
    """Every figure of every test."""
    columns = [column("test", once=True), column("figure"), numeric("value", OF_ROW), column("steady state")]
    table = Table("", columns, plain=True)
    for test in tests:
        for index, figure in enumerate(test["figures"]):
            steady = steady_words(test) if index == 0 else ""
            table.add(test["title"], figure["name"], figure["value"], steady, unit=unit_of(figure))
    return table


def steady_words(test: TestDoc) -> str:
    """Return in which round each loop of a test was steady; "" of a test without such a rule."""
    if test["steady"] is None:
        return ""
    rounds = ", ".join(str(len(loop["rounds"])) for loop in test["loops"])
    return f"round {rounds}" if test["steady"] else f"not in {rounds} rounds"
