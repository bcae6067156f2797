"""Questions that turn results of other tools into records: one per tool, and one that recognises the tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotband.base.question import Question, Way, asks
from hotband.data import importers
from hotband.data.importers import hdr
from hotband.data.inputs.kinds import Results
from hotband.data.record.files import folder_name, save_imported
from hotband.data.record.imported import Imported
from hotband.data.record.writable import check_writable
from hotband.data.results.walk import Walk, is_walked, walk


@dataclass(frozen=True)
class ImportedFiles:
    """Records made from files, and their paths."""

    imported: Sequence[Imported]
    saved: Sequence[Path]

    @property
    def rows(self) -> list[Any]:
        """Return the records as documents."""
        return [record for record, _ in self.imported]


@dataclass(frozen=True)
class ImportedFolders:
    """Results read in folders, records made of further files, and the paths written."""

    walked: Walk
    further: Sequence[Imported]
    saved: Sequence[Path]

    @property
    def rows(self) -> list[Any]:
        """Return the records as documents."""
        return [result.record.record for result in self.walked.results if result.imported is not None] + [
            record for record, _ in self.further
        ]


@dataclass(frozen=True, kw_only=True)
class ImportQuestion(Question):
    """Base of questions about results of other tools."""

    schema = ""
    answers = "hotband.questions.imported:ImportedFiles"

    files_: Results = asks(
        "Files or folders that the tool wrote; - reads standard input.", metavar="FILE...", positional=True
    )
    out: Path | None = asks("Folder for the output.", default=None, metavar="DIR")

    def read(self) -> Sequence[Imported]:
        """Return the records of the files, by the reader of the tool that the command names. Raises UserError."""
        return importers.tools()[self.name.split()[1]].read(self.files_)


@dataclass(frozen=True, kw_only=True)
class AutoQuestion(ImportQuestion):
    """Recognise by content which tool wrote each file, and turn it into records."""

    name = "import auto"
    shown = ("hotband.questions.imported:ImportedFiles", "hotband.questions.imported:ImportedFolders")


@dataclass(frozen=True, kw_only=True)
class FioQuestion(ImportQuestion):
    """Turn fio's output (JSON, JSON+, terse, logs) into records; logs next to their JSON become its series."""

    name = "import fio"


@dataclass(frozen=True, kw_only=True)
class VdbenchQuestion(ImportQuestion):
    """Turn vdbench's flatfile, summary, totals and histogram into records, one per run definition."""

    name = "import vdbench"


@dataclass(frozen=True, kw_only=True)
class DiskspdQuestion(ImportQuestion):
    """Turn DiskSpd's XML (-Rxml) into records, one per time span."""

    name = "import diskspd"


@dataclass(frozen=True, kw_only=True)
class IometerQuestion(ImportQuestion):
    """Turn Iometer's results CSV into records, one per test."""

    name = "import iometer"


@dataclass(frozen=True, kw_only=True)
class HdrQuestion(ImportQuestion):
    """Turn HdrHistogram logs (.hlog) into records, one per tag."""

    name = "import hdr"

    unit: str | None = asks("Unit of the values: ns, us, ms or s.", default=None, metavar="UNIT")

    def read(self) -> Sequence[Imported]:
        """Return the records of the logs, whose values are in the given unit. Raises UserError."""
        return hdr.read(self.files_, self.unit)


def recognised(question: AutoQuestion, _: Way) -> ImportedFiles | ImportedFolders:
    """Return the records of files from any supported tools. Raises UserError, OSError."""
    _expect_writable(question.out)
    if any(is_walked(path) for path in question.files_):
        return _of_folders(question.files_, question.out)
    return _written([each for path in question.files_ for each in importers.load(path)], question.out)


def of_tool(question: ImportQuestion, _: Way) -> ImportedFiles:
    """Return the records of the files of a tool. Raises UserError, OSError."""
    _expect_writable(question.out)
    return _written(question.read(), question.out)


def _expect_writable(out: Path | None) -> None:
    if out is not None:
        check_writable(out)


def _written(imported: Sequence[Imported], out: Path | None) -> ImportedFiles:
    return ImportedFiles(imported, [] if out is None else save_imported(out, imported))


def _of_folders(paths: Sequence[Path], out: Path | None) -> ImportedFolders:
    """Read every result in folders; with several series, write each to SERIES/TEST in `out`."""
    walked = Walk.merged([walk(path) for path in paths if path.is_dir()])
    further = [each for path in paths if not path.is_dir() for each in importers.load(path)]
    if out is None:
        return ImportedFolders(walked, further, [])
    saved = save_imported(out, further)
    for series in walked.series:
        folder = out / folder_name(series) if len(walked.series) > 1 else out
        named = [
            (result.test, result.imported)
            for result in walked.results
            if result.imported is not None and result.series == series
        ]
        saved += save_imported(folder, [imported for _, imported in named], [test for test, _ in named])
    return ImportedFolders(walked, further, saved)
