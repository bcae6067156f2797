"""fio prints its whole result again every `--status-interval`: these are one run, the last is its result.

What was done between two of them is a row of the series; percentiles do not come from differences, p99 is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hotband.data.documents.record import RecordDoc
from hotband.data.documents.source import NS_PER_S
from hotband.data.importers.record import check_times
from hotband.data.record.imported import Imported, SeriesColumns, no_rows
from hotband.data.record.stats import DIRECTIONS, latency_sum

# fio's times are of whole seconds.
_CLOCK_S = 2


def fold(records: Sequence[RecordDoc]) -> list[Imported]:
    """Merge the results of a run that fio printed several times into one record with a series."""
    runs: list[list[RecordDoc]] = []
    for record in records:
        if runs and _goes_on(runs[-1][-1], record):
            runs[-1].append(record)
        else:
            runs.append([record])
    return [_folded(run) for run in runs]


def _goes_on(before: RecordDoc, after: RecordDoc) -> bool:
    """Return whether `later` continues `earlier`: same jobs, no smaller counts, and no time for another run.
    run."""
    if [s["name"] for s in before["streams"]] != [s["name"] for s in after["streams"]]:
        return False
    if before["spec"] != after["spec"] or after["duration_ns"] <= before["duration_ns"]:
        return False
    pairs = zip(before["streams"], after["streams"], strict=True)
    if any(earlier[d]["count"] > later[d]["count"] for earlier, later in pairs for d in DIRECTIONS):
        return False
    ends = [end for record in (before, after) if (end := record["source"]["ended"]) is not None]
    if len(ends) < 2:
        return True
    first, second = (datetime.fromisoformat(end) for end in ends)
    passed = (second - first).total_seconds()
    grown = (after["duration_ns"] - before["duration_ns"]) / NS_PER_S
    return passed >= 0 and abs(passed - grown) <= _CLOCK_S and passed < after["duration_ns"] / NS_PER_S


def _folded(run: list[RecordDoc]) -> Imported:
    # What fio prints while it still lays out its files is of no time.
    run = [record for record in run[:-1] if record["duration_ns"]] + run[-1:]
    last = run[-1]
    if len(run) == 1:
        return Imported(last, None)
    rows = no_rows()
    begin = 0
    previous: RecordDoc | None = None
    for record in run:
        _add_rows(rows, previous, record, begin)
        begin, previous = record["duration_ns"], record
    last["notes"].append(
        f"{len(run)} results of one run (--status-interval): the last counts, the others are its series"
    )
    last["series"] = {"interval_ns": run[0]["duration_ns"], "file": "series.parquet"}
    check_times(last["source"]["file"], last["duration_ns"], rows)
    return Imported(last, rows)


def _add_rows(rows: SeriesColumns, before: RecordDoc | None, after: RecordDoc, begin_ns: int) -> None:
    seconds = (after["duration_ns"] - begin_ns) / NS_PER_S
    for index, stream in enumerate(after["streams"]):
        for direction in DIRECTIONS:
            now = stream[direction]
            then = None if before is None else before["streams"][index][direction]
            count = now["count"] - (then["count"] if then else 0)
            volume = now["bytes"] - (then["bytes"] if then else 0)
            sums = [latency_sum([side]) for side in (now, then) if side is not None]
            known = [sum_ for sum_ in sums if sum_ is not None]
            waited = known[0] - sum(known[1:]) if len(known) == len(sums) else None
            if waited is not None and waited < 0:
                waited = None
            rows["time_ns"].append(begin_ns)
            rows["stream"].append(stream["name"])
            rows["direction"].append(direction)
            rows["iops"].append(count / seconds)
            rows["bandwidth_bytes_per_s"].append(max(0, volume) / seconds)
            rows["latency_mean_ns"].append(waited / count if waited is not None and count else None)
            rows["latency_p99_ns"].append(None)
            rows["queue_depth"].append(waited / NS_PER_S / seconds if waited is not None else None)
