"""Run candidates, and read the results.

Disks run as whole arrays. Solid-state drives are preconditioned once for all loads and drive counts that share a
smaller array (`hotband.questions.advise.small`); the loads then run on it one after the other, the one that writes most
first.

Left out: the order of those runs is fixed, and each run finds the contents of the drive's memory that the previous one
left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes
from hotband.data.documents.run import Repair, RunSpec
from hotband.data.inputs.loads import Load
from hotband.data.record.finished import Finished
from hotband.data.record.overload import completed_rate, slack_of
from hotband.data.record.record import Record, record_of
from hotband.execution.experiment import Experiment, Point, Say
from hotband.execution.experiment.ranges import workload_text
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import refusal
from hotband.questions.advise.candidates import Candidate, Drive
from hotband.questions.advise.small import (
    Stand,
    can_share,
    is_open,
    loads_of,
    rate_factor,
    shared,
    stand_of,
    write_share,
)
from hotband.questions.find.figures import Figure

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.inputs.specify import Named
    from hotband.inference.interval.of_run import Watch

SCALES = ("1024", "512", "256", "128", "64")
"""Fractions of a solid-state drive that are tried, smallest first (`hotband.execution.runs.scale` explains why they
agree)."""
DEVIATIONS = 4.0
"""Half width, in standard deviations of a binomial count, of the range of a short run's percentile. It is wide because
I/Os that meet in a queue have similar latencies, so that their effective number is smaller."""
SECONDS_A_YEAR = 365.0 * 86400
Key = tuple[str, str]
"""Names of a candidate and of a workload."""


@dataclass(frozen=True)
class Measured:
    """The results of a candidate's run under a workload: metrics (seconds, I/Os and bytes per second), their ranges by
    chance, the completed share of an offered rate and how much of it may be missing, watts with the ends of the
    catalog's ranges, and the years until the drives are worn out (None: they do not wear, or it is unknown). `is_open`:
    the load sets the rate and does not wait for completions."""

    figures: Mapping[Figure, float]
    chance: Mapping[Figure, tuple[float, float]]
    kept_up: float
    slack: float
    watts: tuple[float, float, float] | None
    life: float | None
    is_open: bool
    finished: Finished = field(repr=False)


def loads_from(workloads: Sequence[Named], machine: str) -> dict[str, Load]:
    """Return the loads of workloads by name, read as for a machine. Raises UserError for a text that is not a load."""
    specs = (RunSpec("advise", machine, workload.name, workload_text=workload.text) for workload in workloads)
    return {spec.workload: Load(workload_text(spec), spec.workload) for spec in specs}


@dataclass
class Bench:
    """The settings that all runs share: workloads by name, the metrics to read, and how to run. `whole` runs arrays of
    solid-state drives at their full drive count; `best` is the rank and the name of the best candidate so far, for
    progress bars; `partial` has the results of a round that was interrupted."""

    loads: Mapping[str, Load]
    figures: Sequence[Figure]
    duty: float
    seed: int
    watch: Watch
    say: Say
    out: Path | None = None
    fresh: bool = False
    jobs: int | None = None
    whole: bool = False
    runs: int = 0
    ios: int = 0
    best: tuple[tuple[float, ...], str] | None = None
    partial: dict[Key, Measured] = field(default_factory=dict)
    refused: dict[Key, str] = field(default_factory=dict)
    scales: dict[str, str | None] = field(default_factory=dict)

    def stand(self, candidate: Candidate, workload: str) -> Stand:
        """Return the stand-in to run for a candidate."""
        if self.whole:
            return Stand(candidate.layout, candidate.count, 1.0)
        return stand_of(candidate, self.loads[workload])

    def measure(
        self, pairs: Sequence[tuple[Candidate, str]], ios: int, what: str, *, failed: bool = False
    ) -> dict[Key, Measured]:
        """Run candidates under workloads for `ios` I/Os. With `failed`, their first drive fails at the start (disks
        have a spare, on which it is rebuilt). Candidates that the model refuses go to `refused`. Raises UserError if it
        refuses the whole first round, OSError, RunsInterrupted."""
        plan = _Plan(self, ios, failed)
        for candidate, workload in pairs:
            plan.add(candidate, workload)
        points = plan.points()
        if not points and pairs and not self.runs:
            raise UserError(
                "question.workload", "", "", f"no candidate accepts it: {next(iter(self.refused.values()))}"
            )
        if not points:
            # Results of earlier rounds stay.
            return {}
        experiment = Experiment(points, what=f"an advice: {what}, {ios:,} I/Os")
        name = what.translate({ord(" "): "-", ord(","): None, ord("/"): None})
        folder = None if self.out is None else self.out / name
        so_far = f", so far {self.best[1]}" if self.best else ""
        try:
            with self.watch(f"{what}{so_far}") as tick:
                done = experiment.run(out=folder, fresh=self.fresh, jobs=self.jobs, progress=tick, say=self.say)
        except RunsInterrupted as stop:
            self.partial = self._results(plan, stop.finished)
            raise
        return self._results(plan, done.finished)

    def _results(self, plan: _Plan, finished: Sequence[Finished]) -> dict[Key, Measured]:
        """Count finished runs of a plan, and return the results of their candidates."""
        self.runs += len(finished)
        self.ios += sum(run.ios for run in finished)
        by_id = {run.spec.id: run for run in finished}
        return {
            key: self.read(by_id[name], plan.of[key[0]].drive, key[1], stand)
            for key, (name, stand) in plan.where.items()
            if name in by_id
        }

    def scale(self, spec: RunSpec, drive: str) -> str | None:
        """Return the smallest fraction that a solid-state drive accepts; None if the user's machine has none."""
        if drive not in self.scales:
            tried = ((scale, replace(spec, set=(*spec.set, ("scale", scale)))) for scale in SCALES)
            self.scales[drive] = next((scale for scale, scaled_spec in tried if refusal([scaled_spec]) is None), None)
        return self.scales[drive]

    def read(self, finished: Finished, drive: Drive, workload: str, stand: Stand) -> Measured:
        """Return the results of a run, converted to the whole array."""
        record, load = record_of(finished), self.loads[workload]
        factor = rate_factor(load, stand.times)
        figures, chance = {}, {}
        for figure in self.figures:
            value, side = figure.of(record), figure.figures_of(record)
            if value is None or side is None or not side.count:
                continue
            figures[figure] = value * factor if figure.is_rate else value
            chance[figure] = _by_chance(figure, record, figures[figure])
        # With fewer drives, each receives more of a closed loop; in the whole array, drives wear less by that factor.
        duty = self.duty * factor / stand.times
        return Measured(
            figures, chance, _kept_up(load, record, stand), slack_of(record.summary.count or 0),
            _watts(finished.record, stand.times, factor), _life(finished.record, drive, duty), is_open(load), finished,
        )  # fmt: skip


