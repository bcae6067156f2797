"""Rows of a study's result about its cells: response curves, times of I/Os, and causes. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from hotband.data.record.parts import actuators
from hotband.questions.study.measures import Parameters, curve, milliseconds
from hotband.questions.study.runs import Results, run_id

if TYPE_CHECKING:
    from hotband.data.documents.record import FiguresDoc, PartDoc, RecordDoc
    from hotband.data.documents.study import (
        DepthPointDoc,
        DriveWorkDoc,
        IoTimeDoc,
        LatencyRuleDoc,
        ResponsePointDoc,
        RunDoc,
        WhyDoc,
    )

# The stages in which the time of an I/O is spent, in order (`times_mean_ns` of a record).
TIMES = ("queue", "overhead", "seek", "rotation", "transfer", "flash", "link")
# Measures that give the two axes of a response curve when published together.
RATE_MEASURES, LATENCY_MEASURES = ("iops", "max_step_iops"), ("latency_mean_ms", "step_latency_ms")


def chart_names(results: Results) -> dict[str, str]:
    """Return the name of the chart of each load's curves, by the load's id: that of its group, or its own if several
    loads of the group have curves, because a line connects the points of one load."""
    curved: dict[str, set[str]] = {}
    for cell in results.cells.values():
        if cell.load.group and len(curve(cell.runs)) > 1:
            curved.setdefault(cell.load.group, set()).add(cell.load.id)
    alone = {load for loads in curved.values() if len(loads) > 1 for load in loads}
    loads = {cell.load.id: cell.load for cell in results.cells.values()}
    return {name: load.label if name in alone else load.group or load.label for name, load in loads.items()}


def depth_rows(results: Results) -> list[DepthPointDoc]:
    """Return points against queue depth: one per run of a sweep, or per load that is one depth of its group."""
    points: list[DepthPointDoc] = []
    charts = chart_names(results)
    for cell in results.cells.values():
        load_depth = dict(cell.load.set).get("qd", "0") if cell.load.group and not cell.load.what_if else "0"
        for sweep, record in sorted(cell.records.items()):
            depth = sweep or int(load_depth)
            if depth:
                summary = record["summary"]
                points.append(
                    {
                        "group": charts[cell.load.id],
                        "machine": cell.config.name,
                        "qd": depth,
                        "iops": summary["iops"],
                        "latency_mean_ns": summary["latency_mean_ns"],
                        "latency_p99_ns": summary["latency_p99_ns"],
                    }
                )
    return points


def response_rows(results: Results) -> list[ResponsePointDoc]:
    """Return the points of the response curves with more than one point."""
    rows: list[ResponsePointDoc] = []
    charts = chart_names(results)
    for cell in results.cells.values():
        points = curve(cell.runs)
        for point in points if len(points) > 1 else ():
            rows.append(
                {
                    "group": charts[cell.load.id],
                    "variant": cell.config.name,
                    "point": point.name,
                    "concurrency": point.concurrency,
                    "iops": point.iops,
                    "latency_mean_ms": point.latency_ms,
                }
            )
    return rows


def rule_rows(results: Results) -> list[LatencyRuleDoc]:
    """Return the latencies (ms) at which measures read IOPS, by group."""
    rows: dict[tuple[str, float], LatencyRuleDoc] = {}
    charts = chart_names(results)
    for cell in results.cells.values():
        for name in cell.load.measures:
            at = milliseconds(results.study.measure(name).parameters.at_ns)
            if at is not None:
                group = charts[cell.load.id]
                rows[group, at] = {"group": group, "latency_mean_ms": at}
    return list(rows.values())


def published_points(results: Results, published: Mapping[tuple[str, str, str], float]) -> list[ResponsePointDoc]:
    """Return published points of response curves; `published` has figures by the ids of config, load and measure.

    A figure is a point if its latency is known: IOPS at a latency, or IOPS and latency published together.
    """
    rows: list[ResponsePointDoc] = []
    charts = chart_names(results)
    for (config, load), cell in results.cells.items():
        known = {
            name: published[config, load, name] for name in cell.load.measures if (config, load, name) in published
        }
        for text, iops, latency in _pairs_of(results, known):
            rows.append(
                {
                    "group": charts[cell.load.id],
                    "variant": cell.config.name,
                    "point": text,
                    "iops": iops,
                    "latency_mean_ms": latency,
                }
            )
    return rows


def _pairs_of(results: Results, known: Mapping[str, float]) -> Iterable[tuple[str, float, float]]:
    """Yield name, IOPS and latency (ms) of the points in a cell's published figures."""
    measures = [results.study.measure(name) for name in known]
    for measure in measures:
        at = milliseconds(measure.parameters.at_ns)
        if at is not None:
            yield measure.metric, known[measure.id], at
        if measure.of not in RATE_MEASURES:
            continue
        last = Parameters(measure.parameters.pick, step="last")
        for other in measures:
            same = other.parameters == measure.parameters or (
                measure.of == "max_step_iops" and other.parameters in (measure.parameters, last)
            )
            if other.of in LATENCY_MEASURES and same:
                yield f"{measure.metric}, {other.metric}", known[measure.id], known[other.id]


