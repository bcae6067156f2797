"""Run a trace and the workload fitted to it on the same machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.heavy import tomlkit
from hotband.data.catalog.named import is_real
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment import experiment

if TYPE_CHECKING:
    from hotband.data.documents.record import FiguresDoc, RecordDoc
    from hotband.data.inputs.specify import Named

RECORDED, AFTER = "recorded", "after-completion"
FIGURES = (("IOPS", "iops"), ("mean", "latency_mean_ns"), ("p50", "latency_p50_ns"), ("p99", "latency_p99_ns"))


@dataclass(frozen=True)
class Side:
    """A figure of I/Os of a direction ("read", "write" or "all"): of the trace and of the workload, in I/Os a second or
    ns; the difference in percent of the trace's."""

    direction: str
    figure: str
    unit: str
    trace: float | None
    synthetic: float | None
    error: float | None


@dataclass(frozen=True)
class Replayed:
    """Results of both on a machine; `issue` is the timing of the trace's I/Os."""

    machine: str
    issue: str
    sides: tuple[Side, ...]
    notes: tuple[str, ...]


def replayed(source: Path, keys: Mapping[str, object], workload: str, on: Named, issue: str, seed: int) -> Replayed:
    """Run the part of the trace that keys of `[trace]` select, and the workload. Raises UserError, OSError."""
    if is_real(on.name):
        accepted = "is hardware; expected a model: a drive, LAYOUT:COUNTxDRIVE, or a TOML file"
        raise UserError("question.on", "", on.name, accepted)
    given = {key: value for key, value in keys.items() if value not in (None, [], {}, (), 0)}
    text = tomlkit.dumps({"trace": {"file": str(real_path(source)), "issue": issue, **given}})
    trace, synthetic = (
        RunSpec(name, on.name, name, seed=seed, machine_text=on.text, workload_text=workload_of_side, in_use=True)
        for name, workload_of_side in (("trace", text), ("synthetic", workload))
    )
    try:
        records = [run.record for run in experiment.execute([trace, synthetic])]
    except UserError as error:
        if error.file not in ("trace", "synthetic"):
            raise
        what = "the trace" if error.file == "trace" else "the workload fitted to it"
        raise UserError("question.on", "", on.name, f"{what} does not fit it: {error}") from None
    notes = dict.fromkeys(note for record in records for note in record["notes"])
    return Replayed(on.name, issue, tuple(_sides(*records)), tuple(notes))


def _sides(trace: RecordDoc, synthetic: RecordDoc) -> list[Side]:
    summary, other = trace["summary"], synthetic["summary"]
    both: list[tuple[str, FiguresDoc, FiguresDoc]] = [("all", summary, other)]
    if summary["read"]["count"] and summary["write"]["count"]:
        both += [("read", summary["read"], other["read"]), ("write", summary["write"], other["write"])]
    return [_side(direction, name, key, left, right) for direction, left, right in both for name, key in FIGURES]


def _side(direction: str, name: str, key: str, trace: FiguresDoc, synthetic: FiguresDoc) -> Side:
    values: list[float | None] = []
    for figures in (trace, synthetic):
        value = dict(figures).get(key)
        values.append(float(value) if isinstance(value, int | float) else None)
    measured, other = values
    error = 100 * (other / measured - 1) if measured and other is not None else None
    return Side(direction, name, "IOPS" if key == "iops" else "ns", measured, other, error)
