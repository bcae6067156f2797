"""Questions about the corpus: drives that others measured, their figures, and checks of a file of figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.folders import cache_folder
from hotband.base.question import Ending, Question, Way, asks
from hotband.base.text.nearest import expected
from hotband.data import importers
from hotband.data.corpus.check import Finding, check, measurements
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.files import all_figures, figures_in, own, own_file, shipped, write_own
from hotband.data.corpus.named import drive_named, figures_of
from hotband.data.corpus.of_results import DRIVE_STATES, figures_of_record
from hotband.data.inputs.kinds import Texts
from hotband.inference.corpus.conformal import Residual
from hotband.inference.corpus.residuals import write_own_residuals
from hotband.questions.predictions.catalog import predictions_of_drive
from hotband.questions.predictions.predicted import residuals_of


@dataclass(frozen=True)
class Family:
    """A family of the corpus: its class, the devices that were measured, and how many loads and figures there are."""

    family: str
    device_class: str
    devices: tuple[str, ...]
    loads: int
    figures: int
    sources: int


@dataclass(frozen=True)
class CorpusListed:
    """Families of the corpus."""

    families: tuple[Family, ...]


@dataclass(frozen=True, kw_only=True)
class ListCorpusQuestion(Question):
    """List the drives, arrays and volumes that others measured, and how many figures there are of each."""

    name = "corpus list"
    schema = "hotband-corpus-list"
    answers = "hotband.questions.corpus:CorpusListed"

    words: Texts = asks(
        'Words from the name of a class, a family or a device, such as "nvme3" or "samsung".',
        default=(),
        metavar="WORD...",
        positional=True,
    )

    def document(self, answer: CorpusListed) -> tuple[object, str]:
        """Return the families as JSON."""
        return {"families": [asdict(family) for family in answer.families]}, self.schema


def listed(question: ListCorpusQuestion, _: Way) -> CorpusListed:
    """Return the families. Raises UserError for words that no family has."""
    grouped: dict[tuple[str, str], list[Figure]] = {}
    for figure in all_figures():
        grouped.setdefault((figure.device_class, figure.family), []).append(figure)
    families = [_family(figures) for _, figures in sorted(grouped.items())]
    wanted = [word.lower() for word in question.words]
    matching = [family for family in families if all(word in _text(family) for word in wanted)]
    if not matching:
        accepted = expected(question.words[0], sorted({family.device_class for family in families}))
        raise UserError("question.words", "", " ".join(question.words), f"no family has these words; {accepted}")
    return CorpusListed(tuple(matching))


def _family(figures: Sequence[Figure]) -> Family:
    return Family(
        figures[0].family,
        figures[0].device_class,
        tuple(sorted({figure.device for figure in figures})),
        len(measurements(figures)),
        len(figures),
        len({figure.source for figure in figures}),
    )


def _text(family: Family) -> str:
    return " ".join((family.family, family.device_class, *family.devices)).lower()


@dataclass(frozen=True)
class CorpusShown:
    """Figures that others measured on a family, by measurement."""

    name: str
    measurements: tuple[tuple[Figure, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ShowCorpusQuestion(Question):
    """Show what others measured on a drive: a line for each load, with its source. NAME is a drive of the catalog, a
    family of `hotband corpus list`, or words of a model name."""

    name = "corpus show"
    schema = "hotband-corpus-show"
    answers = "hotband.questions.corpus:CorpusShown"

    drive: str = asks('Such as 7450-pro-3840 or "samsung 970".', metavar="NAME", positional=True)

    def document(self, answer: CorpusShown) -> tuple[object, str]:
        """Return the figures as JSON."""
        return {"name": answer.name, "measurements": [[asdict(f) for f in group] for group in answer.measurements]}, (
            self.schema
        )


def shown(question: ShowCorpusQuestion, _: Way) -> CorpusShown:
    """Return the figures. Raises UserError for a drive that the corpus does not have."""
    figures = all_figures()
    measured = figures_of(question.drive, figures)
    if not measured:
        accepted = expected(question.drive.lower(), sorted({figure.family for figure in figures}))
        raise UserError("question.drive", "", question.drive, f"the corpus has no figures of it; {accepted}")
    return CorpusShown(question.drive, tuple(measurements(measured)))


@dataclass(frozen=True)
class CorpusChecked:
    """Contradictions in a file of figures, and how many figures it has."""

    path: str
    figures: int
    families: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class CheckCorpusQuestion(Question):
    """Check a file of figures: columns, units, Little's law, percentiles that rise. Exit code 1 if its figures
    contradict each other."""

    name = "corpus check"
    schema = "hotband-corpus-check"
    answers = "hotband.questions.corpus:CorpusChecked"

    path: Path | None = asks(
        "A file in the format of the corpus. Default: the shipped corpus and your own.",
        default=None,
        metavar="FIGURES.csv",
        positional=True,
    )

    def document(self, answer: CorpusChecked) -> tuple[object, str]:
        """Return the findings as JSON."""
        return asdict(answer), self.schema

    def ending(self, answer: CorpusChecked) -> Ending | None:
        """Return exit code 1 if the user's file contradicts itself."""
        return Ending(1) if answer.findings and self.path is not None else None


