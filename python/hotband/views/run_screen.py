"""Runs on a screen: rate and latency in a sentence, a row per direction with its distribution, and the state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import between, counted, number, quantity, rate, span
from hotband.base.text.table import IOPS, MBS, MS, Column, Table, View, Whole, column, numeric, unit_of
from hotband.data.catalog.named import is_real
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.repair import repair_lines
from hotband.data.record.states import states_of, warm_up_words
from hotband.data.record.stats import merge
from hotband.data.record.steady import of_phases
from hotband.data.record.stopped import stopped_words
from hotband.data.record.trace import comparison_lines
from hotband.data.record.unmodelled import other_notes, unmodelled_notes, why_no_interval
from hotband.views.run import run_views
from hotband.views.text.screen import DETAILS, LINES, Screen, command, screen_table
from hotband.views.text.tables import PERCENTILES, caches_line, limits_lines, power_loss_lines, steady_lines

if TYPE_CHECKING:
    from hotband.data.documents.interval import FigureIntervalDoc
    from hotband.data.documents.record import FiguresDoc, RecordDoc
    from hotband.data.documents.sides import Histogram
    from hotband.questions.run.asked import RunQuestion
    from hotband.questions.run.ran import Ran

BARS = "▁▂▃▄▅▆▇█"
BINS = 8
"""Characters of a distribution, of equal width on a logarithmic scale that all rows share."""
DIRECTIONS = ("read", "write", "flush", "trim")
MOST_REMARKS = 3
MOST_STEPS = 8
MOST_HAPPENED = LINES // 2
"""Lines on what happened in a run; the evidence has all."""
DEPTHS = "qd=1,4,16,64"
"""What the next sweep of a closed loop varies."""
DECLARED = ("preconditioned first", "brought into")
"""Parts of notes that the state line repeats."""


def terminal(ran: Ran, asked: RunQuestion) -> Screen:
    """Return what the terminal shows of a run, or of several on the same machine."""
    records = [done.record for done in ran.finished]
    files = [("I/O log", ran.io_log), ("Report", ran.report)]
    return Screen(
        answer=_sentence(records[-1], len(records)),
        verdict="no" if any(record.get("passed") is False for record in records) else "",
        body=[_table(records[0]), *_happened(records[0])] if len(records) == 1 else [_overview(records)],
        state=[
            *dict.fromkeys(line for record in records for line in (_state(record), caches_line(record)) if line),
            *(Whole(f"Record: {done.spec.out / RECORD_FILE}") for done in ran.finished if done.spec.out is not None),
            *(Whole(f"{name}: {path}") for name, path in files if path is not None),
        ],
        remarks=_remarks(records),
        next=_next(asked, records),
        details=[view for record in records for view in run_views(record)],
    )


def _sentence(record: RecordDoc, runs: int) -> str:
    """Return rate and p99 latency with its interval; of several runs those of the last."""
    summary = record["summary"]
    if not summary["count"]:
        failed = f": {summary['errors']:,} failed" if summary["errors"] else ""
        return f"No I/O was completed{failed}."
    rates = f"{quantity(summary['iops'], 'IOPS')}, {rate(summary['bandwidth_bytes_per_s'])}"
    p99 = f"p99 {span(summary['latency_p99_ns'])}{_between(record, 'latency_p99_ns', 'iops')}"
    return f"{f'Run {runs} of {runs}: ' if runs > 1 else ''}{rates}{_between(record, 'iops')}. {p99}."


def _between(record: RecordDoc, figure: str, before: str = "") -> str:
    """Return the interval of a figure in brackets, its level where no figure `before` it has stated that."""
    known: dict[str, FigureIntervalDoc] = {one["figure"]: one for one in record.get("intervals", {}).get("figures", [])}
    if figure not in known:
        return ""
    level = "" if before in known else f"{known[figure]['level']:g} % interval "
    return f" ({level}{between(known[figure]['low'], known[figure]['high'], unit_of(figure).shown)})"


def _happened(record: RecordDoc) -> list[View]:
    """Return whether limits were met, what power loss and failures did, and how a replay compares."""
    lines: list[View] = [*_scripts(record), *limits_lines(record), *power_loss_lines(record), *repair_lines(record)]
    lines += [line for verdict in of_phases(record) for line in steady_lines(verdict)[:2]]
    if "comparison" in record:
        lines += comparison_lines(record["comparison"])[:2]
    return lines[:MOST_HAPPENED]


def _scripts(record: RecordDoc) -> list[str]:
    """Return the rates of scripts and of an application's operations."""
    rates = [
        f"{script['name']}: {number(script['per_second'])} {script['unit']}s/s, p99 {span(script['duration_p99_ns'])}"
        for script in record.get("scripts", [])
    ]
    if (app := record.get("app")) is not None:
        rates.append(f"{app['kind']}: {number(app['achieved_ops_per_s'])} operations/s")
    return rates


def _table(record: RecordDoc) -> Table:
    """Return a row per direction and one of all I/Os, each with its distribution, then a row per step."""
    table = screen_table([column(""), *_columns(), column("", wrap=False, width=BINS)])
    summary = record["summary"]
    by_name: list[tuple[str, FiguresDoc]] = [
        (name, summary[name])  # type: ignore[literal-required]
        for name in DIRECTIONS
        if name in summary
    ]
    shown = [(name, figures) for name, figures in by_name if figures["count"] or figures["errors"]]
    rows: list[tuple[str, FiguresDoc]] = [*shown, ("all", summary)] if len(shown) != 1 else shown
    histograms = [_histogram(record, (name,) if name != "all" else DIRECTIONS[:2]) for name, _ in rows]
    for (name, figures), drawn in zip(rows, distributions(histograms), strict=True):
        table.add(name, *_figures(figures), drawn)
    for step in record.get("steps", [])[:MOST_STEPS]:
        table.add(step["name"], *_figures(step["summary"]), "")
    return table


