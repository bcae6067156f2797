"""Runs of a sweep on hardware and on emulated machines: one after the other, after those on models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hotband.data.catalog.named import is_model
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment.executor import Executor, Progress, Tick
from hotband.execution.experiment.point import Point

Hardware = Callable[[Sequence["RunSpec"]], Executor]
"""Makes the executor of these runs, all on one piece of hardware or one emulated machine. Raises UserError if it cannot
be used."""


def by_hardware(specs: Mapping[int, RunSpec]) -> tuple[list[int], list[list[int]]]:
    """Return the indices of the runs on models, and of those on each piece of hardware and each emulated machine."""
    models: list[int] = []
    real: dict[str, list[int]] = {}
    for index, spec in specs.items():
        (models if is_model(spec.machine) else real.setdefault(spec.machine, [])).append(index)
    return models, list(real.values())


def run_on(executor: Executor, specs: Mapping[int, RunSpec], took: Callable[[int, Finished], None], tick: Tick) -> None:
    """Run points on hardware; `took` receives each with its index as soon as it is finished. Raises what the executor
    raises."""
    places = {spec.id: index for index, spec in specs.items()}
    executor.execute(
        [Point(spec) for spec in specs.values()], lambda point, finished: took(places[point.id], finished), tick
    )


def among(tick: Tick, before: int, count: int, total: int) -> Tick:
    """Return the progress of `count` runs after `before` others as progress of all."""

    def told(progress: Progress) -> None:
        tick(
            replace(
                progress, share=(before + progress.share * count) / (total or 1), done=before + progress.done, of=total
            )
        )

    return told
