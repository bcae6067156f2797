"""Compare a workload on a model and on the emulated drive: fio's figures, those of the server, and the delay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hotband.base.question import INVALID
from hotband.base.text.numbers import span
from hotband.base.text.schema import to_doc, to_object
from hotband.base.text.table import CHANGE, IOPS, MS, OF_ROW, Table, column, numeric
from hotband.base.text.values import Json
from hotband.data.documents.record import RecordDoc, figures_of
from hotband.data.documents.serving import Serving
from hotband.data.record.trace import delay_lines
from hotband.execution.serve.lateness import lateness_lines

if TYPE_CHECKING:
    from hotband.execution.targets.emulated import Emulated

FIGURES = (("IOPS", "iops"), ("mean", "latency_mean_ns"), ("p50", "latency_p50_ns"), ("p99", "latency_p99_ns"))


@dataclass(frozen=True)
class Beside:
    """A figure of one direction: in the model, as fio measured it on the emulated drive, and of the server, which
    does not see the time in which the host wakes fio (None if it has no such figure). Times are in ns."""

    direction: str
    figure: str
    model: float
    emulated: float
    served: float | None

    @property
    def error_pct(self) -> float:
        """Error of the emulated figure relative to the model's."""
        return 100.0 * (self.emulated / self.model - 1.0)


def beside(model: RecordDoc, emulated: RecordDoc) -> list[Beside]:
    """Every figure that both have, by direction."""
    rows = []
    serving = Serving.of(emulated["serving"])
    for direction in ("read", "write", "flush"):
        ours: Any = figures_of(model["summary"], direction) or {}
        theirs: Any = figures_of(emulated["summary"], direction) or {}
        kind = serving.kind(direction)
        for name, key in FIGURES:
            if ours.get(key) and theirs.get(key):
                served = getattr(kind.client, f"{name}_ns", None) if kind is not None else None
                rows.append(Beside(direction, name, float(ours[key]), float(theirs[key]), served))
    return rows


def unresolved(model: RecordDoc, emulated: RecordDoc) -> dict[str, float]:
    """Return the directions whose mean latency in the model is shorter than the median emulation delay, with that
    latency (ns): their measured latencies are those of the host."""
    late = Serving.of(emulated["serving"]).lateness
    means = (figure for figure in beside(model, emulated) if figure.figure == "mean")
    return {} if late is None else {mean.direction: mean.model for mean in means if mean.model < late.p50_ns}


def beside_table(emulated: Emulated) -> Table:
    """The figures as a table."""
    heads = ("model", "emulated", "by the server")
    columns = [column(""), *(numeric(head, OF_ROW) for head in heads), numeric("differs by", CHANGE)]
    table = Table("Model and emulated drive", columns)
    for one in beside(emulated.model.record, emulated.fio.record):
        unit = IOPS if one.figure == "IOPS" else MS
        table.add(f"{one.direction} {one.figure}", one.model, one.emulated, one.served, one.error_pct, unit=unit)
    return table


def beside_lines(emulated: Emulated) -> Iterator[str]:
    """The reason why it is invalid, the cause of the difference, and unequal values."""
    record: Any = emulated.fio.record
    yield from (f"{INVALID}: {reason}" for reason in emulated.invalid)
    for direction, mean_ns in unresolved(emulated.model.record, record).items():
        mean = f"the model's mean is {span(mean_ns)}, less than the emulation delay"
        yield f"{direction} latencies measure the host: {mean}"
    yield from lateness_lines(Serving.of(record["serving"]))
    yield from delay_lines(record)
    yield from (f"  {line}" for line in emulated.losses)


def beside_data(emulated: Emulated) -> dict[str, Json]:
    """Return data: both records, that of the server, the figures of all three, and why they are invalid; times in
    ns."""
    model, measured = emulated.model.record, emulated.fio.record
    rows = [to_doc(one, error_pct=one.error_pct) for one in beside(model, measured)]
    served = emulated.served.record
    document = {"model": model, "emulated": measured, "served": served, "figures": rows, "invalid": emulated.invalid}
    return to_object(document)
