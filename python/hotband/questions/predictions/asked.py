"""The question of `hotband corpus predict`: figures predicted from data sheets, with intervals and errors."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from hotband.base.folders import cache_folder
from hotband.base.question import Question, Way, asks
from hotband.data.corpus import files
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.files import figures_in, shipped
from hotband.data.corpus.loads import CLASSES, Unusable, kind_of, load_of
from hotband.data.corpus.sheets import Sheets, sheet_of, sheets_in, shipped_sheets
from hotband.inference.corpus.bootstrap import Compared, compared
from hotband.inference.corpus.conformal import Pools, Residual, Width
from hotband.inference.corpus.errors import Errors, Judged, by_family, counted, errors
from hotband.inference.corpus.residuals import at_of, groups_of, shipped_pools
from hotband.inference.corpus.shared_errors import width_of
from hotband.inference.corpus.testers import Disagreement, disagreements
from hotband.questions.datasheet.learned import Evidence, Learned, shipped_evidence
from hotband.questions.datasheet.lines import Answers
from hotband.questions.predictions.baselines import Baseline, of_class, of_nearest, of_rating
from hotband.questions.predictions.drives import Makers, evidence_of, stated_by
from hotband.questions.predictions.predicted import Predicted, predict, residuals_of

BEFORE = Path(files.__file__).parent / "before.csv"
"""Predictions of the model before any rule was learned (commit dbd56240), by id."""
MODEL = "this model"
ALL = "all classes"


@dataclass(frozen=True)
class FigurePrediction:
    """A measured figure and its prediction, in the unit of its metric. `low` and `high` are the ends of the
    90 % interval, `rests_on` its evidence; `reason` states why there is no prediction, or no interval."""

    id: str
    family: str
    figure_class: str
    metric: str
    measured: float
    predicted: float | None
    low: float | None
    high: float | None
    rests_on: str
    reason: str


@dataclass(frozen=True)
class CorpusPredicted:
    """Predictions of a corpus, and the errors by class: those of this model, and those of baselines if both give a
    value, with a bootstrap of the difference over families (`compared`). `testers` has the differences between testers
    of one product, `testers_out` the errors with intervals from other testers' figures alone. `of_line` has the errors
    of intervals that rest on a product line's own figures, too: those of other loads, or of other testers only; beside
    them those of the same figures without."""

    figures: tuple[FigurePrediction, ...]
    classes: Mapping[str, tuple[Errors, ...]]
    left_out: Mapping[str, int]
    residuals: tuple[Residual, ...]
    compared: tuple[Compared, ...] = ()
    testers: Mapping[str, Disagreement] = field(default_factory=dict)
    testers_out: tuple[Errors, ...] = ()
    of_line: Mapping[Kept, LineChecked] = field(default_factory=dict)


Kept = Literal["other loads", "other testers"]
"""The figures of a product line that the interval of one of its figures may rest on."""


@dataclass(frozen=True)
class LineChecked:
    """Errors by class, and of all classes together, without the figures of a product line and with them. Where figures
    of the line count, an error is that of the middle of the interval."""

    without: tuple[Errors, ...]
    with_them: tuple[Errors, ...]

    @property
    def words(self) -> str:
        """Return both in words: "half width 114 % (90 % inside) instead of 176 % (91 %)"."""
        (before,), (after,) = (
            [row for row in rows if row.figure_class == ALL] for rows in (self.without, self.with_them)
        )
        (was, held), (width, inside) = (
            (f"{100 * (row.half_width or 0.0):.0f} %", f"{100 * (row.inside or 0.0):.0f} %") for row in (before, after)
        )
        return f"half width {width} ({inside} inside) instead of {was} ({held})"


@dataclass(frozen=True, kw_only=True)
class PredictCorpusQuestion(Question):
    """Predict measured figures from data sheets alone, and print how far off the predictions are, by class of load.

    Without FIGURES.csv it predicts the figures of our corpus, each family left out of the rules. A file of the same
    form needs the data sheets of its families; rules and intervals then rest on the families of our corpus.
    """

    name = "corpus predict"
    schema = "hotband-corpus-predict"
    answers = "hotband.questions.predictions.asked:CorpusPredicted"

    path: Path | None = asks(
        "Figures in the format of the corpus. Default: those that ship.",
        default=None,
        metavar="FIGURES.csv",
        positional=True,
    )
    sheets: Path | None = asks("Data sheets of the families of FIGURES.csv.", default=None, metavar="SHEETS.csv")
    out: Path | None = asks("Folder of the runs, which continue there. Default: the cache.", default=None)
    jobs: int | None = asks("Number of runs at a time. Default: all cores.", default=None, least=1)

    def document(self, answer: CorpusPredicted) -> tuple[object, str]:
        """Return the figures and the errors as JSON."""
        classes = {name: [asdict(row) for row in rows] for name, rows in answer.classes.items()}
        figures = [asdict(figure) for figure in answer.figures]
        more = {
            "compared": [asdict(row) | {"verdict": row.verdict} for row in answer.compared],
            "testers": [asdict(row) for row in answer.testers.values()],
            "testers_out": [asdict(row) for row in answer.testers_out],
            "of_line": {name: asdict(checked) for name, checked in answer.of_line.items()},
        }
        return {"figures": figures, "classes": classes, "left_out": dict(answer.left_out), **more}, self.schema


def predicted(question: PredictCorpusQuestion, way: Way) -> CorpusPredicted:
    """Return the predictions. Raises UserError, OSError, RunsInterrupted."""
    figures = shipped() if question.path is None else figures_in(question.path)
    figures = tuple(figure for figure in figures if kind_of(figure) is not None)
    own_sheets = shipped_sheets() if question.sheets is None else sheets_in(question.sheets)
    folder = question.out or cache_folder() / "corpus"
    makers = Makers(own_sheets, Learned(shipped_evidence()), folder / "drives")
    predictions = predict(figures, makers.drive_of, out=folder, jobs=question.jobs, tick=_told(way.say))
    left_out = tuple(residuals_of(predictions))
    evidence = () if question.path is None else evidence_of(figures, own_sheets)
    pools = Pools(left_out) if question.path is None else shipped_pools()
    widths = [_width(prediction, pools) for prediction in predictions]
    pairs = _pairs(predictions, _baselines(figures, own_sheets, evidence))
    return CorpusPredicted(
        tuple(_figure(*pair) for pair in zip(predictions, widths, strict=True)),
        _by_class(predictions, widths, pairs),
        _reasons(predictions),
        left_out,
        tuple(_compared(pairs)),
        disagreements(figures),
        _without_testers(predictions, left_out) if question.path is None else (),
        _of_line(predictions, pools) if question.path is None else {},
    )


def _told(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """Return a tick that reports progress at every tenth of the runs."""
    tenths: set[int] = set()

    def tick(done: int, total: int) -> None:
        if 10 * done // total not in tenths:
            tenths.add(10 * done // total)
            say(f"{done:,} of {total:,} runs")

    return tick


def _width(prediction: Predicted, pools: Pools) -> Width | None:
    if prediction.value is None or prediction.load is None:
        return None
    groups = groups_of(prediction.figure_class, prediction.load, prediction.figure.metric)
    return pools.width(groups, without=prediction.figure.family)


def _figure(prediction: Predicted, interval: Width | None) -> FigurePrediction:
    value, figure = prediction.value, prediction.figure
    low, high = _ends(prediction, interval)
    reason = prediction.reason or (
        "" if interval else "no interval: too few like it were checked, or they were too far off"
    )
    return FigurePrediction(
        figure.id,
        figure.family,
        prediction.figure_class,
        figure.metric,
        figure.middle,
        value,
        low,
        high,
        "" if interval is None else interval.words,
        reason,
    )


def _ends(prediction: Predicted, interval: Width | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval, limited by the port of the drive."""
    value, ceiling, load = prediction.value, prediction.ceiling, prediction.load
    if value is None or interval is None or load is None:
        return None, None
    low, high = value / interval.factor, value * interval.factor
    if ceiling is not None:
        limits = {"iops": ceiling, "mb_s": ceiling * load.block / 1e6}
        high = max(value, min(high, limits.get(prediction.figure.metric, high)))
        if prediction.figure.metric == "lat_mean" and load.rate is None:
            low = min(value, max(low, load.depth / ceiling * 1e6))
    return low, high


