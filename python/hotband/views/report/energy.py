"""Power of drives: watts over time, and a table of joules."""

from __future__ import annotations

from collections.abc import Mapping

from hotband.base.heavy import alt, pl
from hotband.base.text.numbers import finite, quantity
from hotband.base.views import View
from hotband.data.record.frames import stacked
from hotband.data.record.load import POWER_COLUMNS, LoadedRecord
from hotband.views.draw.charts import HALF_CHARS, NUMBER, SECONDS, Clock, dress, legend, marked, overlay
from hotband.views.draw.curves import variant_scale
from hotband.views.draw.strokes import Strokes
from hotband.views.report.page import Cell, Chart, Charts, Group, Table
from hotband.views.report.repair import mark_frame

Records = Mapping[str, "LoadedRecord"]

# Points of a line: as many as the width of a chart can show.
POINTS = 400
CAPTION = "All drives together. The band shows what the ranges of their power values allow (hotband drives NAME)."
COLUMNS = ("Drives", "Mean", "At rest", "Energy", "Least", "Most", "An I/O")


def power_frame(records: Records) -> pl.DataFrame:
    """Return the data of `power_chart`: line, time_s, power_w, low_w, high_w, summed over drives; points are
    joined if there are many."""
    watts, weight = pl.col("power_w", "low_w", "high_w"), pl.col("length_ns")
    rows = stacked({label: loaded.power for label, loaded in records.items()}, POWER_COLUMNS)
    if rows.is_empty():
        numbers = ("time_s", "power_w", "low_w", "high_w")
        return pl.DataFrame(schema={"line": pl.String} | dict.fromkeys(numbers, pl.Float64))
    summed = (
        rows.group_by("run_number", "run", "time_ns").agg(watts.sum(), weight.first()).sort("run_number", "time_ns")
    )
    joined_by = (pl.len() / POINTS).ceil().over("run_number")
    joined = (
        summed.with_columns(group=pl.int_range(pl.len()).over("run_number") // joined_by)
        .group_by("run_number", "run", "group")
        .agg(pl.col("time_ns").min(), (watts * weight).sum() / weight.sum())
        .sort("run_number", "group")
    )
    return joined.select(pl.col("run").alias("line"), pl.col("time_ns").alias("time_s") / 1e9, watts)


def power_chart(
    rows: pl.DataFrame, marks: pl.DataFrame | None = None, strokes: Strokes | None = None, clock: Clock = SECONDS
) -> View:
    """Return a chart of watts over time, a colour per run, with the band of their ranges; `marks` are as in
    `charts.marked`."""
    lines = rows["line"].unique(maintain_order=True).to_list()
    scale, dashes = variant_scale(lines), None
    if strokes is not None:
        lines, scale, dashes = strokes.scales(rows.with_columns(run=rows["line"]), "time_s", "power_w")
    title, shown = "Power of all drives (W)", legend(rows["line"], HALF_CHARS)
    base = alt.Chart(clock.told(rows, "time_s", 1.0)).encode(
        x=alt.X("time:Q", scale=alt.Scale(nice=False), axis=alt.Axis(title=clock.title, format=NUMBER, grid=False)),
        color=alt.Color("line:N", sort=lines, scale=scale, legend=shown),
    )
    axis = alt.Axis(title=title, format=NUMBER, tickCount=5)
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low_w:Q", scale=alt.Scale(zero=True), axis=axis), y2=alt.Y2("high_w:Q")
    )
    line = base.mark_line(strokeWidth=1.8, strokeCap="round").encode(
        y=alt.Y("power_w:Q", axis=axis),
        tooltip=[
            alt.Tooltip("line:N", title="Run"),
            alt.Tooltip("time:Q", title=clock.title, format=NUMBER),
            *(
                alt.Tooltip(f"{name}:Q", title=text, format=",.4~g")
                for name, text in (("power_w", "Power (W)"), ("low_w", "At least (W)"), ("high_w", "At most (W)"))
            ),
        ],
    )
    if dashes is not None:
        # This key merges with that of the dashes; a different one would conflict with it.
        line = line.encode(strokeDash=alt.StrokeDash("line:N", sort=lines, scale=dashes, legend=shown))
    return dress(marked(overlay(band, line), marks, clock), width="container", height=220)


def power_block(records: Records, strokes: Strokes | None = None, clock: Clock = SECONDS) -> Charts | None:
    """Return the watts of runs over time; None if no record has them for more than one interval."""
    frame = power_frame(records)
    if frame["time_s"].n_unique() < 2:
        return None
    return Charts(
        [Chart("Power over time", power_chart(frame, mark_frame(records), strokes, clock), CAPTION)], width=560
    )


def energy_table(records: Records) -> Table | None:
    """Return the power of the drives of each record; none if no record has it."""
    groups = []
    for label, loaded in records.items():
        energy = loaded.record.get("energy")
        if not isinstance(energy, Mapping):
            continue
        texts = [
            quantity(energy.get("drives"), ""),
            quantity(energy.get("mean_w"), "W"),
            quantity(energy.get("idle_w"), "W"),
            *(quantity(energy.get(key), "J") for key in ("energy_j", "energy_low_j", "energy_high_j")),
            quantity(_milli(energy.get("joules_per_io")), "mJ"),
        ]
        groups.append(Group([[Cell(text, numeric=True) for text in texts]], label if len(records) > 1 else ""))
    caption = "Energy of the measured time, with the lowest and the highest value by the ranges of the power values"
    return Table(COLUMNS, groups, caption=caption) if groups else None


def _milli(value: object) -> float | None:
    number = finite(value)
    return None if number is None else number * 1e3
