"""Samplers: the points of an experiment. A sampler is a function that returns them; ranges have their own
(`hotband.execution.experiment.ranges`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.values import Coordinate
from hotband.execution.experiment.point import Point

Settings = Mapping[str, Sequence[Coordinate]]


def grid(
    targets: Sequence[str],
    workloads: Sequence[str],
    settings: Settings | None = None,
    seeds: Sequence[int] = (1,),
    *,
    duration: str | None = None,
    events: Sequence[str] = (),
) -> list[Point]:
    """Every workload on every target with every combination of settings and every seed; targets vary slowest, seeds
    fastest. `settings` has for each key its values, as `--set` takes them."""
    axes = settings or {}
    several = len(seeds) > 1
    specs, places = [], []
    for target, workload, values, seed in product(targets, workloads, product(*axes.values()), seeds):
        chosen = dict(zip(axes, values, strict=True))
        name = _name(target, workload, chosen, seed if several else None)
        pairs = tuple((key, str(value)) for key, value in chosen.items())
        specs.append(RunSpec(name, target, workload, pairs, seed, duration, events=tuple(events), in_use=True))
        places.append({"target": target, "workload": workload, **chosen, "seed": seed})
    return points_of(specs, places)


def points_of(specs: Sequence[RunSpec], at: Sequence[Mapping[str, Coordinate]] | None = None) -> list[Point]:
    """Return runs as points. Coordinates are those given, else target, workload, settings and seed. Raises UserError
    for an id that two runs have."""
    twice = [name for name, count in Counter(spec.id for spec in specs).items() if count > 1]
    if twice:
        raise UserError("experiment", "runs", twice[0], "is listed twice")
    if at is None:
        at = [
            {"target": run_spec.machine, "workload": run_spec.workload, **dict(run_spec.set), "seed": run_spec.seed}
            for run_spec in specs
        ]
    return [Point(spec, dict(where)) for spec, where in zip(specs, at, strict=True)]


def sequence(
    target: str,
    workloads: Sequence[str],
    settings: Mapping[str, Coordinate] | None = None,
    seed: int = 1,
    *,
    duration: str | None = None,
    fresh_seeds: bool = False,
) -> list[Point]:
    """Workloads one after the other on one machine, each as the previous one left it. With `fresh_seeds` each requests
    other offsets than those before it. The column `place` counts from 1."""
    pairs = tuple((key, str(value)) for key, value in (settings or {}).items())
    specs = [
        RunSpec(
            f"run {n}",
            target,
            workload,
            pairs,
            seed + (n if fresh_seeds else 0),
            duration,
            after=f"run {n - 1}" if n else "",
            in_use=True,
        )
        for n, workload in enumerate(workloads)
    ]
    return [Point(point.spec, {"place": number, **point.at}) for number, point in enumerate(points_of(specs), start=1)]


def _name(target: str, workload: str, settings: Mapping[str, Coordinate], seed: int | None) -> str:
    """A name that shows the differences; its folder has the same name."""
    words = [target, workload, *(f"{key}={value}" for key, value in settings.items())]
    return " ".join(words if seed is None else [*words, f"seed={seed}"])
