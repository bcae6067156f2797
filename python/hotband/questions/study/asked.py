"""Questions about studies: published evaluations, predicted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from hotband.base.question import Ending, Question, asks, fresh, into, invalid_ending, jobs, out, seed
from hotband.base.views import view_of
from hotband.data.inputs.kinds import Names, Share, Texts
from hotband.execution.targets.fields import anyway
from hotband.inference.interval.fields import level

if TYPE_CHECKING:
    from hotband.questions.study.definition import Study
    from hotband.questions.study.emulate.result import EmulationResult

    StudyGiven: TypeAlias = str | Study
else:
    StudyGiven = Annotated[Any, "study"]
    """A name, a folder, or a loaded study."""


def study(**more: Any) -> Any:
    """Return the field `study`."""
    return asks("A study of the catalog, or a study's folder.", metavar="NAME", positional=True, **more)


def save() -> Any:
    """Return the field `save`."""
    return asks("Store them in the study's folder.", default=False)


@dataclass(frozen=True, kw_only=True)
class StudyRunQuestion(Question):
    """Predict a study's figures; print them next to the published ones.

    Runs of only some loads have no claims and findings. The folder `out` receives records, `result.json` and
    `report.html`; runs that it already has are not repeated. Raises UserError, KeyboardInterrupt if it is
    stopped.
    """

    name = "study run"
    schema = "hotband-study"
    answers = "hotband.questions.study.result:StudyResult"
    runs = True

    study: StudyGiven = study()
    out: Path | None = out()
    into: Path | None = into()
    seed: int | None = seed(default=None)
    only: Names = asks("Run only these loads.", default=(), metavar="LOAD[,LOAD]")
    fresh_seeds: bool = asks("Draw new offsets for runs that follow others on one machine.", default=False)
    fresh: bool = fresh()
    data: Path | None = asks(
        "Folder of data that the study needs and Hotband does not ship.", default=None, metavar="DIR", hidden=True
    )
    trust: bool = asks("Execute the findings.py of a study outside the catalog.", default=False)


@dataclass(frozen=True, kw_only=True)
class StudyEmulateQuestion(Question):
    """Run real programs on a study's machines, emulated at a scale that fits this host; print ratios next to those of
    model and publication.

    The two machines of a part differ in one respect. Finished parts are stored in the folder `out` and not run
    again. A part whose program is missing is skipped, with a hint what to install. Raises UserError for a mistake
    and for a study without emulated parts, OSError if a program fails, KeyboardInterrupt if it is stopped.
    """

    name = "study emulate"
    schema = "hotband-study-emulation"
    answers = "hotband.questions.study.emulate.result:EmulationResult"
    tells = True

    study: StudyGiven = study()
    scale: Share | None = asks("Share of the study's data and drives, such as 1/1000.", default=None, metavar="SHARE")
    only: Names = asks("Run only these parts.", default=(), metavar="PART[,PART]")
    out: Path | None = out()
    fresh: bool = fresh()
    anyway: bool = anyway()

    def ending(self, result: EmulationResult) -> Ending | None:
        """Return the exit code of an invalid result."""
        sides = [side for part in result.document["parts"] for side in (part["a"], part["b"]) if side is not None]
        return invalid_ending(note for side in sides for note in side["notes"])


@dataclass(frozen=True, kw_only=True)
class StudySwingsQuestion(Question):
    """Run each assumption at both ends of its range; print which of them change a prediction.

    Assumptions are run one at a time, all of them or those that `only` names, by name or key. Finished ones are
    stored in the folder `out` and not run again. Raises UserError, KeyboardInterrupt if it is stopped.
    """

    name = "study swings"
    schema = "hotband-study-swings"
    answers = "hotband.questions.study.swung:Swings"
    runs = True

    study: StudyGiven = study()
    out: Path | None = out()
    seed: int | None = seed(default=None)
    only: Names = asks("Run only these assumptions.", default=(), metavar="KEY[,KEY]")
    jobs: int | None = jobs()
    save: bool = save()


@dataclass(frozen=True, kw_only=True)
class StudyIntervalsQuestion(Question):
    """Compute intervals of a study's figures from its uncertain values; with --all also how often intervals contain
    the published figures, each study left out.

    `run` and `why` read the intervals that `save` stores (docs/guides/intervals.md). Raises UserError,
    KeyboardInterrupt if it is stopped.
    """

    name = "study intervals"
    schema = "hotband-study-intervals"
    answers = "hotband.questions.study.intervals.spreads:Spreads"
    on_the_way = ("hotband.questions.study.intervals.spreads:AllIntervals",)
    runs = True

    study: StudyGiven | None = study(default=None)
    every: bool = asks("Every study of the catalog, and the model error.", default=False, called="all", hidden=True)
    out: Path | None = out()
    save: bool = save()
    only: Names = asks("Only the runs of these loads.", default=(), metavar="LOAD[,LOAD]")
    jobs: int | None = jobs()


@dataclass(frozen=True, kw_only=True)
class StudyWhyQuestion(Question):
    """Show the sources of uncertainty of a study's figure, from its stored samples; without FIGURE, list the figures
    with the largest errors. Runs nothing.

    Raises UserError.
    """

    name = "study why"
    schema = "hotband-why"
    answers = "hotband.inference.interval.explained:Why"
    shown = (answers, "hotband.questions.study.intervals.largest:FigureErrors")

    study: StudyGiven = study()
    figure: str | None = asks("Id of a figure of the study.", default=None, metavar="FIGURE", positional=True)
    interval: float = level()


@dataclass(frozen=True, kw_only=True)
class StudyAccuracyQuestion(Question):
    """Run studies; print their errors by class of figure: figures fitted with them in view, and figures predicted
    first, with the errors at the time and today.

    All studies take five to ten minutes on two cores. The result has a `frame` and `goals`. Raises UserError,
    KeyboardInterrupt if it is stopped.
    """

    name = "study accuracy"
    schema = "hotband-study-accuracy"
    answers = "hotband.questions.study.accounted:Accuracy"
    runs = True

    studies: Texts = asks("Only these studies. Default: all.", default=(), metavar="[NAME]...", positional=True)
    out: Path | None = out()
    page: Path | None = asks(
        "Write the errors between the marks on this page.", default=None, metavar="FILE", hidden=True
    )
    fresh: bool = fresh()

    def written(self, result: Any, page: Path | None) -> list[str]:
        """Write the errors into the page. Raises UserError, OSError."""
        if self.page is not None:
            view_of("hotband-study-accuracy", "rewrite")(self.page, result.to_dict())
        return super().written(result, page)


@dataclass(frozen=True, kw_only=True)
class StudyBlindQuestion(Question):
    """Print errors of predictions made before the published figure was seen. Runs nothing.

    One row per study (last "all") and class of figures: study, figures, measurements, median_pct, p90_pct, largest_pct.
    """

    name = "study blind"
    schema = ""
    answers = "hotband.questions.study.accounted:AllBlindErrors"
    as_frame = True
