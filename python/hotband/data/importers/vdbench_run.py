"""One run of vdbench as a record: the measured intervals, the requested settings, the histograms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.guess import Guess
from hotband.base.text.numbers import counted
from hotband.data.documents.sides import Histogram
from hotband.data.documents.source import NS_PER_S, Asked, nothing_asked
from hotband.data.importers.cells import Cells
from hotband.data.importers.record import ImportedRun, Sides, binned, side_of
from hotband.data.importers.vdbench_read import Run, Scope
from hotband.data.importers.vdbench_restated import claims_of
from hotband.data.record.imported import SeriesColumns, no_rows
from hotband.data.record.stats import DIRECTIONS, SUMMARY_PERCENTILES, Direction, percentile

# vdbench's own numbers for "as fast as it goes" (iorate=max, curve) are just below a million.
_UNLIMITED = 999_900
_MIB = 1024 * 1024
_GIB = 1024**3
# A few I/Os of the last interval are counted without their bytes; a mix of sizes differs by more.
SIZE_TOLERANCE = 0.005
# The two units of a megabyte differ by 4.9 %.
_SAME_SIZE = 0.01
_LENGTH_UNKNOWN = Guess(
    "vdbench's file does not state the length of an interval, which is read as 1 s",
    "any other interval=",
    "import the whole output folder of the run",
)
# Spans of time that a note names.
MOST_SPANS = 6


def of_run(
    run: Run, devices: Sequence[str], output_notes: Sequence[str] = (), elsewhere: Sequence[Run] = ()
) -> ImportedRun:
    """A run with its notes; `devices` are those of the parameter file, if it was there, `elsewhere` are its tables in
    other files of the output."""
    notes = list(output_notes)
    length = _interval_s(run)
    seconds = length or 1.0
    measured = run.measured or _without_first(run)
    rows, warm = _split(run, measured)
    sides = _sides(run, rows, seconds, measured, notes)
    duration_ns = _duration_ns(run, rows, seconds, measured)
    requested = _asked(run, devices, measured, seconds)
    target = ", ".join(devices[:3]) or None
    stream = run.name
    further: dict[str, object] = {}
    if warm:
        further["warm_up"] = _warm_up(warm, seconds)
        notes.append(f"the first {len(warm)} of {len(run.rows)} intervals are warm-up and not in any figure")
    if run.average is None and run.rows:
        notes.append("vdbench has no average of this run (was the run stopped?): figures cover the intervals present")
    notes += [*_hung(rows, seconds), *_of_files(run)]
    notes.append("times of day are local: the start time is not carried over")
    if len(devices) > 1:
        notes.append(f"threads of {len(devices)} storage definitions are counted for each definition")
    return ImportedRun(
        name=run.title,
        machine=target or Path(run.file).parent.name or "vdbench",
        source={
            "tool": "vdbench",
            "version": None,
            "file": run.file,
            "began": None,
            "ended": None,
            "asked": requested,
            "target": target,
            "host": None,
        },
        duration_ns=duration_ns,
        concurrency=requested["concurrency"] if requested["rate_iops"] is None else None,
        streams=[(stream, sides)],
        spec={"run": run.settings, "asked": _told(run)},
        series=_series(rows, stream, seconds) if rows else None,
        interval_ns=round(seconds * NS_PER_S) if rows else None,
        percentiles=_percentiles(run, notes),
        sizes_known=bool(rows) or run.average is not None,
        further=further,
        notes=notes,
        guesses=[_LENGTH_UNKNOWN] if length is None and (run.rows or run.measured) else [],
        claims=list(claims_of(run, elsewhere)),
    )


def _without_first(run: Run) -> tuple[int, int]:
    """vdbench leaves the first interval out of its averages."""
    last = max((round(row.needed("Interval")) for row in run.rows), default=1)
    return (2 if last > 1 else 1), last


def _split(run: Run, measured: tuple[int, int]) -> tuple[list[Cells], list[Cells]]:
    low, high = measured
    measured_rows = [row for row in run.rows if low <= row.needed("Interval") <= high]
    return measured_rows, [row for row in run.rows if row.needed("Interval") < low]


def _elapsed_s(run: Run) -> float | None:
    """Return the requested time in seconds with that of the warm-up, if the run has it."""
    text = run.settings.get("elapsed", "")
    times = re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?)(?: warmup=(\d{1,12}))?", text)
    return float(times[1]) + float(times[2] or 0) if times else None


def _hung(rows: Sequence[Cells], seconds: float) -> list[str]:
    """Name the intervals of the measured time in which no I/O completed."""
    idle = [round(row.needed("Interval")) for row in rows if not row.needed("rate")]
    if not idle or len(idle) == len(rows):
        return []
    spans = [[idle[0], idle[0]]]
    for number in idle[1:]:
        if number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    named = ", ".join(f"{(low - 1) * seconds:g} to {high * seconds:g} s" for low, high in spans[:MOST_SPANS])
    more = f" and {counted(len(spans) - MOST_SPANS, 'more time')}" if len(spans) > MOST_SPANS else ""
    return [f"no I/O completed in {counted(len(idle), 'interval')}: the target hung from {named}{more}"]


def _of_files(run: Run) -> list[str]:
    """Say what else a file system did."""
    if not run.of_files:
        return []
    rates = {name: run.figures[0].number(name) or 0.0 for name in run.figures[0].values if name.endswith("_rate")}
    others = {name.partition("_")[0].lower(): rate for name, rate in rates.items() if name[0].isupper() and rate}
    further = [f"{name} {rate:g}/s" for name, rate in others.items() if name not in ("read", "write")]
    besides = f"; in no figure: {', '.join(further)}" if further else ""
    return [f"a file system workload: the figures are those of its reads and writes{besides}"]


def _interval_s(run: Run) -> float | None:
    """Return the length of an interval: the usual step of the clock, else the time from start to average over their
    number, else elapsed over it. A run may end before its time is up (`maxdata=`). None if the file does not state
    it."""
    moments = [_of_day(row) for row in run.rows]
    steps = sorted((b - a) % 86400 for a, b in pairwise(moments) if a is not None and b is not None)
    if steps and round(steps[len(steps) // 2]) >= 1:
        return float(round(steps[len(steps) // 2]))
    elapsed = _elapsed_s(run)
    last = max([*(run.measured or ()), *(round(row.needed("Interval")) for row in run.rows[-1:])], default=0)
    begin, end = _moment(run.started), next((_of_day(row) for row in run.figures), None)
    if begin is not None and end is not None and (elapsed or 0.0) < 86400:
        elapsed = (end - begin) % 86400
    if elapsed is not None and last and round(elapsed / last) >= 1:
        return float(round(elapsed / last))
    return None


def _of_day(row: Cells) -> float | None:
    return _moment(row.values.get("date", row.values.get("tod", "")))


def _moment(text: str) -> float | None:
    clock = re.fullmatch(r"(\d\d):(\d\d):(\d\d(?:\.\d{1,6})?)", text.strip())
    return None if clock is None else int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])


def _duration_ns(run: Run, rows: Sequence[Cells], seconds: float, measured: tuple[int, int]) -> int:
    if rows or run.average is not None:
        count = (measured[1] - measured[0] + 1) if run.average is not None else len(rows)
        return max(0, round(count * seconds * NS_PER_S))
    elapsed = _elapsed_s(run)
    if elapsed is None:
        raise UserError(run.file, run.name, "", "no interval and no average; accepted: a run with its results")
    return round(elapsed * NS_PER_S)


def _sides(run: Run, rows: Sequence[Cells], seconds: float, measured: tuple[int, int], notes: list[str]) -> Sides:
    """Return reads and writes of the measured intervals: from vdbench's average, else summed over them."""
    histograms: dict[Direction, Histogram | None] = {d: _histogram(run, d) for d in DIRECTIONS}
    if run.average is None and not rows:
        return _from_histograms(run, histograms, notes)
    average = run.average
    pairs = (
        [(average, (measured[1] - measured[0] + 1) * seconds)] if average is not None else [(r, seconds) for r in rows]
    )
    if any(run.histograms):
        notes.append("vdbench's histograms count every interval including warm-up; the other figures do not")
    notes.append("counts are rates x time: vdbench prints no counts")
    highest = {name: _highest([row for row, _ in pairs], name) for name in ("resp", *DIRECTIONS)}
    sides: Sides = {}
    for direction in DIRECTIONS:
        counts = [_count(row, direction) * span for row, span in pairs]
        means = [_mean_ms(row, direction) for row, _ in pairs]
        count = round(sum(counts))
        known = all(mean is not None for mean, n in zip(means, counts, strict=True) if n)
        waited = sum(n * (mean or 0.0) for mean, n in zip(means, counts, strict=True))
        mean_ns = waited / sum(counts) * 1e6 if count and known else None
        volume = round(sum(_volume(row, direction) * span for row, span in pairs))
        high = highest[direction] or (highest["resp"] if _only(run, direction) else None)
        sides[direction] = side_of(count, volume, mean_ns, high_ns=high, histogram=histograms[direction])
    both = highest["resp"]
    if both is not None and all(sides[d]["count"] and not highest[d] for d in DIRECTIONS):
        notes.append(f"the largest response time, {both / 1e6:g} ms, covers reads and writes together")
    return sides


