"""Loads of runs as in the corpus: the kind of drives, and the load of each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.text.quantities import span_ns
from hotband.data.catalog import CATALOG_DIR, STUDIES_DIR
from hotband.data.corpus.loads import Direction, Load, State
from hotband.execution.experiment.ranges import machine_text, workload_text
from hotband.inference.corpus.conformal import Width
from hotband.inference.corpus.known import line_of

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
AS_TESTED = frozenset({"state", "scale", "wce", "awc", "rcd", "turboboost"})
"""Keys of drives that leave a drive the product that others measured: contents, model size, switches of caches."""
KINDS: Mapping[str, Literal["disk", "ssd"]] = {"disk": "disk", "ssd": "ssd"}


@dataclass(frozen=True)
class Basis:
    """The evidence of an interval in words: families of the corpus (`width`) or figures of studies. Without either
    there is no interval: the checked figures were too far off (`unprinted` is their error), or no similar figure was
    checked (`is_checked` is False)."""

    words: str
    width: Width | None = None
    unprinted: Width | None = None
    is_of_studies: bool = False
    is_checked: bool = True

    @property
    def has_interval(self) -> bool:
        """Return whether a figure has an interval."""
        return self.width is not None or self.is_of_studies


@dataclass(frozen=True)
class Subject:
    """The kind of a machine's drives (None of several kinds, pools and black boxes), the load on each of them (None
    if the corpus has none like it), whether a study ran these drives, and the product line of all of them (empty for
    several, and for drives whose values the user changed)."""

    kind: Literal["disk", "ssd"] | None
    load: Load | None = None
    is_studied: bool = False
    line: str = ""


def subject_of(spec: RunSpec, outstanding: float | None) -> Subject:
    """Return the load of a run; `outstanding` is the mean number of I/Os in flight. Raises UserError for a machine or a
    workload that cannot be read."""
    with mistakes_of(spec.machine):
        machine = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))
    files = machine["own_products"]
    products = {drive["product"] for drive in machine["drives"]}
    entries = {name: files[name] if name in files else _entry(name) for name in products}
    kinds = {KINDS.get(entry["kind"]) for entry in entries.values()}
    kind = next(iter(kinds)) if len(kinds) == 1 and not machine["is_replicated"] else None
    if kind is None:
        return Subject(None)
    load = _load(spec, kind, len(machine["drives"]), outstanding)
    is_known = kind == "disk" and all(name not in files and is_studied(name) for name in products)
    lines = {line_of(name, entry["title"]) for name, entry in entries.items()} if _is_as_sold(spec, machine) else set()
    return Subject(kind, load, is_known, lines.pop() if len(lines) == 1 else "")


def _is_as_sold(spec: RunSpec, machine: _core.Machine) -> bool:
    """Return whether the user changed no value of the drives. Raises UserError."""
    if any(drive["set"].keys() - AS_TESTED for drive in machine["drives"]):
        return False
    changed = dict(spec.set).keys() - AS_TESTED
    if not changed:
        return True
    with mistakes_of(spec.machine):
        rows = _core.set_keys(
            CATALOG_DIR, spec.workload, spec.machine, workload_text=workload_text(spec), machine_text=machine_text(spec)
        )
    return not any(row["key"] in changed and row["part"].startswith("drive ") for row in rows)


@cache
def _entry(product: str) -> _core.CatalogEntry:
    return _core.drive(CATALOG_DIR, product)


@cache
def is_studied(product: str) -> bool:
    """Return whether a study ran a drive of the catalog."""
    name = re.compile(rf"(?<![\w-])(\d+x)?{re.escape(product)}(?![\w-])")
    return any(name.search(path.read_text(encoding="utf-8")) for path in STUDIES_DIR.glob("*/study.toml"))


def _load(spec: RunSpec, kind: Literal["disk", "ssd"], drives: int, outstanding: float | None) -> Load | None:
    """Return the load on each drive as the corpus has them; None for others than one stream in a loop without pauses,
    or at a rate."""
    with mistakes_of(spec.workload):
        table = cast(
            "dict[str, Any]", _core.workload(workload_text(spec), spec.workload, set=_of_workload(spec))["table"]
        )
    streams, loop = table.get("streams", []), table.get("load") or {}
    closed, rate = loop.get("closed"), (loop.get("open") or {}).get("rate_iops")
    if len(streams) != 1 or not (closed or rate) or any(key in table for key in ("app", "scripts", "trace")):
        return None
    stream = streams[0]
    block = _bytes(stream)
    if block is None or "load" in stream or span_ns((closed or {}).get("think", "0 s")):
        return None
    read_pct = float(stream.get("read_pct", 100))
    direction: Direction = "read" if read_pct == 100 else "write" if read_pct == 0 else "mix"
    threads = int(closed.get("threads", 1)) if closed else 1
    depth = threads * int(closed.get("depth", 1)) if closed else max(1.0, outstanding or 1.0)
    state = dict(spec.set).get("state") or ("preconditioned" if spec.in_use else "")
    return Load(
        kind=kind,
        direction=direction,
        read_pct=read_pct,
        random=float(stream.get("random_pct", 100)) > 0,
        block=block,
        threads=threads,
        depth=math.ceil(round(depth / drives, 6)),
        state=STATES.get(state, "unknown"),
        sync="flush" if stream.get("flush_every") == 1 else "force" if stream.get("fua") else "",
        rate=float(rate) if rate else None,
        zipf=stream.get("offsets", {}).get("zipf", {}).get("exponent"),
    )


def _of_workload(spec: RunSpec) -> list[tuple[str, str]]:
    """Return the settings of a run that are its workload's."""
    keys = ("qd", "depth", "threads", "bs", "read_pct", "random_pct", "think", "rate_iops")
    return [(key, value) for key, value in spec.set if key in keys]


def _bytes(stream: Mapping[str, Any]) -> int | None:
    """Return the bytes of a stream's I/Os; None for several sizes."""
    sizes = stream.get("sizes")
    size = next(iter(sizes)) if isinstance(sizes, dict) and len(sizes) == 1 else stream.get("size")
    if not isinstance(size, str):
        return None
    with mistakes_of("workload"):
        return round(_core.quantity("size", size))
