"""Divide records into rounds for the steady state rule.

A record with a series is judged on its own, in rounds of its measured time. Records without one (most of fio's) are one
round each, in the given order, because scripts that follow the PTS run fio once per round; those of equal loads are
judged together. In a series cut by a step's end, a row in two rounds is divided between them by time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.data.documents.record import RecordDoc, VerdictDoc, interval_of, source_file
from hotband.data.record.load import LoadedRecord, load_record
from hotband.data.record.stats import DIRECTIONS
from hotband.data.record.steady import TRACKS, Rounds, of_phases, verdict

if TYPE_CHECKING:
    from hotband.data.record.record import Record

# The PTS's round: one minute.
ROUND_NS = 60_000_000_000
MOST_ROUNDS = 1_000_000
"""Most rounds, which are eleven days in seconds: more are a mistake, or need longer rounds."""
OF_LOAD = ("pattern", "block_bytes", "read_pct", "rate_iops", "concurrency", "working_set_bytes")
OF_RUN = ("machine", "workload", "set")
# Largest relative difference, without a note, between the durations of rounds that are one record each.
_SAME_TIME = 0.01


def judge(given: Sequence[Path | LoadedRecord | Record], round_text: str | None, track: str | None) -> list[VerdictDoc]:
    """Judge records on disk or in memory by the rule of steady state, one entry per verdict. Raises UserError."""
    if track is not None and track not in TRACKS:
        raise UserError("question.track", "", track, f"expected one of {', '.join(TRACKS)}")
    round_ns = None if round_text is None else span_ns(round_text)
    if round_text is not None and round_ns is None:
        raise UserError("question.round", "", round_text, f"expected {SPAN_EXPECTED}")
    verdicts: list[VerdictDoc] = []
    single: list[tuple[Path, LoadedRecord]] = []
    for item in given:
        path, loaded = _loaded(item)
        run_verdicts = of_phases(loaded.record)
        verdicts += run_verdicts
        asked_track = track or (run_verdicts[-1]["track"] if run_verdicts else "iops")
        asked_round = round_ns or (run_verdicts[-1]["round_ns"] if run_verdicts else ROUND_NS)
        if loaded.series is not None:
            verdicts.append(verdict(_of_series(path, loaded, asked_round, asked_track)))
        elif "samples" in loaded.record:
            verdicts.append(verdict(_of_samples(path, loaded.record, asked_round, asked_track)))
        else:
            single.append((path, loaded))
    by_load: dict[str, list[tuple[Path, LoadedRecord]]] = {}
    for path, loaded in single:
        by_load.setdefault(_load_of(loaded.record), []).append((path, loaded))
    several = len(by_load) > 1
    return verdicts + [verdict(_one_each(alike, track or "iops", round_text, several)) for alike in by_load.values()]


def _load_of(record: RecordDoc) -> str:
    """Return the target and the load of a record as text that can be compared, with the directions of its I/Os, as far
    as the record states them."""
    source, spec, summary = record.get("source"), record.get("spec") or {}, record["summary"]
    requested: Mapping[str, object] = (source.get("asked") if source else None) or {}
    parts: list[object] = [requested.get(key) for key in OF_LOAD]
    parts += [source.get(key) for key in ("target", "host")] if source else [spec.get(key) for key in OF_RUN]
    parts += [bool((summary.get(direction) or {}).get("count")) for direction in DIRECTIONS]
    return json.dumps(parts)


def _loaded(item: Path | LoadedRecord | Record) -> tuple[Path, LoadedRecord]:
    """Return a record with the path that errors name."""
    if isinstance(item, Path):
        return item, load_record(item)
    return (Path(item.label), item) if isinstance(item, LoadedRecord) else (Path(item.name), item.loaded())


def _of_series(path: Path, loaded: LoadedRecord, round_ns: float, track: str) -> Rounds:
    record, series = loaded.record, loaded.series
    assert series is not None
    interval = interval_of(record)
    if not isinstance(interval, int) or isinstance(interval, bool) or interval <= 0:
        raise UserError(str(path), "series.interval_ns", str(interval), "expected a number of nanoseconds above zero")
    _check_multiple(round_ns, interval, record["name"])
    column = "bandwidth_bytes_per_s"
    if column not in series.columns:
        raise UserError(str(path), "series", column, "missing from the record's series")
    rounds = record["duration_ns"] // round_ns
    if rounds > MOST_ROUNDS:
        many = f"{rounds:,.0f} of {round_ns / 1e9:g} s: expected a longer question.round"
        accepted = f"expected at most {MOST_ROUNDS:,} rounds, not {many}"
        raise UserError(str(path), "duration_ns", str(record["duration_ns"]), accepted)
    values = round_values(series, record["duration_ns"], interval, round_ns, track)
    notes = []
    steps = len(record.get("steps", []))
    if steps:
        notes.append(f"the record has {steps} steps; they are judged together")
    rest = record["duration_ns"] - len(values) * round_ns
    if rest >= interval and values:
        notes.append(f"the last {rest / 1e9:g} s are not a whole round and are ignored")
    notes += _new_drives(record)
    return Rounds(record["name"], track, round_ns, values, notes, _short(values, round_ns, record["duration_ns"]))


def _new_drives(record: RecordDoc) -> list[str]:
    """Return a note on drives that had not been written: their first rate may be level, too."""
    state = record.get("drive_state")
    groups = state.get("drives") or [] if state else []
    new = [drive for group in groups if group.get("holds") == "new" for drive in group["drives"]]
    be = "was" if len(new) == 1 else "were"
    return [f"{', '.join(new[:3])} {be} new: this is no steady state of a drive in use, precondition it"] if new else []


def round_values(
    series: pl.DataFrame, duration_ns: float, interval_ns: float, round_ns: float, track: str
) -> list[float]:
    """Return the tracked value of every whole round, from the rows of a series over all streams and directions.

    A round without I/O has latency zero, which is never steady with others.
    """
    whole = int(duration_ns // round_ns)
    times = series.select(pl.col("time_ns").unique().sort())
    length = (pl.col("time_ns").shift(-1).fill_null(duration_ns) - pl.col("time_ns")).clip(0, interval_ns)
    rows = series.join(times.with_columns(length.alias("length")), on="time_ns").with_columns(
        (pl.col("time_ns") // round_ns).alias("round")
    )
    in_first = pl.min_horizontal(pl.col("length"), (pl.col("round") + 1) * round_ns - pl.col("time_ns"))
    first = rows.with_columns(in_first.alias("part"))
    second = rows.with_columns((pl.col("length") - in_first).alias("part"), (pl.col("round") + 1).alias("round"))
    ios = pl.col("iops") * pl.col("part") / 1e9
    sums = (
        pl.concat([first, second.filter(pl.col("part") > 0)])
        .group_by("round")
        .agg(
            ios.sum().alias("iops"),
            (pl.col("bandwidth_bytes_per_s") * pl.col("part") / 1e9).sum().alias("bandwidth"),
            (ios * pl.col("latency_mean_ns").fill_null(0)).sum().alias("waited"),
        )
    )
    by_round = {int(row["round"]): row for row in sums.iter_rows(named=True)}
    seconds = round_ns / 1e9
    values = []
    for number in range(whole):
        row = by_round.get(number, {"iops": 0.0, "bandwidth": 0.0, "waited": 0.0})
        mean = row["waited"] / row["iops"] if row["iops"] else 0.0
        values.append(mean if track == "latency" else row[track] / seconds)
    return values


def _of_samples(path: Path, record: RecordDoc, round_ns: float, track: str) -> Rounds:
    """Return rounds from the samples that fio stores when it checks for steady state."""
    samples, key = record["samples"], TRACKS[track][1]
    values = samples.get(key) if isinstance(samples, dict) else None
    if track == "latency" and isinstance(samples, dict):
        raise UserError("question.track", "", track, f"{record['name']} has samples of iops and bandwidth only")
    interval = samples.get("interval_ns") if isinstance(samples, dict) else None
    if not isinstance(interval, int | float) or isinstance(interval, bool) or not interval > 0:
        raise UserError(str(path), "samples.interval_ns", str(interval), "expected a number of nanoseconds above zero")
    if not isinstance(values, list) or not all(_is_number(value) for value in values):
        raise UserError(str(path), f"samples.{key}", str(values)[:60], "expected a list of numbers")
    _check_multiple(round_ns, interval, record["name"])
    each = round(round_ns / interval)
    pieces = [values[at : at + each] for at in range(0, len(values) - each + 1, each)]
    means = [math.fsum(piece) / each for piece in pieces]
    notes = [f"of the last {len(values) * interval / 1e9:g} s, which is all that fio stores"]
    return Rounds(record["name"], track, round_ns, means, notes, _short(means, round_ns, len(values) * interval))


def _one_each(
    records: Sequence[tuple[Path, LoadedRecord]], track: str, round_text: str | None, several: bool
) -> Rounds:
    """Return records of one load without a series as one round each, in the given order, under the names of their files
    if there are `several` loads, whose records often share a name."""
    unit, key = TRACKS[track]
    values, notes = [], []
    for path, loaded in records:
        value: object = loaded.record["summary"].get(key)
        if not isinstance(value, int | float) or not _is_number(value):
            raise UserError(str(path), f"summary.{key}", str(value), f"expected a number, to be tracked in {unit}")
        values.append(float(value))
    times = [loaded.record["duration_ns"] for _, loaded in records]
    if min(times) < (1 - _SAME_TIME) * max(times):
        notes.append(f"the rounds took {min(times) / 1e9:g} s to {max(times) / 1e9:g} s")
    if round_text is not None:
        notes.append("without a series a record is one round: the requested length does not apply")
    files = [PurePath(source_file(loaded.record)).name if several else "" for _, loaded in records]
    names = [file or loaded.record["name"] for file, (_, loaded) in zip(files, records, strict=True)]
    name = names[0] if len(set(names)) == 1 else f"{names[0]} .. {names[-1]}"
    if len(records) > 1:
        name = f"{name} ({len(records)} records, one round each)"
    only = "the only record of its load" if several else "a record"
    short = f"{only} without a series is one round: pass the records of all rounds" if len(records) == 1 else ""
    return Rounds(name, track, math.fsum(times) / len(times), values, notes, short)


def _short(values: list[float], round_ns: float, duration_ns: float) -> str:
    """Return why there are too few rounds, if a shorter round would give more."""
    if len(values) >= _core.STEADY_WINDOW:
        return ""
    rounds = "1 round" if len(values) == 1 else f"{len(values)} rounds"
    needed = f"{_core.STEADY_WINDOW} are needed (a shorter round gives more)"
    return f"{duration_ns / 1e9:g} s are {rounds} of {round_ns / 1e9:g} s: {needed}"


def _check_multiple(round_ns: float, interval_ns: float, name: str) -> None:
    """Check that rounds are whole intervals."""
    count = round_ns / interval_ns
    if count < 1 or abs(count - round(count)) > 1e-9 * count:
        accepted = f"expected a multiple of {interval_ns / 1e9:g} s, the interval of {name}"
        raise UserError("question.round", "", f"{round_ns / 1e9:g} s", accepted)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
