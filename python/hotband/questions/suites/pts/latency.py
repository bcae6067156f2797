"""Latency (PTS section 9): one I/O at a time of three mixes and three sizes, until the mean latency of 4 KiB writes is
steady; then 20 minutes of those for the distribution."""

from __future__ import annotations

from dataclasses import replace

from hotband.data.documents.pts import CellDoc, LoopDoc
from hotband.data.record.stats import DIRECTIONS, merge
from hotband.questions.suites.bench import Bench, Stage
from hotband.questions.suites.cells import Cell, cell_name
from hotband.questions.suites.pts import spec
from hotband.questions.suites.pts.loops import Followed, run_loop, value_of

TITLE, SECTION = "Latency", "9"
LONG = "0/100 4 KiB for the distribution"


def cells(plan: spec.Plan) -> list[Cell]:
    """Return a round."""
    sizes = [size for size in spec.LATENCY_SIZES if plan.target.takes(size)]
    if plan.quick:
        sizes = [size for size in sizes if size == 4096]
    return [plan.cell(mix, size, spec.SINGLE) for mix in spec.LATENCY_MIXES for size in sizes]


def loops(plan: spec.Plan, bench: Bench) -> list[LoopDoc]:
    """Runs it."""
    name = cell_name(0, 4096)
    followed = [Followed(name, value_of("latency_mean_ns", name))]
    return [run_loop(bench, "Latency", cells(plan), followed, "ns")]


def distribution(plan: spec.Plan, bench: Bench, demand: spec.Demand) -> tuple[CellDoc, list[list[float]]]:
    """20 minutes of 4 KiB writes at a demand: their figures, and the share of I/Os answered within a time (ms, %)."""
    cell = replace(plan.cell(0, 4096, demand), name=LONG, seconds=plan.seconds(spec.HISTOGRAM_S))
    found = bench.run(Stage("distribution", (cell,)))[0]
    return found[LONG], answered(bench)


def answered(bench: Bench) -> list[list[float]]:
    """Return the share (%) of the I/Os of the last run that were answered within each time (ms) of its histogram."""
    streams = bench.finished[-1].record["streams"]
    measured = [stream[way]["histogram"] for stream in streams for way in DIRECTIONS if stream[way]["count"]]
    if not measured or len({one["kind"] for one in measured}) > 1:
        return []
    buckets = merge(measured)["buckets"]
    total, seen, points = sum(count for _, count in buckets), 0, []
    for value, count in buckets:
        seen += count
        points.append([value / 1e6, 100 * seen / total])
    return points
