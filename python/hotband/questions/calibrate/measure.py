"""The plan's loads on the target: runs of an experiment, kept in a folder as they finish.

Loads that are measured several times are so in passes, so that repeats lie minutes apart. After them come those held
out, and last those that leave the drive otherwise than they found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hotband.execution.experiment import Executor, Experiment, Point, Say
from hotband.questions.calibrate.figures import seen_of
from hotband.questions.calibrate.loads import Measurement
from hotband.questions.calibrate.measured import Measured
from hotband.questions.calibrate.model import FILL, Product, Watch, at_own_scale, at_scale, own_scale, part_of, specs_of

WHAT = "measurements of a calibration"
SEED = 7_000_001
"""Of the measurements: none that the model's runs have."""


def passes(loads: Sequence[Measurement], counts: Sequence[int]) -> list[int]:
    """Places of loads in the order in which they are measured."""
    found = []
    for turn in range(max(counts, default=0)):
        found += [
            place
            for place, count in enumerate(counts)
            if count > turn and not loads[place].held_out and not loads[place].changes
        ]
    held = [place for place, load in enumerate(loads) if load.held_out]
    last = [place for place, load in enumerate(loads) if load.changes]
    return found + [place for place in (*held, *last) for _ in range(counts[place])]


def measure(
    target: Product,
    loads: Sequence[Measurement],
    counts: Sequence[int],
    how: tuple[Executor | None, Path | None, int],
    say: Say,
    watch: Watch,
    *,
    fresh: bool = False,
) -> list[Measured]:
    """Measures each load so often, on an executor (None: the target is a model), in a folder (`fresh`: without what is
    there), from a seed on. Raises UserError, OSError, RunsInterrupted."""
    executor, folder, seed = how
    order = passes(loads, counts)
    if not order:
        return []
    asked = [part_of(loads[place], own_scale(target)) for place in order]
    if executor is None:
        # All of them run on one simulated drive: without, each would choose the scale that suits it.
        target, asked = at_scale(at_own_scale(target), asked)
    specs = specs_of("load", target, asked, ((), SEED + seed), None, one_drive=executor is None)
    points = [Point(spec, {"place": place}) for place, spec in enumerate(specs)]
    with watch(f"measuring {target.name}") as tick:
        outcome = Experiment(points, what=WHAT).run(out=folder, fresh=fresh, executor=executor, progress=tick, say=say)
    by_id = {one.spec.id: one.record for one in outcome.finished}
    records = [by_id[spec.id] for spec in specs if spec.workload != FILL.name or executor is not None]
    found = []
    for place, load in enumerate(loads):
        own = [record for record, at in zip(records, order, strict=True) if at == place]
        found.append(Measured(load, tuple(seen_of(record) for record in own)))
    return found
