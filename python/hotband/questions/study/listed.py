"""The question `studies`: list the studies of the catalog, or show one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.question import Way
from hotband.questions.catalog import CatalogQuestion, Listing, entry
from hotband.questions.study import file
from hotband.questions.study.asked import StudyGiven
from hotband.questions.study.definition import Study

if TYPE_CHECKING:
    from hotband.data.documents.study import StudyOutline


@dataclass(frozen=True)
class ShownStudy:
    """A study with its configurations, loads and published figures."""

    study: Study
    schema: str = "hotband-study-outline"

    def to_dict(self) -> StudyOutline:
        """Return the study as data."""
        return file.describe(self.study)


@dataclass(frozen=True, kw_only=True)
class StudiesQuestion(CatalogQuestion):
    """List studies of the catalog; with NAME show its machines, loads and published figures."""

    name = "studies"
    shown = ("hotband.questions.catalog:Listing", "hotband.questions.study.listed:ShownStudy")

    study: StudyGiven | None = entry()


def studies(question: StudiesQuestion, _: Way) -> Listing | ShownStudy:
    """Return the studies, or one of them. Raises UserError."""
    if question.study is not None:
        return ShownStudy(file.load(question.study))
    headings = {"name": "name", "title": "study", "source": "source"}
    return Listing("Studies", headings, [file.describe(name) for name in file.names()], ("name", "title", "question"))
