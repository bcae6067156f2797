"""The page of one record or of several beside each other (`hotband report`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.record.document import side_of
from hotband.record.states import state_lines, states_of, unequal
from hotband.report import energy, frames, sections, variants, wear
from hotband.report.intervals import intervals_table
from hotband.report.page import Block, Cards, Cell, Group, Page, Prose, Section, Table, plain
from hotband.report.repair import repair_blocks
from hotband.report.text import cell, number, rate, span
from hotband.report.verdicts import verdict_blocks
from hotband.study import cellrows
from hotband.sweeps.of_records import curve_sections_of

if TYPE_CHECKING:
    from hotband.audit.facts import MachineFacts
    from hotband.record.document import DriveStatesDoc, RecordDoc
    from hotband.report.load import LoadedRecord


def record_page(
    records: Sequence[LoadedRecord], title: str, *, audit: bool = False, machine: MachineFacts | None = None
) -> Page:
    """A page with what was measured, the latency distribution, the series, the parts and the specs.

    With `audit` what the auditor says of the records, too; `machine` is what is known of their target.
    """
    named = frames.unique_labels(records)
    blocks = [*curve_sections_of(named), Section("results", "Results", _results(named))]
    if audit:
        blocks.append(_audit(named, machine))
    repaired = repair_blocks(named)
    if repaired:
        blocks.append(Section("repair", "Failure and repair", repaired))
    blocks += [*_of_variants(named), *sections.run_sections(named)]
    details = _details(named)
    if details:
        blocks.append(Section("details", "Streams and parts", details))
    blocks.append(Section("reproduction", "Reproduction", _reproduction(named)))
    subtitle = f"{len(named)} records" if len(named) != 1 else _about(next(iter(named.values())).record)
    return Page(title, blocks, subtitle=subtitle, kicker="Hotband records")


def _audit(records: Mapping[str, LoadedRecord], machine: MachineFacts | None) -> Section:
    from hotband.audit import Audited, findings, shapes
    from hotband.report.audit_page import audit_section

    for label, loaded in records.items():
        shapes.check(label, loaded.record)
    results = [Audited(label, loaded.record, loaded.series) for label, loaded in records.items()]
    return audit_section(findings(results, machine), len(results))


def _of_variants(records: Mapping[str, LoadedRecord]) -> list[Section]:
    """Where an I/O's time went, how caches filled, drives wore and what they drew, of the records that tell."""
    time = variants.io_time_block(records)
    once = variants.once_block(records)
    found = [
        ("io-time", "Where each I/O's time went", time),
        ("caches", "Caches over time", variants.caches_block(records)),
        ("once", "Scripts that run once", once),
        ("wear", "Write amplification", wear.amplification_block(records)),
        ("power", "Power", energy.power_block(records)),
    ]
    return [Section(name, title, [block]) for name, title, block in found if block is not None]


def _about(record: RecordDoc) -> str:
    """Where and for how long, in a line."""
    target = record["target"]
    machine = target.get("machine") or target.get("kind") or "an unnamed target"
    return f"{machine} ({target.get('kind', 'target')}), measured for {span(record['duration_ns'])}"


def _results(records: Mapping[str, LoadedRecord]) -> list[Block]:
    if not records:
        return [Prose(["There are no records to show."])]
    states = {label: states_of(loaded.record) for label, loaded in records.items()}
    differ = unequal(list(states.items()))
    blocks: list[Block] = [Prose([f"Not alike: {words}." for words in differ])] if differ else []
    if len(records) == 1:
        blocks.append(_cards(next(iter(records.values())).record))
    groups = []
    for label, loaded in records.items():
        summary = loaded.record["summary"]
        rows = [sections.result_row("all", summary)]
        for direction, side in (("read", summary.get("read")), ("write", summary.get("write"))):
            if side and side.get("count"):
                rows.append(sections.result_row(direction, side, muted=True))
        groups.append(Group(rows, label if len(records) > 1 else ""))
    blocks.append(Table(sections.RESULT_COLUMNS, groups, tight=True))
    blocks.append(_states(states))
    whys = [(label, cellrows.why(loaded.record)) for label, loaded in records.items()]
    tables = [
        intervals_table(records),
        variants.steps_table(records),
        variants.scripts_table(records),
        wear.operations_table(records),
    ]
    tables += [wear.smart_table(records), energy.energy_table(records), variants.why_table({"": whys})]
    blocks += [table for table in tables if table is not None]
    verdicts = verdict_blocks(records)
    return blocks + verdicts + variants.power_loss_blocks(records) + sections.notes_blocks(records)


def _states(states: Mapping[str, DriveStatesDoc | None]) -> Table:
    """How the drives of each record were set, and what they held."""
    rows = [plain([label, words]) for label, of in states.items() for words in state_lines(of)]
    return Table(["Run", "State of drives"], [Group(rows)])


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
        (label, found)
        for label, loaded in records.items()
        if len(loaded.record["streams"]) > 1 and (found := _stream_rows(loaded.record))
    ]
    if rows:
        columns = ["Stream", "Direction", "I/Os", "IOPS", "Bandwidth", "Mean latency", "p99", "Max", "Errors"]
        groups = [Group(found, label if len(records) > 1 else "") for label, found in rows]
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
    columns = ["Run", "Record", "Target", "Seed", "Settings", "Concurrency", "Measured for", "Written by"]
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
    blocks: list[Block] = [Prose([text]), Table(columns, [Group(rows)], tight=True)]
    folds = [sections.spec_fold(label, loaded.record.get("spec") or {}) for label, loaded in records.items()]
    return blocks + [fold for fold in folds if fold is not None]


def _settings(record: RecordDoc) -> str:
    spec = record.get("spec") or {}
    settings = [f"{key}={value}" for key, value in (spec.get("set") or {}).items()]
    return ", ".join([*settings, *sections.events(spec)]) or "none"
