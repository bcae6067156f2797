"""The intervals of a study: effects of its uncertain values on every figure, run line by line and stored in its folder.

Left out: figures that conclusions add have no spread, only the model error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.base.text import numbers
from hotband.base.text.nearest import unknown_name
from hotband.base.text.write import write_file
from hotband.execution.experiment import Lock
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.conformal import ARRAYS, FigureSpread, Kind, Spread
from hotband.inference.interval.explained import Why
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.figures import between, class_for, log_of
from hotband.inference.interval.of_record import meanings_of
from hotband.inference.interval.residuals import model_term
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.surface import additive, effects_of
from hotband.inference.interval.why import Evidence, why
from hotband.questions.study import file
from hotband.questions.study.asked import StudyRunQuestion
from hotband.questions.study.blind import scored_as
from hotband.questions.study.figures import cell_figures
from hotband.questions.study.intervals.combine import Combined, Weights, of_comparison
from hotband.questions.study.intervals.intervalfile import INTERVALS_FILE, IntervalFile, Value, read_intervals
from hotband.questions.study.intervals.largest import FigureErrors, largest_errors
from hotband.questions.study.intervals.lines import Line, Plan, figure_key, lines_of, plan_of, run_line
from hotband.questions.study.intervals.listing import systems_of
from hotband.questions.study.runs import collect, specs_of
from hotband.questions.study.study import check_only, predict

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.base.question import Way
    from hotband.data.documents.study import ListedFigureDoc
    from hotband.data.record.finished import Finished
    from hotband.inference.interval.uncertain import Uncertain
    from hotband.questions.study.asked import StudyIntervalsQuestion, StudyWhyQuestion
    from hotband.questions.study.definition import Study


SAMPLES = 512
"""Points at which a response surface is evaluated for its spread."""
FOLDER = "whole"
"""Name of the folder of the whole runs, below `out`."""


@dataclass
class Work:
    """A study whose intervals are made: its lines, values by name, samples, and predictions."""

    study: Study
    lines: list[Line]
    values: dict[str, Uncertain]
    shares: dict[str, list[float]]
    places: Floats
    samples: Floats
    whole: dict[str, Finished] = field(default_factory=dict)
    rows: list[ListedFigureDoc] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> Work:
        """Sample all values of all lines: the samples of one value are the same in every line."""
        lines = lines_of(study)
        values = {value.name: value for line in lines for value in line.values}
        sampler, other = Sampler(list(values.values()), study.seed), Sampler(list(values.values()), study.seed + 1)
        shares = sampler.shares(DRAWS_OF_MANY)
        by_name = {name: [float(share) for share in shares[:, n]] for n, name in enumerate(values)}
        return cls(study, lines, values, by_name, sampler.places(shares), other.places(other.shares(SAMPLES)))

    def columns(self, names: Sequence[str]) -> list[int]:
        """Return the column numbers of values in rows of samples."""
        number = {name: n for n, name in enumerate(self.values)}
        return [number[name] for name in names]


def run_study_intervals(question: StudyIntervalsQuestion, way: Way) -> tuple[IntervalFile, list[ListedFigureDoc]]:
    """Make the intervals of a study, and predict its figures; finished lines of the same runs stay. `out` stores the
    whole runs, too. Writes after each line."""
    assert question.study is not None, "the intervals of all studies are made study by study"
    study, out, only = file.load(question.study), question.out, question.only
    check_only(study, only)
    work = Work.of(study)
    chosen = [line for line in work.lines if not only or {load.id for _, load in line.pairs} & set(only)]
    made = IntervalFile(study.name, str(study.seed), f"hotband study intervals {study.name}")
    folders = [(out / study.name, "question.out")] if out is not None else []
    folders += [(study.folder, "question.save")] if question.save else []
    paths = [folder / INTERVALS_FILE for folder, _ in folders]
    with ExitStack() as held:
        for folder, option in folders:
            held.enter_context(Lock(folder, option))
        _take_over(made, paths, work)
        _predict(work, chosen, None if out is None else out / study.name / FOLDER, way)
        try:
            _run_lines(work, made, chosen, paths, question.jobs, way)
        except (RunsInterrupted, KeyboardInterrupt):
            stored = f", stored in {paths[0]}" if paths else ""
            way.say(f"interrupted; {len(made.lines)} of {len(work.lines)} lines are done{stored}")
            raise
        _write(made, work, paths)
    return made, work.rows


def _take_over(made: IntervalFile, paths: Sequence[Path], work: Work) -> None:
    """Take over results of an earlier call, for lines that still exist and whose values are all still sampled."""
    earlier = next((intervals for path in paths if (intervals := read_intervals(path)) is not None), None)
    if earlier is not None and earlier.seed == made.seed:
        known = {line.id for line in work.lines}
        made.lines = {
            name: result
            for name, result in earlier.lines.items()
            if name in known and work.values.keys() >= set(result.values)
        }
        made.figures = earlier.figures


def _predict(work: Work, lines: Sequence[Line], out: Path | None, way: Way) -> None:
    """Run the study, or the loads that some lines need: predictions rest on whole runs."""
    study = work.study
    loads = dict.fromkeys(load.id for line in lines for _, load in line.pairs)
    only = () if len(lines) == len(work.lines) else tuple(loads)
    with way.watch(f"{study.name}: whole runs") as progress:
        question = StudyRunQuestion(study=study, out=out, seed=study.seed, only=only)
        result, finished = predict(study, question, progress, way.say if out is not None else None)
    work.whole = {run.spec.id: run for run in finished}
    work.rows = list(result["figures"])
    pairs = [pair for line in lines for pair in line.pairs]
    rows = cell_figures(collect(study, pairs, finished))
    work.keys = {row["id"]: figure_key(*cell) for cell, row in rows.items()}


def _run_lines(
    work: Work, made: IntervalFile, lines: Sequence[Line], paths: Sequence[Path], jobs: int | None, way: Way
) -> None:
    plans = [plan_of(work.study, line, work.whole, work.shares) for line in lines]
    missing = [plan for plan in plans if plan.line.id not in made.lines or made.lines[plan.line.id].key != plan.key]
    way.say(announced(work.study.name, plans, missing))
    for number, plan in enumerate(missing, 1):
        with way.watch(f"{number} of {len(missing)}: {plan.line.id}") as progress:
            made.lines[plan.line.id] = run_line(work.study, plan, jobs, progress)
        _write(made, work, paths)


def announced(name: str, plans: Sequence[Plan], missing: Sequence[Plan]) -> str:
    """Describe the runs that follow."""
    runs = sum(len(plan.sets) * len(plan.short) for plan in missing)
    ios = sum(plan.ios for plan in missing)
    unchanged = f", {len(plans) - len(missing)} lines have not changed" if len(missing) < len(plans) else ""
    return f"{name}: {runs:,} shortened runs in {len(missing)} lines, about {numbers.number(ios)} I/Os{unchanged}"


def _write(made: IntervalFile, work: Work, paths: Sequence[Path]) -> None:
    made.values = {
        name: Value.of(uncertain, [float(position) for position in work.places[:, number]])
        for number, (name, uncertain) in enumerate(work.values.items())
    }
    made.figures |= figures_of(work, made)
    for path in paths:
        write_file(path, made.text())


def figures_of(work: Work, made: IntervalFile) -> dict[str, FigureSpread]:
    """Return the spread of every predicted figure; figures without known cells have none."""
    predicted = {key: row["predicted"] for row in work.rows if (key := work.keys.get(row["id"])) is not None}
    spreads = {}
    for row in work.rows:
        cells = weights_of(work.study, row["id"], work.keys, predicted)
        combined = Combined(cells, made.lines)
        outline = FigureSpread(
            row["predicted"],
            row["config"],
            f"{row['config']}, {row['label']}, {row['metric']}",
            row["unit"],
            str(class_for(work.study.name, row)),
            scored_as(work.study, row),
            {name: round(weight, 6) for name, weight in cells.items()},
        )
        spreads[row["id"]] = with_spread(outline, combined, work) if combined.is_known else outline
    return spreads


def weights_of(study: Study, figure: str, keys: Mapping[str, str], predicted: Mapping[str, float | None]) -> Weights:
    """Return the weights of the cells of a figure; empty if it has no cells."""
    if figure in keys:
        return {keys[figure]: 1.0}
    comparison = next((candidate for candidate in study.comparisons if candidate.id == figure), None)
    return {} if comparison is None else of_comparison(comparison, predicted.get)


def with_spread(outline: FigureSpread, combined: Combined, work: Work) -> FigureSpread:
    """Add the spread that the samples give a figure. If values were also run alone, many more points come from the
    response surface, and the part of the samples that it does not explain is added."""
    names, drawn, seed = combined.values, combined.draws(), combined.seed
    if not drawn:
        return _with(outline, Spread(seed, seed), seed, 0.0)
    seen = np.array(list(drawn.values()))
    columns = work.columns(names)
    if not combined.has_ends:
        return _with(outline, Spread.of(seen, seed), seed, 0.0)
    surface = additive(effects_of(names, combined.ends()))
    rest = seen - surface.at(work.places[np.ix_(list(drawn), columns)])
    unexplained = math.sqrt(float(np.mean(rest**2)))
    spread = Spread.of(surface.at(work.samples[:, columns]), math.hypot(seed, unexplained))
    return _with(outline, spread, seed, unexplained)


def _with(outline: FigureSpread, spread: Spread, seed: float, unexplained: float) -> FigureSpread:
    low, high, seed, unexplained = map(_rounded, (spread.low, spread.high, seed, unexplained))
    return replace(outline, low=low, high=high, seed=seed, unexplained=unexplained)


def _rounded(value: float) -> float:
    return round(value, 5)


def answer(question: StudyWhyQuestion, _: Way) -> Why | FigureErrors:
    """Explain the interval of a study's figure from the files of its folder, without runs; without a figure, return
    those with the largest errors. Raises UserError if the files are missing, or for a figure that the study does not
    have."""
    study, figure = file.load(question.study), question.figure
    path = study.folder / INTERVALS_FILE
    intervals = read_intervals(path)
    if intervals is None:
        raise UserError(
            str(path), "", "", f"is missing; the question study intervals {study.name} creates it with question.save"
        )
    work = Work.of(study)
    if intervals.changed(work.values):
        raise UserError(
            str(path),
            "",
            "",
            f"has other values; the question study intervals {study.name} creates it again with question.save",
        )
    if figure is None:
        return largest_errors(study, intervals)
    spread = intervals.figures.get(figure)
    if spread is None or spread.predicted is None or log_of(spread.predicted, spread.scored_as) is None:
        known = [
            name
            for name, candidate in intervals.figures.items()
            if log_of(candidate.predicted, candidate.scored_as) is not None
        ]
        raise unknown_name("question.figure", figure, sorted(known))
    combined = Combined(spread.cells, intervals.lines)
    values = [work.values[name] for name in combined.values]
    evidence = _evidence(work, figure, spread, combined, question.interval)
    return Why(why(evidence, values, _meanings(work, values), study.seed))


def _evidence(work: Work, figure: str, spread: FigureSpread, combined: Combined, level: float) -> Evidence:
    predicted = spread.predicted or 0.0
    kind = Kind(FigureClass(spread.figure_class), systems_of(work.study).get(spread.config, ARRAYS))
    term = model_term().without(work.study.name, spread.config, kind)
    low, high = between(predicted, *term.bounds(kind, spread.spread, level), spread.scored_as)
    drawn = combined.draws()
    columns = work.columns(combined.values)
    return Evidence(
        figure,
        spread.label,
        spread.figure_class,
        spread.unit,
        predicted,
        {"level": level, "low": low, "high": high},
        spread.spread,
        spread.seed,
        spread.unexplained,
        term.size(kind),
        effects_of(combined.values, combined.ends()) if combined.has_ends else [],
        work.places[np.ix_(list(drawn), columns)],
        np.array(list(drawn.values())),
    )


def _meanings(work: Work, values: Sequence[Uncertain]) -> dict[str, str]:
    """Return the meanings of the keys of values, from the engine."""
    meanings: dict[str, str] = {}
    for line in work.lines:
        if {value.name for value in values} & {value.name for value in line.values}:
            meanings |= meanings_of(specs_of(work.study, line.pairs[0], None, work.study.seed)[0])
    return meanings
