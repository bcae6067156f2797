"""The intervals of a study: what its uncertain values do to every figure, run line by line and kept in its folder.

What it leaves out: figures that conclusions add have no spread of their own, only the term of the model error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
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
"""Places at which a response surface is read for its spread."""
FOLDER = "whole"
"""Of the whole runs, under the folder that is asked for."""


@dataclass
class Work:
    """A study whose intervals are made: its lines, values by name, draws, and what was predicted."""

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
        """With draws of all values of all lines: those of one value are the same in every line."""
        lines = lines_of(study)
        values = {value.name: value for line in lines for value in line.values}
        sampler, other = Sampler(list(values.values()), study.seed), Sampler(list(values.values()), study.seed + 1)
        shares = sampler.shares(DRAWS_OF_MANY)
        by_name = {name: [float(share) for share in shares[:, n]] for n, name in enumerate(values)}
        return cls(study, lines, values, by_name, sampler.places(shares), other.places(other.shares(SAMPLES)))

    def columns(self, names: Sequence[str]) -> list[int]:
        """Places of values in rows of draws."""
        number = {name: n for n, name in enumerate(self.values)}
        return [number[name] for name in names]


def run_study_intervals(question: StudyIntervalsQuestion, way: Way) -> tuple[IntervalFile, list[ListedFigureDoc]]:
    """Make the intervals of a study, and predict its figures; lines that are there already, made by the same runs,
    stay. With `out` the whole runs are stored there, too. Writes after each line."""
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
            kept = f", kept in {paths[0]}" if paths else ""
            way.say(f"interrupted; {len(made.lines)} of {len(work.lines)} lines are done{kept}")
            raise
        _write(made, work, paths)
    return made, work.rows


def _take_over(made: IntervalFile, paths: Sequence[Path], work: Work) -> None:
    """Takes what an earlier call left, of lines that are there still and have no value that is drawn no more."""
    kept = next((found for path in paths if (found := read_intervals(path)) is not None), None)
    if kept is not None and kept.seed == made.seed:
        known = {line.id for line in work.lines}
        made.lines = {
            name: one for name, one in kept.lines.items() if name in known and work.values.keys() >= set(one.values)
        }
        made.figures = kept.figures


def _predict(work: Work, lines: Sequence[Line], out: Path | None, way: Way) -> None:
    """Runs the study as it stands, or the loads that some lines need: predictions rest on whole runs."""
    study = work.study
    loads = dict.fromkeys(load.id for line in lines for _, load in line.pairs)
    only = () if len(lines) == len(work.lines) else tuple(loads)
    with way.watch(f"{study.name}: whole runs") as progress:
        asked = StudyRunQuestion(study=study, out=out, seed=study.seed, only=only)
        result, finished = predict(study, asked, progress, way.say if out is not None else None)
    work.whole = {one.spec.id: one for one in finished}
    work.rows = list(result["figures"])
    pairs = [pair for line in lines for pair in line.pairs]
    rows = cell_figures(collect(study, pairs, finished))
    work.keys = {row["id"]: figure_key(*place) for place, row in rows.items()}


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
    """What is about to be run."""
    runs = sum(len(plan.sets) * len(plan.short) for plan in missing)
    ios = sum(plan.ios for plan in missing)
    kept = f", {len(plans) - len(missing)} lines are kept" if len(missing) < len(plans) else ""
    return f"{name}: {runs:,} shortened runs in {len(missing)} lines, about {numbers.number(ios)} I/Os{kept}"


def _write(made: IntervalFile, work: Work, paths: Sequence[Path]) -> None:
    made.values = {
        name: Value.of(one, [float(place) for place in work.places[:, number]])
        for number, (name, one) in enumerate(work.values.items())
    }
    made.figures |= figures_of(work, made)
    for path in paths:
        write_file(path, made.text())


def figures_of(work: Work, made: IntervalFile) -> dict[str, FigureSpread]:
    """The spread of every figure that was predicted; none of those that no cells are known of."""
    predicted = {key: row["predicted"] for row in work.rows if (key := work.keys.get(row["id"])) is not None}
    found = {}
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
        found[row["id"]] = with_spread(outline, combined, work) if combined.is_known else outline
    return found


def weights_of(study: Study, figure: str, keys: Mapping[str, str], predicted: Mapping[str, float | None]) -> Weights:
    """The cells that a figure is of; none where it is of no cells."""
    if figure in keys:
        return {keys[figure]: 1.0}
    comparison = next((one for one in study.comparisons if one.id == figure), None)
    return {} if comparison is None else of_comparison(comparison, predicted.get)


def with_spread(of: FigureSpread, combined: Combined, work: Work) -> FigureSpread:
    """How far the draws move a figure. Where values were run alone, too, many more places are read from the response
    surface, and what that does not explain of the draws is added."""
    import numpy as np

    names, drawn, seed = combined.values, combined.draws(), combined.seed
    if not drawn:
        return _with(of, Spread(seed, seed), seed, 0.0)
    seen = np.array(list(drawn.values()))
    columns = work.columns(names)
    if not combined.has_ends:
        return _with(of, Spread.of(seen, seed), seed, 0.0)
    surface = additive(effects_of(names, combined.ends()))
    rest = seen - surface.at(work.places[np.ix_(list(drawn), columns)])
    unexplained = math.sqrt(float(np.mean(rest**2)))
    spread = Spread.of(surface.at(work.samples[:, columns]), math.hypot(seed, unexplained))
    return _with(of, spread, seed, unexplained)


def _with(of: FigureSpread, spread: Spread, seed: float, unexplained: float) -> FigureSpread:
    low, high, seed, unexplained = map(_rounded, (spread.low, spread.high, seed, unexplained))
    return replace(of, low=low, high=high, seed=seed, unexplained=unexplained)


def _rounded(value: float) -> float:
    return round(value, 5)


def answer(question: StudyWhyQuestion, _: Way) -> Why:
    """Say where the interval of a study's figure comes from, of what its folder has: nothing is run. Raises UserError
    where it has nothing, or for a figure that the study does not have."""
    study, figure = file.load(question.study), question.figure
    path = study.folder / INTERVALS_FILE
    kept = read_intervals(path)
    if kept is None:
        raise UserError(
            str(path), "", "", f"is missing: drawing the intervals of {study.name} and keeping them makes it"
        )
    of = kept.figures.get(figure)
    if of is None or of.predicted is None or log_of(of.predicted, of.scored_as) is None:
        known = [name for name, one in kept.figures.items() if log_of(one.predicted, one.scored_as) is not None]
        raise unknown_name("question.figure", figure, sorted(known))
    work = Work.of(study)
    if kept.changed(work.values):
        raise UserError(str(path), "", "", f"is of other values: drawing the intervals of {study.name} again makes it")
    combined = Combined(of.cells, kept.lines)
    values = [work.values[name] for name in combined.values]
    evidence = _evidence(work, figure, of, combined, question.interval)
    return Why(why(evidence, values, _meanings(work, values), study.seed))


def _evidence(work: Work, figure: str, of: FigureSpread, combined: Combined, level: float) -> Evidence:
    import numpy as np

    predicted = of.predicted or 0.0
    kind = Kind(FigureClass(of.figure_class), systems_of(work.study).get(of.config, ARRAYS))
    term = model_term().without(work.study.name, of.config, kind)
    low, high = between(predicted, *term.bounds(kind, of.spread, level), of.scored_as)
    drawn = combined.draws()
    columns = work.columns(combined.values)
    return Evidence(
        figure,
        of.label,
        of.figure_class,
        of.unit,
        predicted,
        {"level": level, "low": low, "high": high},
        of.spread,
        of.seed,
        of.unexplained,
        term.size(kind),
        effects_of(combined.values, combined.ends()) if combined.has_ends else [],
        work.places[np.ix_(list(drawn), columns)],
        np.array(list(drawn.values())),
    )


def _meanings(work: Work, values: Sequence[Uncertain]) -> dict[str, str]:
    """What the keys of values mean, as the engine says it of the loads that have them."""
    found: dict[str, str] = {}
    for line in work.lines:
        if {value.name for value in values} & {value.name for value in line.values}:
            found |= meanings_of(specs_of(work.study, line.pairs[0], None, work.study.seed)[0])
    return found
