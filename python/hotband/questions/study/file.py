"""Find and load studies: configurations, loads, measures, published figures (docs/guides/studies.md).

`study.parse` reads a folder.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import tomli

from hotband.base.errors import UserError
from hotband.data.catalog import STUDIES_DIR
from hotband.data.catalog.entries import unknown
from hotband.questions.study.definition import STUDY_FILE, Study
from hotband.questions.study.parse import read_study

if TYPE_CHECKING:
    from hotband.data.documents.study import StudyOutline


def folders() -> dict[str, Path]:
    """Return the folders of the catalog's studies by name."""
    by_name = {}
    for path in sorted(STUDIES_DIR.glob(f"*/{STUDY_FILE}")):
        with path.open("rb") as file:
            by_name[str(tomli.load(file)["name"])] = path.parent
    return by_name


def names() -> list[str]:
    """Return the names of the catalog's studies."""
    return sorted(folders())


def whole_names() -> list[str]:
    """Return the names of the studies that run everywhere: those without data that Hotband does not ship."""
    return [name for name in names() if load(name).data is None]


def load(given: str | Study) -> Study:
    """Load a study of the catalog or from a folder; return a loaded one unchanged. Raises UserError."""
    if isinstance(given, Study):
        return given
    name = given
    if "/" in name or Path(name, STUDY_FILE).is_file():
        return read_study(Path(name))
    known = folders()
    if name not in known:
        raise unknown("question.study", name, sorted(known))
    return read_study(known[name])


def with_data(study: Study, folder: Path | None) -> Study:
    """Set the given folder of the study's data. Raises UserError if the study needs no data."""
    if folder is None:
        return study
    if study.data is None:
        raise UserError("question.data", "", str(folder), f"the study {study.name} needs no data")
    return replace(study, data=replace(study.data, given=folder))


def describe(given: str | Study) -> StudyOutline:
    """Return a study's outline as plain data."""
    study = load(given)
    return {
        "name": study.name,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "configs": [{"id": c.id, "label": c.label, "machine": c.machine or c.product} for c in study.configs],
        "loads": [
            {"id": load_entry.id, "label": load_entry.label, "workload": load_entry.workload}
            for load_entry in study.loads
        ],
        "published": [vars(row) for row in study.published],
    }
