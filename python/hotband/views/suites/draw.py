"""Charts of a PTS report: frames of its JSON, and the plots that the specification requests."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.data.documents.pts import LoopDoc, MomentDoc, TrackedDoc
from hotband.questions.suites.cells import mix_text
from hotband.views.draw.charts import INK, MUTED, NUMBER, PALETTE, dress, overlay, percentile_chart
from hotband.views.draw.review import CURVE_HEIGHT, Axis, Lines, curves, palette, ramp

WRITES = "4 KiB writes"
UNITS = {"IOPS": ("IOPS", 1.0), "B/s": ("MB/s", 1e-6), "ns": ("ms", 1e-6)}
"""Units of figures on axes, and the factors by which values are multiplied."""


def convergence(loop: LoopDoc) -> View:
    """Steady state convergence: the tracked figure of every size at 0/100 (all cells of a small loop) over rounds."""
    unit, factor = UNITS[loop["unit"]]
    rows = []
    shown = [one["name"] for one in loop["rounds"][0] if one["read_pct"] == 0 or len(loop["rounds"][0]) <= 3]
    for number, round_ in enumerate(loop["rounds"], start=1):
        for one in round_:
            value = figure_of(loop["unit"], one)
            if one["name"] in shown and value is not None:
                rows.append({"line": one["name"], "round": number, "value": value * factor})
    if not any(one["name"] in shown for one in loop["tracked"]):
        # Minutes of one load, of which the last is followed: each would be a line.
        shown = [one["name"] for one in loop["tracked"]]
        followed = [
            (one["name"], n, value) for one in loop["tracked"] for n, value in enumerate(one["rounds"], start=1)
        ]
        rows = [{"line": name, "round": n, "value": value * factor} for name, n, value in followed]
    frame = pl.DataFrame(rows)
    x = Axis("round", "Round", "zero")
    return curves(frame, x, Axis("value", unit, "rate"), palette("Cell", shown))


def figure_of(unit: str, cell: object) -> float | None:
    """Return the figure of a cell that a unit represents."""
    key = {"IOPS": "iops", "B/s": "bandwidth_bytes_per_s", "ns": "latency_mean_ns"}[unit]
    found = cell.get(key) if isinstance(cell, dict) else None
    return float(found) if found is not None else None


def measured_window(one: TrackedDoc) -> View | None:
    """Return the measurement window: rounds, their mean, 110 and 90 % of it, and the least-squares line."""
    window = one["window"]
    if window is None:
        return None
    unit, factor = UNITS[one["unit"]]
    numbers = [window["first"], window["last"]]
    line = [factor * (window["intercept"] + window["slope_per_round"] * n) for n in numbers]
    ends: list[tuple[str, list[float]]] = [
        ("mean", [factor * window["mean"]] * 2),
        ("110 % of the mean", [factor * window["high"]] * 2),
        ("90 % of the mean", [factor * window["low"]] * 2),
        ("slope", line),
    ]
    rows = [{"line": name, "round": n, "value": v} for name, vs in ends for n, v in zip(numbers, vs, strict=True)]
    inside = one["rounds"][window["first"] - 1 : window["last"]]
    rows += [{"line": "rounds", "round": window["first"] + n, "value": factor * v} for n, v in enumerate(inside)]
    frame = pl.DataFrame(rows)
    names = ["rounds", "mean", "110 % of the mean", "90 % of the mean", "slope"]
    colors = [PALETTE[0], INK, MUTED, MUTED, PALETTE[1]]
    dashes = [[1, 0], [1, 0], [6, 3], [6, 3], [2, 2]]
    axis = alt.Axis(title="Round", values=list(range(window["first"], window["last"] + 1)), format="d")
    base = alt.Chart(frame).encode(
        x=alt.X("round:Q", scale=alt.Scale(domain=numbers, nice=False, padding=14), axis=axis),
        y=alt.Y("value:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title=unit, format=NUMBER, tickCount=6)),
        color=alt.Color("line:N", sort=names, scale=alt.Scale(domain=names, range=colors)),
        tooltip=[alt.Tooltip("line:N"), alt.Tooltip("round:Q"), alt.Tooltip("value:Q", title=unit, format=",.5~r")],
    )
    dash = alt.StrokeDash("line:N", sort=names, scale=alt.Scale(domain=names, range=dashes))
    points = base.transform_filter("datum.line == 'rounds'").mark_point(filled=True, size=48, opacity=1)
    drawn = overlay(base.mark_line(strokeWidth=2).encode(strokeDash=dash), points)
    return dress(drawn, width="container", height=CURVE_HEIGHT)


def by_size(loop: LoopDoc, key: str, title: str, factor: float) -> View | None:
    """Return a figure of the means against the size of an I/O, one line per mix: the specification's 3D plot in two
    dimensions. None without data."""
    rows = []
    mixes = list(dict.fromkeys(mix_text(one["read_pct"]) for one in loop["means"]))
    for one in loop["means"]:
        value = dict(one)[key]
        if isinstance(value, int | float) and value > 0:
            rows.append({"line": mix_text(one["read_pct"]), "bytes": one["block_bytes"], "value": value * factor})
    if not rows:
        return None
    frame = pl.DataFrame(rows)
    x = Axis("bytes", "Size of an I/O", "size")
    return curves(frame, x, Axis("value", title, "log"), ramp("Reads/writes (%)", mixes))


def over_time(moments: Sequence[MomentDoc], key: str, title: str, factor: float, x: str = "minutes") -> View | None:
    """Return a figure over the time of a test, one line each of its parts; or over the capacities written (`x`
    "fills"). None if no part has one, such as the latency of cells too short for an I/O."""
    rows = []
    names = list(dict.fromkeys(moment["line"] for moment in moments))
    for one in moments:
        value = dict(one["cell"])[key]
        if isinstance(value, int | float):
            at = {"minutes": one["at_s"] / 60, "fills": one["fills"]}
            rows.append({"line": one["line"], **at, "value": value * factor})
    if not rows:
        return None
    frame: pl.DataFrame = pl.DataFrame(rows)
    along = Axis("minutes", "Time (min)", "zero") if x == "minutes" else Axis("fills", "Capacities written", "zero")
    colors = {name: (PALETTE[n % len(PALETTE)]) for n, name in enumerate(names)}
    return curves(frame, along, Axis("value", title, "rate"), Lines("Part", colors), wide=True, points=False)


def answered(points: Sequence[Sequence[float]]) -> View:
    """Latency by percentile, on the scale of nines; one point per bucket of the histogram."""
    rows = [
        {
            "run": "",
            "line": WRITES,
            "percentile": pct,
            "nines": -log10(1 - pct / 100),
            "latency_ms": ms,
            "printed": False,
        }
        for ms, pct in points
        if pct < 100
    ]
    # A single bucket holds all: a line from nothing to the last whole nine that so many I/Os tell.
    rows = rows or [
        {
            "run": "",
            "line": WRITES,
            "percentile": 100 - 10 ** (2 - n),
            "nines": n,
            "latency_ms": points[0][0],
            "printed": False,
        }
        for n in (0.0, 5.0)
    ]
    return percentile_chart(pl.DataFrame(rows))
