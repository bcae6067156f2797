"""Good or bad? `hotband expect` and `hb.expect` (docs/guides/expect.md)."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.base.text import numbers
from hotband.base.text.numbers import counted
from hotband.data.corpus.files import all_figures
from hotband.data.corpus.named import figures_of_family
from hotband.data.inputs.specify import Named
from hotband.data.record.incomplete import refusing_incomplete
from hotband.execution.runs.scale import scale_of
from hotband.questions.expect.asked import ExpectQuestion
from hotband.questions.expect.capacity import target_bytes
from hotband.questions.expect.expected import Expected
from hotband.questions.expect.explain import explanations
from hotband.questions.expect.nearest import rank
from hotband.questions.expect.others import others_of
from hotband.questions.expect.predict import Settings, run, with_intervals
from hotband.questions.expect.results import Row, read_rows

MOST_ROWS = 64
"""Most runs of results in one call: more take minutes."""


def expect(question: ExpectQuestion, way: Way) -> Expected:
    """Compare measured with predicted figures, or rank drives. Raises UserError, RunsInterrupted."""
    settings = Settings(
        question.settings,
        question.seed,
        question.duration,
        level=question.interval,
        draws=question.draws,
        jobs=question.jobs,
    )
    with refusing_incomplete(list(question.result)):
        skipped: list[str] = []
        rows = read_rows(question.result, question.workload, skipped)
    _expect_some(rows)
    if question.on is None:
        return Expected(None, settings.level, rows, ranking=rank(rows, settings, way.watch), notes=skipped)
    result = judged(rows, question.on, settings, way)
    result.notes += skipped
    return result


def judged(rows: list[Row], machine: Named, settings: Settings, way: Way) -> Expected:
    """Compare rows with predictions for a machine. Raises UserError if the machine cannot run one, RunsInterrupted."""
    expect_room(rows, machine)
    predicted = run(rows, machine, settings, way.watch, f"{counted(len(rows), 'run')} on {machine.name}")
    notes = with_intervals(predicted, settings, way.say, way.watch)
    of_family = figures_of_family(machine.name, machine.text, all_figures())
    for prediction in predicted:
        prediction.others = others_of(prediction, of_family)
    scale = next(
        (
            scale
            for prediction in predicted
            if (scale := scale_of(prediction.spec)) and "scale" not in dict(settings.set)
        ),
        None,
    )
    if scale is not None:
        notes.append(f"SSDs are simulated at model size 1/{scale} (scale=N sets another)")
    causes = explanations(predicted, machine)
    return Expected(machine.name, settings.level, rows, predicted, causes, notes=notes)


def _expect_some(rows: Sequence[Row]) -> None:
    """Raise UserError if no load can be rebuilt, or there are too many."""
    if len(rows) > MOST_ROWS:
        accepted = f"has {len(rows)} runs; expected at most {MOST_ROWS} at a time"
        raise UserError("question.result", "", rows[0].file, accepted)
    if all(row.load is None for row in rows):
        raise UserError(rows[0].file, "", "", f"its load cannot be rebuilt: {rows[0].why_not}")


def expect_room(rows: Sequence[Row], machine: Named, option: str = "question.on") -> None:
    """Raise UserError if the machine, which an option names, is smaller than the measured range."""
    size = target_bytes(machine)
    for row in rows:
        span = row.load.span_bytes if row.load else None
        if size is not None and span is not None and span > size:
            sizes = f"has {numbers.size(size)}, but {row.name} accessed {numbers.size(span)}"
            raise UserError(option, "", machine.name, f"{sizes}; expected a larger machine")