def checked(question: CheckCorpusQuestion, _: Way) -> CorpusChecked:
    """Return the contradictions. Raises UserError, OSError."""
    figures = all_figures() if question.path is None else figures_in(question.path)
    name = "The corpus" if question.path is None else str(question.path)
    return CorpusChecked(name, len(figures), len({figure.family for figure in figures}), tuple(check(figures)))


@dataclass(frozen=True)
class CorpusAdded:
    """Counts of the figures that were added to the user's own corpus, of those that got another state there, of those
    that it had already, of all in it, and of those that intervals use because the catalog has their drives."""

    path: str
    added: int
    restated: int
    present: int
    total: int
    in_intervals: int


@dataclass(frozen=True, kw_only=True)
class AddCorpusQuestion(Question):
    """Add measured figures to your own corpus, which `corpus show` and `drives` then print as well: results of fio and
    of other tools with the drive's name (`--model`), or a file in the format of the corpus.

    Intervals also use those figures whose drives are in the catalog. Adding results again with another state corrects
    the state of their figures.
    """

    name = "corpus add"
    schema = "hotband-corpus-add"
    answers = "hotband.questions.corpus:CorpusAdded"

    path: Path = asks("Results, a folder of them, or FIGURES.csv.", metavar="RESULT|FIGURES.csv", positional=True)
    model: str = asks('The drive that was measured, such as "Samsung 990 PRO 2TB".', default="")
    device_class: str = asks("Its class in `hotband corpus list`, such as hdd.", default="", called="class")
    state: str | None = asks(
        "State of a solid-state drive before the results: fob (fresh out of the box), filled, preconditioned, steady. "
        "Default: unknown.",
        default=None,
    )

    def document(self, answer: CorpusAdded) -> tuple[object, str]:
        """Return how many were added."""
        return asdict(answer), self.schema


def added(question: AddCorpusQuestion, _: Way) -> CorpusAdded:
    """Add figures whose ids are new, and correct the states of the others. Raises UserError for figures that contradict
    each other, OSError."""
    is_corpus = question.path.suffix == ".csv"
    if is_corpus and question.state is not None:
        accepted = f"only for results: {question.path} has a column of states"
        raise UserError("question.state", "", question.state, accepted)
    new = list(figures_in(question.path) if is_corpus else _of_results(question))
    findings = check(new)
    if findings:
        raise UserError(str(question.path), findings[0].ids[0], "", findings[0].text)
    before = own()
    known = {figure.id for figure in (*shipped(), *before)}
    fresh = [figure for figure in new if figure.id not in known]
    states = {figure.id: figure.state for figure in new} if is_corpus or question.state is not None else {}
    restated = sum(states.get(figure.id, figure.state) != figure.state for figure in before)
    total = [*(replace(figure, state=states.get(figure.id, figure.state)) for figure in before), *fresh]
    path = write_own(total) if fresh or restated else own_file()
    residuals = _residuals(total)
    write_own_residuals(residuals)
    present = len(new) - len(fresh) - restated
    return CorpusAdded(str(path), len(fresh), restated, present, len(total), len(residuals))


def _residuals(figures: Sequence[Figure]) -> list[Residual]:
    """Return the errors of predictions of the catalog's drives for the user's own figures."""
    of_drives: dict[str, list[Figure]] = {}
    for figure in figures:
        if name := drive_named(figure.model):
            of_drives.setdefault(name, []).append(figure)
    folder = cache_folder() / "corpus" / "own"
    predictions = [each for name, those in of_drives.items() for each in predictions_of_drive(name, those, folder)]
    return list(residuals_of(predictions))


def _of_results(question: AddCorpusQuestion) -> Iterator[Figure]:
    """Yield the figures of results. Raises UserError if the drive or its class is not named."""
    classes = sorted({figure.device_class for figure in shipped()})
    if not question.model:
        raise UserError("question.model", "", "", 'missing: the drive that was measured, such as "Samsung 990 PRO 2TB"')
    if question.device_class not in classes:
        raise UserError("question.device_class", "", question.device_class, expected(question.device_class, classes))
    state = "unknown" if question.state is None else question.state
    if state not in DRIVE_STATES:
        raise UserError("question.state", "", state, expected(state, DRIVE_STATES))
    names = {"device_class": question.device_class, "model": question.model, "state": state}
    for result in importers.load(question.path):
        yield from figures_of_record(result.record, question.path, **names)
