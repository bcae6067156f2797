"""Run the model for a group: the time of a rebuild during its workload, service whole and degraded, and writes,
endurance and power of drives.

A machine is run twice: whole, and with a failure of its first drive and a spare. Disks are made smaller and SSDs get a
model size, so that a rebuild takes seconds to minutes of virtual time; its time is then in proportion to the bytes, as
in `hotband reliability --record`. Each run is repeated with samples of the drives' uncertain values; a repetition of
the fleet uses one of the samples. The runs are stored in the folder of the question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog import entries
from hotband.data.documents.fleet import LevelDoc
from hotband.data.documents.run import Repair, RunSpec
from hotband.data.inputs.texts import text_of
from hotband.data.record.finished import Finished
from hotband.execution.experiment import Experiment, Tick, points_of
from hotband.execution.runs.run import prepare
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.uncertain import Uncertain, of_run, with_values
from hotband.questions.fleet.spec import Group

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

DRAWS = 8
"""Samples of the uncertain values of a machine's drives: enough for the ends of a rebuild's time, within the minutes
that a fleet may take."""
SMALL_BYTES = 4_096_000_000
"""Approximate bytes of each drive that a run rebuilds: some minutes during a load, and thousands of steps of 1 MiB."""
FAILS_AT = "5 s"
DURATIONS = {"disk": ("60 s", "600 s"), "flash": ("10 s", "20 s")}
"""Durations of a run without and with a failure: a disk rebuilds 4 GB during a load in some minutes; flash writes at
one rate, so some seconds of a rebuild determine its whole time."""


@dataclass(frozen=True)
class Seen:
    """Results of a pair of runs: hours to rebuild a drive, and per drive bytes written in an hour, endurance in bytes
    (None for disks) and watts with the ends of their ranges (None if the catalog has none)."""

    rebuild: float
    written: float | None
    endurance: float | None
    watts: tuple[float, float, float] | None
    whole: LevelDoc
    degraded: LevelDoc


@dataclass(frozen=True)
class Service:
    """The nominal runs and those of the samples, of one group."""

    nominal: Seen
    draws: tuple[Seen, ...]

    @property
    def all(self) -> tuple[Seen, ...]:
        """All runs, the nominal ones first."""
        return (self.nominal, *self.draws)


def services(
    groups: Sequence[Group],
    out: Path | None,
    fresh: bool,
    jobs: int | None,
    seed: int,
    tick: Tick | None,
) -> dict[str, Service]:
    """Return the services of the groups that have a workload, by name. Raises UserError, RunsInterrupted."""
    wanted = [group for group in groups if group.wants_run]
    specs: list[RunSpec] = []
    for group in wanted:
        specs += specs_of(group, seed)
    if not specs:
        return {}
    done = Experiment(points_of(specs), what="the runs of a fleet").run(out=out, fresh=fresh, jobs=jobs, progress=tick)
    by_id = {run.spec.id: run for run in done.finished}
    return {group.name: service_of(group, by_id) for group in wanted}


def specs_of(group: Group, seed: int) -> list[RunSpec]:
    """Return the runs of a group: whole and with a failure, nominal and sampled."""
    assert group.workload is not None, "groups without a workload are not run"
    settings = {**small(group), **dict(group.set)}
    base = RunSpec(
        f"{group.name} whole", group.machine, group.workload, tuple(settings.items()), seed,
        DURATIONS[kind_of(group)][0],
        machine_text=text_of(group.machine, "machine"), workload_text=text_of(group.workload, "workload"), in_use=True,
    )  # fmt: skip
    drawn = drawn_from(base, seed)
    specs = []
    for spec in (base, *drawn):
        specs.append(spec)
        if group.rebuild is None:
            specs.append(failing(group, spec))
    return specs


def drawn_from(base: RunSpec, seed: int) -> list[RunSpec]:
    """Return the run with samples of its uncertain values."""
    values = of_run(base)
    drawn = Sampler(values, seed).shares(DRAWS if values else 0)
    rows = [[(value, value.at(float(u))) for value, u in zip(values, row, strict=True)] for row in drawn]
    variants = [accepted(base, row) for row in rows]
    return [replace(variant, id=f"{base.id} {number}") for number, variant in enumerate(variants, 1)]


def accepted(base: RunSpec, drawn: list[tuple[Uncertain, object]]) -> RunSpec:
    """Return the run with the sampled values, without those that the model refuses in combination (such as a program
    pass that does not divide the block)."""
    while drawn:
        spec = with_values(base, drawn)
        try:
            prepare(spec)
        except UserError as error:
            left = [
                (uncertain, value)
                for uncertain, value in drawn
                if uncertain.range.key not in (error.key, error.key.rpartition(".")[2])
            ]
            drawn = left if len(left) < len(drawn) else []
        else:
            return spec
    return base


def failing(group: Group, whole: RunSpec) -> RunSpec:
    """Return the run with a failure of the layout's first drive."""
    drive = group.first_drive
    repair = Repair((f"{drive}@{FAILS_AT}",), 1)
    name = whole.id.replace(" whole", " degraded", 1)
    return replace(whole, id=name, repair=repair, duration=DURATIONS[kind_of(group)][1])


