"""Two traces compared, on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, percent, span
from hotband.base.text.table import CHANGE, MS, PERCENT, Table, column, numeric
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from hotband.data.documents.record import ComparedDoc
    from hotband.inference.traces.compare import (
        ComparedIoDoc,
        ComparedSideDoc,
        CompareTracesQuestion,
        TracesCompared,
        TracesComparedDoc,
    )

MOST_ROWS = 12
MOST_REMARKS = 3


def terminal(compared: TracesCompared, question: CompareTracesQuestion) -> Screen:
    """Return the screen of two traces: the differences of B from A, by class of I/O."""
    document = compared.document
    notes = [
        note
        for name, side in (("A", document["measured"]), ("B", document["replayed"]))
        for note in notes_of(name, side)
    ]
    return Screen(
        answer=_sentence(document),
        more=[same_words(document)],
        body=[shortened(_classes(document), MOST_ROWS, "more class")],
        state=list(_sides(document)),
        remarks=with_hidden(notes, MOST_REMARKS),
        next=question,
        details=[
            *_sides(document),
            same_words(document),
            _figures(document),
            _percentiles(document),
            *_notes(document),
        ],
    )


def _sentence(document: TracesComparedDoc) -> str:
    """Return the differences of the mean latencies and of the distributions."""
    error, demerit = document["mean_error_pct"], document["demerit_pct"]
    if error is None:
        return f"The latencies of A have a mean of {span(document['mean_measured_ns'])}, so B has no error in percent."
    means = f"{span(document['mean_replayed_ns'])} against {span(document['mean_measured_ns'])}"
    far = "" if demerit is None else f"; the distributions differ by {percent(demerit, signed=False)} (demerit)"
    if not error:
        return f"A and B have the same mean latency, {span(document['mean_measured_ns'])}{far}."
    slower = "longer" if error > 0 else "shorter"
    return f"The latencies of B are {percent(abs(error), signed=False)} {slower} on average, {means}{far}."


def _classes(document: TracesComparedDoc) -> Table:
    """Return a row for all I/Os and one per class: both means, the error, and the difference of the distributions."""
    means = [numeric("A", MS), numeric("B", MS), numeric("difference", CHANGE)]
    table = screen_table([column(""), numeric("I/Os"), *means, numeric("demerit", PERCENT), numeric("RMS", MS)])
    for name, row in rows_of(document):
        figures = (row["mean_measured_ns"], row["mean_replayed_ns"], row["mean_error_pct"])
        table.add(name, row["ios"], *figures, row["demerit_pct"], row["rms_ns"])
    return table


def _sides(document: TracesComparedDoc) -> Iterator[Text]:
    for name, side in (("A", document["measured"]), ("B", document["replayed"])):
        what = f"{counted(side['ios'], 'I/O')}, {side.get('format', '')}"
        yield marked(f"{name}: {{file}} ({what})", file=side.get("file", ""))


def same_words(document: TracesComparedDoc) -> str:
    """Return whether single I/Os could be compared, with the reason if not."""
    if document["same_ios"]:
        return "Both have the same I/Os in the same order: each is compared with its counterpart."
    first = document["first_difference"]
    assert first is not None, "what is not the same differs somewhere"
    places = f"I/O {first['io']:,} is {_io(first['measured'])} in A and {_io(first['replayed'])} in B"
    return f"Not the same I/Os in the same order ({places}): distributions are compared, single I/Os are not."


def _io(io: ComparedIoDoc | None) -> str:
    if io is None:
        return "missing"
    return f"a {io['op']} of {io['size_bytes']:,} B at {io['offset_bytes']:,}"


def rows_of(document: TracesComparedDoc) -> list[tuple[str, ComparedDoc]]:
    """Return all I/Os and each class, with their names."""
    classes: list[tuple[str, ComparedDoc]] = [
        (f"{of_class['direction']} {of_class['distance']}", of_class) for of_class in document["classes"]
    ]
    return [("all", document), *classes]


def _figures(document: TracesComparedDoc) -> Table:
    means = [numeric("A (ms)", MS), numeric("B (ms)", MS), numeric("error", CHANGE)]
    demerits = [numeric("demerit (ms)", MS), numeric("demerit", PERCENT), numeric("RMS (ms)", MS)]
    alike = not any("ios_replayed" in row for _, row in rows_of(document))
    counts = [numeric("count")] if alike else [numeric("count of A"), numeric("count of B")]
    table = Table("Mean latency and distributions", [column("I/Os", wrap=False), *counts, *means, *demerits])
    for name, row in rows_of(document):
        ios = [row["ios"]] if alike else [row["ios"], row.get("ios_replayed", row["ios"])]
        figures = (row["mean_measured_ns"], row["mean_replayed_ns"], row["mean_error_pct"])
        table.add(name, *ios, *figures, row["demerit_ns"], row["demerit_pct"], row["rms_ns"])
    return table


def _percentiles(document: TracesComparedDoc) -> Table:
    columns = [numeric("percentile", PERCENT), *(numeric(name, MS) for name in ("A (ms)", "B (ms)", "B - A (ms)"))]
    table = Table("Percentiles of latency", columns)
    for row in document["percentiles"]:
        measured, replayed = row["measured_ns"], row["replayed_ns"]
        table.add(row["percentile"], measured, replayed, replayed - measured)
    return table


def _notes(document: TracesComparedDoc) -> Iterator[str | Text]:
    for name, side in (("A", document["measured"]), ("B", document["replayed"])):
        for note in notes_of(name, side):
            yield marked("note: {note}", note=note)


def notes_of(name: str, side: ComparedSideDoc) -> list[str]:
    """Return notes on one of the two traces."""
    notes = []
    if side["left_out"]:
        notes.append(f"{counted(side['left_out'], 'I/O')} of {name} failed or had no latency, and are left out")
    if side["unmeasured"]:
        notes.append(f"{counted(side['unmeasured'], 'I/O')} of {name} belong to its warm-up, and are also compared")
    return [*notes, *(f"{name}: {note}" for note in side["notes"])]
