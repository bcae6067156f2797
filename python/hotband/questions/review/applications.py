"""Desktop applications: the catalog's `desktop-*` workloads, nominal and at both ends of each of their uncertainties.

They are synthetic mixes, not the programs; a workload's `[uncertainty]` has ranges of its estimates by key, whose two
ends are set one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.questions.review.asked import GIB, Ask
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import ApplicationDoc
    from hotband.data.documents.workload import WorkloadTable

PREFIX = "desktop-"
# Measured time if the workload's is long: a solid-state drive does in 5 s what a disk does in minutes.
DURATION_OF_SSD, DURATION_QUICK = "5 s", "15 s"
# The range of the workloads, which limits how small the model of a drive that wears may be.
HOLDS = 40 * 10**9
NEEDS = GIB
END = " at "


def names() -> list[str]:
    """Return the desktop workloads of the catalog."""
    return [name for name in _core.catalog_names(CATALOG_DIR, "workloads") if name.startswith(PREFIX)]


def ends(workload: WorkloadTable) -> list[tuple[str, str]]:
    """Return the values to set, one at a time."""
    return [(key, end) for key, pair in workload.get("uncertainty", {}).items() for end in pair]


def scale_of(target: Target) -> tuple[tuple[str, str], ...]:
    """Return the model size of SSDs at which they hold the range of the workloads."""
    scale = target.scale
    while scale > 1 and target.capacity_bytes * target.scale // scale < HOLDS:
        scale //= 2
    return (("scale", str(scale)),) if target.scale > 1 else ()


def asks(target: Target) -> list[Ask]:
    """Return a run for each workload, and for each end of its uncertain values."""
    scale = scale_of(target)
    duration = DURATION_OF_SSD if target.wears else DURATION_QUICK if target.quick else None
    runs = []
    for name in names():
        workload = entries.workload(name)["table"]
        runs.append(Ask(name, workload, set=scale, duration=duration))
        for key, end in ends(workload):
            runs.append(Ask(f"{name}{END}{key} = {end}", workload, set=(*scale, (key, end)), duration=duration))
    return runs


def in_turn(target: Target, asks: Sequence[Ask]) -> list[Ask]:
    """Chain the runs of a workload on one machine if drives wear, because filling them for each run would take longer
    than everything else. Events happen once per machine, so runs with events are not chained."""
    if not target.wears or "state" in dict(target.set) or target.events:
        return list(asks)
    ordered: list[Ask] = []
    for ask in asks:
        before = ordered[-1].name if ordered else ""
        same = before.partition(END)[0] == ask.name.partition(END)[0]
        ordered.append(replace(ask, after=before if same else ""))
    return ordered


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[ApplicationDoc]:
    """Return the rates of each workload, with the lowest and highest at the ends of its uncertain values."""
    rows: list[ApplicationDoc] = []
    for name in (name for name in records if END not in name):
        entry, nominal = entries.workload(name), records[name]["summary"]
        runs_of_load = [record for run, record in records.items() if run == name or run.startswith(name + END)]
        low, high = ends_of([record["summary"]["bandwidth_bytes_per_s"] for record in runs_of_load])
        rows.append(
            {
                "name": name,
                "title": entry["title"],
                "bandwidth_bytes_per_s": nominal["bandwidth_bytes_per_s"],
                "iops": nominal["iops"],
                "low_bytes_per_s": low,
                "high_bytes_per_s": high,
                "uncertainty": said(entry["table"].get("uncertainty", {})),
            }
        )
    return rows


def ends_of(rates: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the lowest and the highest rate; None if one of the rates is unknown."""
    listed = [rate for rate in rates if rate is not None]
    return (min(listed), max(listed)) if listed and len(listed) == len(rates) else (None, None)


def said(uncertainty: Mapping[str, list[str]]) -> str:
    """Describe the uncertain values of a workload."""
    if not uncertainty:
        return "a synthetic mix, not the program; its error is not stated"
    spans = ", ".join(f"{key} {low} to {high}" for key, (low, high) in uncertainty.items())
    return f"a synthetic mix, not the program; range over {spans}, one at a time"
