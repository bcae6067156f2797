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
    """Predict a study's figures; print them beside the published ones.

    Of some loads alone there are no claims and findings. In the folder `out` are records, `result.json` and
    `report.html`; runs that are there already are not repeated. Raises UserError, KeyboardInterrupt where it
    is stopped.
    """

    name = "study run"
    schema = "hotband-study"
    answers = "hotband.questions.study.result:StudyResult"
    runs = True

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
    """Run real programs on a study's machines, emulated at a scale that fits this host; print ratios beside those of
    model and publication.

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
    """Run each assumption at both ends of its range; print which of them move a prediction.

    Assumptions are run one at a time, all of them or those that `only` names, by name or key. What is done is
    stored in the folder `out`, and not run again. Raises UserError, KeyboardInterrupt where it is stopped.
    """

    name = "study swings"
    schema = "hotband-study-swings"
    answers = "hotband.questions.study.swung:Swings"
    runs = True

    study: StudyGiven = study()
    out: Path | None = out()
    seed: int | None = seed(default=None)
    only: Names = asks("Swing these assumptions alone.", default=(), metavar="KEY[,KEY]")
    jobs: int | None = jobs()
    save: bool = save()


@dataclass(frozen=True, kw_only=True)
class StudyIntervalsQuestion(Question):
    """Draw the uncertain values of a study's machines: how far its figures may be off; with --all also how often
    intervals hold what is published, each study left out.

    What is stored with `save` is where `run` and `why` find it (docs/guides/intervals.md). Raises UserError,
    KeyboardInterrupt where it is stopped.
    """

    name = "study intervals"
    schema = "hotband-study-intervals"
    answers = "hotband.questions.study.intervals.spreads:Spreads"
    on_the_way = ("hotband.questions.study.intervals.spreads:AllIntervals",)
    runs = True

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
    """Say where the uncertainty of a study's figure comes from, of the draws that it ships. Runs nothing.

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
    """Run studies; print how large their errors are, by class of figure: of figures that were seen, and of those that
    were predicted before they were seen, then and now.

    All studies take hours. The result has a `frame` and `goals`. Runs of this version that are in the folder `out` are
    not repeated. Raises UserError, KeyboardInterrupt where it is stopped.
    """

    name = "study accuracy"
    schema = "hotband-study-accuracy"
    answers = "hotband.questions.study.accounted:Accuracy"
    runs = True

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
    """Print how far predictions were off that were made before the published figure was seen. Runs nothing.

    A row a study ("all" at last) and class of figures: study, figures, measurements, median_pct, p90_pct, largest_pct.
    """

    name = "study blind"
    schema = ""
    answers = "hotband.questions.study.accounted:AllBlindErrors"
    as_frame = True
