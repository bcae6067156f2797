"""Frames and blocks that compare runs: over time, by stages of an I/O, steps and scripts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.numbers import ABSENT, finite, millis, number, percent, rate, size, span
from hotband.data.documents.record import PowerLossDoc, RecordDoc, ScriptDoc, StepDoc, interval_of
from hotband.questions.study.cellrows import TIMES, times_ms
from hotband.views.draw import curves
from hotband.views.draw.charts import MINUTES, Clock
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Prose, Table

if TYPE_CHECKING:
    from hotband.data.documents.study import DriveWorkDoc
    from hotband.data.record.load import LoadedRecord
    from hotband.views.draw.strokes import Strokes

# Points of a line over time: more than the width of a page can show.
POINTS = 600
MINUTE_NS = 60e9
# Most runs in one panel: as many as there are colours.
OVERLAID = 8
PANELS = {"iops": "IOPS", "latency_mean_ms": "Mean latency (ms)", "hit_pct": "Flash hits (%)"}
CACHE_PANELS = {
    "hit_pct": "Flash hits (%)",
    "flash_gb": "Flash in use (GB)",
    "extents": "Dirty extents",
    "destages": "Destages/s",
}
# The record's word for a full cache, as a text and as its index among the states.
WARM = ("warm", "2")
WARM_CAPTION = "A dashed line marks when all flash caches of a run were warm."

Records = Mapping[str, "LoadedRecord"]


# --- over time ----------------------------------------------------------------------------------------------


def over_time(records: Records) -> pl.DataFrame:
    """Return whole runs over time: variant, time_min and the keys of `PANELS` and `CACHE_PANELS`."""
    numbers = ("time_min", *(PANELS | CACHE_PANELS))
    kinds: dict[str, type[pl.DataType]] = {"variant": pl.String} | dict.fromkeys(numbers, pl.Float64)
    frames = [pl.DataFrame(schema=kinds)]
    for label, loaded in records.items():
        if loaded.series is None or loaded.series.is_empty():
            continue
        last = float(loaded.series["time_ns"].max() or 0.0)  # type: ignore[arg-type]
        interval = finite(interval_of(loaded.record)) or 1e9
        width = interval * math.ceil((last / interval + 1) / POINTS)
        frame = _rates(loaded.series, width, interval)
        hits = pl.DataFrame(schema=dict.fromkeys(("bin", *CACHE_PANELS), pl.Float64))
        if loaded.caches is not None:
            hits = _caches(loaded.caches, width, interval)
        joined = frame.join(hits, on="bin", how="left", maintain_order="left")
        time = pl.col("bin") * (width / MINUTE_NS)
        frames.append(joined.with_columns(variant=pl.lit(label), time_min=time).select(list(kinds)))
    return pl.concat(frames)


def _rates(series: pl.DataFrame, width_ns: float, interval_ns: float) -> pl.DataFrame:
    """Return IOPS of all streams and directions together and their mean latency, per bin."""
    rates = pl.col("iops").fill_null(0.0)
    weight = pl.when(pl.col("latency_mean_ns").is_not_null()).then(rates).otherwise(0.0)
    intervals = pl.col("time_ns").n_unique()
    latency = (pl.col("latency_mean_ns") * weight).sum() / weight.sum() / 1e6
    return (
        series.with_columns(bin=(pl.col("time_ns") / width_ns).floor())
        .group_by("bin")
        .agg(iops=rates.sum() / intervals, latency_mean_ms=pl.when(latency.is_finite() & (latency > 0)).then(latency))
        .sort("bin")
    )


def _caches(caches: pl.DataFrame, width_ns: float, interval_ns: float) -> pl.DataFrame:
    """Return the state of the caches per bin. The share of reads that flash served is null without lookups."""

    def kept(name: str, scale: float = 1.0) -> pl.Expr:
        """Return the mean of a gauge; null throughout if it was never above zero: there is no such cache."""
        ever = name in caches.columns and float(caches[name].fill_null(0).sum()) > 0
        return (pl.col(name).mean() * scale if ever else pl.lit(None)).cast(pl.Float64)

    looked = pl.col("flash_hits").sum() + pl.col("flash_misses").sum()
    share = pl.when(looked > 0).then(pl.col("flash_hits").sum() / looked * 100)
    return caches.group_by(bin=(pl.col("time_ns") / width_ns).floor()).agg(
        hit_pct=share,
        flash_gb=kept("flash_used_bytes", 1e-9),
        extents=kept("write_cache_extents"),
        destages=kept("destages", 1e9 / interval_ns),
    )


def became_warm(records: Records) -> pl.DataFrame:
    """Return the times when the flash caches of each run became warm within the time shown: variant, time_min."""
    rows = []
    for label, loaded in records.items():
        if loaded.caches is None or loaded.caches.is_empty():
            continue
        warm = loaded.caches.sort("time_ns").filter(pl.col("state").is_in(WARM))
        if not warm.is_empty() and warm["time_ns"][0] > 0:
            rows.append((label, warm["time_ns"][0] / MINUTE_NS))
    return pl.DataFrame(rows, schema={"variant": pl.String, "time_min": pl.Float64}, orient="row")


def stacked(
    lines: pl.DataFrame,
    panels: Mapping[str, str],
    rules: pl.DataFrame | None = None,
    captions: Sequence[str] = (),
    *,
    strokes: Strokes | None = None,
    clock: Clock = MINUTES,
) -> Charts | None:
    """Return panels over a common time axis, without empty ones; None if all are empty."""
    shown = [value for value in panels if lines[value].is_not_null().any()]
    if not shown:
        return None
    variants = lines["variant"].unique(maintain_order=True).to_list()
    end = max(float(value) for value in lines["time_min"].to_list())
    colors = None if strokes is None else strokes.colors_of(variants)
    charts = [
        Chart(
            f"{panels[value]} over time",
            curves.stacked_chart(
                lines.select("variant", "time_min", value),
                value,
                panels[value],
                variants,
                span_min=end or 1.0,
                rules=rules,
                first=value == shown[0],
                last=value == shown[-1],
                stepped=value == "completions",
                clock=clock,
                colors=colors,
            ),
            captions[0] if captions and value == shown[0] else "",
        )
        for value in shown
    ]
    return Charts(charts, width=1000)


def warm_up_block(records: Records) -> Charts | None:
    """Return IOPS, latency and flash hits over time, with a line where each run became warm."""
    rules = became_warm(records)
    caption = WARM_CAPTION if len(rules) else ""
    return stacked(over_time(records), PANELS, rules, [caption])


def caches_block(records: Records, strokes: Strokes | None = None, clock: Clock = MINUTES) -> Charts | None:
    """Return the contents and the work of the runs' caches over time."""
    cached = {label: loaded for label, loaded in records.items() if loaded.caches is not None}
    drawn = dict(list(cached.items())[:OVERLAID])
    if not drawn:
        return None
    rules = became_warm(drawn)
    captions = [WARM_CAPTION] if len(rules) else []
    captions += [f"The first {OVERLAID} of {len(cached)} runs."] if len(cached) > OVERLAID else []
    return stacked(over_time(drawn), CACHE_PANELS, rules, [" ".join(captions)], strokes=strokes, clock=clock)


