"""Convert a result of fio, vdbench, DiskSpd or Iometer to rows of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hotband.base.folders import real_path
from hotband.data.corpus.figure import BASE_UNITS, OWN_RESULT, Figure

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

DRIVE_STATES = ("fob", "filled", "preconditioned", "steady", "unknown")
"""States of a drive as a corpus names them."""
METRICS = {
    "iops": ("iops", 1.0),
    "mb_s": ("bandwidth_bytes_per_s", 1e-6),
    "lat_mean": ("latency_mean_ns", 1e-3),
    "lat_p50": ("latency_p50_ns", 1e-3),
    "lat_p99": ("latency_p99_ns", 1e-3),
    "lat_p999": ("latency_p999_ns", 1e-3),
}
"""Metrics of a corpus: the figure in a record's summary, and the factor from its unit to the metric's."""


def figures_of_record(record: RecordDoc, path: Path, *, device_class: str, model: str, state: str) -> Iterator[Figure]:
    """Yield the figures of a measured result; `model` names the drive, `state` its state."""
    source = cast("dict[str, Any]", record["source"])
    load = source.get("asked") or {}
    summary = cast("dict[str, Any]", record["summary"])
    reads, writes = (summary.get(side) or {} for side in ("read", "write"))
    read_pct = load.get("read_pct")
    if read_pct is None and summary.get("count"):
        read_pct = 100.0 * reads.get("count", 0) / summary["count"]
    random = {"random": True, "sequential": False}.get(str(load.get("pattern")))
    words = {(True, True): "randrw", (True, False): "randread", (False, True): "randwrite"}
    kind = words.get((bool(reads.get("count")), bool(writes.get("count"))), "")
    digest = hashlib.sha256(f"{path.name} {record['name']} {summary}".encode()).hexdigest()[:12]
    rate = load.get("rate_iops")
    for metric, (name, size) in METRICS.items():
        value = summary.get(name)
        if not value:
            continue
        number = float(value) * size
        yield Figure(
            id=f"own-{digest}-{metric}",
            device_class=device_class,
            family=model.lower(),
            device=model,
            model=model,
            capacity="",
            interface="",
            firmware_or_year=str(source.get("began") or source.get("ended") or "")[:10],
            layout="single",
            members="1",
            workload=kind if random is not False else kind.removeprefix("rand"),
            read_pct=read_pct,
            bs=f"{load['block_bytes']}B" if load.get("block_bytes") else "",
            random=random,
            threads=str(load.get("jobs") or ""),
            depth=f"open loop ({rate:g} a second)" if rate else str(load.get("concurrency") or ""),
            state=state,
            cache="unknown",
            span=f"{load['working_set_bytes']} B" if load.get("working_set_bytes") else "unknown",
            duration=f"{record['duration_ns'] / 1e9:g} s" if record.get("duration_ns") else "",
            host=str(source.get("host") or ""),
            metric=metric,
            value=f"{number:.6g}",
            unit=BASE_UNITS[metric],
            data_type=OWN_RESULT,
            confidence="high",
            source=f"{source.get('tool')} {source.get('version')}: {real_path(path)}",
            note="",
            low=number,
            high=number,
        )
