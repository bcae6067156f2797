"""Predict the figures of a corpus: a run of each load on each family's drive, made from its data sheet."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.engine import version
from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.text.write import make_folder, write_file
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import SPEEDS, Load, Unusable, class_of, load_of
from hotband.data.documents.run import RunSpec
from hotband.data.record.record import Figures as FiguresOf
from hotband.data.record.record import Record
from hotband.execution.experiment.experiment import Experiment
from hotband.execution.experiment.point import Point
from hotband.execution.runs.run import prepare
from hotband.inference.corpus.conformal import Residual
from hotband.inference.corpus.residuals import at_of, groups_of
from hotband.questions.predictions.setup import Size, machine_text, settings_of, workload_text

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

METRICS = {
    "iops": ("iops", 1.0),
    "mb_s": ("bandwidth_bytes_per_s", 1e-6),
    "lat_mean": ("latency_mean_ns", 1e-3),
    "lat_p50": ("latency_p50_ns", 1e-3),
    "lat_p90": ("latency_p90_ns", 1e-3),
    "lat_p95": ("latency_p95_ns", 1e-3),
    "lat_p99": ("latency_p99_ns", 1e-3),
    "lat_p999": ("latency_p999_ns", 1e-3),
    "lat_p9999": ("latency_p9999_ns", 1e-3),
}
"""For each metric, the name in a record's summary, and the factor from that unit to the metric's."""


LEAST_OF_P9999 = 50_000
"""I/Os from which the 99.99th percentile is used."""
TOGETHER = 48
"""Runs between two writes of the journal."""


@dataclass(frozen=True)
class Drive:
    """A drive made from its data sheet: the path of its file, its size, the rates of its port by the key that sets
    them, and the port's own rate (bytes per second)."""

    path: Path
    size: Size
    rates: Mapping[str, float]
    port: float


@dataclass(frozen=True)
class Predicted:
    """A figure with its prediction, or the reason why there is none."""

    figure: Figure
    load: Load | None
    figure_class: str
    value: float | None
    reason: str = ""
    port: float | None = None

    @property
    def ceiling(self) -> float | None:
        """Most I/Os per second that the port carries in both directions; None without a drive."""
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


def residuals_of(predictions: Iterable[Predicted]) -> Iterable[Residual]:
    """Yield the residuals of predictions that have one."""
    runs: dict[Hashable, int] = {}
    for each in predictions:
        if each.residual is not None and each.load is not None:
            groups = groups_of(each.figure_class, each.load, each.figure.metric)
            figure = each.figure
            run = runs.setdefault((figure.family, figure.source, figure.device, figure.side, each.load), len(runs))
            value = each.residual if figure.metric in SPEEDS else -each.residual
            yield Residual(figure.family, figure.tester, groups, value, at_of(each.load), run)