# --- scripts that run once ----------------------------------------------------------------------------------


def once(record: RecordDoc) -> list[ScriptDoc]:
    """Return the scripts of a record whose every run is listed: those that run once."""
    return [script for script in record.get("scripts") or [] if script.get("runs")]


def completions(records: Records) -> pl.DataFrame:
    """Return the number of finished runs of the scripts over time: variant, time_min, completions."""
    rows: list[tuple[str, float, float]] = []
    for label, loaded in records.items():
        ends = sorted(float(run["end_ns"]) for script in once(loaded.record) for run in script["runs"])
        if ends:
            rows.append((label, 0.0, 0.0))
            rows += [(label, end / MINUTE_NS, float(n)) for n, end in enumerate(ends, 1)]
    kinds = {"variant": pl.String, "time_min": pl.Float64, "completions": pl.Float64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def once_block(records: Records, strokes: Strokes | None = None, clock: Clock = MINUTES) -> Charts | None:
    """Return IOPS over time and completions, for runs whose scripts run once (a boot storm)."""
    chosen = {label: loaded for label, loaded in records.items() if once(loaded.record)}
    if not chosen:
        return None
    units = {str(script.get("unit") or "script") for loaded in chosen.values() for script in once(loaded.record)}
    unit = units.pop() if len(units) == 1 else "script"
    rates = over_time(chosen).select("variant", "time_min", "iops")
    done = completions(chosen)
    # These panels end with the last script.
    end = max(done["time_min"].to_list()) * 1.05
    lines = pl.concat([rates.filter(pl.col("time_min") <= end), done], how="diagonal")
    panels = {"iops": "IOPS", "completions": f"{unit.capitalize()}s completed"}
    return stacked(lines, panels, strokes=strokes, clock=clock)


# --- where the time of an I/O went --------------------------------------------------------------------------


def io_time_frame(rows: Iterable[tuple[str, Mapping[str, float]]]) -> pl.DataFrame:
    """Return the frame for `curves.io_time_chart`, from rows and their milliseconds by activity."""
    made = [
        (row, name, TIMES.index(name), milliseconds)
        for row, times in rows
        for name, milliseconds in times.items()
        if milliseconds > 0
    ]
    kinds = {"row": pl.String, "activity": pl.String, "order": pl.Int64, "ms": pl.Float64}
    return pl.DataFrame(made, schema=kinds, orient="row")


def io_time_block(records: Records) -> Charts | None:
    """Return the stages of the mean latency of reads, writes and all I/Os, for every record that has them."""
    rows = []
    for label, loaded in records.items():
        summary = loaded.record["summary"]
        for name, figures in (("read", summary.get("read")), ("write", summary.get("write")), ("all", summary)):
            times = times_ms(figures)
            if times:
                rows.append((name if len(records) == 1 else f"{label} · {name}", times))
    frame = io_time_frame(rows)
    if frame.is_empty():
        return None
    caption = "The parts of a bar add up to the mean latency, in the order in which an I/O passes."
    return Charts([Chart("Mean time of an I/O by where it was spent", curves.io_time_chart(frame), caption)], 1000)


# --- tables -------------------------------------------------------------------------------------------------


def steps_table(records: Records) -> Table | None:
    """Return the steps of every record that has steps."""
    columns = ["Step", "At once", "For", "IOPS", "Bandwidth", "Mean latency", "p99", "Queue depth"]
    groups = []
    for label, loaded in records.items():
        rows = []
        for step in loaded.record.get("steps") or []:
            figures = step["summary"]
            texts = [
                _at_once(step),
                span(step.get("duration_ns")),
                number(figures.get("iops")),
                rate(figures.get("bandwidth_bytes_per_s")),
                millis(figures.get("latency_mean_ns")),
                millis(figures.get("latency_p99_ns")),
                number(figures.get("queue_depth_mean")),
            ]
            rows.append([Cell(str(step["name"])), *(Cell(text, numeric=True) for text in texts)])
        if rows:
            groups.append(Group(rows, label if len(records) > 1 else ""))
    return Table(columns, groups, caption="Steps") if groups else None


def _at_once(step: StepDoc) -> str:
    counts = ((name, finite(step.get(name))) for name in ("threads", "clients"))
    return ", ".join(f"{number(count)} {name}" for name, count in counts if count is not None) or ABSENT


def scripts_table(records: Records) -> Table | None:
    """Return the scripts of every record, and of its steps if it has some."""
    columns = ["Script", "Unit", "Clients", "Completed", "A second", "Mean", "p50", "p99", "Max", "First to last"]
    groups = []
    for label, loaded in records.items():
        rows = [_script_row(str(script["name"]), script) for script in loaded.record.get("scripts") or []]
        for step in loaded.record.get("steps") or []:
            rows += [_script_row(f"{script['name']} · {step['name']}", script) for script in step.get("scripts") or []]
        if rows:
            groups.append(Group(rows, label if len(records) > 1 else ""))
    return Table(columns, groups, caption="Scripts") if groups else None


def _script_row(name: str, script: ScriptDoc) -> list[Cell]:
    begin, end = finite(script.get("first_begin_ns")), finite(script.get("last_end_ns"))
    durations = [span(script.get(f"duration_{key}_ns")) for key in ("mean", "p50", "p99", "max")]
    texts = [number(script.get("clients")), number(script.get("completed")), number(script.get("per_second"))]
    texts += [*durations, span(end - begin) if begin is not None and end is not None else ABSENT]
    return [Cell(name), Cell(str(script.get("unit") or "")), *(Cell(text, numeric=True) for text in texts)]


WHY = {
    "flash_hit_ratio": "Flash hits",
    "flash_written_bytes": "Flash written",
    "destages_per_s": "Destages/s",
    "queue_per_drive": "Queue a drive",
    "write_cache_extents_per_drive": "Dirty extents a drive",
    "busy_pct": "Busy",
}


def why_table(groups: Mapping[str, Sequence[tuple[str, DriveWorkDoc]]]) -> Table | None:
    """Return the work of the drives: rows (name and the keys of `cellrows.why`) in groups; empty columns are left
    out."""
    rows = [row for rows in groups.values() for _, row in rows]
    shown = [key for key in WHY if any(finite(row.get(key)) is not None for row in rows)]
    if not shown:
        return None
    made = []
    for title, found in groups.items():
        cells = [
            [Cell(name), *(Cell(_why_text(key, row.get(key)), numeric=True) for key in shown)] for name, row in found
        ]
        made.append(Group(cells, title))
    return Table(["", *(WHY[key] for key in shown)], made, caption="What the drives did in the measured time")


def _why_text(key: str, value: object) -> str:
    found = finite(value)
    if found is None:
        return ABSENT
    if key == "flash_hit_ratio":
        return percent(found * 100, signed=False)
    if key == "busy_pct":
        return percent(found, signed=False)
    return size(found) if key == "flash_written_bytes" else number(found, 3)


def power_loss_blocks(records: Records) -> list[Block]:
    """Return the losses of a power cut, for every record whose power was cut."""
    texts = []
    for label, loaded in records.items():
        loss = loaded.record.get("power_loss")
        if loss:
            texts.append(_power_loss(label if len(records) > 1 else "", loss))
    return [Prose(texts)] if texts else []


def _power_loss(label: str, loss: PowerLossDoc) -> str:
    sentence = "nothing that had been acknowledged was lost"
    lost = finite(loss.get("lost_writes")) or 0
    if lost:
        streams = [
            f"{stream['name']}: {number(stream.get('lost_writes'))}"
            for stream in loss.get("streams") or []
            if stream.get("lost_writes")
        ]
        named = f" ({', '.join(streams)})" if streams else ""
        sentence = f"{number(lost)} of them were lost{named}, {size(loss.get('lost_bytes'))}"
    text = (
        f"Power was cut {span(loss.get('at_ns'))} into the run. {number(loss.get('acknowledged_writes'))} writes "
        f"had been acknowledged; {sentence}. Torn sectors: {number(loss.get('torn_sectors') or 0)}."
    )
    if finite(loss.get("stale_copy_bytes")):
        text += f" Copies that no longer agree: {size(loss.get('stale_copy_bytes'))}."
    return f"{label}: {text}" if label else text
