"""A run of fio from its logs: they extend the record of its JSON, or form a record without JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from hotband.base.guess import Guess
from hotband.data.documents.record import RecordDoc, figures_of
from hotband.data.documents.sides import Histogram, Side
from hotband.data.documents.source import NS_PER_MS, iso, nothing_asked
from hotband.data.importers.files import read_beginning
from hotband.data.importers.fio.logs import Log, counting, number_apart, parted, read_logs
from hotband.data.importers.fio.series import Axis, series_of
from hotband.data.importers.record import LARGEST, ImportedRun, Sides, build, side_of
from hotband.data.record.imported import Imported, SeriesColumns
from hotband.data.record.stats import DIRECTIONS, Direction, idle_side, merged_percentiles, total

# fio counts nanoseconds since 2.99; microseconds before.
_FIRST_IN_NS = (2, 99)
_PRIORITY = re.compile(rb"(?:[^,\n]+,){4,5} ?0x")


def joined(record: RecordDoc, logs: Sequence[Log]) -> Imported:
    """The record of a JSON document with the series and the histograms of its logs."""
    number_apart(logs)
    base_ms = read_logs(logs)
    logs = parted(logs)
    quantity = record["source"].get("latency", "clat")
    scale = _scale(record["source"]["version"])
    streams, notes = _streams_of(logs, record)
    _add_histograms(record, logs, streams, quantity, scale)
    windows = _asked_ms(record, "log_avg_msec"), _asked_ms(record, "log_hist_msec")
    series = series_of(logs, streams, quantity, scale, base_ms, windows)
    notes += _file_notes(logs)
    columns: SeriesColumns | None = None
    if series is not None:
        axis, columns = series
        record["series"] = {"interval_ns": axis.interval_ms * NS_PER_MS, "file": "series.parquet"}
        notes += axis.notes
    if base_ms is not None and record["source"]["began"] is None:
        record["source"]["began"] = iso(_began_ms(base_ms, series[0] if series else None, logs) / 1000)
    record["notes"] += notes
    return Imported(record, columns)


def alone(logs: Sequence[Log]) -> Imported:
    """A record of logs without their JSON."""
    number_apart(logs)
    base_ms = read_logs(logs)
    logs = parted(logs)
    quantity = "clat" if any(log.kind in ("clat", "clat_hist") for log in logs) else "lat"
    numbers = sorted({log.number for log in logs})
    prefix = logs[0].prefix or logs[0].path.stem
    names = {number: f"{prefix}.{number}" if len(numbers) > 1 else prefix for number in numbers}
    series = series_of(logs, names, quantity, 1, base_ms)
    notes = ["logs without their JSON: the requested settings are unknown", *_file_notes(logs)]
    counts_known = all(_counts([log for log in logs if log.number == number]) for number in numbers)
    if not counts_known:
        notes.append("an averaged log has no counts: I/Os and IOPS are unknown without a log of IOPS")
    notes += series[0].notes if series else []
    streams = [(name, _sides_of(number, logs, names, quantity, series)) for number, name in names.items()]
    began = None if base_ms is None else iso(_began_ms(base_ms, series[0] if series else None, logs) / 1000)
    duration_ns = _duration_ms(logs, series[0] if series else None) * NS_PER_MS
    return build(
        ImportedRun(
            name=prefix,
            machine=prefix,
            source={
                "tool": "fio",
                "version": None,
                "file": logs[0].file,
                "began": began,
                "ended": None,
                "asked": nothing_asked(),
                "target": None,
                "host": None,
                "latency": quantity,
            },
            duration_ns=duration_ns,
            concurrency=None,
            streams=streams,
            series=series[1] if series else None,
            interval_ns=series[0].interval_ms * NS_PER_MS if series else None,
            sizes_known=any(log.is_raw or log.kind == "bw" for log in logs),
            counts_known=counts_known,
            notes=notes,
            guesses=_unit_guesses(logs, prefix, duration_ns),
        )
    )


def _unit_guesses(logs: Sequence[Log], prefix: str, duration_ns: int) -> list[Guess]:
    """Return the guess of the unit of latencies, if microseconds fit as well: no I/O took longer than the run, and no
    line has the priority that fio logs since 3.22."""
    timed = [log for log in logs if log.kind in ("lat", "clat")]
    sides = [(log.is_raw, side) for log in timed for side in log.sides if side["count"] or side["samples"]]
    longest = [side["max"] if is_raw else max(value for _, value in side["samples"]) for is_raw, side in sides]
    if not longest or 1000 * max(longest) > duration_ns:
        return []
    if any(_PRIORITY.match(read_beginning(log.path)) for log in timed):
        return []
    choice = "put the JSON of the run into the same folder, which names fio's version"
    return [Guess(f"latencies of {prefix} are read in ns (fio 3)", "us (fio 2)", choice)]


def _asked_ms(record: RecordDoc, option: str) -> int | None:
    """Return a time in ms from the options, if all jobs have the same."""
    shared, jobs = record["spec"]["global"], record["spec"]["jobs"]
    texts = {options.get(option, shared.get(option, "")) for options in jobs.values()}
    text = texts.pop() if len(texts) == 1 else ""
    return int(text) or None if text.isascii() and text.isdigit() and len(text) < 9 else None


def _counts(logs: Sequence[Log]) -> bool:
    """Return whether the logs of one process give the number of I/Os."""
    return any(log.is_raw or log.kind in ("iops", "clat_hist") for log in logs)


def _scale(version: str | None) -> int:
    parts = (version or "3").split("-")[0].split(".")
    numbers = [int(part) for part in parts[:2] if part.isascii() and part.isdigit() and len(part) < 6]
    return 1000 if numbers and tuple(numbers) < _FIRST_IN_NS else 1


def _streams_of(logs: Sequence[Log], record: RecordDoc) -> tuple[dict[int, str], list[str]]:
    """The stream of every process: fio numbers those of a host in the order of its jobs, `numjobs` of each."""
    numbers = sorted({log.number for log in logs})
    names = [stream["name"] for stream in record["streams"]]
    if len(names) == 1:
        return dict.fromkeys(numbers, names[0]), []
    if any(log.is_part for log in logs):
        why = "the logs do not name the jobs (per_job_logs=0): the series covers all jobs together"
        return dict.fromkeys(numbers, "all jobs"), [why]
    hosts = sorted({log.host for log in logs})
    by_host = [name for host in hosts for name in names if not host or name.split("#")[0].endswith(f"@{host}")]
    if len(numbers) == len(by_host):
        return dict(zip(numbers, by_host, strict=True)), []
    processes = [name for name in by_host for _ in range(_clones(record, name))]
    if len(numbers) == len(processes):
        return dict(zip(numbers, processes, strict=True)), []
    why = f"logs of {len(numbers)} processes, {len(names)} jobs in the JSON: the series covers all jobs together"
    return dict.fromkeys(numbers, "all jobs"), [why]


def _clones(record: RecordDoc, name: str) -> int:
    """Processes of a job that are reported together."""
    shared, jobs = record["spec"]["global"], record["spec"]["jobs"]
    text = jobs.get(name, {}).get("numjobs", shared.get("numjobs", "1"))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def _file_notes(logs: Sequence[Log]) -> list[str]:
    notes = [f"{log.path.name}: the last line is cut off" for log in logs if log.is_cut]
    trims = sum(log.sides[2]["count"] for log in counting(logs, "clat"))
    if trims:
        notes.append(f"not carried over: {trims} trims in the logs")
    if any(log.kind == "slat" for log in logs):
        notes.append("not carried over: submission latencies (slat) of the logs")
    return notes


def _began_ms(base_ms: int, axis: Axis | None, logs: Sequence[Log]) -> int:
    """The first sample of an averaged log ends its first window."""
    return base_ms if axis is None or any(log.is_raw for log in logs) else base_ms - axis.interval_ms


def _logged(logs: Sequence[Log], processes: set[int], direction: int, quantity: str, scale: int) -> Histogram | None:
    """The histogram of some processes: from logs of every I/O, else from histograms over time; exact before coarse."""
    raw = [log for log in logs if log.number in processes and log.kind == quantity and log.is_raw]
    over_time = [log for log in logs if log.number in processes and log.kind == "clat_hist" and quantity == "clat"]
    counts: Counter[int] = Counter()
    for log in raw or over_time:
        for value, count in log.buckets(direction):
            counts[min(value * (scale if raw else 1), LARGEST)] += count
    if not counts:
        return None
    coarse = not raw and any(log.histograms and log.histograms["coarse"] for log in over_time)
    return {"kind": "bins" if coarse else "fio", "buckets": [[value, counts[value]] for value in sorted(counts)]}


def _add_histograms(
    record: RecordDoc, logs: Sequence[Log], streams: Mapping[int, str], quantity: str, scale: int
) -> None:
    """Add histograms to sides that have none, and the percentiles of the summary that this makes known."""
    added = False
    for stream in record["streams"]:
        processes = {number for number, name in streams.items() if name == stream["name"]}
        for index, direction in enumerate(DIRECTIONS):
            side: Side = stream[direction]
            if not side["count"] or side["histogram"]["kind"] != "none":
                continue
            histogram = _logged(logs, processes, index, quantity, scale)
            if histogram is None:
                continue
            side["histogram"], added = histogram, True
            if total(histogram) != side["count"]:
                have = f"the histogram is from logs of {total(histogram)} of {side['count']} I/Os"
                record["notes"].append(f"{stream['name']} {direction}s: {have}")
    if added:
        _fill_percentiles(record)


def _fill_percentiles(record: RecordDoc) -> None:
    scopes: dict[str, tuple[Direction, ...]] = {"": DIRECTIONS, "read": ("read",), "write": ("write",)}
    for scope, directions in scopes.items():
        sides = [stream[direction] for stream in record["streams"] for direction in directions]
        kinds = {side["histogram"]["kind"] for side in sides if side["count"]}
        block = cast("dict[str, int | None]", figures_of(record["summary"], scope) if scope else record["summary"])
        if len(kinds) != 1 or "none" in kinds:
            continue
        for key, value in merged_percentiles(sides).items():
            block[key] = value if block[key] is None else block[key]
    record["notes"] = [note for note in record["notes"] if not note.startswith("percentiles of ")]


def _duration_ms(logs: Sequence[Log], axis: Axis | None) -> int:
    raw = [log for log in logs if log.is_raw]
    if raw:
        return max(1, *(log.length_ms for log in raw))
    if axis is None:
        return 1
    return (max(interval for interval, _, _ in axis.cells) + 1) * axis.interval_ms


def _sides_of(
    number: int,
    logs: Sequence[Log],
    names: Mapping[int, str],
    quantity: str,
    series: tuple[Axis, SeriesColumns] | None,
) -> Sides:
    own_logs = [log for log in logs if log.number == number]
    raw = counting(own_logs, quantity)
    sides: Sides = {}
    for index, direction in enumerate(DIRECTIONS):
        histogram = _logged(logs, {number}, index, quantity, 1)
        if raw:
            sides[direction] = _raw_side(raw[0], index, histogram)
        else:
            counted = any(log.kind == "iops" for log in own_logs)
            axis = series[0] if series else None
            sides[direction] = _averaged_side(names[number], index, axis, histogram, counted)
    return sides


def _raw_side(log: Log, index: int, histogram: Histogram | None) -> Side:
    side = log.sides[index]
    timed = log.kind in ("lat", "clat") and side["count"]
    mean = side["sum"] / side["count"] if timed else None
    low, high = (side["min"], side["max"]) if timed else (None, None)
    return side_of(side["count"], side["bytes"], mean, low_ns=low, high_ns=high, histogram=histogram)


def _averaged_side(stream: str, index: int, axis: Axis | None, histogram: Histogram | None, counted: bool) -> Side:
    """Return rates times their windows; without rates, the counts of the histogram (fio loses its last window)."""
    cells = [cell for (_, name, d), cell in axis.cells.items() if (name, d) == (stream, index)] if axis else []
    seconds = axis.interval_ms / 1000 if axis else 0.0
    if not counted and histogram is None and cells:
        uncounted = idle_side("none")
        uncounted["count"] = None  # type: ignore[typeddict-item]
        uncounted["bytes"] = round(sum((cell.bytes_per_s or 0.0) * seconds for cell in cells))
        uncounted["latency_sum_ns"] = None
        return uncounted
    count = (
        total(histogram) if histogram and not counted else round(sum((cell.iops or 0.0) * seconds for cell in cells))
    )
    volume = round(sum((cell.bytes_per_s or 0.0) * seconds for cell in cells))
    weight = sum(cell.weighed for cell in cells)
    mean = sum(cell.waited_ns for cell in cells) / weight if weight else None
    return side_of(count, volume, mean, histogram=histogram)


def by_run(logs: Sequence[Log]) -> list[list[Log]]:
    """Group logs into runs: those of one folder and prefix."""
    runs: dict[tuple[Path, str], list[Log]] = {}
    for log in logs:
        runs.setdefault((log.path.parent, log.prefix), []).append(log)
    return list(runs.values())
