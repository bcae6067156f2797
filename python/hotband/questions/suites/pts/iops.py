"""IOPS (PTS section 7): random I/O of seven mixes and eight sizes, round after round, until three of the cells are
steady; then the means of the last five rounds."""

from __future__ import annotations

from hotband.data.documents.pts import LoopDoc
from hotband.questions.suites.bench import Bench
from hotband.questions.suites.cells import Cell, cell_name
from hotband.questions.suites.pts import spec
from hotband.questions.suites.pts.loops import Followed, run_loop, value_of

TITLE, SECTION = "IOPS", "7"


def cells(plan: spec.Plan) -> list[Cell]:
    """Return a round."""
    sizes, mixes = plan.sizes(spec.IOPS_SIZES), plan.mixes(spec.IOPS_MIXES)
    return [plan.cell(mix, size) for mix in mixes for size in sizes]


def loops(plan: spec.Plan, bench: Bench) -> list[LoopDoc]:
    """Runs it."""
    round_ = cells(plan)
    names = {cell.name for cell in round_}
    tracked = [name for mix, size in spec.IOPS_TRACKED if (name := cell_name(mix, size)) in names]
    followed = [Followed(name, value_of("iops", name)) for name in tracked]
    return [run_loop(bench, "IOPS", round_, followed, "IOPS")]
