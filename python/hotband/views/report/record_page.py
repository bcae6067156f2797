"""The page of one record, or of several side by side (`hotband report`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hotband.base.text.numbers import cell, number, rate, span
from hotband.data.documents.record import RecordDoc, side_of
from hotband.data.record import frames
from hotband.data.record.load import LoadedRecord
from hotband.data.record.states import state_words, states_of, unequal
from hotband.inference.audit import Audited, findings, shapes
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.rules import troubles
from hotband.questions.study import cellrows
from hotband.views.draw.charts import MINUTES, SECONDS, Clock
from hotband.views.draw.strokes import Strokes
from hotband.views.report import energy, sections, variants, wear
from hotband.views.report.answer import Answer, answer
from hotband.views.report.audit_page import audit_section
from hotband.views.report.beside import bars_blocks, comparison_table
from hotband.views.report.compared import comparison_section
from hotband.views.report.curve import curve_block
from hotband.views.report.hardware import hardware_sections
from hotband.views.report.naming import Naming, named, which_is_fastest
from hotband.views.report.page import Block, Cards, Cell, Group, Page, Prose, Section, Table, plain, unchecked
from hotband.views.report.repair import repair_blocks
from hotband.views.report.sweep_of_records import curve_sections_of
from hotband.views.report.verdicts import intervals_table, verdict_blocks

# Duration from which time axes are in minutes.
LONG_NS = 600e9


@unchecked()
def record_page(
    records: Sequence[LoadedRecord],
    title: str | None = None,
    *,
    audit: bool = False,
    machine: MachineFacts | None = None,
) -> Page:
    """Return a page that begins with the answer from the records, with a chart and a table; the evidence is folded.

    The default `title` names workload and machine. With `audit` it includes the findings on the records; `machine` has
    known facts about their target.
    """
    naming = named(records)
    by_label, answered = naming.records, answer(naming)
    looks = _Looks.of(naming, answered)
    # Curves over one number are in the answer, those over several numbers in separate sections.
    blocks = [Section("results", "Results", _results(naming, answered, looks))]
    blocks += [] if answered.curve else curve_sections_of(by_label)
    if audit:
        blocks.append(_audit(by_label, machine))
    if (compared := comparison_section(by_label)) is not None:
        blocks.append(compared)
    beside = hardware_sections(by_label)
    blocks += [section for section in beside if section.id == "expected"]
    repaired = repair_blocks(by_label)
    if repaired:
        blocks.append(Section("repair", "Failure and repair", repaired))
    runs = sections.run_sections(by_label, looks.strokes, looks.clock)
    open_charts = ("latency", "series") if len(by_label) <= sections.OVERLAID else ()
    blocks += [section for section in runs if section.id in open_charts]
    rest = [section for section in runs if section not in blocks]
    rest += [*_of_variants(by_label, looks), Section("figures", "All figures", _figures(by_label))]
    rest += [section for section in beside if section.id != "expected"]
    rest.append(Section("details", "Streams and parts", _details(by_label)))
    rest.append(Section("reproduction", "Reproduction", _reproduction(by_label)))
    blocks += [replace(section, folded=True) for section in rest if section.blocks]
    subtitle = naming.subtitle if len(by_label) != 1 else _about(next(iter(by_label.values())).record)
    subtitle = "; ".join(part for part in (naming.title if by_label else "", subtitle) if part)
    return Page(title or question_of(naming, answered), blocks, subtitle=subtitle, kicker="Hotband records")


def question_of(naming: Naming, answer: Answer) -> str:
    """Return the question that a page of records answers."""
    sides = list(naming.sides())
    if not naming.records:
        return "No records"
    if answer.curve is None and len(sides) > 1 and not answer.unlike:
        return which_is_fastest(sides)
    return f"How fast is {naming.title}?"


@dataclass(frozen=True)
class _Looks:
    """Settings shared by all charts of a page: the colour of each run, and the unit of time."""

    strokes: Strokes
    clock: Clock

    @classmethod
    def of(cls, naming: Naming, answer: Answer) -> _Looks:
        """Return the settings of a page: one colour per run, or per line of curves."""
        lines = _lines(naming, answer)
        labels, groups = list(lines), list(lines.values())
        longest = max((float(loaded.record["duration_ns"]) for loaded in naming.records.values()), default=0.0)
        return cls(Strokes.of(labels, groups), MINUTES if longest > LONG_NS else SECONDS)


def _lines(naming: Naming, answer: Answer) -> dict[str, str]:
    """Return the group of every record: its curve, its repeats, or only itself."""
    if answer.curve is not None:
        return {label: answer.curve.labels[label] for label in naming.records}
    return {label: side for side, labels in naming.sides().items() for label in labels}


def _audit(records: Mapping[str, LoadedRecord], machine: MachineFacts | None) -> Section:
    for label, loaded in records.items():
        shapes.check(label or loaded.label, loaded.record)
    results = [
        Audited(label, loaded.record, loaded.series, over_time=loaded.over_time) for label, loaded in records.items()
    ]
    return audit_section(findings(results, machine), len(results))


def _of_variants(records: Mapping[str, LoadedRecord], looks: _Looks) -> list[Section]:
    """Return sections on latency, cache contents, wear and power of drives, for the records that have them."""
    strokes, clock = looks.strokes, looks.clock
    parts = [
        ("io-time", "Where each I/O's time went", variants.io_time_block(records)),
        ("caches", "Caches over time", variants.caches_block(records, strokes, clock)),
        ("once", "Scripts that run once", variants.once_block(records, strokes, clock)),
        ("wear", "Write amplification", wear.amplification_block(records, strokes, clock)),
        ("power", "Power", energy.power_block(records, strokes, clock)),
    ]
    return [Section(name, title, [block]) for name, title, block in parts if block is not None]


def _about(record: RecordDoc) -> str:
    """Return the target and the duration in a line."""
    target = record["target"]
    machine = target.get("machine") or target.get("kind") or "an unnamed target"
    settings = _settings(record)
    changed = "" if settings == "none" else f", {settings}"
    verb = "simulated" if target.get("kind") == "model" else "measured"
    return f"{machine} ({target.get('kind', 'target')}), {verb} for {span(record['duration_ns'])}{changed}"


def _results(naming: Naming, answer: Answer, looks: _Looks) -> list[Block]:
    """Return the answer, the differences, and the figures in a chart and a table."""
    records = naming.records
    if not records:
        return [Prose(["There are no records to show."])]
    # The points of a curve, and repeats, share one state, which is printed once.
    lines = _lines(naming, answer)
    states = {
        (lines[label], str(state)): state for label, loaded in records.items() for state in [states_of(loaded.record)]
    }
    differ = unequal([(line, state) for (line, _), state in states.items()])
    blocks: list[Block] = [Prose([f"Not alike: {words}." for words in differ])] if differ else []
    several = len(records) > 1
    wrong = [words for label, loaded in records.items() for words in troubles(loaded.record, label if several else "")]
    blocks += [Prose([f"! {words}." for words in wrong])] if wrong else []
    blocks.append(Prose(list(answer.sentences), lead=True))
    if len(records) == 1:
        record = next(iter(records.values())).record
        blocks += [_cards(record), Prose([f"State of the drives: {state_words(record)}."])]
    elif answer.curve is not None:
        blocks.append(curve_block(answer.curve, looks.strokes))
    else:
        blocks += bars_blocks(records, looks.strokes)
    if len(records) > 1:
        states_said = {label: state_words(loaded.record) for label, loaded in records.items()}
        blocks.append(comparison_table(naming, answer, states_said, lines))
    return [*blocks, *verdict_blocks(records), *variants.power_loss_blocks(records), *sections.notes_blocks(records)]


def _figures(records: Mapping[str, LoadedRecord]) -> list[Block]:
    """Return reads and writes separately, with steps, scripts and operations, wear and energy."""
    groups = []
    for label, loaded in records.items():
        summary = loaded.record["summary"]
        rows = [sections.result_row("all", summary)]
        for direction, side in (("read", summary.get("read")), ("write", summary.get("write"))):
            if side and side.get("count"):
                rows.append(sections.result_row(direction, side, muted=True))
        groups.append(Group(rows, label if len(records) > 1 else ""))
    whys = [(label, cellrows.why(loaded.record)) for label, loaded in records.items()]
    tables = [
        Table(sections.RESULT_COLUMNS, groups, tight=True) if groups else None,
        intervals_table(records),
        variants.steps_table(records),
        variants.scripts_table(records),
        wear.operations_table(records),
    ]
    tables += [wear.smart_table(records), energy.energy_table(records), variants.why_table({"": whys})]
    return [table for table in tables if table is not None]


def _cards(record: RecordDoc) -> Cards:
    summary = record["summary"]
    return Cards(
        [
            (number(summary.get("iops")), "IOPS"),
            (rate(summary.get("bandwidth_bytes_per_s")), "bandwidth"),
            (span(summary.get("latency_mean_ns")), "mean latency"),
            (span(summary.get("latency_p99_ns")), "p99 latency"),
            (span(summary.get("latency_p999_ns")), "p99.9 latency"),
            (sections.whole(summary.get("errors")), "errors"),
        ]
    )


def _details(records: Mapping[str, LoadedRecord]) -> list[Block]:
    blocks: list[Block] = []
    rows = [
        (label, record_loaded)
        for label, loaded in records.items()
        if len(loaded.record["streams"]) > 1 and (record_loaded := _stream_rows(loaded.record))
    ]
    if rows:
        columns = ["Stream", "Direction", "I/Os", "IOPS", "Bandwidth", "Mean latency", "p99", "Max", "Errors"]
        groups = [Group(row, label if len(records) > 1 else "") for label, row in rows]
        blocks.append(Table(columns, groups, caption="Streams"))
    tables = [sections.parts_table(loaded.record, label) for label, loaded in records.items()]
    return blocks + [table for table in tables if table is not None]


def _stream_rows(record: RecordDoc) -> list[list[Cell]]:
    seconds = float(record["duration_ns"]) / 1e9
    rows = []
    for stream in record["streams"]:
        for direction in frames.DIRECTIONS:
            side = side_of(stream, direction)
            count = side.get("count") if side is not None else None
            if side is None or not count:
                continue
            total = side.get("latency_sum_ns")
            buckets = frames.buckets_of([stream], direction) or []
            texts = [
                sections.whole(count),
                number(count / seconds if seconds else None),
                rate((side.get("bytes") or 0) / seconds if seconds else None),
                span(int(total) / count if total is not None else None),
                span(frames.value_at(buckets, 0.99)),
                span(side.get("latency_max_ns")),
                sections.whole(side.get("errors")),
            ]
            name = [Cell(str(stream.get("name", ""))), Cell(direction)]
            rows.append(name + [Cell(text, numeric=True) for text in texts])
    return rows


def _reproduction(records: Mapping[str, LoadedRecord]) -> list[Block]:
    columns = ["Run", "Record", "Target", "Seed", "Settings", "Concurrency", "Duration", "Written by"]
    rows = [
        plain(
            [
                label,
                loaded.record["name"],
                f"{loaded.record['target'].get('machine', '')} ({loaded.record['target'].get('kind', '')})",
                cell(loaded.record.get("seed")),
                _settings(loaded.record),
                cell(loaded.record.get("concurrency")),
                span(loaded.record["duration_ns"]),
                sections.versions({label: loaded}),
            ]
        )
        for label, loaded in records.items()
    ]
    text = "The same workload, machine and seed give the same record, bit for bit."
    predicted = any(loaded.record["target"].get("kind", "model") == "model" for loaded in records.values())
    blocks: list[Block] = [*([Prose([text])] if predicted else []), Table(columns, [Group(rows)], tight=True)]
    return blocks + list(sections.spec_folds(records))


def _settings(record: RecordDoc) -> str:
    spec = record.get("spec") or {}
    settings = [f"{key}={value}" for key, value in (spec.get("set") or {}).items()]
    return ", ".join([*settings, *sections.events(spec)]) or "none"
