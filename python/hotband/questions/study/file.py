"""A study as its folder states it: configurations, loads, measures, published figures (docs/guides/studies.md).

`study.parse` reads the folder; here is what it holds.
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
    """Folders of the catalog's studies by name."""
    found = {}
    for path in sorted(STUDIES_DIR.glob(f"*/{STUDY_FILE}")):
        with path.open("rb") as file:
            found[str(tomli.load(file)["name"])] = path.parent
    return found


def names() -> list[str]:
    """Names of the studies."""
    return sorted(folders())


def whole_names() -> list[str]:
    """Names of the studies that run everywhere: without those that need data which Hotband does not ship."""
    return [name for name in names() if load(name).data is None]


def load(given: str | Study) -> Study:
    """Reads a study of the catalog, or one from a folder; one that was read already is that. Raises UserError."""
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
    """The study with the folder of its data as it was said. Raises UserError where it needs none."""
    if folder is None:
        return study
    if study.data is None:
        raise UserError("question.data", "", str(folder), f"the study {study.name} needs no data")
    return replace(study, data=replace(study.data, said=folder))


def describe(given: str | Study) -> StudyOutline:
    """A study's outline as plain data, by its name or as it was loaded."""
    study = load(given)
    return {
        "name": study.name,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "configs": [{"id": c.id, "label": c.label, "machine": c.machine or c.product} for c in study.configs],
        "loads": [{"id": one.id, "label": one.label, "workload": one.workload} for one in study.loads],
        "published": [vars(row) for row in study.published],
    }
