"""Records that were made of results of other tools, on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted
from hotband.base.text.table import View, Whole
from hotband.data.record.states import said_of
from hotband.inference.audit.trouble import troubles
from hotband.views.report.matrix import Matrix
from hotband.views.report.matrix_screen import matrix_screen
from hotband.views.text.screen import Screen, command
from hotband.views.text.tables import summary_table

if TYPE_CHECKING:
    from hotband.questions.imported import ImportedFiles, ImportedFolders, ImportQuestion


def files(found: ImportedFiles, _: ImportQuestion) -> Iterator[View]:
    """Yield each record, and where they were written."""
    for record, _series in found.imported:
        yield summary_table(record)
        yield from (f"! {words}." for words in troubles(record))
        yield from said_of(record)
        yield from (f"  note: {note}" for note in record["notes"])
    yield from (Whole(f"Record: {path}") for path in found.saved)


def folders(found: ImportedFolders, question: ImportQuestion) -> Screen:
    """Return the results side by side."""
    out = question.out
    written = f"{counted(len(found.saved), 'record')} written to {out}." if out is not None else ""
    further = command("report", out, output="report.html") if out is not None else ""
    screen = matrix_screen(Matrix(found.walked), written, further)
    left = sum(result.imported is None for result in found.walked.results)
    remarks = [*screen.remarks, *([f"{counted(left, 'record')} of Hotband not copied."] if left else [])]
    return replace(screen, remarks=remarks)