def _highest(rows: Sequence[Cells], name: str) -> int | None:
    return max((row.milliseconds(f"{name}_max") or 0 for row in rows), default=0) or None


def _only(run: Run, direction: Direction) -> bool:
    """Return whether a run did nothing but reads, or nothing but writes."""
    return (
        bool(run.figures)
        and sum(_count(row, other) for row in run.figures for other in DIRECTIONS if other != direction) == 0
    )


def _count(row: Cells, direction: Direction) -> float:
    """Return I/Os per second."""
    rate, share = row.needed("rate"), (row.number("read%") or 0.0) / 100
    return rate * (share if direction == "read" else max(0.0, 1 - share))


def _mean_ms(row: Cells, direction: Direction) -> float | None:
    mean = row.number(f"{direction}_resp")
    share = row.number("read%")
    alone = share == (100 if direction == "read" else 0)
    return mean if mean is not None and not (alone and mean == 0) else (row.number("resp") if alone else None)


def _volume(row: Cells, direction: Direction) -> float:
    """Return bytes per second: of a mix by the share of I/Os, which is right if both have one size."""
    alone = row.number("MB_read" if direction == "read" else "MB_write")
    if alone is not None:
        return alone * _MIB
    rate = row.number("rate")
    whole = _bytes(row, rate or 0.0)
    return whole * _count(row, direction) / rate if rate else 0.0


