"""Run every assumption of a study at both ends of its range, one at a time.

Left out: assumptions that act together. Each changes alone, and all other values stay nominal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.text.write import write_file
from hotband.data.catalog.entries import unknown
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment import Experiment, Lock, Say, points_of
from hotband.execution.experiment.ranges import ENDS, End, at_end
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import prepare
from hotband.questions.study import file
from hotband.questions.study.definition import STUDY_FILE, SWINGS_FILE, Study
from hotband.questions.study.figures import cell_figures, comparison_figures
from hotband.questions.study.planned import Planned, plan
from hotband.questions.study.runs import Pair, Results, collect, specs, specs_of
from hotband.questions.study.swingfile import Entry, Figures, SwingFile, read_swings
from hotband.questions.study.swung import Swings

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.inference.interval.of_run import Watch
    from hotband.questions.study.asked import StudySwingsQuestion


@dataclass(frozen=True)
class Runner:
    """Options of the runs: seed, number of parallel jobs, and display of progress."""

    seed: int
    jobs: int | None
    watch: Watch


def select(planned: Sequence[Planned], only: Collection[str]) -> list[Planned]:
    """Return the assumptions whose name or key is in `only`, by default all. Raises UserError for an unknown one."""
    for name in only:
        if not any(name in (candidate.swing.name, candidate.swing.key) for candidate in planned):
            raise unknown("question.only", name, [candidate.swing.name for candidate in planned])
    return [candidate for candidate in planned if not only or {candidate.swing.name, candidate.swing.key} & set(only)]


def figures_of(results: Results, pairs: Sequence[Pair]) -> tuple[Figures, dict[str, str]]:
    """Return the predictions that depend on the given pairs, and the labels of their figures."""
    touched = {(config.id, load.id) for config, load in pairs}
    rows = [row for (config, load, _), row in cell_figures(results).items() if (config, load) in touched]
    sides = {
        comparison.id: {(config, comparison.load) for config in comparison.sides}
        for comparison in results.study.comparisons
    }
    rows += [row for row in comparison_figures(results) if sides[row["id"]] & touched]
    labels = {row["id"]: f"{row['config']}, {row['label']}, {row['metric']}" for row in rows}
    return {row["id"]: row["predicted"] for row in rows}, labels


def answer(question: StudySwingsQuestion, way: Way) -> Swings:
    """Return the sensitivity to the assumptions. Raises UserError."""
    return Swings(run_swings(question, way))


def run_swings(question: StudySwingsQuestion, way: Way) -> SwingFile:
    """Run the assumptions of a study at their ends, without valid stored results. Writes after each."""
    study, say = file.load(question.study), way.say
    root = study.seed if question.seed is None else question.seed
    planned = plan(study)
    if not planned:
        accepted = "is missing, and no assumption has a swing: there is nothing to run; expected a list of loads"
        raise UserError(str(study.folder / STUDY_FILE), "swing_loads", "", accepted)
    chosen = select(planned, question.only)
    swings = SwingFile(study.name, str(root), f"hotband study swings {question.study} --seed {root}")
    folders = _folders(study, question.out, question.save)
    paths = [folder / SWINGS_FILE for folder, _ in folders]
    with ExitStack() as held:
        for folder, option in folders:
            held.enter_context(Lock(folder, option))
        _take_over(swings, paths, {candidate.swing.name for candidate in planned})
        try:
            _swing_all(study, swings, chosen, paths, Runner(root, question.jobs, way.watch), say)
        except (RunsInterrupted, KeyboardInterrupt):
            kept_in = f", stored in {paths[0]}" if paths else ""
            say(f"interrupted; {len(swings.entries)} assumptions are done{kept_in}")
            raise
        _write(swings, paths)
    return swings


def _take_over(swings: SwingFile, paths: Sequence[Path], known: Collection[str]) -> None:
    """Take over results of an earlier call with the same seed, for assumptions that still exist."""
    earlier = next((swing_file for path in paths if (swing_file := read_swings(path)) is not None), None)
    if earlier is not None and earlier.seed == swings.seed:
        swings.labels, swings.entries = earlier.labels, [entry for entry in earlier.entries if entry.name in known]


def _swing_all(
    study: Study,
    swings: SwingFile,
    chosen: Sequence[Planned],
    paths: Sequence[Path],
    runner: Runner,
    say: Say,
) -> None:
    """Run assumptions without stored results, one after the other, and write after each."""
    nominal = _nominal(study, chosen, runner)
    for number, planned in enumerate(chosen, 1):
        figures, labels = figures_of(nominal, planned.pairs)
        swings.labels |= labels
        low, high = str(planned.swing.low), str(planned.swing.high)
        if any(entry.is_of(planned.swing.name, low, high, figures) for entry in swings.entries):
            say(f"{planned.swing.name}: done before")
            continue
        title = f"{number} of {len(chosen)}: {planned.swing.name}"
        swings.put(_entry(study, planned, nominal, figures, runner, title))
        _write(swings, paths)


def _folders(study: Study, out: Path | None, save: bool) -> list[tuple[Path, str]]:
    """Return the folders to write to, each with its option; the first is read, too."""
    folders = [(out, "question.out")] if out is not None else []
    if save and (out is None or real_path(out) != real_path(study.folder)):
        folders.append((study.folder, "question.save"))
    return folders


def _write(swings: SwingFile, paths: Sequence[Path]) -> None:
    for path in paths:
        write_file(path, swings.text())


def _execute(runs: Sequence[RunSpec], runner: Runner, title: str) -> list[Finished]:
    with runner.watch(title) as progress:
        return Experiment(points_of(runs)).run(progress=progress, jobs=runner.jobs).finished


def _nominal(study: Study, chosen: Sequence[Planned], runner: Runner) -> Results:
    """Run the nominal study for every pair that an assumption, or a comparison with one, needs."""
    needed = {(config.id, load.id) for planned in chosen for config, load in planned.pairs}
    for comparison in study.comparisons:
        sides = {(config, comparison.load) for config in comparison.sides}
        needed |= sides if sides & needed else set()
    pairs = [pair for pair in study.pairs() if (pair[0].id, pair[1].id) in needed]
    return collect(study, pairs, _execute(specs(study, pairs, None, runner.seed), runner, f"{study.name}: nominal"))


def _entry(study: Study, planned: Planned, nominal: Results, figures: Figures, runner: Runner, title: str) -> Entry:
    """Run both ends of one assumption together; an end that the model refuses is noted, not run."""
    entry = Entry(planned.swing.name, str(planned.swing.low), str(planned.swing.high), figures)
    ends = planned.swing.moves()
    entry.ends = {end: dict(figures) for end in ENDS if end not in ends}
    runs = {
        end: [spec for pair in planned.pairs for spec in _specs(study, planned, pair, end, runner.seed)] for end in ends
    }
    for end, error in _refusals(runs).items():
        entry.refused[end] = error
        ends.remove(end)
    finished = _execute([spec for end in ends for spec in runs[end]], runner, title) if ends else []
    for end in ends:
        changed = collect(study, planned.pairs, finished, f"{end}.")
        results = Results(study, {**nominal.cells, **changed.cells})
        entry.ends[end] = figures_of(results, planned.pairs)[0]
    return entry


def _specs(study: Study, planned: Planned, pair: Pair, end: End, seed: int) -> list[RunSpec]:
    return [at_end(spec, planned.swing, end, f"{end}.") for spec in specs_of(study, pair, None, seed)]


def _refusals(runs: Mapping[End, list[RunSpec]]) -> dict[End, str]:
    """Return why the model refuses an end (such as two values of a drive that do not fit together)."""
    refused: dict[End, str] = {}
    for end, specs_ in runs.items():
        try:
            for spec in specs_:
                prepare(spec)
        except UserError as error:
            refused[end] = str(error)
    return refused
