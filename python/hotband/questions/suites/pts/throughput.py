"""Throughput (PTS section 8): sequential reads and writes of 1,024 and 128 KiB, each size on a drive that was purged
and written over with it, until the writes are steady."""

from __future__ import annotations

from dataclasses import replace

from hotband.data.documents.pts import LoopDoc
from hotband.questions.suites.bench import Bench
from hotband.questions.suites.cells import Cell, cell_name
from hotband.questions.suites.pts import spec
from hotband.questions.suites.pts.loops import Followed, run_loop, value_of

TITLE, SECTION = "Throughput", "8"


def cells(plan: spec.Plan, size: int) -> list[Cell]:
    """Return a round of a size."""
    made = [plan.cell(mix, size, spec.SEQUENTIAL, random=False) for mix in (100, 0)]
    return [replace(cell, name=f"{cell.name} sequential") for cell in made]


def loop(plan: spec.Plan, bench: Bench, size: int) -> LoopDoc:
    """Runs one size."""
    name = f"{cell_name(0, size)} sequential"
    followed = [Followed(name, value_of("bandwidth_bytes_per_s", name))]
    return run_loop(bench, f"{size // 1024} KiB", cells(plan, size), followed, "B/s")
