"""Rank the drives of the catalog for results without a machine, the nearest first.

Every drive that holds the span runs one row; the nearest run more. The distance is the root of the mean square of the
logarithms of measured over predicted, over all common figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hotband.base.errors import UserError
from hotband.base.text.schema import to_object
from hotband.base.text.values import Json
from hotband.data.catalog.names import drive_names
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Named
from hotband.data.record.finished import Finished
from hotband.execution.experiment import Experiment, Point
from hotband.inference.audit.audited import Audited
from hotband.inference.interval.of_run import Watch
from hotband.questions.expect.judge import Judged, compared, distance
from hotband.questions.expect.predict import Settings, spec_of
from hotband.questions.expect.results import Row

FIRST_IOS, THEN_IOS = 10_000, 40_000
"""Measured I/Os of a row on all drives, and of those on the nearest."""
SHORT_LIST = 8
MOST_ROWS = 4
NO_DRIVE = math.log(2.0)
"""Beyond a factor of two no drive is near: an array, a pool, or a cache was measured."""


@dataclass(frozen=True)
class Near:
    """A drive with its compared figures."""

    machine: str
    figures: tuple[Judged, ...]

    @property
    def distance(self) -> float:
        """See `hotband.questions.expect.judge.distance`."""
        return distance(self.figures)

    def document(self) -> dict[str, Json]:
        """Return the JSON: a drive, its distance as a factor, and the number of compared figures."""
        first = next((figure for figure in self.figures if figure.figure == "iops"), None)
        return to_object(
            {
                "machine": self.machine,
                "off_factor": math.exp(self.distance),
                "figures": len(self.figures),
                "predicted_iops": first.predicted if first else None,
                "measured_iops": first.measured if first else None,
            }
        )


@dataclass(frozen=True)
class Ranking:
    """Drives, the nearest first; those left out with the reason; names of the compared rows."""

    drives: tuple[Near, ...]
    left_out: dict[str, str]
    rows: tuple[str, ...]


POOLS = ("rbd", "rados", "cephfs")
"""Engines of fio that measure a Ceph pool."""


def expect_drives(rows: Sequence[Row]) -> None:
    """Raise UserError for results that no single drive gave: of a pool, or of several clients at once."""
    for row in rows:
        options = Audited(row.name, row.record).job_options
        engines = {option.get("ioengine", "").partition(":")[0] for option in options}
        if pools := sorted(engines.intersection(POOLS)):
            why = f"ioengine={pools[0]} measured a Ceph pool"
        elif hosts := row.record["source"].get("hosts"):
            why = f"several clients measured together ({', '.join(hosts[:2])} ...): a pool or a server"
        else:
            continue
        accepted = f"{why}, not a drive; expected its machine, such as replicated:9xexos-x18-18tb (hotband layouts)"
        raise UserError("question.on", "", "", f"missing: {row.file}: {accepted}")


def rank(rows: Sequence[Row], settings: Settings, watch: Watch) -> Ranking:
    """Rank the catalog's drives by distance. Raises UserError if no drive can run the load, RunsInterrupted."""
    expect_drives(rows)
    chosen = _chosen([row for row in rows if row.load is not None])
    if not chosen:
        return Ranking((), {}, ())
    left_out: dict[str, str] = {}
    first = replace(settings, ios=FIRST_IOS)
    specs: dict[str, list[tuple[Row, RunSpec]]] = {}
    for name in drive_names():
        try:
            specs[name] = [(chosen[0], spec_of(chosen[0], Named(name), first))]
        except UserError as error:
            left_out[name] = error.accepted
    if not specs:
        name, why = next(iter(left_out.items()))
        raise UserError(
            "question.result", "", chosen[0].file, f"no drive of the catalog accepts its load: {name}: {why}"
        )
    near = _compared(specs, settings, watch, "all drives")
    short = [drive.machine for drive in near[:SHORT_LIST]]
    more = replace(settings, ios=THEN_IOS)
    again = {name: [(row, spec_of(row, Named(name), more)) for row in chosen] for name in short}
    nearest = _compared(again, settings, watch, "the nearest")
    rest = [drive for drive in near if drive.machine not in short]
    return Ranking((*nearest, *rest), left_out, tuple(row.name for row in chosen))


def _chosen(rows: Sequence[Row]) -> list[Row]:
    """Return the compared rows: that of the highest rate first, then a selection of the others."""
    order = sorted(rows, key=lambda row: -(row.record["summary"]["iops"] or 0.0))
    if len(order) <= MOST_ROWS:
        return order
    return [order[round(index * (len(order) - 1) / (MOST_ROWS - 1))] for index in range(MOST_ROWS)]


def _compared(specs: dict[str, list[tuple[Row, RunSpec]]], settings: Settings, watch: Watch, title: str) -> list[Near]:
    points = [
        Point(replace(spec, id=f"{name} {index}"))
        for name, runs in specs.items()
        for index, (_, spec) in enumerate(runs)
    ]
    with watch(title) as tick:
        finished = {run.spec.id: run for run in Experiment(points).run(jobs=settings.jobs, progress=tick).finished}
    drives = [Near(name, _figures(name, runs, finished)) for name, runs in specs.items()]
    return sorted(drives, key=lambda drive: (drive.distance, drive.machine))


def _figures(name: str, runs: Sequence[tuple[Row, RunSpec]], finished: dict[str, Finished]) -> tuple[Judged, ...]:
    return tuple(
        figure
        for index, (row, _) in enumerate(runs)
        if row.load is not None
        for figure in compared(row.record, finished[f"{name} {index}"].record, row.load.asks)
    )