@dataclass
class _Line:
    """Runs on one machine, one after the other, by their workload."""

    drive: Drive
    runs: dict[str, RunSpec] = field(default_factory=dict)


@dataclass
class _Plan:
    """The runs of a round: lines of specs by the machine that they share, and the run of each candidate and
    workload."""

    bench: Bench
    ios: int
    failed: bool
    lines: dict[tuple[str, ...], _Line] = field(default_factory=dict)
    where: dict[Key, tuple[str, Stand]] = field(default_factory=dict)
    of: dict[str, Candidate] = field(default_factory=dict)

    def add(self, candidate: Candidate, workload: str) -> None:
        """Add the run of a candidate under a workload."""
        stand, load = self.bench.stand(candidate, workload), self.bench.loads[workload]
        machine = stand.machine(candidate.drive.name)
        is_shared = candidate.drive.is_flash and can_share(load)
        line = self.lines.setdefault(
            (machine, candidate.cache, *(() if is_shared else (workload,))), _Line(candidate.drive)
        )
        text = shared(load, stand.times).with_ios(self.ios).text()
        key = f"{workload}\n{text}"
        if key not in line.runs:
            part = "" if stand.times == 1.0 else f" 1 of {stand.times:g}"
            name = f"{machine} {candidate.cache} {workload}{part}{' failed' if self.failed else ''}"
            # The longest runs start first: preconditioning flash takes longest.
            weight = float(stand.count) * (20.0 if candidate.drive.is_flash else 1.0)
            line.runs[key] = RunSpec(
                name, machine, workload, candidate.settings, self.bench.seed, workload_text=text, weight=weight,
                in_use=True,
            )  # fmt: skip
        self.where[candidate.name, workload] = (line.runs[key].id, stand)
        self.of[candidate.name] = candidate

    def points(self) -> list[Point]:
        """Return all runs. A run that the model refuses is left out, with those after it in its line."""
        points = []
        for line in self.lines.values():
            specs = self._ready(line)
            why = refusal(specs)
            if why is None:
                points += [Point(spec, {"machine": spec.machine, "workload": spec.workload}) for spec in specs]
                continue
            names = {spec.id for spec in specs}
            for key in [key for key, (name, _) in self.where.items() if name in names]:
                self.bench.refused[key] = why
                del self.where[key]
        return points

    def _ready(self, line: _Line) -> list[RunSpec]:
        """Return the runs of a line in order, with the settings and the failures of its drives."""
        specs = sorted(line.runs.values(), key=lambda spec: -write_share(self.bench.loads[spec.workload]))
        is_flash, settings = line.drive.is_flash, specs[0].set
        scale = self.bench.scale(specs[0], line.drive.name) if is_flash else None
        if scale is not None:
            settings = (*settings, ("scale", scale))
        if self.failed and is_flash:
            settings = (*settings, ("state", "preconditioned"))
        fault = Repair(fail=("d0@0 s",), spares=0 if is_flash else 1) if self.failed else Repair()
        return [
            replace(spec, set=settings, after=specs[index - 1].id if index else "", repair=Repair() if index else fault)
            for index, spec in enumerate(specs)
        ]


