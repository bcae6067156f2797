"""Answer the question `sweep` (docs/guides/sweep.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.inputs.rate import KEY as RATE
from hotband.data.inputs.rate import mistakes_of_rate, rates_of
from hotband.data.inputs.values import Values
from hotband.data.store.into import into_store
from hotband.inference.interval import DRAWS
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.questions.slo import slo_of
from hotband.questions.sweeps import engine, plan
from hotband.questions.sweeps.frames import column_of

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.questions.sweeps.asked import SweepQuestion
    from hotband.questions.sweeps.sweep import Sweep


def axes_of(question: SweepQuestion) -> dict[str, Values]:
    """Return the settings with all their values, the rate among them."""
    axes = {key: plan.axis_of(key, value) for key, value in question.settings}
    if question.rate is not None:
        axes[RATE] = rates_of(question.rate, question.settings)
    return axes


def answer(question: SweepQuestion, way: Way) -> Sweep:
    """Return the sweep, even if it is stopped. Raises UserError before anything runs, OSError."""
    question.expect_hardware([machine.name for machine in question.on])
    for name, value in question.settings:
        if name in plan.NOT_SET:
            shown = list(value) if isinstance(value, tuple) else value
            raise UserError("question.settings", name, str(shown), "is the name of an argument: on, workload or seed")
    slo = () if question.slo is None else slo_of(question.slo)
    for condition in slo:
        column_of(condition.figure)  # Refuses figures that rows do not have.
    grid = plan.Grid(
        plan.by_name(question.workload, "workload"),
        plan.by_name(question.on, "on"),
        axes_of(question),
        plan.seeds_of(question.seed, question.repeat),
        question.duration,
        question.events,
    )
    for remark in grid.remarks:
        way.say(remark)
    drawn = DRAWS if question.draws is None else question.draws
    of_hardware = question.hardware()
    options = engine.Asked(
        question.jobs,
        question.out,
        question.fresh,
        question.records and not way.on_terminal,
        None if question.interval is None else IntervalsAsked(question.interval, drawn),
        lambda specs: question.executor_on(way, specs, of_hardware),
        way.executor,
        slo,
    )
    with into_store(question.into), mistakes_of_rate(question.rate):
        done = engine.sweep(grid, options, way.watch, way.say)
        way.before_saving(done)
        return done
