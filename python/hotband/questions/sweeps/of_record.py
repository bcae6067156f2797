"""A record as a point of a sweep: its coordinates, and its row of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hotband.base.heavy import pl
from hotband.data.documents.record import RecordDoc
from hotband.data.inputs.values import Value, plain
from hotband.data.record.record import Record
from hotband.questions.sweeps.sweep import Sweep

DEPTH = "qd"


def settings_of_record(record: RecordDoc) -> dict[str, Value]:
    """Return the settings of a record as values."""
    spec = record.get("spec") or {}
    return {key: plain(str(value)) for key, value in (spec.get("set") or {}).items() if str(value)}


def target_and_workload(record: RecordDoc) -> tuple[str, str]:
    """Return what a record is of. A record of ours is named "WORKLOAD on MACHINE"."""
    target = cast("Mapping[str, object]", record["target"])
    machine = str(target.get("machine") or target.get("kind") or "an unnamed target")
    return machine, record["name"].removesuffix(f" on {machine}")


def requested_depth(record: RecordDoc) -> int | None:
    """Return the I/Os that a result of another tool was to keep outstanding; None if it does not state them."""
    source = record.get("source")
    return source["asked"].get("concurrency") if source and source.get("asked") else None


def frame_of_record(record: Record) -> pl.DataFrame:
    """Return the row of a record, as in the frame of a sweep. The queue depth of a result of another tool, which has no
    settings, is the number of I/Os that it was to keep outstanding."""
    document = record.document
    target, workload = target_and_workload(document)
    settings = settings_of_record(document)
    depth = requested_depth(document)
    if DEPTH not in settings and depth:
        settings[DEPTH] = depth
    seed = record.seed
    at: dict[str, Value] = {"target": target, "workload": workload, **settings, "seed": 0 if seed is None else seed}
    row = Sweep((at,), (record,)).frame
    return row if seed is not None else row.with_columns(pl.lit(None, pl.UInt64).alias("seed"))
