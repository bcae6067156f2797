"""Sections of a study's page that compare its configurations, and the important assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.numbers import ABSENT, cell, finite, number, percent
from hotband.views.draw import curves, lines
from hotband.views.draw.charts import PALETTE
from hotband.views.report import variants, wear
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Heading, Prose, Section, Table

if TYPE_CHECKING:
    from hotband.data.documents.study import IoTimeDoc, ResponsePointDoc, StudyDoc, WhyDoc
    from hotband.data.record.load import LoadedRecord

Loaded = Mapping[str, "LoadedRecord"]


def response(result: StudyDoc) -> Section | None:
    """Return latency over IOPS: a chart per group of loads, a line per configuration."""
    found = result.get("response")
    if not found:
        return None
    groups: dict[str, list[ResponsePointDoc]] = {}
    points = found.get("points") or []
    left_out = crowded(result, [str(point["variant"]) for point in points])
    for point in (point for point in points if point["variant"] not in left_out):
        groups.setdefault(point["group"], []).append(point)
    blocks: list[Block] = []
    for name, points in groups.items():
        rules = sorted(row["latency_mean_ms"] for row in found.get("rules") or [] if row["group"] == name)
        published = [row for row in found.get("published") or [] if row["group"] == name]
        frame, marks = _points(points), _points(published)
        if frame.is_empty():
            continue
        # A published point of a configuration without a curve has a colour, too.
        named = list(dict.fromkeys([*frame["variant"].to_list(), *marks["variant"].to_list()]))
        caption = "Each point is a step or a queue depth; further along a line, more I/Os are in flight."
        if published:
            caption += " A diamond is published."
        caption = f"{caption} {lines.said(coincident_lines(frame))}".strip()
        blocks.append(Heading(name))
        blocks.append(
            Charts([Chart("Mean latency over IOPS", curves.response_chart(frame, rules, marks, named), caption)], 1000)
        )
    return (
        Section("response", "Response curves", blocks, gist="latency over IOPS, one line per machine")
        if blocks
        else None
    )


def crowded(result: StudyDoc, names: Sequence[str]) -> set[str]:
    """Return what-if machines if there are more machines than a chart has colours: the findings show them instead."""
    what_if = {machine["name"] for machine in result.get("machines") or [] if machine["what_if"]}
    return what_if if len(set(names)) > len(PALETTE) else set()


def coincident_lines(frame: pl.DataFrame) -> list[list[str]]:
    """Return the names of coinciding response curves."""
    return lines.coincident(frame, "variant", "order", ["iops", "latency_mean_ms"])


def _points(rows: Sequence[ResponsePointDoc]) -> pl.DataFrame:
    """Return the data of `curves.response_chart`; points without a latency are left out."""
    made = []
    order: dict[str, int] = {}
    for row in rows:
        variant, iops, latency = str(row["variant"]), finite(row.get("iops")), finite(row.get("latency_mean_ms"))
        order[variant] = order.get(variant, 0) + 1
        if iops is not None and latency is not None and iops > 0 and latency > 0:
            made.append((variant, str(row["point"]), order[variant], iops, latency))
    kinds = {"variant": pl.String, "point": pl.String, "order": pl.Int64}
    kinds |= {"iops": pl.Float64, "latency_mean_ms": pl.Float64}
    return pl.DataFrame(made, schema=kinds, orient="row")


def _by_load(result: StudyDoc, loaded: Loaded) -> dict[str, dict[str, LoadedRecord]]:
    """Return loaded runs by load, each by the name of its variant."""
    by_load: dict[str, dict[str, LoadedRecord]] = {}
    for run in result.get("runs") or []:
        if run["id"] in loaded and run.get("variant"):
            variant = str(run["variant"])
            by_load.setdefault(str(run["load"]), {})[variant] = replace(loaded[run["id"]], label=variant)
    return by_load


def warm_up(result: StudyDoc, loaded: Loaded) -> Section | None:
    """Return how caches filled, for loads with `warm_up`."""
    loads = {str(run["load"]) for run in result.get("runs") or [] if run.get("warm_up")}
    blocks: list[Block] = []
    for load, records in _by_load(result, loaded).items():
        block = variants.warm_up_block(records) if load in loads else None
        if block is not None:
            blocks += [Heading(load), block]
    return Section("warm-up", "How the caches filled", blocks, gist="hits and rates over time") if blocks else None


def bars(result: StudyDoc) -> Section | None:
    """Return throughput, latency and write amplification, a bar per drive."""
    rows = result.get("bars") or []
    named = list(dict.fromkeys(str(row["variant"]) for row in rows))
    blocks: list[Block] = []
    for load, block in wear.bar_blocks(rows, named):
        blocks += [Heading(load), block]
    if not blocks:
        return None
    text = "A diamond is published. Each chart has its own scale, from zero."
    gist = "throughput, latency and write amplification"
    return Section("bars", "By drive and load", [Prose([text]), *blocks], gist=gist)


def amplification(result: StudyDoc, loaded: Loaded) -> Section | None:
    """Return write amplification over entropy with its theory, and over time from a new drive on."""
    curve = result.get("entropy")
    named = list(dict.fromkeys(row["variant"] for row in curve["points"])) if curve else []
    chart_block = wear.entropy_block(curve, named) if curve else None
    blocks: list[Block] = [] if chart_block is None else [chart_block]
    loads = {str(run["load"]) for run in result.get("runs") or [] if run.get("chart") == "wear-in"}
    for load, records in _by_load(result, loaded).items():
        block = wear.amplification_block(records) if load in loads else None
        if block is not None:
            blocks += [Heading(load), block]
    gist = "against entropy, and over time"
    return Section("amplification", "Write amplification", blocks, gist=gist) if blocks else None


def inputs(result: StudyDoc) -> Section | None:
    """Return published rows that are inputs of the model, or shown for comparison."""
    rows = [
        [
            Cell(str(row["config"]), under=str(row["workload"])),
            Cell(str(row["metric"])),
            Cell(f"{row['value']} {row['unit']}", True),
            Cell(str(row["used"])),
            Cell(str(row["id"]), muted=True),
        ]
        for row in result.get("inputs") or []
    ]
    columns = ["Of", "Measure", "As published", "Used", "Source"]
    gist = f"{len(rows)} published values that the model is given, or that are shown for comparison"
    return Section("inputs", "Given, not predicted", [Table(columns, [Group(rows)])], gist=gist) if rows else None


def once(result: StudyDoc, loaded: Loaded) -> Section | None:
    """Return IOPS and completions over time of scripts that run once."""
    blocks: list[Block] = []
    for load, records in _by_load(result, loaded).items():
        block = variants.once_block(records)
        if block is not None:
            blocks += [Heading(load), block]
    return Section("once", "Scripts that run once", blocks, gist="completions over time") if blocks else None


def io_time(result: StudyDoc) -> Section | None:
    """Return the stages of an I/O's time, a chart per load."""
    charts = []
    groups: dict[str, list[IoTimeDoc]] = {}
    for row in result.get("times") or []:
        groups.setdefault(row["load"], []).append(row)
    for load, rows in groups.items():
        frame = variants.io_time_frame((row["row"], row["times_ms"]) for row in rows)
        if not frame.is_empty():
            charts.append(Chart(load, curves.io_time_chart(frame)))
    if not charts:
        return None
    text = (
        "The parts of a bar add up to the mean latency, in the order in which an I/O passes. Of a load with several "
        "steps or queue depths the first and the last are shown."
    )
    gist = "queue, seek, rotation, transfer, flash and link, by load"
    return Section("io-time", "Where each I/O's time went", [Prose([text]), Charts(charts, width=1000)], gist=gist)