def _reasons(predictions: Iterable[Predicted]) -> dict[str, int]:
    """Count the reasons why figures have no prediction, the commonest first."""
    counts: dict[str, int] = {}
    for prediction in predictions:
        if prediction.value is None:
            counts[prediction.reason] = counts.get(prediction.reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _baselines(figures: Sequence[Figure], sheets: Sheets, evidence: Iterable[Evidence]) -> dict[str, Baseline]:
    """Return the baselines to compare with the model, by name."""
    by_id = {figure.id: figure for figure in (*shipped(), *figures)}
    rows = [(figure, load) for figure in by_id.values() if not isinstance(load := load_of(figure), Unusable)]
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {row["id"]: float(row["predicted"]) for row in csv.DictReader(file)}
    every: dict[str, Evidence] = {}
    for each in (*evidence, *shipped_evidence()):
        every.setdefault(each.family, each)

    def stated_of(figure: Figure) -> Answers:
        sheet = sheet_of(sheets, figure.family, figure.model, figure.device, figure.capacity)
        return {} if sheet is None else stated_by(sheet)[1]

    return {
        "the data sheet's rating": of_rating(stated_of),
        "the median of its class": of_class(rows),
        "the nearest family": of_nearest(rows, every),
        "the model as it was": lambda figure, _: before.get(figure.id),
    }


Pairs = Mapping[str, tuple[list[Judged], list[Judged]]]
"""Figures that the model and a baseline both predict, as judged for each, by baseline."""


def _pairs(predictions: Sequence[Predicted], baselines: Mapping[str, Baseline]) -> Pairs:
    pairs: dict[str, tuple[list[Judged], list[Judged]]] = {}
    for name, baseline in baselines.items():
        both = [
            (each, value)
            for each in predictions
            if each.load is not None and each.value and (value := baseline(each.figure, each.load))
        ]
        ours = counted(_judged(each, each.value, None) for each, _ in both)
        pairs[name] = (ours, counted(_judged(each, value, None) for each, value in both))
    return pairs


def _by_class(
    predictions: Sequence[Predicted], widths: Sequence[Width | None], pairs: Pairs
) -> dict[str, tuple[Errors, ...]]:
    """Return the errors of each class: those of the model on all figures, then those of the model and each baseline on
    the figures that both predict."""
    classes = {MODEL: _errors(_all_judged(predictions, widths))}
    for name, (ours, theirs) in pairs.items():
        classes[f"{MODEL}, where there is {name}"] = _errors(ours)
        classes[name] = _errors(theirs)
    return classes


def _all_judged(predictions: Sequence[Predicted], widths: Sequence[Width | None]) -> list[Judged]:
    return [
        _judged(each, each.value, None if interval is None else interval.factor)
        for each, interval in zip(predictions, widths, strict=True)
    ]


def _compared(pairs: Pairs) -> Iterable[Compared]:
    """Yield the comparison of the model with each baseline, by class of at least two families."""
    for name, both in pairs.items():
        for figure_class in CLASSES:
            ours, theirs = (
                by_family(figure for figure in each if figure.figure_class == figure_class) for each in both
            )
            if len(ours) > 1:
                yield compared(figure_class, name, ours, theirs)


def _without_testers(predictions: Sequence[Predicted], residuals: Sequence[Residual]) -> tuple[Errors, ...]:
    """Return the errors with intervals that rest only on other families, and only on figures of other testers."""
    by_tester = {name: Pools(each for each in residuals if each.tester != name)
                 for name in {each.tester for each in residuals}}  # fmt: skip
    widths = [None if each.residual is None else _width(each, by_tester[each.figure.tester]) for each in predictions]
    return _errors(_all_judged(predictions, widths))


def _of_line(predictions: Sequence[Predicted], pools: Pools) -> dict[Kept, LineChecked]:
    """Return the errors of intervals that rest on other figures of the same product line."""
    checked: dict[Kept, LineChecked] = {}
    for name in get_args(Kept):
        pairs = [pair for each in predictions if (pair := _line_judged(each, pools, name)) is not None]
        if pairs:
            checked[name] = LineChecked(*(_errors_and_all(judged) for judged in zip(*pairs, strict=True)))
    return checked


def _line_judged(prediction: Predicted, pools: Pools, name: Kept) -> tuple[Judged, Judged] | None:
    """Return a figure as judged without and with figures of its product line; None if there are none, or if one of
    the two has no interval."""
    figure, load = prediction.figure, prediction.load
    if load is None or prediction.residual is None:
        return None
    at = at_of(load)
    groups = groups_of(prediction.figure_class, load, figure.metric)
    known = [
        residual
        for residual in pools.of_line(figure.family, groups, at.pattern)
        if (residual.at != at if name == "other loads" else residual.tester != figure.tester)
    ]
    width = width_of(pools, groups, figure.metric, at, known, tester=figure.tester) if known else None
    alone = _width(prediction, pools)
    if width is None or width.of_line is None or alone is None:
        return None
    judged = _judged(prediction, prediction.value, alone.factor)
    moved = prediction.residual + width.of_line.shift
    return judged, replace(judged, residual=moved, factor=width.factor)


def _errors_and_all(judged: Sequence[Judged]) -> tuple[Errors, ...]:
    return (*_errors(judged), errors(ALL, counted(judged)))


def _judged(prediction: Predicted, value: float | None, factor: float | None) -> Judged:
    figure, load = prediction.figure, prediction.load
    residual = math.log(value / figure.middle) if value and figure.middle else None
    return Judged(
        figure.family, (load, figure.side, figure.device), figure.metric, prediction.figure_class, residual, factor
    )


def _errors(judged: Iterable[Judged]) -> tuple[Errors, ...]:
    those = counted(judged)
    return tuple(
        errors(name, each) for name in CLASSES if (each := [figure for figure in those if figure.figure_class == name])
    )