def _overview(records: Sequence[RecordDoc]) -> Table:
    """Return a row per run, in order."""
    table = screen_table([column("run"), *_columns(), column("", wrap=False, width=BINS)])
    drawn = distributions([_histogram(record, DIRECTIONS[:2]) for record in records])
    for n, (record, distribution) in enumerate(zip(records, drawn, strict=True), 1):
        table.add(f"{n}", *_figures(record["summary"]), distribution)
    return table


def _columns() -> list[Column]:
    return [
        numeric("IOPS", IOPS),
        numeric("MB/s", MBS),
        *(numeric(name, MS) for name in ("mean", *(name for name, _ in PERCENTILES))),
    ]


def _figures(figures: FiguresDoc) -> list[float | None]:
    latencies = [figures[key] for _, key in PERCENTILES]
    return [figures["iops"], figures["bandwidth_bytes_per_s"], figures["latency_mean_ns"], *latencies]


def _histogram(record: RecordDoc, directions: Sequence[str]) -> Histogram:
    """Return the latencies of some directions; without buckets where a tool left none that can be added."""
    sides = [stream[name] for stream in record["streams"] for name in directions if name in stream]  # type: ignore[literal-required]
    histograms = [side["histogram"] for side in sides if side["count"]]
    kinds = {histogram["kind"] for histogram in histograms}
    return merge(histograms) if len(kinds) == 1 else {"kind": "none", "buckets": []}


def distributions(histograms: Sequence[Histogram]) -> list[str]:
    """Draw latency distributions on one logarithmic scale, each bar relative to the highest of its row."""
    values = [max(value, 1) for histogram in histograms for value, _ in histogram["buckets"]]
    if not values:
        return ["" for _ in histograms]
    low, high = math.log(min(values)), math.log(max(values))
    width = (high - low) / BINS or 1.0
    drawn = []
    for histogram in histograms:
        counts = [0] * BINS
        for value, count in histogram["buckets"]:
            counts[min(int((math.log(max(value, 1)) - low) / width), BINS - 1)] += count
        top = max(counts) or 1
        drawn.append("".join(BARS[math.ceil(count / top * len(BARS)) - 1] if count else " " for count in counts))
    return [text.rstrip() for text in drawn]


def _state(record: RecordDoc) -> str:
    """Return number and state of the drives, warm-up and power in one line."""
    states = states_of(record)
    parts = [record["name"]]
    if states is not None:
        alike = states["drives"]
        parts.append(counted(sum(len(one["drives"]) for one in alike), "drive"))
        held = dict.fromkeys(_held(one["holds"], one["scale"]) for one in alike)
        caches = dict.fromkeys(f"write cache {one['write_cache']}" for one in alike)
        parts += [part for part in (" and ".join(held), " and ".join(caches)) if part]
        parts += [f"controller cache {one['write_cache']}" for one in states.get("controllers", [])]
    parts += [*warm_up_words(record), *stopped_words(record)]
    if (energy := record.get("energy")) is not None:
        parts.append(quantity(energy["mean_w"], "W"))
    return ", ".join(parts)


def _held(holds: str | None, scale: int) -> str:
    size = f"1/{scale}-size model" if scale > 1 else ""
    return f"{holds} ({size})" if holds and size else holds or size


def _remarks(records: Sequence[RecordDoc]) -> list[str]:
    """Return what changes what to do: errors, effects that are not modelled, and notes."""
    failed = sum(record["summary"]["errors"] for record in records)
    remarks = [f"{counted(failed, 'I/O')} ended with an error."] if failed else []
    remarks += [note for record in records for note in unmodelled_notes(record)]
    remarks += [
        _no_interval(record) for record in records if "intervals" in record and not record["intervals"]["figures"]
    ]
    notes = [note for record in records for note in record.get("intervals", {}).get("notes", [])]
    notes += [note for record in records for note in other_notes(record)]
    remarks += [note for note in notes if not any(part in note for part in DECLARED)]
    remarks = list(dict.fromkeys(remarks))
    hidden = len(remarks) - MOST_REMARKS
    return [*remarks[:MOST_REMARKS], *([f"{counted(hidden, 'more note')}: {DETAILS}"] if hidden > 0 else [])]


def _no_interval(record: RecordDoc) -> str:
    """Return why a run has none of the intervals that were requested."""
    reason = why_no_interval(record) or "no interval"
    return f"{reason[0].upper()}{reason[1:]}."


def _next(asked: RunQuestion, records: Sequence[RecordDoc]) -> str | RunQuestion:
    """Return a sweep of the queue depth of a closed loop on a model; of any other run its details."""
    record = records[0]
    is_loop = bool(record["concurrency"]) and not {"app", "scripts", "trace", "traces"} & set(record)
    is_plain = not (asked.then or asked.fail or asked.power_loss or asked.spares)
    if not (is_loop and is_plain) or is_real(asked.on.name):
        return asked
    settings = [f"{key}={value}" for key, value in asked.settings if key != "qd"]
    return command(
        "sweep",
        asked.workload.name,
        on=asked.on.name,
        duration=asked.duration,
        event=asked.events,
        set=[*settings, DEPTHS],
    )
