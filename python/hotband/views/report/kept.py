"""A report in Python: its page, and every chart by name, to save or change."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.text.regular import file_text
from hotband.base.text.words import unused
from hotband.base.version import __version__
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.load import LoadedRecord, load_record, records_in
from hotband.data.results.walk import Walk, is_output, walk_of_series
from hotband.inference.audit.load import expect_once
from hotband.views.report.latency import load_any
from hotband.views.report.matrix import Matrix
from hotband.views.report.matrix_page import matrix_page
from hotband.views.report.page import Chart, Charts, Drawable, Page, write_report
from hotband.views.report.pictures import write_picture
from hotband.views.report.record_page import record_page
from hotband.views.report.study_page import study_page

if TYPE_CHECKING:
    from hotband.data.documents.study import StudyDoc
    from hotband.inference.audit.facts import MachineFacts

FORMATS = ("svg", "png")
RESULT_FILE = "result.json"


@dataclass(frozen=True)
class ReportChart:
    """A chart of a report: its title and caption, and `view`, which altair or Vega-Lite draws (`view.to_dict()`)."""

    name: str
    title: str
    caption: str
    view: Drawable
    origin: str

    @public
    def save(self, path: str | Path) -> Path:
        """Write the chart as .svg or .png, by the file's suffix. Raises UserError for another suffix, OSError."""
        file = Path(path)
        if file.suffix.lower().removeprefix(".") not in FORMATS:
            raise UserError("path", "", str(file), f"expected a file that ends in {' or '.join(FORMATS)}")
        write_picture(file, self.view, self.title, self.origin)
        return file


class Report:
    """A page of records or of a study: `save` writes it, `charts` has every chart by its name."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def title(self) -> str:
        """Return the heading."""
        return self.page.title

    @cached_property
    def charts(self) -> Mapping[str, ReportChart]:
        """Return every chart by a name made from its title, in the order of the page."""
        origin = f"{self.page.title} · Hotband {__version__}"
        blocks = [block for section in self.page.every_section for block in section.blocks if isinstance(block, Charts)]
        charts: dict[str, ReportChart] = {}
        for chart in (chart for block in blocks for chart in block.charts):
            name = unused(_name(chart), charts, "-{}")
            charts[name] = ReportChart(name, chart.title, chart.caption, chart.view, origin)
        return charts

    @public
    def save(self, path: str | Path) -> Path:
        """Write the page, one self-contained HTML file. Raises UserError, OSError."""
        return write_report(Path(path), self.page)

    @public
    def save_charts(self, folder: str | Path, form: str = "svg") -> list[Path]:
        """Write every chart into a folder, which is created if necessary, as NAME.svg or NAME.png. Raises UserError,
        OSError."""
        if form not in FORMATS:
            raise UserError("form", "", form, f"expected one of {', '.join(FORMATS)}")
        return [chart.save(Path(folder) / f"{name}.{form}") for name, chart in self.charts.items()]

    def __repr__(self) -> str:
        return f"<Report {self.title!r}: {len(self.charts)} charts>"


class FolderReport(Report):
    """A page of a folder of results: the drives by tests in a `matrix`; `saved` has the written pages."""

    def __init__(self, page: Page, matrix: Matrix) -> None:
        super().__init__(page)
        self.matrix = matrix
        self.saved: list[Path] = []

    @public
    def save(self, path: str | Path) -> Path:
        """Write the page, one self-contained HTML file. Raises UserError, OSError."""
        self.saved.append(super().save(path))
        return self.saved[-1]


def _name(chart: Chart) -> str:
    return re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-") or "chart"


def report_of(
    given: Sequence[Path | LoadedRecord],
    title: str | None = None,
    *,
    audit: bool = False,
    machine: MachineFacts | None = None,
) -> Report:
    """Return the report of records, on disk or in memory, as `places_of` names them, or of a study if the only argument
    is the folder of its result; `audit` and `machine` are as in `record_page`. Raises UserError."""
    if (study := kept_study(given)) is not None:
        return read_study(study)
    loaded = [record for item in given for record in (read_records(item) if isinstance(item, Path) else [item])]
    return Report(record_page(loaded, title, audit=audit, machine=machine))


def folder_report(
    given: Sequence[Path | LoadedRecord], title: str | None = None, machine: MachineFacts | None = None
) -> FolderReport | None:
    """Return the report of folders of results, one series each if they have no sub-folders; None if an argument is not
    such a folder. Raises UserError."""
    walks: list[Walk] = []
    for path in given:
        walk = walk_of_series(path) if isinstance(path, Path) and kept_study([path]) is None else None
        if walk is None:
            return None
        walks.append(walk)
    if not walks:
        return None
    matrix = Matrix(Walk.merged(walks))
    return FolderReport(matrix_page(matrix, title, machine), matrix)


def expect_fit(
    given: Sequence[Path | LoadedRecord], title: str | None, audit: bool, machine: MachineFacts | None
) -> None:
    """Raise UserError for options that do not apply to this kind of report."""
    if machine is not None and not audit:
        raise UserError(
            "question.audit",
            "",
            "",
            "missing: question.on, question.media and question.cache describe results to the auditor",
        )
    if kept_study(given) is not None and (audit or title is not None):
        option = "question.audit" if audit else "question.title"
        raise UserError(option, "", title or "", "applies to records; leave it out with the folder of a study")


def places_of(given: Sequence[Path | LoadedRecord]) -> list[Path | LoadedRecord]:
    """Return what to report: the records in folders, and the folder of a study as it is. Raises UserError for a
    duplicate result."""
    if kept_study(given) is not None:
        return list(given)
    paths = [path for item in given for path in (records_in(item) if isinstance(item, Path) else [item])]
    expect_once([path for path in paths if isinstance(path, Path)])
    return paths


def read_records(path: Path) -> list[LoadedRecord]:
    """Return the records behind a path: one of ours, or the results in a file of another tool. Raises UserError."""
    is_foreign = is_output(path) if path.is_dir() else path.name != RECORD_FILE
    return load_any(path) if is_foreign else [load_record(path)]


def kept_study(given: Sequence[Path | LoadedRecord]) -> Path | None:
    """Return the folder of a study's result, if that is the only argument."""
    first = given[0] if len(given) == 1 else None
    return first if isinstance(first, Path) and (first / RESULT_FILE).is_file() else None


def read_study(folder: Path) -> Report:
    """Return the report of a study from its folder. Raises UserError."""
    file = folder / RESULT_FILE
    try:
        document = json.loads(file_text(file))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(str(file), "", "", f"is not a result of a study: {error}") from None
    needed = ("study", "title", "summary", "figures", "runs")
    missing = [key for key in needed if key not in document] if isinstance(document, dict) else list(needed)
    if missing:
        raise UserError(
            str(file), missing[0], "", "is missing; expected the result.json that a study left in its folder"
        )
    result = cast("StudyDoc", document)
    files = {run["id"]: folder / str(run["record"]) for run in result["runs"] if run["record"]}
    records = {name: load_record(path) for name, path in files.items() if path.is_file()}
    try:
        return Report(study_page(result, records))
    except (KeyError, TypeError, AttributeError) as error:
        again = f"is damaged or of another version of hotband ({error}); run the study again into the same folder"
        raise UserError(str(file), "", "", again) from None