def _bytes(row: Cells, rate: float) -> float:
    """Return bytes per second. The flatfile does not say whether its MB is 1000**2 (an option), but has bytes/io."""
    mb, decimal = row.number("MB/sec") or 0.0, row.number("MB_decimal") or 0.0
    by_size = rate * (row.number("bytes/io") or 0.0)
    is_decimal = mb > 0 and abs(by_size / (mb * 1e6) - 1) < _SAME_SIZE
    return mb * (1e6 if is_decimal else _MIB) + decimal * 1e6


def _histogram(run: Run, scope: Scope) -> Histogram | None:
    pairs = run.histograms.get(scope)
    if pairs is None and scope != "all" and _only(run, scope):
        pairs = run.histograms.get("all")
    if pairs is None or (run.of_files and scope == "all" and _did_more(run)):
        return None
    return binned(pairs, _highest(run.figures[:1], "resp") or _highest(run.figures[:1], scope))


def _from_histograms(run: Run, histograms: dict[Direction, Histogram | None], notes: list[str]) -> Sides:
    notes.append("only a histogram: sizes and means are unknown")
    sides: Sides = {}
    for direction in DIRECTIONS:
        histogram = histograms[direction]
        count = sum(n for _, n in histogram["buckets"]) if histogram else 0
        sides[direction] = side_of(count, 0, None, histogram=histogram)
    return sides


def _percentiles(run: Run, notes: list[str]) -> dict[str, dict[str, int | None]]:
    """Return percentiles of a histogram that has reads and writes together; a record's histograms give the others."""
    if not run.histograms:
        notes.append("no percentiles: they are in histogram.html in the same folder")
        return {}
    notes.append("percentiles are upper edges of vdbench's histogram, which is coarse")
    both = (
        _histogram(run, "all")
        if run.histograms.keys() == {"all"} and not any(_only(run, d) for d in DIRECTIONS)
        else None
    )
    return {"all": {key: percentile(both, q) for key, q in SUMMARY_PERCENTILES.items()}} if both else {}


