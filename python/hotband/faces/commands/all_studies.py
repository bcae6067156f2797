"""The intervals of all studies, and what the model leaves out: one command makes everything that intervals rest on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from hotband.base.engine import version
from hotband.base.text.table import Table
from hotband.base.text.write import write_file
from hotband.inference.interval import LEVEL
from hotband.inference.interval.residuals import RESIDUALS_FILE, ResidualFile, kept_of
from hotband.questions.study import file
from hotband.questions.study.intervals.coverage import coverage, terms_of
from hotband.questions.study.intervals.listing import systems_of
from hotband.questions.study.intervals.of_study import run_study_intervals
from hotband.views.interval import coverage_table, terms_table

if TYPE_CHECKING:
    from hotband.data.documents.interval import ClassTermDoc, CoverageDoc
    from hotband.execution.experiment import Say

COMMAND = "hotband study intervals --all --save"


class AllStudiesDoc(TypedDict):
    """How often intervals of `level` percent hold what is published, each study left out, and what the model's term
    rests on."""

    level: float
    studies: list[str]
    coverage: list[CoverageDoc]
    terms: list[ClassTermDoc]


def run_all(out: Path | None, save: bool, jobs: int | None, say: Say) -> AllStudiesDoc:
    """Makes the intervals of every study of the catalog, then the file of residuals. With `save` both are kept in the
    catalog, with `out` there."""
    residuals = ResidualFile(version(), COMMAND)
    for name in file.whole_names():
        made, rows = run_study_intervals(name, out=out, save=save, only=(), jobs=jobs, say=say)
        residuals.figures += kept_of(name, rows, made.figures, systems_of(file.load(name)))
        _write(residuals, out, save=False)
    _write(residuals, out, save)
    term = residuals.term()
    return {
        "level": LEVEL,
        "studies": file.whole_names(),
        "coverage": coverage(term.residuals, LEVEL),
        "terms": terms_of(term),
    }


def _write(residuals: ResidualFile, out: Path | None, save: bool) -> None:
    for path in ([out / RESIDUALS_FILE.name] if out is not None else []) + ([RESIDUALS_FILE] if save else []):
        write_file(path, residuals.text())


def views(made: AllStudiesDoc, level: float) -> list[Table | str]:
    """As the terminal shows it."""
    return [coverage_table(made["coverage"], level), "", terms_table(made["terms"])]