def time_rows(results: Results) -> list[IoTimeDoc]:
    """Return the mean milliseconds of an I/O by stage, for every cell or for both ends of its curve."""
    rows: list[IoTimeDoc] = []
    for cell in results.cells.values():
        points = curve(cell.runs)
        for point in points if len(points) == 1 else (points[0], points[-1]):
            times = times_ms(point.figures)
            if times:
                name = cell.config.name + (f" · {point.name}" if len(points) > 1 else "")
                rows.append({"load": cell.load.label, "row": name, "times_ms": times})
    return rows


def times_ms(figures: FiguresDoc | None) -> dict[str, float]:
    """Return `times_mean_ns` in milliseconds; empty if a record has none."""
    times = cast("Mapping[str, float | None]", (figures and figures.get("times_mean_ns")) or {})
    return {name: float(time) / 1e6 for name in TIMES if (time := times.get(name)) is not None}


def why_rows(results: Results) -> list[WhyDoc]:
    """Return the work of the drives of every cell; for a sweep that of its last run."""
    rows: list[WhyDoc] = []
    for cell in results.cells.values():
        depth = max(cell.runs)
        name, load = cell.config.name, cell.load.label
        rows.append({"config": name, "load": load, "queue_depth": depth or None, **why(cell.runs[depth].record)})
    return rows


def why(record: RecordDoc) -> DriveWorkDoc:
    """Return explanations of a record's rates: hits, destages, queues and busy shares of its drives.

    A value is None if the record has no counter for it.
    """
    drives = [part for part in record.get("parts") or [] if is_drive(part)]
    seconds, caches = float(record["duration_ns"]) / 1e9, record.get("caches")
    whole, arms = seconds * len(drives), sum(actuators(part["counters"]) for part in drives)

    def each(name: str) -> float | None:
        counts = [part["counters"][name] for part in drives if name in part["counters"]]
        return float(sum(counts)) if counts else None

    def over(name: str, divisor: float, scale: float = 1.0) -> float | None:
        total = each(name)
        return None if total is None or not divisor else total * scale / divisor

    ends = [part.get("at_end") or {} for part in drives]
    gauges = [end["write_cache_extents"] for end in ends if "write_cache_extents" in end]
    return {
        "flash_hit_ratio": caches.get("flash_hit_ratio") if caches else None,
        "flash_written_bytes": each("flash_written_bytes"),
        "destages_per_s": over("destages", seconds),
        "queue_per_drive": over("command_ns", whole, 1e-9),
        "write_cache_extents_per_drive": sum(gauges) / len(gauges) if gauges else None,
        "busy_pct": over("busy_ns", seconds * arms, 1e-7),
    }


def is_drive(part: PartDoc) -> bool:
    """Return whether a part is a drive: layouts and links count neither media I/Os nor commands."""
    counters = part.get("counters") or {}
    return "media_reads" in counters or "command_ns" in counters


def run_rows(results: Results) -> list[RunDoc]:
    """Return every run with its folder and the texts of its charts."""
    rows: list[RunDoc] = []
    for cell in results.cells.values():
        for depth in cell.runs:
            name = run_id(cell.config, cell.load, depth)
            at = f", queue depth {depth}" if depth else ""
            rows.append(
                {
                    "id": name,
                    "label": f"{cell.config.name}: {cell.load.label}{at}",
                    "record": f"runs/{name}/record.json",
                    "variant": cell.config.name + at,
                    "load": cell.load.label,
                    "warm_up": cell.load.warm_up,
                    "chart": cell.load.chart,
                }
            )
    return rows
