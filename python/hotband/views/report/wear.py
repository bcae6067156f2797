"""Frames and blocks of drives that wear: write amplification over time and over entropy, and bars by drive and load."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from hotband.base.heavy import pl
from hotband.base.text.numbers import ABSENT, finite, millis, number, percent, size
from hotband.base.text.words import capitalized
from hotband.questions.study import operations
from hotband.views.draw import wear
from hotband.views.draw.charts import MINUTES, Clock
from hotband.views.report.page import Cell, Chart, Charts, Group, Table

if TYPE_CHECKING:
    from hotband.data.documents.record import AppDoc, OperationDoc, RecordDoc, SmartDoc
    from hotband.data.documents.study import BarDoc, EntropyCurveDoc, EntropyPointDoc
    from hotband.data.record.load import LoadedRecord
    from hotband.views.draw.strokes import Strokes

Records = Mapping[str, "LoadedRecord"]

# Points of a line: as many as the width of a chart can show.
POINTS = 400
# Most drives of a record with a line each; more drives are combined.
DRIVES = 4
MINUTE_NS = 60e9
TIME_TITLE, WRITTEN_TITLE = "Time since the run began ({unit})", "Written by the host since the drive was new (GB)"
CAPTION = "As a tester reads SMART: flash bytes over host bytes, between two readings and since the drive was new."
UNTIMED = "Untimed preconditioning, which takes no simulated time, is included."


def amplification_frame(records: Records) -> pl.DataFrame:
    """Return the frame for `draw.wear.amplification_chart`; `timed` is false if no time passed between two readings."""
    kinds: dict[str, type[pl.DataType]] = {"line": pl.String, "kind": pl.String, "timed": pl.Boolean}
    kinds |= dict.fromkeys(("time_min", "host_gb", "write_amplification"), pl.Float64)
    frames = [pl.DataFrame(schema=kinds)]
    for label, loaded in records.items():
        if loaded.smart is not None:
            for line, smart in _lines(label if len(records) > 1 else "", loaded.smart):
                frames += [frame.with_columns(line=pl.lit(line)).select(list(kinds)) for frame in _ratios(smart)]
    return pl.concat(frames)


def _lines(label: str, smart: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield a line per drive, or one of all drives if there are many."""
    drives = smart["drive"].unique(maintain_order=True).to_list()
    if len(drives) > DRIVES:
        # All drives are read at the same times, so the n-th readings belong together.
        numbered = smart.with_columns(reading=pl.int_range(pl.len()).over("drive"))
        summed = numbered.group_by("reading").agg(pl.col("time_ns").first(), pl.col("host_bytes", "flash_bytes").sum())
        yield label or f"all {len(drives)} drives", summed.sort("reading")
        return
    for name in drives:
        line = name if not label else label if len(drives) == 1 else f"{label} · {name}"
        yield line, smart.filter(pl.col("drive") == name)


