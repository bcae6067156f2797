"""Predict the figures of a corpus: a run of each load on each family's drive, made from its data sheet."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hotband.base.engine import version
from hotband.base.errors import UserError
from hotband.base.text.write import make_folder, write_file
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import Load, Unusable, class_of, load_of
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import Experiment
from hotband.execution.experiment.point import Point
from hotband.execution.runs.run import prepare
from hotband.questions.predictions.setup import Size, machine_text, settings_of, workload_text

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

METRICS = {
    "iops": ("iops", 1.0),
    "mb_s": ("bandwidth_bytes_per_s", 1e-6),
    "lat_mean": ("latency_mean_ns", 1e-3),
    "lat_p50": ("latency_p50_ns", 1e-3),
    "lat_p99": ("latency_p99_ns", 1e-3),
    "lat_p999": ("latency_p999_ns", 1e-3),
}
"""The figure of a record's summary for each metric, and how much of the metric's unit is one of it."""


TOGETHER = 48
"""Runs between two entries of the journal."""


@dataclass(frozen=True)
class Drive:
    """A drive that was made from its data sheet: the path of its file, its size, the rates of its port by the key of a
    setting, and that rate itself (bytes per second)."""

    path: Path
    size: Size
    rates: Mapping[str, float]
    port: float


@dataclass(frozen=True)
class Predicted:
    """A figure with what is predicted for it, or with the reason why nothing is."""

    figure: Figure
    load: Load | None
    figure_class: str
    value: float | None
    reason: str = ""
    port: float | None = None

    @property
    def ceiling(self) -> float | None:
        """The most I/Os per second that the port carries both ways; None without a drive."""
        if self.load is None or self.port is None:
            return None
        directions = 2.0 if self.load.direction == "mix" else 1.0
        return directions * min(self.port, self.load.port or self.port) / self.load.block

    @property
    def residual(self) -> float | None:
        """The logarithm of predicted over measured."""
        if not self.value or not self.figure.middle:
            return None
        return math.log(self.value / self.figure.middle)


def predict(
    figures: Sequence[Figure],
    drive_of: Callable[[Figure], Drive],
    *,
    out: Path,
    jobs: int | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> list[Predicted]:
    """Predict every figure, in order. `drive_of` makes the drive of a figure and raises UserError where it cannot.

    Runs are kept in the folder `out`: what is there is not run again. `tick` gets how many of how many have run.
    """
    outcomes: list[tuple[Figure, Load | None, str, str]] = []
    ports: dict[str, float] = {}
    specs: dict[str, RunSpec] = {}
    for figure in figures:
        load = load_of(figure)
        if isinstance(load, Unusable):
            outcomes.append((figure, None, "", load.reason))
            continue
        try:
            drive = drive_of(figure)
            spec = _spec(load, drive)
        except UserError as error:
            outcomes.append((figure, load, "", f"no drive: {error.key or error.where} {error.value}: {error.accepted}"))
            continue
        specs.setdefault(spec.id, spec)
        ports[spec.id] = drive.port
        outcomes.append((figure, load, spec.id, ""))
    run = _figures_of_runs(list(specs.values()), out, jobs, tick)
    return [
        replace(_predicted(figure, load, run.get(name, reason)), port=ports.get(name))
        for figure, load, name, reason in outcomes
    ]


def _spec(load: Load, drive: Drive) -> RunSpec:
    machine, workload = machine_text(load, str(drive.path)), workload_text(load, drive.size)
    settings = tuple(settings_of(load, drive.size, drive.rates).items())
    key = f"{version()}{drive.path.read_text(encoding='utf-8')}{machine}{workload}{settings}"
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    return RunSpec(
        name, drive.path.name, "a row of the corpus", set=settings, machine_text=machine, workload_text=workload
    )


Figures = dict[str, dict[str, float]]
"""The figures of a run: of "all", "read", "write", "flush" and "probe", by the names of a record's summary."""