def why(result: StudyDoc) -> Section | None:
    """Return the work of the drives, by load."""
    groups: dict[str, list[tuple[str, WhyDoc]]] = {}
    for row in result.get("why") or []:
        at = f", queue depth {row['queue_depth']}" if row.get("queue_depth") else ""
        groups.setdefault(f"{row['load']}{at}", []).append((str(row["config"]), row))
    table = variants.why_table(groups)
    return Section("why", "What the drives did", [table], gist="hits, destages, queues, busy shares") if table else None


def swings(result: StudyDoc) -> Section | None:
    """Return the assumptions that change a prediction, with their effects."""
    document = result.get("swings")
    if not document:
        return None
    columns = ["Assumption", "From", "To", "At low", "At high", "The figure that moves most", "Figures moved"]
    rows = [
        [
            Cell(str(row["name"])),
            Cell(cell(row["low"])),
            Cell(cell(row["high"])),
            *(Cell(_move(moved), True) for moved in (row["low_pct"], row["high_pct"])),
            Cell(str(row["label"]), muted=True),
            Cell(number(row["figures_moved"]), True),
        ]
        for row in document["moved"]
    ]
    blocks: list[Block] = [Prose([document["text"]])]
    if rows:
        blocks.append(Table(columns, [Group(rows)], caption="Assumptions that move a prediction by more than 10 %"))
    refused = [[Cell(str(row["name"])), Cell(str(row["end"])), Cell(str(row["text"]))] for row in document["refused"]]
    if refused:
        blocks.append(
            Table(["Assumption", "End", "Why it was not run"], [Group(refused)], folded=True, caption="Refused")
        )
    gist = f"{len(document['moved'])} move a prediction by more than 10 %"
    return Section("swings", "Assumptions that matter", blocks, gist=gist)


def _move(value: object) -> str:
    return ABSENT if finite(value) is None else percent(value)
