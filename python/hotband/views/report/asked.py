"""The question `report`, whose answer is a page of records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.question import Question, Way, asks
from hotband.base.text.table import Table, column, numeric
from hotband.base.text.write import expect_page
from hotband.data.inputs.kinds import Machine, Records, paths_of
from hotband.data.record.files import record_file
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.load import LoadedRecord
from hotband.data.record.writable import check_folder
from hotband.inference.audit.facts import of_options
from hotband.inference.audit.fields import cache, media, target
from hotband.views.report.kept import FolderReport, Report, expect_fit, folder_report, kept_study, places_of, report_of
from hotband.views.report.matrix_screen import matrix_screen
from hotband.views.report.page import Block, Prose
from hotband.views.report.page import Table as PageTable
from hotband.views.text.screen import Screen, command, screen_table, shortened

MOST_AUDITED = 3
"""Most records that the next command names."""
MOST_ROWS = 12
MOST_SENTENCES = 3
FIGURES = {"Run": "", "IOPS": "IOPS", "MB/s": "MB/s"} | {
    f"{name} (ms)": f"{name.lower()} ms" for name in ("Mean", "p50", "p99", "Max")
}
"""Columns of a page's table on a terminal, and their names there."""


class ChartFormat(StrEnum):
    """Formats of a chart's file."""

    svg = "svg"
    png = "png"


@dataclass(frozen=True, kw_only=True)
class ReportQuestion(Question):
    """Write one self-contained HTML report of records, and its charts as SVG or PNG.

    The result's `.save("page.html")` writes the page, `.charts` has each of its charts by name (`.view` for altair,
    `.save("chart.svg")` or `.png`), `.save_charts("folder")` writes all of them. The page begins with which record is
    faster and by how much; records that differ only in their seed are repeats. Raises UserError if there is no record.
    """

    name = "report"
    schema = ""
    answers = "hotband.views.report.kept:Report"
    has_json = False

    records: Records = asks(
        "Records, folders of them, results of other tools, or the folder of a study run.",
        metavar="RECORD...",
        positional=True,
        takes="at least one record",
    )
    output: Path | None = asks("The report: one file.", default=None, metavar="FILE.html", short="-o", hidden=True)
    charts: Path | None = asks("Folder for the charts, one file each.", default=None, metavar="DIR", hidden=True)
    chart_format: ChartFormat | None = asks("Format of the charts. Default: svg.", default=None, hidden=True)
    title: str | None = asks("Heading. Default: the workload and the machine.", default=None)
    audit: bool = asks("Include the auditor's findings.", default=False)
    on: Machine | None = target()
    media: str | None = media()
    cache: str | None = cache()

    def written(self, report: Report, _: Path | None) -> list[str]:
        """Write the page and the charts; return lines with their paths. Raises UserError, OSError."""
        lines = []
        with whole(places_of(loaded(self.records))):
            if self.output is not None:
                page = report.save(self.output)
                # The first sentence of a folder's screen names its page.
                lines += [] if isinstance(report, FolderReport) else [f"Report: {page}"]
            if self.charts is not None:
                charts = report.save_charts(self.charts, (self.chart_format or ChartFormat.svg).value)
                lines.append(f"Charts: {len(charts)} in {self.charts}")
        return lines


def loaded(records: Records) -> list[Path | LoadedRecord]:
    """Return paths unchanged, and convert records in memory as if they were loaded from files."""
    return [record if isinstance(record, Path) else record.loaded() for record in records]


def whole(places: list[Path | LoadedRecord]) -> AbstractContextManager[None]:
    """Return the context that turns missing parts of records into a UserError; a study checks its own parts."""
    paths = [path for path in places if isinstance(path, Path)]
    return nullcontext() if kept_study(paths) is not None else refusing_incomplete(paths)


def answer(question: ReportQuestion, way: Way) -> Report:
    """Return the report. Raises UserError."""
    if way.on_terminal:
        expect_somewhere(question)
    given = loaded(question.records)
    machine = of_options(question.on, question.media, question.cache)
    expect_fit(given, question.title, question.audit, machine)
    if question.charts is not None:
        check_folder(question.charts, "question.charts")
    with whole(given):
        of_folder = folder_report(given, question.title, machine)
    if of_folder is not None:
        return of_folder
    places = places_of(given)
    if question.output is not None:
        paths = [path for path in places if isinstance(path, Path)]
        expect_page("question.output", question.output, [file for path in paths for file in (path, record_file(path))])
    with whole(places):
        return report_of(places, question.title, audit=question.audit, machine=machine)


def expect_somewhere(question: ReportQuestion) -> None:
    """Raise UserError if the question names no output, or nothing to report on."""
    if question.output is None and question.charts is None:
        accepted = "missing: expected -o FILE.html, question.charts DIR or both"
        raise UserError("question.output", "", "", accepted)
    if question.chart_format is not None and question.charts is None:
        accepted = "applies to chart files: expected question.charts DIR"
        raise UserError("question.chart_format", "", question.chart_format.value, accepted)


def terminal(report: Report, question: ReportQuestion) -> Screen:
    """Return the matrix of a folder of results; for other reports the answer, and a row per record."""
    if isinstance(report, FolderReport):
        written = " ".join(f"{path} written." for path in report.saved)
        return matrix_screen(report.matrix, written, command("audit", *paths_of(question.records)))
    texts = [text for block in _answer_blocks(report) if isinstance(block, Prose) for text in block.paragraphs]
    first, *more = re.split(r"(?<=[.:]) (?=[A-Z0-9])", texts[0], maxsplit=1) if texts else [report.title]
    paths = paths_of(question.records)
    tables = [_figures(block) for block in _answer_blocks(report) if isinstance(block, PageTable)]
    is_audited = len(paths) <= MOST_AUDITED and kept_study(loaded(question.records)) is None
    return Screen(
        answer=first,
        more=[*more, *texts[1:]][:MOST_SENTENCES],
        body=[shortened(table, MOST_ROWS, "more record") for table in tables[:1] if len(table.columns) > 1],
        next=command("audit", *paths) if is_audited else "",
        details=[report.title, *texts],
    )


def _answer_blocks(report: Report) -> Sequence[Block]:
    """Return the blocks of a page's first section, which has the answer."""
    return report.page.sections[0].blocks if report.page.sections else []


def _figures(shown: PageTable) -> Table:
    """Return the figures of a page's table that fit on a terminal; none for a table that has no such columns."""
    places = [at for at, name in enumerate(shown.columns) if name in FIGURES]
    columns = [(numeric if shown.numeric[at] else column)(FIGURES[shown.columns[at]]) for at in places]
    table = screen_table(columns)
    for row in (row for group in shown.groups for row in group.rows):
        table.add(*(row[at].text for at in places))
    return table
