"""Answers a sweep (docs/guides/sweep.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.store.into import into_store
from hotband.inference.interval import DRAWS
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.questions.sweeps import engine, plan

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.questions.sweeps.asked import SweepQuestion
    from hotband.questions.sweeps.sweep import Sweep


def answer(asked: SweepQuestion, way: Way) -> Sweep:
    """Return the sweep, also where it is stopped. Raises UserError before anything runs, OSError."""
    asked.expect_hardware([one.name for one in asked.on])
    for name, value in asked.settings:
        if name in plan.NOT_SET:
            shown = list(value) if isinstance(value, tuple) else value
            raise UserError("question.settings", name, str(shown), "is the name of an argument: on, workload or seed")
    grid = plan.Grid(
        plan.by_name(asked.workload, "workload"),
        plan.by_name(asked.on, "on"),
        {key: plan.axis_of(key, value) for key, value in asked.settings},
        plan.seeds_of(asked.seed, asked.repeat),
        asked.duration,
        asked.events,
    )
    for remark in grid.remarks:
        way.say(remark)
    drawn = DRAWS if asked.draws is None else asked.draws
    of_hardware = asked.hardware()
    how = engine.Asked(
        asked.jobs,
        asked.out,
        asked.fresh,
        asked.records and not way.on_terminal,
        None if asked.interval is None else IntervalsAsked(asked.interval, drawn),
        lambda specs: asked.executor_on(way, specs, of_hardware),
        way.executor,
    )
    with into_store(asked.into):
        done = engine.sweep(grid, how, way.watch, way.say)
        way.there(done)
        return done
