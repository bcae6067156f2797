"""Runs on a screen: rate and latency in a sentence, a row per direction with its distribution, and the state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.question import INVALID
from hotband.base.text.numbers import between, counted, number, percent, quantity, rate, span
from hotband.base.text.table import IOPS, MBS, MS, Column, Table, View, Whole, column, numeric, unit_of
from hotband.base.text.words import capitalized
from hotband.data.catalog.named import is_real
from hotband.data.record.expected import sentence_of
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.overload import MissedRate, is_bounded, missed_rate, only_script, overload_notes
from hotband.data.record.pools import pool_lines
from hotband.data.record.remarks import remarks_of
from hotband.data.record.repair import recovery_lines, repair_lines
from hotband.data.record.states import states_of, warm_up_words
from hotband.data.record.stats import failed_of, flush_latency, merge
from hotband.data.record.steady import of_phases
from hotband.data.record.stopped import stopped_words
from hotband.data.record.trace import comparison_lines, delay_lines
from hotband.data.record.unmodelled import other_notes, unmodelled_notes, why_no_interval
from hotband.inference.beside import beside, beside_lines, beside_table, unresolved
from hotband.questions.run.ran import judged_run
from hotband.questions.slo import at_rate, met_text, slo_of, verdict_of
from hotband.views.run import run_views
from hotband.views.text.screen import LINES, Screen, command, screen_table, with_hidden
from hotband.views.text.tables import PERCENTILES, caches_line, limits_lines, power_loss_lines, steady_lines

if TYPE_CHECKING:
    from hotband.data.documents.interval import FigureIntervalDoc
    from hotband.data.documents.record import FiguresDoc, RecordDoc, ScriptDoc
    from hotband.data.documents.sides import Histogram
    from hotband.questions.run.asked import RunQuestion
    from hotband.questions.run.ran import Emulation, Ran

BARS = "▁▂▃▄▅▆▇█"
BINS = 8
"""Characters of a distribution, all with the same width on the logarithmic scale of the screen."""
DIRECTIONS = ("read", "write", "flush", "trim")
MOST_REMARKS = 3
MOST_STEPS = 8
MOST_HAPPENED = LINES // 2
"""Most lines about events in a run; the evidence has all."""
PREDICTED = {"iops": "", "latency_mean_ns": "mean ", "latency_p99_ns": "p99 "}
"""Figures of a prediction next to a measurement, with their names if the unit does not imply them."""
DEPTHS = "qd=1,4,16,64"
"""Queue depths of the suggested sweep of a closed loop."""
RATES = (0.5, 1.0, 1.5, 2.0)
"""Rates of the suggested sweep of an open loop, as multiples of its rate."""
DECLARED = ("preconditioned first", "brought into", "converted from")
"""Parts of notes that the state line already contains."""


def terminal(ran: Ran, asked: RunQuestion) -> Screen:
    """Return what the terminal shows of a run, or of several on the same machine."""
    records = [done.record for done in ran.finished]
    files = [("I/O log", ran.io_log), ("Report", ran.report)]
    sentence = _sentence(records[-1], len(records))
    has_failed = any(record.get("passed") is False for record in records)
    judged = judged_run(slo_of(asked.slo), ran.finished[-1]) if asked.slo else ()
    met = met_text(asked.on.name, judged, at_rate(asked.rate, _unit(records[-1]))) if judged else ""
    invalid = invalid_words(records[-1]["serving"].get("invalid", ())) if "serving" in records[-1] else ""
    return Screen(
        answer=invalid or met or sentence,
        verdict="no" if invalid else verdict_of(judged) if judged else "no" if has_failed else "",
        more=[sentence] if judged or invalid else [],
        body=[_table(records[0]), *_happened(records[0])] if len(records) == 1 else [_overview(records)],
        state=[
            *dict.fromkeys(
                line
                for record in records
                for line in (state_line(record), caches_line(record), _rests_on(record))
                if line
            ),
            *(Whole(f"Record: {done.spec.out / RECORD_FILE}") for done in ran.finished if done.spec.out is not None),
            *(Whole(f"{name}: {path}") for name, path in files if path is not None),
        ],
        remarks=_remarks(records),
        next=_next(asked, records),
        details=[view for record in records for view in run_views(record)],
    )


def emulation(done: Emulation, question: RunQuestion) -> Screen:
    """Return the lines about a model and the emulated drive: fio's result, or why it is invalid, its distance from the
    model, and the delay."""
    found = done.found
    figures = beside(found.model.record, found.fio.record)
    table = beside_table(found)
    of_host = unresolved(found.model.record, found.fio.record)
    compared = [
        figure
        for figure in figures
        if figure.figure == "IOPS" or (figure.figure != "p99" and figure.direction not in of_host)
    ]
    far = max(compared, key=lambda figure: abs(figure.error_pct), default=None)
    largest = "" if far is None else f"{percent(far.error_pct)} ({far.direction} {far.figure})"
    differ = largest and f" Largest difference from the model: {largest}."
    invalid = invalid_words(found.invalid)
    measured = f"Measured on the emulated drive: {_sentence(found.fio.record, 1)}{differ}"
    judged = judged_run(slo_of(question.slo), found.fio) if question.slo else ()
    sentence = met_text(question.on.name, judged, at_rate(question.rate)) if judged else measured
    model, files = found.model.record, [("I/O log", question.io_log), ("Report", done.report)]
    return Screen(
        answer=invalid or sentence,
        verdict="no" if invalid else verdict_of(judged) if judged else "",
        more=[measured] if invalid or judged else [],
        body=[replace(table, title="", borderless=True)],
        state=[
            *([f"Model: {_sentence(model, 1)}"] if "intervals" in model else []),
            *(Whole(f"{name}: {path}") for name, path in files if path is not None),
        ],
        remarks=[line.strip() for line in beside_lines(found) if not invalid.endswith(f"{line}.")][:MOST_REMARKS],
        next=question,
        details=[table, *beside_lines(found)],
    )


def invalid_words(reasons: Sequence[str]) -> str:
    """Return the first line of an invalid result; empty without a reason."""
    return f"The result is {INVALID}: {reasons[0]}." if reasons else ""


def _sentence(record: RecordDoc, runs: int) -> str:
    """Return rate and p99 latency with its interval; for several runs those of the last."""
    summary = record["summary"]
    trims = summary.get("trim")
    if not summary["count"] and trims is not None and trims["count"]:
        moved = f"{quantity(trims['iops'], 'trims/s')}, {rate(trims['bandwidth_bytes_per_s'])}"
        return f"{moved}. p99 {span(trims['latency_p99_ns'])}."
    if not summary["count"]:
        failed = f": {summary['errors']:,} failed" if summary["errors"] else ""
        return f"No I/O was completed{failed}."
    rates = f"{quantity(summary['iops'], 'IOPS')}, {rate(summary['bandwidth_bytes_per_s'])}"
    p99 = f"p99 {span(summary['latency_p99_ns'])}{_between(record, 'latency_p99_ns', 'iops')}"
    which = f"Run {runs} of {runs}: " if runs > 1 else ""
    missed, script = missed_rate(record), only_script(record)
    if script is not None and (script["completed"] or missed is not None):
        of_ios = f"{rates}{_between(record, 'iops')}, {p99}{_flushed(record)}"
        return f"{which}{_transactions(record, script, missed)}. {of_ios}."
    if missed is not None:
        name = record["target"]["machine"]
        rates = f"{name} {missed.words}, {rate(summary['bandwidth_bytes_per_s'])}"
    late = missed and (" without the wait of late I/Os" if is_bounded(record) else ", growing throughout the run")
    return f"{which}{rates}{_between(record, 'iops')}. {p99}{late or ''}{_flushed(record)}."


def _unit(record: RecordDoc) -> str:
    """Return what a rate of the load counts."""
    script = only_script(record)
    return "IOPS" if script is None else f"{script['unit']}s/s"


def _transactions(record: RecordDoc, script: ScriptDoc, missed: MissedRate | None) -> str:
    """Return rate and p99 latency of a script's runs."""
    p99 = f", p99 {span(script['duration_p99_ns'])}" if script["completed"] else ""
    if missed is None:
        return f"{quantity(script['per_second'], _unit(record))}{p99}"
    return f"{record['target']['machine']} {missed.words}{p99 and f'{p99}, growing throughout the run'}"