def kind_of(group: Group) -> str:
    """Return "flash" if all drives are SSDs, else "disk"."""
    return "flash" if all(entries.drive(name)["kind"] == "ssd" for name in group.products) else "disk"


def small(group: Group) -> dict[str, str]:
    """Return settings that make drives small enough for a rebuild in minutes."""
    size = group.plan.array.member_bytes
    if size <= 2 * SMALL_BYTES:
        return {}
    if kind_of(group) == "flash":
        return {"scale": str(2 ** max(0, math.floor(math.log2(size / SMALL_BYTES))))}
    return {"capacity": f"{SMALL_BYTES} B"}


def service_of(group: Group, by_id: dict[str, Finished]) -> Service:
    """Return the service of a group from its runs."""
    names = [
        run_name
        for run_name in by_id
        if run_name == f"{group.name} whole" or run_name.startswith(f"{group.name} whole ")
    ]
    seen = []
    for name in names:
        degraded = by_id.get(name.replace(" whole", " degraded", 1))
        seen.append(seen_in(group, by_id[name].record, None if degraded is None else degraded.record))
    return Service(seen[0], tuple(seen[1:]))


def seen_in(group: Group, whole: RecordDoc, degraded: RecordDoc | None) -> Seen:
    """Return the results of a pair of records."""
    summary = whole["summary"]
    level: LevelDoc = {
        "iops": summary.get("iops"),
        "latency_mean_ns": summary.get("latency_mean_ns"),
        "latency_p99_ns": summary.get("latency_p99_ns"),
    }
    none: LevelDoc = {"iops": None, "latency_mean_ns": None, "latency_p99_ns": None}
    rebuild, worse = (0.0, none) if degraded is None else rebuild_in(group, degraded)
    energy, seconds = whole.get("energy"), whole["duration_ns"] / 1e9
    watts = None
    if energy is not None and energy["drives"]:
        ends = (energy["mean_w"], energy["energy_low_j"] / seconds, energy["energy_high_j"] / seconds)
        watts = tuple(end / energy["drives"] for end in ends)
    smart = whole.get("smart", [])
    written = [drive["at_end"]["host_bytes"] - drive["at_begin"]["host_bytes"] for drive in smart]
    bears = [float(drive["endurance_bytes"]) for drive in smart if drive["endurance_bytes"] is not None]
    return Seen(
        rebuild,
        sum(written) / len(written) / seconds * 3600.0 if written else None,
        min(bears) if bears else None,
        None if watts is None else (watts[0], watts[1], watts[2]),
        level,
        worse,
    )


def rebuild_in(group: Group, record: RecordDoc) -> tuple[float, LevelDoc]:
    """Return the hours to rebuild a drive of the real size at the rate of the run, and the service meanwhile."""
    repair = record.get("repair")
    rebuilds = [] if repair is None else [rebuild for rebuild in repair["rebuilds"] if rebuild["mean_bytes_per_s"]]
    if repair is None or not rebuilds:
        accepted = "no rebuild ran with it; expected rebuild_time as well"
        raise UserError(group.table_key, "workload", str(group.workload), accepted)
    rate = sum(rebuild["mean_bytes_per_s"] or 0.0 for rebuild in rebuilds) / len(rebuilds)
    level = next((phase for phase in repair["service"] if phase["phase"] == "rebuilding"), None)
    level_doc: LevelDoc = {
        "iops": None if level is None else level["iops"],
        "latency_mean_ns": None if level is None else level["latency_mean_ns"],
        "latency_p99_ns": None if level is None else level["latency_p99_ns"],
    }
    return group.plan.array.member_bytes / rate / 3600.0, level_doc
