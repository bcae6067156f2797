"""Running every assumption of a study at both ends of its range, one at a time.

What it leaves out: assumptions that act together. Each is moved alone, everything else stays at its nominal value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
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
    """How runs are run: the root of their randomness, how many at a time, and who sees their progress."""

    seed: int
    jobs: int | None
    watch: Watch


def select(planned: Sequence[Planned], only: Collection[str]) -> list[Planned]:
    """Those whose name or key is asked for; all where none is. Raises UserError for one that nothing has."""
    for name in only:
        if not any(name in (one.swing.name, one.swing.key) for one in planned):
            raise unknown("question.only", name, [one.swing.name for one in planned])
    return [one for one in planned if not only or {one.swing.name, one.swing.key} & set(only)]


def figures_of(results: Results, pairs: Sequence[Pair]) -> tuple[Figures, dict[str, str]]:
    """Predictions that the given pairs have a part in, and the labels of their figures."""
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
    """Return what the assumptions move. Raises UserError."""
    return Swings(run_swings(question, way))


def run_swings(question: StudySwingsQuestion, way: Way) -> SwingFile:
    """Swing the assumptions of a study; what is already there and still holds is not run again. Writes after each."""
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
        _take_over(swings, paths, {one.swing.name for one in planned})
        try:
            _swing_all(study, swings, chosen, paths, Runner(root, question.jobs, way.watch), say)
        except (RunsInterrupted, KeyboardInterrupt):
            kept_in = f", kept in {paths[0]}" if paths else ""
            say(f"interrupted; {len(swings.entries)} assumptions are done{kept_in}")
            raise
        _write(swings, paths)
    return swings


def _take_over(swings: SwingFile, paths: Sequence[Path], known: Collection[str]) -> None:
    """Takes what an earlier call with the same seed left, of assumptions that are known still."""
    kept = next((found for path in paths if (found := read_swings(path)) is not None), None)
    if kept is not None and kept.seed == swings.seed:
        swings.labels, swings.entries = kept.labels, [entry for entry in kept.entries if entry.name in known]


def _swing_all(
    study: Study,
    swings: SwingFile,
    chosen: Sequence[Planned],
    paths: Sequence[Path],
    runner: Runner,
    say: Say,
) -> None:
    """Runs what is not kept, one assumption after the other, and writes after each."""
    nominal = _nominal(study, chosen, runner)
    for number, one in enumerate(chosen, 1):
        figures, labels = figures_of(nominal, one.pairs)
        swings.labels |= labels
        low, high = str(one.swing.low), str(one.swing.high)
        if any(entry.is_of(one.swing.name, low, high, figures) for entry in swings.entries):
            say(f"{one.swing.name}: kept")
            continue
        title = f"{number} of {len(chosen)}: {one.swing.name}"
        swings.put(_entry(study, one, nominal, figures, runner, title))
        _write(swings, paths)


def _folders(study: Study, out: Path | None, save: bool) -> list[tuple[Path, str]]:
    """The folders to write to, each with its option; the first is read."""
    found = [(out, "question.out")] if out is not None else []
    if save and (out is None or out.resolve() != study.folder.resolve()):
        found.append((study.folder, "question.save"))
    return found


def _write(swings: SwingFile, paths: Sequence[Path]) -> None:
    for path in paths:
        write_file(path, swings.text())


def _execute(runs: Sequence[RunSpec], runner: Runner, title: str) -> list[Finished]:
    with runner.watch(title) as progress:
        return Experiment(points_of(runs)).run(progress=progress, jobs=runner.jobs).finished


def _nominal(study: Study, chosen: Sequence[Planned], runner: Runner) -> Results:
    """The study as it stands, for every pair that a swing, or a comparison with one, needs."""
    needed = {(config.id, load.id) for one in chosen for config, load in one.pairs}
    for one in study.comparisons:
        sides = {(config, one.load) for config in one.sides}
        needed |= sides if sides & needed else set()
    pairs = [pair for pair in study.pairs() if (pair[0].id, pair[1].id) in needed]
    return collect(study, pairs, _execute(specs(study, pairs, None, runner.seed), runner, f"{study.name}: nominal"))


def _entry(study: Study, one: Planned, nominal: Results, figures: Figures, runner: Runner, title: str) -> Entry:
    """Both ends of one assumption, run together; an end that the model refuses is noted, not run."""
    entry = Entry(one.swing.name, str(one.swing.low), str(one.swing.high), figures)
    ends = one.swing.moves()
    entry.ends = {end: dict(figures) for end in ENDS if end not in ends}
    runs = {end: [spec for pair in one.pairs for spec in _specs(study, one, pair, end, runner.seed)] for end in ends}
    for end, error in _refusals(runs).items():
        entry.refused[end] = error
        ends.remove(end)
    finished = _execute([spec for end in ends for spec in runs[end]], runner, title) if ends else []
    for end in ends:
        changed = collect(study, one.pairs, finished, f"{end}.")
        results = Results(study, {**nominal.cells, **changed.cells})
        entry.ends[end] = figures_of(results, one.pairs)[0]
    return entry


def _specs(study: Study, one: Planned, pair: Pair, end: End, seed: int) -> list[RunSpec]:
    return [at_end(spec, one.swing, end, f"{end}.") for spec in specs_of(study, pair, None, seed)]


def _refusals(runs: Mapping[End, list[RunSpec]]) -> dict[End, str]:
    """Why the model refuses an end (two values of a drive that do not fit together, for one)."""
    refused: dict[End, str] = {}
    for end, specs_ in runs.items():
        try:
            for spec in specs_:
                prepare(spec)
        except UserError as error:
            refused[end] = str(error)
    return refused
