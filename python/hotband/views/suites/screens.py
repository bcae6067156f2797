"""Suites on a screen: the quick test and SNIA's performance test, a row per figure and whether it is valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.question import INVALID
from hotband.base.text.numbers import number, span
from hotband.base.text.table import IOPS, MBS, OF_ROW, Cell, Table, column, numeric
from hotband.questions.suites.pts.verdict import verdict
from hotband.questions.suites.quick import unit_of as unit_of_load
from hotband.views.review import sparkline
from hotband.views.suites.page import unit_of
from hotband.views.suites.quick_page import how, views
from hotband.views.suites.show import pts_views, steady_words
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, screen_table, shortened, signed, with_hidden

if TYPE_CHECKING:
    from hotband.data.documents.pts import PtsDoc
    from hotband.questions.suites.looked import QuickQuestion, QuickResult
    from hotband.questions.suites.quick import LoadDoc, QuickDoc
    from hotband.questions.suites.tested import PtsQuestion, PtsResult

BAR = 10
CURVE = 10
MOST_ROWS = 15
MOST_REMARKS = 3
AS_EXPECTED = "as expected"


def quick(result: QuickResult, question: QuickQuestion) -> Screen:
    """Return what the terminal shows of a quick test."""
    document = result.document
    invalid = [line for line in document["answer"] if line.startswith(INVALID)]
    figures, *others = document["answer"][len(invalid) :]
    lines = [*invalid, _quick_sentence(document) or figures, *others]
    return Screen(
        answer=lines[0],
        more=lines[1:],
        body=[_loads_table(document)],
        state=[_quick_state(document)],
        remarks=with_hidden(document["notes"], MOST_REMARKS),
        next=question,
        details=list(views(document)),
    )


def _quick_sentence(document: QuickDoc) -> str:
    """Return the rates of sequential and of random reads; "" if one of them was not tested."""
    loads = {(load["unit"], load["cell"]["read_pct"]): load for load in reversed(document["loads"])}
    sequential, random = loads.get(("B/s", 100)), loads.get(("IOPS", 100))
    if sequential is None or random is None:
        return ""
    size = "4 KiB"
    rates = f"{MBS.shown(sequential['value'])} in sequence and {IOPS.shown(random['value'])} of {size} at random"
    return f"{document['title']}: {rates} are {'predicted' if document['kind'] == 'model' else 'measured'}."


def _loads_table(document: QuickDoc) -> Table:
    """Return a row per load, with what is expected of it or a bar among the loads of its unit."""
    expected_of = document["expected_of"]
    drawn = _drawn(document["loads"])
    expected = [numeric("expected", OF_ROW), column("")] if expected_of else [bar_column(BAR)]
    table = screen_table([column(""), numeric(how(document), OF_ROW), *expected])
    for row, picture in zip(document["loads"], drawn, strict=True):
        cells = [row["expected"], _verdict(row)] if expected_of else [picture]
        table.add(row["name"], row["value"], *cells, unit=unit_of_load(row))
    return table


def _drawn(loads: list[LoadDoc]) -> list[str]:
    """Draw the rates, each relative to the largest of its unit; latencies, of which less is better, have no bar."""
    pictures = dict.fromkeys(range(len(loads)), "")
    for unit in ("B/s", "IOPS"):
        places = [at for at, row in enumerate(loads) if row["unit"] == unit]
        pictures |= zip(places, bars([loads[at]["value"] for at in places], BAR), strict=True)
    return list(pictures.values())


def _verdict(row: LoadDoc) -> str | Cell:
    if row["verdict"] in ("", AS_EXPECTED):
        return row["verdict"] and Cell(f"✓ {AS_EXPECTED}", "green")
    return signed(row["verdict"], not row["verdict"].endswith("worse"))


def _quick_state(document: QuickDoc) -> str:
    """Return how long it took, how the rate of the long writes developed, and what the drive counts."""
    parts = [f"{span(1e9 * document['seconds'])} in all"]
    if document["going_on"]:
        parts.append(f"sustained writes {sparkline(document['going_on'], CURVE)}")
    parts += [f"{name} {number(value)}" for name, value in document["health"].items()]
    return ", ".join(parts)


def pts(result: PtsResult, question: PtsQuestion) -> Screen:
    """Return what the terminal shows of SNIA's performance test."""
    document = result.document
    first, *others = document["answer"] or ["No test was finished."]
    departures = document["specification"]["departures"]
    notes = [*(f"{test['title']}: {note}" for test in document["tests"] for note in test["notes"]), *document["notes"]]
    remarks = [*(f"Not as specified: {why}" for why in departures), *notes]
    return Screen(
        answer=first,
        verdict="yes" if document["specification"]["compliant"] else "likely",
        more=others[:MOST_REMARKS],
        body=[shortened(_figures_table(document), MOST_ROWS - len(others), "more figure")],
        state=[_device_line(document), verdict(document)],
        remarks=with_hidden(remarks, MOST_REMARKS),
        next=question,
        details=list(pts_views(document)),
    )


def _device_line(document: PtsDoc) -> str:
    device = document["device"]
    return f"{device['title']} ({device['name']})"


def _figures_table(document: PtsDoc) -> Table:
    """Return a row per figure of a test, the first with when the test was steady."""
    several = len(document["tests"]) > 1
    table = screen_table(
        [*([column("test", once=True)] if several else []), column(""), numeric("", OF_ROW), column("steady state")]
    )
    for test in document["tests"]:
        for at, figure in enumerate(test["figures"]):
            title = [test["title"]] if several else []
            table.add(
                *title, figure["name"], figure["value"], steady_words(test) if at == 0 else "", unit=unit_of(figure)
            )
    return table