def _flushed(record: RecordDoc) -> str:
    """Return the p99 latency of the flushes, under fio's name for them."""
    p99 = flush_latency(record, "latency_p99_ns")
    text = record["spec"].get("workload", "")
    word = next((word for word in ("fdatasync", "fsync") if f": {word}=" in text), "flush")
    if p99 is None:
        return ""
    return f"; {word} p99 {span(p99)}"


def _between(record: RecordDoc, figure: str, before: str = "") -> str:
    """Return the interval of a figure in brackets; with its level, unless the figure `before` it stated that."""
    known: dict[str, FigureIntervalDoc] = {one["figure"]: one for one in record.get("intervals", {}).get("figures", [])}
    if figure not in known:
        return ""
    level = "" if before in known else f"{known[figure]['level']:g} % interval "
    return f" ({level}{between(known[figure]['low'], known[figure]['high'], unit_of(figure).shown)})"


def _happened(record: RecordDoc) -> list[View]:
    """Return how a measurement and a replay compare, whether limits were met, and the effects of power loss and
    failures."""
    lines: list[View] = [
        *_expected(record),
        *_scripts(record),
        *limits_lines(record),
        *power_loss_lines(record),
        *repair_lines(record),
    ]
    lines += recovery_lines(record)
    lines += [line for verdict in of_phases(record) for line in steady_lines(verdict)[:2]]
    lines += comparison_lines(record)[:2]
    return lines[:MOST_HAPPENED]


