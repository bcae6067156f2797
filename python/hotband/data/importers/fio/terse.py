"""fio's terse output (`--output-format=terse`, versions 3 to 5): one line per job, numbers between semicolons.

Sources: HOWTO of fio, "Terse output", and stat.c (show_thread_status_terse). Latencies are in us, volumes in KiB. A
line is read into the shape of old fio's JSON, and from there like it.
Left out, as by terse: job options, sample counts, short I/Os, the coarse distribution, disk utilisation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.importers.cells import Cells
from hotband.data.importers.fio.documents import record_of
from hotband.data.importers.fio.source import DEPTHS
from hotband.data.importers.fio.text import Fields, printable, shown

_LINE = re.compile(r"^(\d);(fio-[^;\n]{1,60});", re.MULTILINE)
_BEGINS = re.compile(rb"^\d;fio-[^;\n]{1,60};", re.MULTILINE)
# Fields of one direction: volume, rates, runtime, slat, clat, 20 percentiles, lat, bandwidth; 5 adds samples and IOPS.
_FIELDS = {3: 41, 4: 41, 5: 47}
_DIRECTIONS = {3: ("read", "write"), 4: ("read", "write", "trim"), 5: ("read", "write", "trim")}
_HEAD, _CPU = 5, 5
_PERCENT = re.compile(r"\d{1,3}(\.\d{1,6})?%")
# Fewer outputs may come from clones by chance. An output is late by up to the period at which fio's helper thread wakes
# up (diskutil.h: DISK_UTIL_MSEC).
_LEAST_OUTPUTS, _LATE_MS = 3, 250
ACCEPTED = "accepted: lines of `fio --output-format=terse`, version 3, 4 or 5"


def is_terse(beginning: bytes) -> bool:
    """Return whether there is a terse line."""
    return _BEGINS.search(beginning) is not None


def read_terse(text: str, file: str) -> list[RecordDoc]:
    """Return one record of all jobs, each time that fio printed them (--status-interval): the lines are those of one
    run. Raises UserError that names the line."""
    entries: list[dict[str, object]] = []
    skipped, version = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            skipped += bool(line.strip())
            continue
        version = match[2]
        entries.append(_entry(line.split(";"), int(match[1]), file, number))
    documents = [Fields(file, "", {"fio version": version, "jobs": jobs}) for jobs in _outputs(entries)]
    notes = [
        "terse output: job options, counts and histograms are not in it; counts are IOPS x runtime",
        "latencies are whole microseconds",
    ]
    if skipped:
        notes.append(f"lines that are not terse output were skipped: {skipped}")
    return [record_of(document, list(notes)) for document in documents]


def _outputs(entries: list[dict[str, object]]) -> list[list[dict[str, object]]]:
    """Return the jobs each time that fio printed them. Clones of a job have its name and group, too, but do not end one
    after the other at a fixed interval."""
    names = [(entry["jobname"], entry["groupid"]) for entry in entries]
    size = len(set(names))
    times = len(entries) // size if size else 0
    if times < _LEAST_OUTPUTS or names != names[:size] * times:
        return [entries]
    outputs = [entries[at : at + size] for at in range(0, len(entries), size)]
    ends = [max(map(_runtime, output)) for output in outputs]
    *steps, last = (after - before for before, after in pairwise(ends))
    # The last output comes when the run ends.
    is_steady = all(step > 0 and abs(step - ends[0]) <= _LATE_MS for step in steps) and 0 < last <= ends[0] + _LATE_MS
    return outputs if is_steady else [entries]


def _runtime(entry: dict[str, object]) -> float:
    sides = [side for name in ("read", "write", "trim") if isinstance(side := entry.get(name), dict)]
    return max(float(side["runtime"]) for side in sides)


def _entry(fields: Sequence[str], version: int, file: str, number: int) -> dict[str, object]:
    position = f"line {number}"
    if version not in _FIELDS:
        raise UserError(file, position, str(version), f"an unknown terse version; {ACCEPTED}")
    size, directions = _FIELDS[version], _DIRECTIONS[version]
    if len(fields) < _HEAD + size * len(directions):
        problem = f"{len(fields)} fields, cut short"
        raise UserError(file, position, "", f"{problem}; {ACCEPTED}")
    cells = Cells(file, position, {str(index): text for index, text in enumerate(fields, 1)})
    entry: dict[str, object] = {
        "jobname": printable(fields[2]),
        "groupid": cells.count("4") or 0,
        "error": cells.count("5") or 0,
    }
    for index, direction in enumerate(directions):
        first = _HEAD + index * size
        entry[direction] = _side(cells, fields[first : first + size], first + 1)
    # Behind the directions: user and system time, context switches, major and minor faults, then depths.
    first = _HEAD + size * len(directions) + _CPU
    depths = fields[first : first + len(DEPTHS)]
    if len(depths) == len(DEPTHS) and all(_PERCENT.fullmatch(text) for text in depths):
        entry["iodepth_level"] = {level: float(text[:-1]) for level, text in zip(DEPTHS, depths, strict=True)}
    return entry


def _side(cells: Cells, fields: Sequence[str], first: int) -> dict[str, object]:
    def at(offset: int) -> float:
        return cells.needed(str(first + offset))

    runtime = round(at(3))
    side: dict[str, object] = {"io_bytes": round(at(0)), "bw": at(1), "iops": at(2), "runtime": runtime}
    percentiles = _percentiles(cells, fields[12:32], first + 12)
    side["clat"] = {**_latency([at(offset) for offset in range(8, 12)]), "percentile": percentiles}
    side["lat"] = _latency([at(offset) for offset in range(32, 36)])
    side["slat"] = _latency([at(offset) for offset in range(4, 8)])
    return side


def _latency(numbers: Sequence[float]) -> dict[str, object]:
    low, high, mean, deviation = numbers
    return {"min": round(low), "max": round(high), "mean": mean, "stddev": deviation}


def _percentiles(cells: Cells, fields: Sequence[str], first: int) -> dict[str, int]:
    """`99.000000%=1234`; a list that is shorter than 20 is filled up with `0%=0`."""
    values: dict[str, int] = {}
    for offset, text in enumerate(fields):
        name, equals, value = text.partition("%=")
        if not equals:
            position = f"{cells.position}, {first + offset}"
            raise UserError(cells.file, position, shown(text), f"not a percentile; {ACCEPTED}")
        pair = Cells(cells.file, f"{cells.position}, field {first + offset}", {"percentile": name, "latency": value})
        if pair.needed("percentile") > 0:
            values[name] = round(pair.needed("latency"))
    return values
