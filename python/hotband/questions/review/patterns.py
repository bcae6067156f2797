"""Iometer's patterns of servers against queue depth, over the whole volume, as in the catalog (`iometer-*`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.text.quantities import size_bytes
from hotband.data.catalog import entries
from hotband.questions.review.asked import MIB, Ask, closed, step, steps_of, warming, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import PatternDoc
    from hotband.data.documents.workload import PhaseTable, StreamTable

PATTERNS = {
    "file-server": "iometer-fileserver",
    "web-server": "iometer-webserver",
    "database": "iometer-database",
    "workstation": "iometer-workstation",
}
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
DEPTHS_QUICK = [1, 4, 16, 64, 256]
# I/Os of a step, and additional ones per outstanding I/O, so that a deep queue is filled and turned over.
IOS, IOS_EACH = 5000, 24
BEFORE, BEFORE_EACH = 500, 6
NEEDS = 64 * MIB


def depths(target: Target) -> list[int]:
    """Return the queue depths of the review."""
    return DEPTHS_QUICK if target.quick else DEPTHS


def streams_of(target: Target, pattern: str) -> list[StreamTable]:
    """Return streams of the catalog's workload with sizes that the drives accept: smaller ones become the drives'
    block."""
    listed = entries.workload(PATTERNS[pattern])["table"]["streams"]
    return [{**table, "sizes": taken(target, table["sizes"])} for table in listed]


def taken(target: Target, sizes: Mapping[str, float]) -> dict[str, float]:
    """Return sizes and weights, each size at least the drives' block."""
    weights: dict[int, float] = {}
    for text, weight in sizes.items():
        count = target.block(int(size_bytes(text) or 0))
        weights[count] = weights.get(count, 0) + weight
    return {f"{count} B": weight for count, weight in weights.items()}


def pattern_ask(target: Target, pattern: str) -> Ask:
    """Return the run of a pattern: a step for each depth."""
    phases: list[PhaseTable] = []
    for depth in depths(target):
        before, counted = target.ios(max(BEFORE, BEFORE_EACH * depth)), target.ios(max(IOS, IOS_EACH * depth))
        phases += [warming(str(depth), before, threads=depth), step(str(depth), counted, threads=depth)]
    return Ask(pattern, workload(f"{pattern} pattern", streams_of(target, pattern), phases, load=closed(1)))


def asks(target: Target) -> list[Ask]:
    """Return the runs of this part."""
    return [pattern_ask(target, pattern) for pattern in PATTERNS]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[PatternDoc]:
    """Return rates and latencies at every depth."""
    rows: list[PatternDoc] = []
    for pattern in PATTERNS:
        steps = steps_of(records[pattern])
        for depth in depths(target):
            figures_of_step = steps[str(depth)]
            rows.append(
                {
                    "pattern": pattern,
                    "queue_depth": depth,
                    "iops": figures_of_step["iops"],
                    "bandwidth_bytes_per_s": figures_of_step["bandwidth_bytes_per_s"],
                    "latency_mean_ns": figures_of_step["latency_mean_ns"],
                    "latency_p99_ns": figures_of_step["latency_p99_ns"],
                }
            )
    return rows
