"""Intervals of runs of one drive: as far as predictions of drives that were left out were off, in the corpus.

What was never checked has no such interval: several drives, programs, traces, loads of several streams.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.data.catalog import CATALOG_DIR
from hotband.data.corpus.loads import Direction, Load, State, class_of
from hotband.execution.experiment.ranges import machine_text, workload_text
from hotband.inference.corpus.conformal import Width
from hotband.inference.corpus.residuals import groups_of, shipped_pools

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec

METRICS = {
    "iops": "iops",
    "bandwidth_bytes_per_s": "mb_s",
    "latency_mean_ns": "lat_mean",
    "latency_p50_ns": "lat_p50",
    "latency_p99_ns": "lat_p99",
    "latency_p999_ns": "lat_p999",
}
"""Metrics of the corpus, by the figure of a record."""
STATES: Mapping[str, State] = {"fob": "new", "preconditioned": "steady", "trimmed": "unknown"}
KINDS: Mapping[str, Literal["disk", "ssd"]] = {"disk": "disk", "ssd": "ssd"}


def widths_of(spec: RunSpec, level: float) -> dict[str, Width]:
    """Return the intervals of a run's figures by name, with their evidence; none where nothing like it was checked.

    Raises UserError for a machine or a workload that cannot be read.
    """
    load = load_of_run(spec)
    if load is None:
        return {}
    widths = {}
    for name, metric in METRICS.items():
        groups = groups_of(class_of(metric, load), load, metric)
        checked = shipped_pools().width(groups, level / 100)
        if checked is not None:
            widths[name] = checked
    return widths


def load_of_run(spec: RunSpec) -> Load | None:
    """Return the load of a run as the corpus has them; None for others than a closed loop of one stream on one
    drive."""
    kind = _kind(spec)
    with mistakes_of(spec.workload):
        table = cast(
            "dict[str, Any]", _core.workload(workload_text(spec), spec.workload, set=_of_workload(spec))["table"]
        )
    streams, closed = table.get("streams", []), (table.get("load") or {}).get("closed")
    if kind is None or len(streams) != 1 or not closed or any(key in table for key in ("app", "scripts", "trace")):
        return None
    stream = streams[0]
    block = _bytes(stream.get("size"))
    if block is None or "load" in stream or closed.get("think", "0 ms")[0] != "0":
        return None
    read_pct = float(stream.get("read_pct", 100))
    direction: Direction = "read" if read_pct == 100 else "write" if read_pct == 0 else "mix"
    threads = int(closed.get("threads", 1))
    state = dict(spec.set).get("state") or ("preconditioned" if spec.in_use and direction != "read" else "")
    return Load(
        kind=kind,
        direction=direction,
        read_pct=read_pct,
        random=float(stream.get("random_pct", 100)) > 0,
        block=block,
        threads=threads,
        depth=threads * int(closed.get("depth", 1)),
        state=STATES.get(state, "unknown"),
        sync="flush" if stream.get("flush_every") == 1 else "force" if stream.get("fua") else "",
    )


def _of_workload(spec: RunSpec) -> list[tuple[str, str]]:
    """Return the settings of a run that are its workload's."""
    keys = ("qd", "depth", "threads", "bs", "read_pct", "random_pct", "think")
    return [(key, value) for key, value in spec.set if key in keys]


def _kind(spec: RunSpec) -> Literal["disk", "ssd"] | None:
    """Return the kind of a machine's only drive; None for several, for layouts, and for black boxes.

    Disks of the catalog have the intervals of the studies, which describe them better than the corpus does its disks,
    whose place and span are often unknown.
    """
    with mistakes_of(spec.machine):
        machine = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))
        if len(machine["drives"]) != 1 or machine["layouts"] or machine["is_replicated"]:
            return None
        texts = list(machine["own_drives"].values())
        if texts:
            match = re.search(r"^kind *= *[\"'](\w+)", texts[0], re.MULTILINE)
            return KINDS.get(match[1]) if match else None
        kind = KINDS.get(_core.drive(CATALOG_DIR, machine["drives"][0]["product"])["kind"])
    return kind if kind == "ssd" else None


def _bytes(size: object) -> int | None:
    """Return the bytes of a size of a workload; None for several sizes."""
    if not isinstance(size, str):
        return None
    with mistakes_of("workload"):
        return round(_core.quantity("size", size))
