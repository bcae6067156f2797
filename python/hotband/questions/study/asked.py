"""What is asked of studies: published evaluations, predicted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from hotband.base.question import Question, asks, fresh, into, jobs, out, seed
from hotband.base.views import view_of
from hotband.data.inputs.kinds import Names, Share, Texts
from hotband.inference.interval.fields import level

if TYPE_CHECKING:
    from hotband.questions.study.definition import Study

    StudyGiven: TypeAlias = str | Study
else:
    StudyGiven = Annotated[Any, "study"]
    """A name, a folder, or a study that was read already."""


def study(**more: Any) -> Any:
    """Return the field `study`."""
    return asks("A study of the catalog, or a study's folder.", metavar="NAME", positional=True, **more)


def save() -> Any:
    """Return the field `save`."""
    return asks("Keep them in the study's folder, as what it ships.", default=False)


@dataclass(frozen=True, kw_only=True)
class StudyRunQuestion(Question):
    """Predict the figures of a study and print them next to the published ones.

    Of some loads alone there are no claims and findings. In the folder `out` are records, `result.json` and
    `report.html`; runs that are there already are not repeated. Raises UserError, KeyboardInterrupt where it
    is stopped.
    """

    name = "study run"
    schema = "hotband-study"
    answers = "hotband.questions.study.result:StudyResult"
    runs = True
    folds = False

    study: StudyGiven = study()
    out: Path | None = out()
    into: Path | None = into()
    seed: int | None = seed(default=None)
    only: Names = asks("Run these loads alone.", default=(), metavar="LOAD[,LOAD]")
    fresh_seeds: bool = asks("Runs that follow others on one machine ask for offsets of their own.", default=False)
    fresh: bool = fresh()
    data: Path | None = asks(
        "The data that a study needs and Hotband does not ship.", default=None, metavar="DIR", hidden=True
    )
    trust: bool = asks("Execute the findings.py of a study that is not of the catalog.", default=False)


@dataclass(frozen=True, kw_only=True)
class StudyEmulateQuestion(Question):
    """Run a study's real programs on emulated machines at a smaller scale; compare their ratios with the model and
    the publication.

    The two machines of a part differ in one thing. What is finished is stored in the folder `out`, and not run
    again. A part whose program is missing is skipped, and says what to install. Raises UserError for a mistake and
    for a study without emulated parts, OSError where a program fails, KeyboardInterrupt where it is stopped.
    """

    name = "study emulate"
    schema = "hotband-study-emulation"
    answers = "hotband.questions.study.emulate.result:EmulationResult"
    tells = True

    study: StudyGiven = study()
    scale: Share | None = asks("Share of the study's data and drives, such as 1/1000.", default=None, metavar="SHARE")
    only: Names = asks("Run these parts alone.", default=(), metavar="PART[,PART]")
    out: Path | None = out()
    fresh: bool = fresh()


@dataclass(frozen=True, kw_only=True)
class StudySwingsQuestion(Question):
    """Run each assumption at both ends of its range; print which ones change a prediction.

    Assumptions are run one at a time, all of them or those that `only` names, by name or key. What is done is
    stored in the folder `out`, and not run again. Raises UserError, KeyboardInterrupt where it is stopped.
    """

    name = "study swings"
    schema = "hotband-study-swings"
    answers = "hotband.questions.study.swung:Swings"
    runs = True
    folds = False

    study: StudyGiven = study()
    out: Path | None = out()
    seed: int | None = seed(default=None)
    only: Names = asks("Swing these assumptions alone.", default=(), metavar="KEY[,KEY]")
    jobs: int | None = jobs()
    save: bool = save()


@dataclass(frozen=True, kw_only=True)
class StudyIntervalsQuestion(Question):
    """Compute intervals of a study's predictions; with --all also how often they contain the published figure, each
    study left out.

    What is stored with `save` is where `run` and `why` find it (docs/guides/intervals.md). Raises UserError,
    KeyboardInterrupt where it is stopped.
    """

    name = "study intervals"
    schema = "hotband-study-intervals"
    answers = "hotband.questions.study.intervals.spreads:Spreads"
    on_the_way = ("hotband.questions.study.intervals.spreads:AllIntervals",)
    runs = True
    folds = False

    study: StudyGiven | None = study(default=None)
    every: bool = asks(
        "Every study of the catalog, and what the model leaves out.", default=False, called="all", hidden=True
    )
    out: Path | None = out()
    save: bool = save()
    only: Names = asks("Only the runs of these loads.", default=(), metavar="LOAD[,LOAD]")
    jobs: int | None = jobs()


@dataclass(frozen=True, kw_only=True)
class StudyWhyQuestion(Question):
    """Explain the uncertainty of a study's figure from the draws that ship with it. Runs nothing.

    Raises UserError.
    """

    name = "study why"
    schema = "hotband-why"
    answers = "hotband.inference.interval.explained:Why"

    study: StudyGiven = study()
    figure: str = asks("The id of a figure of it.", metavar="FIGURE", positional=True)
    interval: float = level()


@dataclass(frozen=True, kw_only=True)
class StudyAccuracyQuestion(Question):
    """Run studies; print their errors by class of figure, fitted with the figure in view or predicted first.

    All studies take hours. The result has a `frame` and `goals`. Runs of this version that are in the folder `out` are
    not repeated. Raises UserError, KeyboardInterrupt where it is stopped.
    """

    name = "study accuracy"
    schema = "hotband-study-accuracy"
    answers = "hotband.questions.study.accounted:Accuracy"
    runs = True
    folds = False

    studies: Texts = asks("These alone; else all.", default=(), metavar="[NAME]...", positional=True)
    out: Path | None = out()
    page: Path | None = asks(
        "Write the account between the marks of this page.", default=None, metavar="FILE", hidden=True
    )
    fresh: bool = fresh()

    def written(self, found: Any, page: Path | None) -> list[str]:
        """Write the account into the page. Raises UserError, OSError."""
        if self.page is not None:
            view_of("hotband-study-accuracy", "rewrite")(self.page, found.to_dict())
        return super().written(found, page)


@dataclass(frozen=True, kw_only=True)
class StudyBlindQuestion(Question):
    """Print the errors of predictions made before the published figure was seen. Runs nothing.

    A row a study ("all" at last) and class of figures: study, figures, measurements, median_pct, p90_pct, largest_pct.
    """

    name = "study blind"
    schema = ""
    answers = "hotband.questions.study.accounted:AllBlindErrors"
    as_frame = True
    folds = False