def predict(
    figures: Sequence[Figure],
    drive_of: Callable[[Figure], Drive],
    *,
    out: Path,
    jobs: int | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> list[Predicted]:
    """Predict every figure, in order. `drive_of` makes the drive of a figure, or raises UserError.

    Runs are stored in the folder `out`, and stored ones are not repeated. `tick` receives the numbers of finished and
    of all runs.
    """
    planned = [_planned(figure, drive_of) for figure in figures]
    specs = {plan.spec.id: plan.spec for plan in planned if isinstance(plan, _Plan)}
    runs = _figures_of_runs(list(specs.values()), out, jobs, tick)
    return [plan.predicted(runs[plan.spec.id]) if isinstance(plan, _Plan) else plan for plan in planned]


@dataclass(frozen=True)
class _Plan:
    """A figure, its load, its drive and the run that predicts it."""

    figure: Figure
    load: Load
    drive: Drive
    spec: RunSpec

    def predicted(self, run: Figures | str) -> Predicted:
        """Return the prediction from the figures of the run, or the reason why there is none."""
        figure_class = class_of(self.figure.metric, self.load)
        value = None if isinstance(run, str) else value_of(run, self.figure, self.load)
        reason = run if isinstance(run, str) else "" if value else "the run has no such figure"
        return Predicted(self.figure, self.load, figure_class, value, reason, self.drive.port)


def _planned(figure: Figure, drive_of: Callable[[Figure], Drive]) -> _Plan | Predicted:
    """Return the plan of a figure's prediction, or the reason why it has none."""
    load = load_of(figure)
    if isinstance(load, Unusable):
        return Predicted(figure, None, "", None, load.reason)
    try:
        drive = drive_of(figure)
        return _Plan(figure, load, drive, _spec(load, drive))
    except UserError as error:
        return Predicted(figure, load, class_of(figure.metric, load), None, f"no drive: {_words(error)}")


def _words(error: UserError) -> str:
    return f"{error.key or error.where} {error.value}: {error.accepted}"


def _spec(load: Load, drive: Drive) -> RunSpec:
    machine, workload = machine_text(load, str(drive.path)), workload_text(load, drive.size)
    settings = tuple(settings_of(load, drive.size, drive.rates).items())
    key = f"{version()}{drive.path.read_text(encoding='utf-8')}{machine}{workload}{settings}"
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    return RunSpec(
        name, drive.path.name, "a row of the corpus", set=settings, machine_text=machine, workload_text=workload
    )


Figures = dict[str, dict[str, float]]
"""The figures of a run: of "all", "read", "write" and "flush", by the names of `METRICS`."""


def _figures_of_runs(
    specs: Sequence[RunSpec], out: Path, jobs: int | None, tick: Callable[[int, int], None] | None
) -> dict[str, Figures | str]:
    """Return the figures of each run by its id, or the reason why it cannot be made. A journal in `out` stores them, so
    that runs finished before an interrupt are not repeated."""
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
    """Return the figures of a journal; none for a damaged one, whose runs are repeated."""
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
            results[spec.id] = f"no run: {_words(error)}"
    for run in Experiment(points, what="").run(jobs=jobs).finished:
        results[run.spec.id] = _figures(run.record)
    return results


def _figures(document: RecordDoc) -> Figures:
    record = Record(document)
    both: FiguresOf = record.summary
    sides = {"all": both, "read": record.summary.read, "write": record.summary.write, "flush": record.summary.flush}
    return {side: _values(values) for side, values in sides.items() if values is not None and values.count}


def _values(values: FiguresOf) -> dict[str, float]:
    seconds = {
        "mean": values.mean,
        "p50": values.p50,
        "p90": values.percentile(90),
        "p95": values.percentile(95),
        "p99": values.p99,
        "p999": values.p999,
        "p9999": values.percentile(99.99) if values.count and values.count >= LEAST_OF_P9999 else None,
    }
    rates = {"iops": values.iops, "bandwidth_bytes_per_s": values.bandwidth}
    latencies = {f"latency_{name}_ns": value * 1e9 for name, value in seconds.items() if value is not None}
    return {**{name: value for name, value in rates.items() if value}, **latencies}


def value_of(run: Figures, figure: Figure, load: Load) -> float | None:
    """Return the run's value that corresponds to a measured figure, in the unit of its metric."""
    if figure.metric not in METRICS:
        return None
    name, size = METRICS[figure.metric]
    value = run.get(_side(figure, load), {}).get(name)
    return None if value is None else value * size


def _side(figure: Figure, load: Load) -> str:
    """Return the side of a run ("all", "read", ...) that corresponds to a measured figure."""
    is_both = load.sync == "flush" and figure.metric.startswith("lat_p") and "after each" in figure.workload
    if load.of_flush or is_both:
        return "flush"
    return figure.side or ("write" if load.sync and load.direction == "write" else "all")


def write_drive_file(folder: Path, name: str, text: str) -> Path:
    """Write a drive's file into a folder, named by drive and content; return its path."""
    make_folder(folder)
    path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.toml"
    if not path.exists():
        write_file(path, text)
    return real_path(path)