def _did_more(run: Run) -> bool:
    """Return whether a file system workload was requested to do more than to read and write."""
    row = run.figures[0]
    return abs((row.number("requested") or 0.0) - row.needed("rate")) > 0.01 * row.needed("rate")


def _asked(run: Run, devices: Sequence[str], measured: tuple[int, int], seconds: float) -> Asked:
    requested = nothing_asked()
    elapsed = _elapsed_s(run)
    requested["duration_ns"] = None if elapsed is None else round(elapsed * NS_PER_S)
    requested["ramp_ns"] = round((measured[0] - 1) * seconds * NS_PER_S)
    row = run.average or (run.rows[0] if run.rows else None)
    loops = dict(re.findall(r"(\w+)=([\d.]+)(?= |$)", run.loops))
    cells = row if row is not None else Cells(run.file, run.name, {})
    named = Cells(run.file, run.name, {**loops, **{k: v for k, v in cells.values.items() if v not in ("", "n/a")}})
    threads = named.count("threads")
    requested["concurrency"] = None if threads is None else threads * max(1, len(devices))
    requested["block_bytes"] = _block_bytes(named)
    requested["read_pct"] = named.number("rdpct")
    seek = named.number("seekpct")
    requested["pattern"] = None if seek is None else {100.0: "random", 0.0: "sequential"}.get(seek, "mixed")
    size = named.number("lunsize")
    requested["working_set_bytes"] = round(size * _GIB) if size else None
    requested["rate_iops"] = _rate(run, named)
    return requested


def _block_bytes(cells: Cells) -> int | None:
    """Return the size of an I/O; None for a list of sizes, for which vdbench prints the first size and the mean."""
    if not re.fullmatch(r"\d+(?:\.\d+)?", cells.values.get("xfersize", "")):
        return None
    size, mean = cells.count("xfersize"), cells.number("bytes/io")
    return None if size and mean and abs(mean - size) > max(1.0, size * SIZE_TOLERANCE) else size


_TOLD = ("xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "lunsize", "reqrate")


def _told(run: Run) -> dict[str, str]:
    """Return the parameters of a run from a row of the flatfile, as written."""
    row = run.average or (run.rows[0] if run.rows else None)
    cells = {} if row is None else row.values
    return {name: cells[name] for name in _TOLD if cells.get(name, "") not in ("", "n/a")}


def _rate(run: Run, cells: Cells) -> float | None:
    rate = cells.number("reqrate")
    if rate is None:
        text = run.settings.get("I/O rate", "")
        rate = float(text) if re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text) else None
    return rate if rate and rate < _UNLIMITED else None


def _warm_up(warm: Sequence[Cells], seconds: float) -> dict[str, object]:
    means = [row.milliseconds("resp") for row in warm]
    return {
        "interval_ns": round(seconds * NS_PER_S),
        "iops": [row.needed("rate") for row in warm],
        "latency_mean_ns": means,
    }


def _series(intervals: Sequence[Cells], stream: str, seconds: float) -> SeriesColumns:
    rows = no_rows()
    first = round(intervals[0].needed("Interval"))
    for row in intervals:
        number = round(row.needed("Interval"))
        if number < first:
            text = str(number)
            raise UserError(
                row.file, f"{row.position}, Interval", text, f"expected {first:,} or more, the first of its run"
            )
        begin = (number - first) * seconds
        for direction in DIRECTIONS:
            rate, mean_ms = _count(row, direction), _mean_ms(row, direction)
            mean_ns = mean_ms * 1e6 if mean_ms is not None and rate else None
            rows["time_ns"].append(round(begin * NS_PER_S))
            rows["stream"].append(stream)
            rows["direction"].append(direction)
            rows["iops"].append(rate)
            rows["bandwidth_bytes_per_s"].append(_volume(row, direction))
            rows["latency_mean_ns"].append(mean_ns)
            rows["latency_p99_ns"].append(None)
            rows["queue_depth"].append(None if mean_ns is None else rate * mean_ns / NS_PER_S)
    return rows