def _ratios(smart: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield both ratios of one line; many readings are thinned to about `POINTS`, which always include the last."""
    step = max(1, math.ceil(smart.height / POINTS))
    number_of, host, flash = pl.int_range(pl.len()), pl.col("host_bytes"), pl.col("flash_bytes")
    thinned = smart.filter((number_of % step == 0) | (number_of == pl.len() - 1))
    placed = thinned.with_columns(time_min=pl.col("time_ns") / MINUTE_NS, host_gb=host / 1e9)
    ratios = (
        (wear.INTERVAL, flash.diff() / host.diff(), pl.col("time_ns").diff() > 0),
        (wear.TOTAL, flash / host, pl.lit(True)),
    )
    for kind, ratio, timed in ratios:
        made = placed.with_columns(kind=pl.lit(kind), write_amplification=ratio, timed=timed.fill_null(False))
        yield made.filter(pl.col("write_amplification").is_finite())


def amplification_block(records: Records, strokes: Strokes | None = None, clock: Clock = MINUTES) -> Charts | None:
    """Return write amplification of runs over time, and over the host's writes; None if no host wrote anything."""
    frame = amplification_frame(records)
    if frame.filter(pl.col("kind") == wear.INTERVAL).is_empty():
        return None
    made = []
    lines = frame["line"].unique(maintain_order=True).to_list()
    colors = strokes.colors_of(lines) if strokes is not None and set(lines) <= set(strokes.colors) else None
    timed = frame.filter(pl.col("timed"))
    if timed["time_min"].n_unique() > 1:
        converted = clock.told(timed, "time_min", 60.0).drop("timed", "host_gb", "time_min")
        view = wear.amplification_chart(converted, "time", TIME_TITLE.format(unit=clock.unit), colors)
        made.append(Chart("Write amplification over time", view, CAPTION))
    view = wear.amplification_chart(frame.drop("timed", "time_min"), "host_gb", WRITTEN_TITLE, colors)
    untimed = timed.height < frame.height
    caption = (UNTIMED if untimed else "") if made else CAPTION
    made.append(Chart("Write amplification over what the host wrote", view, caption))
    return Charts(made, width=560)


SMART_COLUMNS = (
    "Drive", "Write amplification", "Since new", "Host wrote", "Flash took", "Erases, mean", "Most", "Used",
    "Host bytes to its end",
)  # fmt: skip


def smart_table(records: Records) -> Table | None:
    """Return SMART data of every drive at the end, and the write amplification of the measured time."""
    groups = []
    for label, loaded in records.items():
        rows = [_smart_row(drive) for drive in loaded.record.get("smart") or []]
        if rows:
            groups.append(Group(rows, label if len(records) > 1 else ""))
    caption = "Wear: amplification, and bytes written, of the measured time; other values at its end"
    scales = {drive.get("scale", 1) for loaded in records.values() for drive in loaded.record.get("smart") or []} - {1}
    if scales:
        parts = ", ".join(f"1/{scale}" for scale in sorted(scales))
        caption += (
            f". Host bytes to its end are those of the whole drive, other bytes those of the simulated part ({parts})"
        )
    return Table(SMART_COLUMNS, groups, caption=caption) if groups else None


def _smart_row(drive: SmartDoc) -> list[Cell]:
    # A record of this drive alone, of which only SMART data is read.
    alone = cast("RecordDoc", {"smart": [drive]})
    texts = [
        number(operations.amplification(alone), 3),
        number(operations.amplification(alone, since_new=True), 3),
        size(operations.written(alone, "host_bytes")),
        size(operations.written(alone, "flash_bytes")),
        number(drive["at_end"].get("erases_mean"), 3),
        number(drive["at_end"].get("erases_max")),
        _percent(drive["at_end"].get("percentage_used")),
        size(drive.get("endurance_bytes")),
    ]
    return [Cell(str(drive.get("drive", ""))), *(Cell(text, numeric=True) for text in texts)]


def _percent(value: object) -> str:
    return ABSENT if finite(value) is None else percent(value, signed=False)


def operations_table(records: Records) -> Table | None:
    """Return operations of the database or file system, for every record that has one."""
    columns = ("Operation", "Ended", "A second", "Mean", "p50", "p99", "p99.9", "Max")
    groups = []
    for label, loaded in records.items():
        app = loaded.record.get("app")
        if app:
            rows = [_operation_row(operation) for operation in app["operations"]]
            groups.append(Group(rows, label if len(records) > 1 else "", _rates(app)))
    return Table(columns, groups, caption="Operations") if groups else None


def _operation_row(operation: OperationDoc) -> list[Cell]:
    latencies = (millis(operation.get(f"latency_{name}_ns")) for name in ("mean", "p50", "p99", "p999", "max"))
    texts = [number(operation.get("count")), number(operation.get("ops_per_s")), *latencies]
    return [Cell(str(operation["name"])), *(Cell(text, numeric=True) for text in texts)]


def _rates(app: AppDoc) -> str:
    achieved, requested = app.get("achieved_ops_per_s"), app.get("requested_ops_per_s")
    target = f" of {number(requested)} requested" if finite(requested) is not None else ""
    return f"{app.get('kind', 'app')}: {number(achieved)} operations a second{target}"


# --- of a study ---------------------------------------------------------------------------------------------


def entropy_block(curve: EntropyCurveDoc, variants: Sequence[str]) -> Charts | None:
    """Return write amplification over entropy, from the rows of `wearrows.entropy_rows`."""
    points, theory = _entropy_frame(curve["points"]), _entropy_frame(curve["theory"])
    if points.is_empty():
        return None
    named = [name for name in variants if name in set(points["variant"].to_list())]
    caption = "Points: the model, 4 KiB random writes. Dashed: e x WA((1 + rho) / e - 1), greedy and uniform."
    view = wear.entropy_chart(points, theory, named)
    return Charts([Chart("Write amplification against the entropy of the data", view, caption)], width=1000)


def _entropy_frame(rows: Sequence[EntropyPointDoc]) -> pl.DataFrame:
    kinds: dict[str, type[pl.DataType]] = {
        "variant": pl.String,
        "entropy": pl.Float64,
        "write_amplification": pl.Float64,
    }
    made = [{name: row.get(name) for name in kinds} for row in rows]
    frame = pl.DataFrame(made, schema=kinds)
    return frame.filter(pl.col("entropy").is_not_null() & (pl.col("write_amplification") > 0))


def bar_blocks(rows: Sequence[BarDoc], variants: Sequence[str]) -> list[tuple[str, Charts]]:
    """Return bars by load: one small chart per measure, one bar per drive."""
    found: dict[str, dict[str, list[BarDoc]]] = {}
    for row in rows:
        title = capitalized(row["metric"])
        title += "" if row["unit"].lower() in row["metric"].lower().split() else f" ({row['unit']})"
        found.setdefault(str(row["load"]), {}).setdefault(title, []).append(row)
    kinds: dict[str, type[pl.DataType]] = {"variant": pl.String, "value": pl.Float64, "published": pl.Float64}
    blocks = []
    for load, measures in found.items():
        charts = []
        for title, bars in measures.items():
            frame = pl.DataFrame([{name: row.get(name) for name in kinds} for row in bars], schema=kinds)
            if float(frame["value"].sum()) > 0:
                charts.append(Chart(f"{load}: {title}", wear.bar_chart(frame, title, variants)))
        if charts:
            blocks.append((load, Charts(charts, width=300)))
    return blocks
