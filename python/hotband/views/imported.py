"""Records made from results of other tools, on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hotband.base.text.numbers import counted
from hotband.base.text.table import View, Whole
from hotband.data.documents.record import RecordDoc
from hotband.data.record.states import said_of
from hotband.inference.audit.rules import troubles
from hotband.questions.imported import ImportedFiles, ImportedFolders, ImportQuestion
from hotband.views.report.matrix import Matrix
from hotband.views.report.matrix_screen import matrix_screen
from hotband.views.text.screen import Screen, command, with_hidden
from hotband.views.text.tables import summaries_table, summary_table

SHOWN_WHOLE = 3
"""With more records than this, each is a row of one table, followed by their most common notes."""
COMMON_NOTES = 5
MOST_TROUBLES = 5


def files(imported: ImportedFiles, question: ImportQuestion) -> Iterator[View]:
    """Yield each record, and the paths of the written files."""
    if len(imported.imported) > SHOWN_WHOLE:
        yield from _many([record for record, _ in imported.imported])
        if imported.saved:
            yield Whole(f"{counted(len(imported.saved), 'record')} written to {question.out}.")
        return
    for record, _series in imported.imported:
        yield from (f"! {words}." for words in troubles(record))
        yield summary_table(record)
        yield from said_of(record)
        yield from (f"  note: {note}" for note in record["notes"])
    yield from (Whole(f"Record: {path}") for path in imported.saved)


def _many(records: Sequence[RecordDoc]) -> Iterator[View]:
    """Yield the troubles of records, a table of them, and the notes that several of them share."""
    wrong = [f"! {words}." for record in records for words in troubles(record, record["name"])]
    yield from with_hidden(wrong, MOST_TROUBLES)
    yield summaries_table(records)
    notes = Counter(note for record in records for note in (*said_of(record), *record["notes"]))
    common = [(note, count) for note, count in notes.most_common(COMMON_NOTES) if count > 1]
    yield from (f"  note: {note.strip()} ({counted(count, 'record')})" for note, count in common)
    if len(notes) > len(common):
        yield f"  {counted(len(notes) - len(common), 'further note')} in the records"


def folders(imported: ImportedFolders, question: ImportQuestion) -> Screen:
    """Return the results side by side."""
    out = question.out
    written = f"{counted(len(imported.saved), 'record')} written to {out}." if out is not None else ""
    further = command("report", out, output="report.html") if out is not None else ""
    screen = matrix_screen(Matrix(imported.walked), written, further)
    left = sum(result.imported is None for result in imported.walked.results)
    remarks = [*screen.remarks, *([f"{counted(left, 'record')} of Hotband not copied."] if left else [])]
    return replace(screen, remarks=remarks)
