"""Desktop applications: the catalog's `desktop-*` workloads as they are, and at both ends of each of their
uncertainties.

They are synthetic mixes and not the programs; a workload's `[uncertainty]` says how far its estimates may be off,
each key with its two ends, which are set one at a time.
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
# Measured time where the workload's own is long: a solid-state drive does in 5 s what a disk does in minutes.
DURATION_OF_SSD, DURATION_QUICK = "5 s", "15 s"
# What the workloads reach to, so that drives that wear are not made smaller than that.
HOLDS = 40 * 10**9
NEEDS = GIB
END = " at "


def names() -> list[str]:
    """Desktop workloads of the catalog."""
    return [name for name in _core.catalog_names(CATALOG_DIR, "workloads") if name.startswith(PREFIX)]


def ends(workload: WorkloadTable) -> list[tuple[str, str]]:
    """Values to set, one at a time."""
    return [(key, end) for key, pair in workload.get("uncertainty", {}).items() for end in pair]


def scale_of(target: Target) -> tuple[tuple[str, str], ...]:
    """A scale of drives that wear at which they hold what the workloads reach to."""
    scale = target.scale
    while scale > 1 and target.capacity_bytes * target.scale // scale < HOLDS:
        scale //= 2
    return (("scale", str(scale)),) if target.scale > 1 else ()


def asks(target: Target) -> list[Ask]:
    """A run for each workload, and for each end of what is uncertain in it."""
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
    """The runs of a workload one after the other on one machine where drives wear: to fill them for each would take
    longer than all the rest. What happens to a machine happens once, so that runs with events are not in turn."""
    if not target.wears or "state" in dict(target.set) or target.events:
        return list(asks)
    ordered: list[Ask] = []
    for ask in asks:
        before = ordered[-1].name if ordered else ""
        same = before.partition(END)[0] == ask.name.partition(END)[0]
        ordered.append(replace(ask, after=before if same else ""))
    return ordered


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[ApplicationDoc]:
    """Rates of each, with the lowest and highest at the ends of what is uncertain."""
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
    """The lowest and the highest rate; not known where one of the rates is not."""
    listed = [rate for rate in rates if rate is not None]
    return (min(listed), max(listed)) if listed and len(listed) == len(rates) else (None, None)


def said(uncertainty: Mapping[str, list[str]]) -> str:
    """What is uncertain of a workload, in words."""
    if not uncertainty:
        return "a synthetic mix, not the program; how far it may be off is not stated"
    spans = ", ".join(f"{key} {low} to {high}" for key, (low, high) in uncertainty.items())
    return f"a synthetic mix, not the program; lowest and highest of {spans}, one at a time"
