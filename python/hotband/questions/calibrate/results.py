"""Results that are there already, as measurements: each load rebuilt (`hotband.questions.expect`), repeats of one
together.

What it leaves out: loads of several steps or scripts, which have no one rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted
from hotband.data.inputs.specify import Named
from hotband.data.record.incomplete import refusing_incomplete
from hotband.questions.calibrate.figures import Seen, seen_of
from hotband.questions.calibrate.loads import Measurement
from hotband.questions.calibrate.measured import Measured
from hotband.questions.expect.expect import expect_room
from hotband.questions.expect.results import Row, read_rows

FEWEST = 3
ENOUGH = 5
"""Of so many loads a mix is held out."""


def measured_of(
    paths: Sequence[Path], workload: Named | None, like: Named
) -> tuple[list[Measured], list[Measured], list[str]]:
    """The loads in results of fio, vdbench, DiskSpd and Iometer, each with its runs: those to fit and those held out;
    and what has to be said of them. Raises UserError for what is no result, for too few loads, and for a product that
    is smaller than what was measured."""
    with refusing_incomplete(list(paths)):
        rows = read_rows(paths, workload)
    loads: dict[str, Measurement] = {}
    runs: dict[str, list[Seen]] = {}
    notes = [f"not used: {row.name}: {row.why_not}" for row in rows if row.load is None]
    assumed: dict[str, None] = {}
    for row in rows:
        if row.load is not None:
            key = _key(row)
            loads.setdefault(key, _load(row))
            runs.setdefault(key, []).append(seen_of(row.record))
            assumed |= dict.fromkeys(row.load.assumed)
    if not loads:
        raise UserError(rows[0].file, "", "", f"its load cannot be rebuilt: {rows[0].why_not}")
    if len(loads) < FEWEST:
        accepted = f"holds {counted(len(loads), 'load')} that can be rebuilt: expected at least {FEWEST} different ones"
        raise UserError("question.result", "", str(paths[0]), accepted)
    expect_room(rows, like, "question.like")
    notes += [f"assumed: {text}" for text in assumed]
    found = [Measured(load, tuple(runs[key])) for key, load in loads.items()]
    kept_back = _held_out(found)
    if not kept_back:
        notes.append(f"no load was held out: of {ENOUGH} and more a mix is, and see hotband expect")
    return [one for one in found if one not in kept_back], kept_back, notes


def _held_out(measured: Sequence[Measured]) -> list[Measured]:
    """The last mix of reads and writes, where there are enough others."""
    mixes = [one for one in measured if all(min(run.counts.values()) for run in one.runs)]
    if len(measured) < ENOUGH or not mixes:
        return []
    return [mixes[-1]]


def _key(row: Row) -> str:
    """What two repeats of a load have in common: all but their names and the rate that was measured of an open one."""
    assert row.load is not None, "asked for rows that have a load"
    settings = sorted(row.load.settings.items())
    lines = [line for line in row.load.text.splitlines() if not line.startswith(("#", "title"))]
    return "\n".join([*lines, str(settings)])


def _load(row: Row) -> Measurement:
    assert row.load is not None, "asked for rows that have a load"
    seconds = row.record["duration_ns"] / 1e9
    settings = tuple(row.load.settings.items())
    rate = row.record["summary"]["iops"] if row.load.asks == "open" else None
    return Measurement(row.name, rate=rate, seconds=seconds, given=row.load.text, set=settings)
