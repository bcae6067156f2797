"""Random access time: one I/O of 512 B at a time (the drives' block if that is larger), anywhere on the surface."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.questions.review.asked import MIB, Ask, closed, step, steps_of, stream, warming, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import AccessDoc

BLOCK = 512
ACCESSES = 10_000
# A write cache takes the first writes at once; counting begins when its fill level is steady.
BEFORE = {"read": 100, "write": 3000}
NEEDS = MIB
# Bins of the distribution: a chart cannot show more.
MOST_BINS = 60


def asks(target: Target) -> list[Ask]:
    """Return one run: reads, then writes. Uncounted I/Os have separate streams, so that histograms exclude them."""
    block = target.block(BLOCK)
    streams, phases = [], []
    for op in ("read", "write"):
        streams += [stream(op, op, block, True), stream(f"before {op}", op, block, True)]
        phases.append(warming(op, target.ios(BEFORE[op]), streams=[f"before {op}"]))
        # The first completion belongs to an I/O of the step before; the last I/O is counted in the next step, if there
        # is one. The last step therefore has one more, so that as many writes as reads are counted.
        phases.append(step(op, target.ios(ACCESSES) + (op == "write"), streams=[op]))
    return [Ask("access", workload("random access", streams, phases, load=closed(1)))]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> dict[str, AccessDoc]:
    """Return mean, percentiles and distribution of reads and writes."""
    record = records["access"]
    steps, streams = steps_of(record), {entry["name"]: entry for entry in record["streams"]}
    by_op: dict[str, AccessDoc] = {}
    for op in ("read", "write"):
        summary, side = steps[op], streams[op][op]
        by_op[op] = {
            "block_bytes": target.block(BLOCK),
            "queue_depth": 1,
            "count": side["count"],
            "mean_ns": int(side["latency_sum_ns"] or 0) / side["count"] if side["count"] else None,
            "p50_ns": summary["latency_p50_ns"],
            "p99_ns": summary["latency_p99_ns"],
            "max_ns": side["latency_max_ns"],
            "bins": bins(side["histogram"]["buckets"]),
        }
    return by_op


def bins(buckets: Sequence[Sequence[int]], most: int = MOST_BINS) -> list[list[int]]:
    """Rebin a histogram to equal bins of a round width: the upper end and the count of each, from zero on."""
    if not buckets:
        return []
    width = round_up(max(upper for upper, _ in buckets) / most)
    counts = [0] * math.ceil(max(upper for upper, _ in buckets) / width)
    for upper, count in buckets:
        counts[math.ceil(upper / width) - 1] += count
    return [[(n + 1) * width, count] for n, count in enumerate(counts)]


def round_up(value: float) -> int:
    """Round up to the next of 1, 2, 5, 10, 20, ..."""
    power: int = 10 ** math.floor(math.log10(max(value, 1.0)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= value)
