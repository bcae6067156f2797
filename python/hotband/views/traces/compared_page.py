"""The page of two traces that were compared."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from hotband.views.report.compared import comparison_blocks
from hotband.views.report.kept import Report
from hotband.views.report.page import Block, Page, Prose, Section
from hotband.views.traces.compare import notes_of, same_words

if TYPE_CHECKING:
    from hotband.inference.traces.compare import TracesCompared, TracesComparedDoc


def compared_page(document: TracesComparedDoc) -> Page:
    """How far the second trace (B) is from the first (A): figures, both distributions, classes, percentiles."""
    sides = (("A", document["measured"]), ("B", document["replayed"]))
    files = [PurePath(side.get("file", "")).name for _, side in sides]
    about = "; ".join(
        f"{name} is {side.get('file', '')} ({side['ios']:,} I/Os, {side.get('format', '')})" for name, side in sides
    )
    blocks: list[Block] = [*comparison_blocks(document, ("A", "B"))]
    blocks.insert(1, Prose([same_words(document)]))
    if notes := [note for name, side in sides for note in notes_of(name, side)]:
        blocks.append(Prose(notes))
    title = f"How far is {files[1]} from {files[0]}?"
    return Page(title, [Section("comparison", "Latencies", blocks)], subtitle=about, kicker="Hotband traces")


def of_traces(compared: TracesCompared) -> Report:
    """Two traces side by side."""
    return Report(compared_page(compared.document))