def _figures_of_runs(
    specs: Sequence[RunSpec], out: Path, jobs: int | None, tick: Callable[[int, int], None] | None
) -> dict[str, Figures | str]:
    """Return the figures of each run by its id, or why it cannot be made. A journal in `out` keeps them, so that what
    an interrupt leaves is not run again."""
    make_folder(out)
    journal = out / "runs.jsonl"
    known = _in_journal(journal)
    missing = [spec for spec in specs if spec.id not in known]
    for first in range(0, len(missing), TOGETHER):
        finished = _run(missing[first : first + TOGETHER], jobs)
        known.update(finished)
        write_file(journal, "".join(json.dumps({name: run}) + "\n" for name, run in known.items()))
        if tick is not None:
            tick(min(len(missing), first + TOGETHER), len(missing))
    return known


def _in_journal(journal: Path) -> dict[str, Figures | str]:
    """Return the figures of a journal; none of a damaged one, whose runs are repeated."""
    if not journal.exists():
        return {}
    known: dict[str, Figures | str] = {}
    try:
        for line in journal.read_text(encoding="utf-8").splitlines():
            known.update(json.loads(line))
    except (ValueError, TypeError):
        return {}
    return known


def _run(specs: Sequence[RunSpec], jobs: int | None) -> dict[str, Figures | str]:
    points, results = [], dict[str, Figures | str]()
    for spec in specs:
        try:
            points.append(Point(spec, prepared=prepare(spec)))
        except UserError as error:
            results[spec.id] = f"no run: {error.key or error.where} {error.value}: {error.accepted}"
    for run in Experiment(points, what="").run(jobs=jobs).finished:
        results[run.spec.id] = _figures(run.record)
    return results


def _figures(record: RecordDoc) -> Figures:
    summary = cast("dict[str, Any]", record["summary"])
    sides = {"all": summary, **{side: summary.get(side) or {} for side in ("read", "write", "flush")}}
    for stream in cast("list[dict[str, Any]]", record["streams"]):
        if stream["name"] == "probe":
            sides["probe"] = stream.get("read") or {}
            sides["probe write"] = stream.get("write") or {}
    names = [name for name, _ in METRICS.values()]
    return {side: {name: values[name] for name in names if values.get(name)} for side, values in sides.items()}


def _predicted(figure: Figure, load: Load | None, run: Figures | str) -> Predicted:
    if load is None or isinstance(run, str):
        return Predicted(figure, load, "" if load is None else class_of(figure.metric, load), None, str(run))
    value = value_of(run, figure, load)
    return Predicted(figure, load, class_of(figure.metric, load), value, "" if value else "the run has no such figure")


def value_of(run: Figures, figure: Figure, load: Load) -> float | None:
    """Return the figure of a run that stands for a measured one, in the unit of its metric."""
    if figure.metric not in METRICS:
        return None
    name, size = METRICS[figure.metric]
    if load.of_flush or (
        load.sync == "flush" and figure.metric.startswith("lat_p") and "after each" in figure.workload
    ):
        side = "flush"
    else:
        side = figure.side or ("write" if load.sync and load.direction == "write" else "all")
    if load.probe and figure.metric.startswith("lat"):
        side = "probe write" if figure.side == "write" else "probe"
    value = run.get(side, {}).get(name)
    return None if value is None else value * size


def by_family(predictions: Iterable[Predicted]) -> dict[str, list[Predicted]]:
    """Return predictions by family."""
    grouped: dict[str, list[Predicted]] = defaultdict(list)
    for prediction in predictions:
        grouped[prediction.figure.family].append(prediction)
    return grouped


def write_drive_file(folder: Path, name: str, text: str) -> Path:
    """Write the file of a drive into a folder, by name and content; return its path."""
    make_folder(folder)
    path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.toml"
    if not path.exists():
        write_file(path, text)
    return path.resolve()