def _by_chance(figure: Figure, record: Record, value: float) -> tuple[float, float]:
    """Return the range by chance of a metric over this number of I/Os: for a percentile, the percentiles that many
    deviations of a binomial count away; for others, that many deviations of a mean."""
    side = figure.figures_of(record)
    count = side.count if side is not None and side.count else 1
    flush = record.summary.flush
    if flush is not None and flush.count and figure.is_flushed(record):
        count = min(count, flush.count)
    share = figure.percentile
    if share is None:
        # Where I/Os queue at drives, the deviation of latencies is about their mean, as in an exponential distribution.
        part = min(DEVIATIONS / math.sqrt(count), 0.9)
        return value * (1 - part), value * (1 + part)
    part = DEVIATIONS * math.sqrt(share / 100 * (1 - share / 100) / count) * 100
    low, high = figure.at(record, max(share - part, 0.0)), figure.at(record, min(share + part, 100.0))
    return min(low or value, value), max(high or value, value)


def _watts(record: RecordDoc, times: float, factor: float) -> tuple[float, float, float] | None:
    """Return the watts of all drives of an array with `times` as many drives and `factor` times the rate: their idle
    power plus the power of I/Os. The ends follow the ranges of the catalog's values; None if not all are known."""
    energy = record.get("energy")
    if energy is None or energy["drives_unknown"]:
        return None
    seconds, mean = record["duration_ns"] / 1e9, energy["mean_w"]
    whole = energy["idle_w"] * times + (mean - energy["idle_w"]) * factor
    low, high = (whole * energy[end] / seconds / mean for end in ("energy_low_j", "energy_high_j"))
    return whole, min(low, whole), max(high, whole)


def _life(record: RecordDoc, drive: Drive, duty: float) -> float | None:
    """Return the years until the first drive reaches its endurance, if the load runs for that share of the time. The
    data sheet's endurance takes precedence over the one that the model derives from its cycles."""
    stated = size_bytes(drive.values.get("reference.endurance", ("", None))[0])
    years = []
    for wear in record.get("smart", []):
        endurance = stated or wear["endurance_bytes"]
        written = wear["at_end"]["host_bytes"] - wear["at_begin"]["host_bytes"]
        if endurance and written > 0:
            a_year = written / (record["duration_ns"] / 1e9) * SECONDS_A_YEAR * duty
            years.append(endurance / a_year)
    return min(years, default=None)


def _kept_up(load: Load, record: Record, stand: Stand) -> float:
    """Return the completed share of the rate that open loops offer; 1 if a loop waits for completions."""
    if not is_open(load):
        return 1.0
    rates = (float(str(loop["open"]["rate_iops"])) for loop in loads_of(load))
    return completed_rate(record.document["summary"]) * stand.times / sum(rates)
