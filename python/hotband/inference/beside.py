"""A workload on a model and on the emulated drive, beside each other: what differs, and how much of it is lateness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hotband.base.text.schema import to_doc, to_object
from hotband.base.text.table import CHANGE, IOPS, MS, OF_ROW, Table, column, numeric
from hotband.base.text.values import Json
from hotband.data.documents.record import RecordDoc, figures_of
from hotband.data.documents.serving import Serving
from hotband.execution.serve.lateness import lateness_lines

if TYPE_CHECKING:
    from hotband.execution.targets.emulated import Emulated

FIGURES = (("IOPS", "iops"), ("mean", "latency_mean_ns"), ("p50", "latency_p50_ns"), ("p99", "latency_p99_ns"))


@dataclass(frozen=True)
class Beside:
    """A figure of one direction: in the model, and as fio measured it on the emulated drive. Times are in ns."""

    direction: str
    figure: str
    model: float
    emulated: float

    @property
    def error_pct(self) -> float:
        """How far the emulated one is off."""
        return 100.0 * (self.emulated / self.model - 1.0)


def beside(model: RecordDoc, emulated: RecordDoc) -> list[Beside]:
    """Every figure that both have, by direction."""
    found = []
    for direction in ("read", "write", "flush"):
        ours: Any = figures_of(model["summary"], direction) or {}
        theirs: Any = figures_of(emulated["summary"], direction) or {}
        for name, key in FIGURES:
            if ours.get(key) and theirs.get(key):
                found.append(Beside(direction, name, float(ours[key]), float(theirs[key])))
    return found


def beside_table(emulated: Emulated) -> Table:
    """The figures as a table."""
    columns = [column(""), numeric("model", OF_ROW), numeric("emulated by fio", OF_ROW), numeric("differs by", CHANGE)]
    table = Table("Model and emulated drive", columns)
    for one in beside(emulated.model.record, emulated.fio.record):
        unit = IOPS if one.figure == "IOPS" else MS
        table.add(f"{one.direction} {one.figure}", one.model, one.emulated, one.error_pct, unit=unit)
    return table


def beside_lines(emulated: Emulated) -> Iterator[str]:
    """What explains the difference, and what is not the same."""
    record: Any = emulated.fio.record
    serving = Serving.of(record["serving"])
    yield from lateness_lines(serving)
    if serving.late is not None:
        yield f"  warning: {serving.late}"
    yield from (f"  {line}" for line in emulated.losses)


def beside_data(emulated: Emulated) -> dict[str, Json]:
    """As data: both records, what the served machine saw, and the figures beside each other; times in ns."""
    model, measured = emulated.model.record, emulated.fio.record
    rows = [to_doc(one, error_pct=one.error_pct) for one in beside(model, measured)]
    served = emulated.served.record
    return to_object({"model": model, "emulated": measured, "served": served, "figures": rows})
