"""Measure the plan's loads on the target: runs of an experiment, stored in a folder as they finish.

Repeated loads run in passes, so that repeats are minutes apart. Validation loads follow, and last those that change the
state of the drive.
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
"""Seed of the measurements, different from those of the model's runs."""


def passes(loads: Sequence[Measurement], counts: Sequence[int]) -> list[int]:
    """Return the indices of loads in the order of measurement."""
    order = []
    for turn in range(max(counts, default=0)):
        order += [
            index
            for index, count in enumerate(counts)
            if count > turn and not loads[index].held_out and not loads[index].changes
        ]
    held = [index for index, load in enumerate(loads) if load.held_out]
    last = [index for index, load in enumerate(loads) if load.changes]
    return order + [index for index in (*held, *last) for _ in range(counts[index])]


def measure(
    target: Product,
    loads: Sequence[Measurement],
    counts: Sequence[int],
    setup: tuple[Executor | None, Path | None, int],
    say: Say,
    watch: Watch,
    *,
    fresh: bool = False,
) -> list[Measured]:
    """Measure each load as often as `counts` states. `setup` has the executor (None: the target is a model), the folder
    (`fresh` ignores its runs) and the seed. Raises UserError, OSError, RunsInterrupted."""
    executor, folder, seed = setup
    order = passes(loads, counts)
    if not order:
        return []
    parts = [part_of(loads[index], own_scale(target)) for index in order]
    if executor is None:
        # All of them run on one simulated drive: otherwise each would choose its own model size.
        target, parts = at_scale(at_own_scale(target), parts)
    specs = specs_of("load", target, parts, ((), SEED + seed), None, one_drive=executor is None)
    points = [Point(spec, {"place": index}) for index, spec in enumerate(specs)]
    with watch(f"measuring {target.name}") as tick:
        outcome = Experiment(points, what=WHAT).run(out=folder, fresh=fresh, executor=executor, progress=tick, say=say)
    by_id = {run.spec.id: run.record for run in outcome.finished}
    records = [by_id[spec.id] for spec in specs if spec.workload != FILL.name or executor is not None]
    results = []
    for index, load in enumerate(loads):
        records_of_load = [record for record, at in zip(records, order, strict=True) if at == index]
        results.append(Measured(load, tuple(seen_of(record) for record in records_of_load)))
    return results
