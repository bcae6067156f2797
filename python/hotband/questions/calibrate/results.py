"""Existing results as measurements: rebuild each load (`hotband.questions.expect`), and group repeats.

Left out: loads of several steps or scripts, which have no single rate.
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
"""Least number of loads from which a mix is held out."""


def measured_of(
    paths: Sequence[Path], workload: Named | None, like: Named
) -> tuple[list[Measured], list[Measured], list[str]]:
    """Return the loads in results of fio, vdbench, DiskSpd and Iometer, each with its runs: those to fit, those held
    out, and notes. Raises UserError for a file that is not a result, for too few loads, and for a product smaller than
    the measured target."""
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
        accepted = f"has {counted(len(loads), 'load')} that can be rebuilt; expected at least {FEWEST} different ones"
        raise UserError("question.target", "", str(paths[0]), accepted)
    expect_room(rows, like, "question.like")
    notes += [f"assumed: {text}" for text in assumed]
    loads_measured = [Measured(load, tuple(runs[key])) for key, load in loads.items()]
    kept_back = _held_out(loads_measured)
    if not kept_back:
        notes.append(f"no load was held out for validation, which needs {ENOUGH} loads and a mix; see hotband expect")
    return [load_measured for load_measured in loads_measured if load_measured not in kept_back], kept_back, notes


def _held_out(measured: Sequence[Measured]) -> list[Measured]:
    """Return the last mix of reads and writes, if there are enough other loads."""
    mixes = [load_measured for load_measured in measured if all(min(run.counts.values()) for run in load_measured.runs)]
    if len(measured) < ENOUGH or not mixes:
        return []
    return [mixes[-1]]


def _key(row: Row) -> str:
    """Return the key of a load that its repeats share: all but names and the measured rate of an open loop."""
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
