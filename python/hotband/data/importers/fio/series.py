"""The series of a run from its logs: rows by interval, stream and direction.

Where there is a log of every I/O it has everything, in rows of a second; averaged logs are then not looked at. Several
processes in one stream add up: rates are sums, mean latencies are weighted by I/Os, and p99 is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hotband.data.documents.source import NS_PER_MS, NS_PER_S
from hotband.data.importers.fio.logs import Log, counting, window_ms
from hotband.data.record.imported import SeriesColumns, no_rows
from hotband.data.record.stats import DIRECTIONS

_KIB = 1024
Key = tuple[int, str, int]


@dataclass
class Cell:
    """One interval of one stream and direction. `waited_ns` is the sum of the latencies of `weighed` I/Os per
    second."""

    iops: float | None = None
    bytes_per_s: float | None = None
    waited_ns: float = 0.0
    weighed: float = 0.0
    p99_ns: int | None = None
    sources: int = 0


@dataclass
class Axis:
    """Structure of a series: its cells by (interval, stream, direction), the length of an interval, notes."""

    interval_ms: int
    cells: dict[Key, Cell] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def cell(self, interval: int, stream: str, direction: int) -> Cell:
        return self.cells.setdefault((interval, stream, direction), Cell())


def series_of(
    logs: Sequence[Log],
    streams: Mapping[int, str],
    quantity: str,
    scale: int,
    base_ms: int | None,
    windows: tuple[int | None, int | None] = (None, None),
) -> tuple[Axis, SeriesColumns] | None:
    """The series of a run; `streams` names that of every process, `scale` makes the logs' latencies ns, `windows` are
    the lengths in ms of those of averages and of histograms, as they were asked for."""
    raw = counting(logs, quantity)
    averaged = [log for log in logs if log.kind != "clat_hist" and not log.is_raw]
    histograms = [log for log in logs if log.kind == "clat_hist"]
    if raw:
        axis = _raw_axis(raw, streams, scale)
        if averaged:
            axis.notes.append("averaged logs were not used: there is a log of every I/O")
    elif averaged:
        axis = _averaged_axis(averaged, streams, quantity, scale, base_ms, windows[0])
        _add_percentiles(axis, histograms, streams, base_ms, windows[1])
    elif histograms:
        axis = _histogram_axis(histograms, streams, base_ms)
    else:
        return None
    return (axis, _columns(axis)) if axis.cells else None


def _raw_axis(logs: Sequence[Log], streams: Mapping[int, str], scale: int) -> Axis:
    axis = Axis(1000)
    for log in logs:
        timed = log.kind in ("lat", "clat")
        for direction in range(len(DIRECTIONS)):
            side = log.sides[direction]
            columns = side["second"], side["row_count"], side["row_bytes"], side["row_sum"], side["row_p99"]
            for second, count, volume, waited, p99 in zip(*columns, strict=True):
                cell = axis.cell(second, streams[log.number], direction)
                cell.iops = (cell.iops or 0.0) + count
                cell.bytes_per_s = (cell.bytes_per_s or 0.0) + volume
                if timed:
                    cell.waited_ns += waited * scale
                    cell.weighed += count
                    cell.sources += 1
                    cell.p99_ns = p99 * scale if p99 is not None and cell.sources == 1 else None
    _stretch_last(axis, logs)
    return axis


def _stretch_last(axis: Axis, logs: Sequence[Log]) -> None:
    """The last second is not whole: its rates are over the part that there was."""
    last_ms = max(_end_ms(log) for log in logs)
    last, part_ms = last_ms // 1000, last_ms % 1000 + 1
    for (second, _, _), cell in axis.cells.items():
        if second == last and cell.iops is not None and cell.bytes_per_s is not None and part_ms >= 100:
            cell.iops, cell.bytes_per_s = cell.iops * 1000 / part_ms, cell.bytes_per_s * 1000 / part_ms


def _end_ms(log: Log) -> int:
    """When the last sample was, on the axis of the run."""
    return max(0, log.length_ms)


def _averaged_axis(
    logs: Sequence[Log],
    streams: Mapping[int, str],
    quantity: str,
    scale: int,
    base_ms: int | None,
    window: int | None,
) -> Axis:
    axis = Axis(window_ms(logs, window))
    latency = quantity if any(log.kind == quantity for log in logs) else "clat" if quantity == "lat" else "lat"
    if latency != quantity and any(log.kind == latency for log in logs):
        axis.notes.append(f"latencies over time are {latency}: there is no log of {quantity}")
    rates: dict[tuple[int, int, int], float] = {}
    processes: dict[Key, set[int]] = {}
    for log in sorted(logs, key=lambda log: log.kind != "iops"):
        for direction in range(len(DIRECTIONS)):
            for interval, value in _by_interval(log, direction, axis.interval_ms, base_ms).items():
                cell = axis.cell(interval, streams[log.number], direction)
                processes.setdefault((interval, streams[log.number], direction), set()).add(log.number)
                if log.kind == "iops":
                    rates[interval, log.number, direction] = value
                    cell.iops = (cell.iops or 0.0) + value
                elif log.kind == "bw":
                    cell.bytes_per_s = (cell.bytes_per_s or 0.0) + value * _KIB
                elif log.kind == latency:
                    weight = rates.get((interval, log.number, direction), 1.0) or 1.0
                    cell.waited_ns += value * scale * weight
                    cell.weighed += weight
    _leave_out_cut_ends(axis, processes)
    return axis


def _leave_out_cut_ends(axis: Axis, processes: Mapping[Key, set[int]]) -> None:
    """Leave out the last window of a stream if some of its processes, which were in the one before, did not log it."""
    last: dict[tuple[str, int], int] = {}
    for interval, stream, direction in processes:
        last[stream, direction] = max(interval, last.get((stream, direction), 0))
    for (stream, direction), interval in last.items():
        before = processes.get((interval - 1, stream, direction), set())
        if before - processes[interval, stream, direction]:
            del axis.cells[interval, stream, direction]
            axis.notes.append(f"{stream}: the last window is left out of the series: not every process logged it")


def _by_interval(log: Log, direction: int, interval_ms: int, base_ms: int | None) -> dict[int, float]:
    """Values by interval, the mean where two samples fall into one (fio's windows drift)."""
    by_interval: dict[int, list[float]] = {}
    for time_ms, value in log.sides[direction]["samples"]:
        by_interval.setdefault(_interval(time_ms, interval_ms, base_ms), []).append(value)
    return {interval: sum(values) / len(values) for interval, values in by_interval.items()}


def _interval(end_ms: int, interval_ms: int, base_ms: int | None) -> int:
    """A sample is stamped with the end of its window; times of the calendar count from the first such end."""
    number = round(end_ms / interval_ms)
    return number if base_ms is not None else max(0, number - 1)


def _histogram_rows(log: Log, base_ms: int | None) -> list[tuple[int, int, int, float | None, int | None]]:
    """(ms, direction, count, mean, p99), trims left out."""
    read = log.histograms
    if read is None:
        return []
    rows = zip(read["time_ms"], read["direction"], read["count"], read["mean_ns"], read["p99_ns"], strict=True)
    return [(max(0, t - (base_ms or 0)), d, n, mean, p99) for t, d, n, mean, p99 in rows if d < len(DIRECTIONS)]


def _histogram_step(logs: Sequence[Log], base_ms: int | None) -> int:
    steps: dict[int, int] = {}
    for log in logs:
        last: dict[int, int] = {}
        for time_ms, direction, *_ in _histogram_rows(log, base_ms):
            step = time_ms - last.get(direction, time_ms)
            if step > 0:
                steps[step] = steps.get(step, 0) + 1
            last[direction] = time_ms
    return max(steps, key=lambda step: (steps[step], -step)) if steps else 1000


def _add_percentiles(
    axis: Axis, logs: Sequence[Log], streams: Mapping[int, str], base_ms: int | None, asked_ms: int | None
) -> None:
    """p99 from histograms over time, where their intervals are those of the series."""
    if not logs:
        return
    step = asked_ms or _histogram_step(logs, base_ms)
    if abs(step - axis.interval_ms) > 0.05 * axis.interval_ms:
        ends = f"every {step} ms, averages every {axis.interval_ms} ms"
        axis.notes.append(f"the series has no p99; histograms end {ends}")
        return
    for log in logs:
        for time_ms, direction, _, _, p99 in _histogram_rows(log, base_ms):
            cell = axis.cell(_interval(time_ms, axis.interval_ms, base_ms), streams[log.number], direction)
            cell.sources += 1
            cell.p99_ns = p99 if cell.sources == 1 else None


def _histogram_axis(logs: Sequence[Log], streams: Mapping[int, str], base_ms: int | None) -> Axis:
    axis = Axis(_histogram_step(logs, base_ms))
    axis.notes.append("the series comes from histograms: latencies are those of their buckets")
    for log in logs:
        for time_ms, direction, count, mean, p99 in _histogram_rows(log, base_ms):
            cell = axis.cell(_interval(time_ms, axis.interval_ms, base_ms), streams[log.number], direction)
            cell.iops = (cell.iops or 0.0) + count * 1000 / axis.interval_ms
            cell.sources += 1
            cell.p99_ns = p99 if cell.sources == 1 else None
            if mean is not None:
                cell.waited_ns += mean * count
                cell.weighed += count
    return axis


def _columns(axis: Axis) -> SeriesColumns:
    rows = no_rows()
    for (interval, stream, direction), cell in sorted(axis.cells.items()):
        mean = cell.waited_ns / cell.weighed if cell.weighed else None
        rows["time_ns"].append(interval * axis.interval_ms * NS_PER_MS)
        rows["stream"].append(stream)
        rows["direction"].append(DIRECTIONS[direction])
        rows["iops"].append(cell.iops)
        rows["bandwidth_bytes_per_s"].append(cell.bytes_per_s)
        rows["latency_mean_ns"].append(mean)
        rows["latency_p99_ns"].append(cell.p99_ns)
        rows["queue_depth"].append(None if mean is None or cell.iops is None else cell.iops * mean / NS_PER_S)
    return rows