def _expected(record: RecordDoc) -> list[str]:
    """Return the verdict on hardware, and the prediction next to what was measured; nothing without a prediction."""
    expected = record.get("expected")
    if expected is None:
        return []
    figures = {figure["figure"]: figure for row in expected["rows"] for figure in row["figures"]}
    beside = []
    for name, label in PREDICTED.items():
        if (figure := figures.get(name)) is not None:
            shown = unit_of(name).shown
            low, high = figure["low"], figure["high"]
            ends = "" if low is None or high is None else f" ({between(low, high, shown)})"
            beside.append(f"{label}{shown(figure['measured'])} measured, {shown(figure['predicted'])} predicted{ends}")
    return [f"{sentence_of(expected)}.", *(f"  {line}" for line in beside)]


def _scripts(record: RecordDoc) -> list[str]:
    """Return the rates of scripts and of an application's operations."""
    rates = [
        f"{script['name']}: {number(script['per_second'])} {script['unit']}s/s, p99 {span(script['duration_p99_ns'])}"
        for script in record.get("scripts", [])
        if only_script(record) is None
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
    """Return the latencies of some directions, without buckets if a tool's buckets cannot be added."""
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


def state_line(record: RecordDoc) -> str:
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
    parts += [*pool_lines(record), *warm_up_words(record), *stopped_words(record)]
    if (energy := record.get("energy")) is not None:
        parts.append(quantity(energy["mean_w"], "W"))
    return ", ".join(parts)


def _held(holds: str | None, scale: int) -> str:
    size = f"1/{scale}-size model" if scale > 1 else ""
    return f"{holds} ({size})" if holds and size else holds or size


def _remarks(records: Sequence[RecordDoc]) -> list[str]:
    """Return remarks that change what to do: errors, effects that are not modelled, and notes."""
    failed = sum(failed_of(record["summary"]) for record in records)
    remarks = [f"{counted(failed, 'I/O')} ended with an error."] if failed else []
    remarks += [note for record in records for note in (*unmodelled_notes(record), *remarks_of(record))]
    remarks += [line for record in records for line in delay_lines(record)]
    remarks += [
        _no_interval(record) for record in records if "intervals" in record and not record["intervals"]["figures"]
    ]
    notes = [note for record in records for note in record.get("intervals", {}).get("notes", [])]
    notes += [note for record in records for note in other_notes(record)]
    # The answer states a rate that is missed.
    missed = {note for record in records for note in overload_notes(record)}
    remarks += [note for note in notes if note not in missed and not any(part in note for part in DECLARED)]
    return with_hidden(list(dict.fromkeys(remarks)), MOST_REMARKS)


def _rests_on(record: RecordDoc) -> str:
    """Return the evidence for the intervals of a run; nothing if it has none."""
    evidence = record.get("intervals", {}).get("rests_on", "")
    return f"{evidence}." if evidence else ""


def _no_interval(record: RecordDoc) -> str:
    """Return why a run has none of the intervals that were requested."""
    reason = why_no_interval(record) or "no interval"
    return f"{capitalized(reason)}."


def _next(asked: RunQuestion, records: Sequence[RecordDoc]) -> str | RunQuestion:
    """Return a sweep over queue depth for a closed loop on a model; for other runs their details."""
    record = records[0]
    is_loop = bool(record["concurrency"]) and not {"app", "scripts", "trace", "traces"} & set(record)
    is_plain = not (asked.then or asked.fail or asked.power_loss or asked.spares)
    if not is_plain or is_real(asked.on.name):
        return asked
    if asked.rate is not None:
        # Beyond the rate that the machine reaches, latencies only measure how long the run is.
        missed = missed_rate(record)
        middle = float(asked.rate) if missed is None else float(f"{missed.served:.2g}") / RATES[-1]
        # Three digits: a point before three more is read as one between thousands.
        rates = ",".join(f"{float(f'{middle * factor:.3g}'):.15g}" for factor in RATES)
        return _sweep(asked, rate=rates, set=[f"{key}={value}" for key, value in asked.settings])
    if not is_loop:
        return asked
    settings = [f"{key}={value}" for key, value in asked.settings if key != "qd"]
    return _sweep(asked, set=[*settings, DEPTHS])


def _sweep(asked: RunQuestion, **options: object) -> str:
    """Return a sweep of the same workload on the same machine."""
    shared = {"duration": asked.duration, "event": asked.events, "slo": asked.slo}
    return command("sweep", asked.workload.name, on=asked.on.name, **shared, **options)
