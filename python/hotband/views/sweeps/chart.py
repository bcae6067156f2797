"""The chart of a sweep: a figure over a numeric axis, a line per combination of the other coordinates; and the table
that a notebook shows next to it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Literal

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.html import SHOWN_ROWS, frame_html
from hotband.base.text.numbers import number
from hotband.questions.sweeps.frames import names_of
from hotband.views.draw.picture import picture
from hotband.views.draw.review import Axis, Lines, amounts, curves, palette, ramp
from hotband.views.sweeps.curves import Curves

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.questions.sweeps.sweep import Sweep

TITLES = {
    "iops": "IOPS",
    "bandwidth_bytes_per_s": "Bandwidth (MB/s)",
    "queue_depth_mean": "Outstanding I/Os",
    "errors": "I/Os that failed",
}
LATENCIES = {"mean": "Mean latency", "p50": "Median latency", "p99": "p99 latency", "p999": "p99.9 latency"}
LATENCIES |= {"max": "Longest latency"}
WIDTH, HEIGHT = 460, 220


def sweep_chart(sweep: Sweep, y: str, x: str | None) -> View:
    """Return the chart. Raises UserError for an unknown or non-numeric column, or if no run finished."""
    frame = sweep.frame
    if frame.is_empty():
        raise UserError("sweep", "", "", "no run has ended, so there is nothing to draw")
    # Charts of records name a latency `latency_p99`; columns include its unit.
    y = f"{y}_ns" if y not in frame.columns and f"{y}_ns" in frame.columns else y
    _check(frame, "y", y)
    x = f"{x}_ns" if x is not None and x not in frame.columns and f"{x}_ns" in frame.columns else x
    along = x or next((name for name in sweep.axes if frame[name].dtype.is_numeric()), None)
    if along is None:
        return _bars(sweep, frame, y)
    _check(frame, "x", along)
    # A figure on the axis, as in latency over IOPS: its lines go through the swept values.
    numbers = _through(sweep, frame) if along in names_of(sweep) else None
    others = [name for name in sweep.axes if name != (along if numbers is None else numbers.name)]
    rows = frame.select(
        (pl.col(along) / _unit(along)).cast(pl.Float64).alias("x"),
        (pl.col(y) / _unit(y)).alias("y"),
        _label(others, y).alias("line"),
        *([] if numbers is None else [numbers.alias("along")]),
    )
    names = rows["line"].unique(maintain_order=True).to_list()
    rows = rows.drop_nulls().sort("line", "x" if numbers is None else "along")
    grows = len(others) == 1 and frame[others[0]].dtype.is_numeric()
    lines: Lines = ramp(others[0], names) if grows else palette(", ".join(others) or y, names)
    order = "" if numbers is None else "along"
    drawn: View = curves(rows, _along(along), Axis("y", title_of(y), _scale(y)), lines, order=order)
    return drawn.properties(width=WIDTH, height=HEIGHT)


def _unit(name: str) -> float:
    return 1e6 if name.endswith(("_ns", "_bytes_per_s")) else 1.0


def _label(names: Sequence[str], otherwise: str) -> pl.Expr:
    """Return the text of coordinates."""
    return pl.concat_str([_text(name) for name in names], separator=", ") if names else pl.lit(otherwise)


def _through(sweep: Sweep, frame: pl.DataFrame) -> pl.Series | None:
    """Return the positions of runs along the swept parameter, under its name; None if none has numbers."""
    along = Curves(sweep).along
    if along is None:
        return None
    places = dict(zip(along.texts, along.numbers, strict=True))
    points = [at for at, row in zip(sweep.points, sweep.rows, strict=True) if row is not None]
    return pl.Series(along.key, [places[str(at[along.key])] for at in points], pl.Float64)


def _bars(sweep: Sweep, frame: pl.DataFrame, y: str) -> View:
    """Return a bar for each run."""
    value = pl.col(y) / _unit(y)
    rows = frame.select(
        _label(sweep.axes or ("target",), y).alias("row"),
        value.cast(pl.Float64).alias("value"),
        pl.lit(y).alias("line"),
        pl.lit(None, pl.Float64).alias("low"),
        pl.lit(None, pl.Float64).alias("high"),
    ).drop_nulls("value")
    texts = pl.Series("text", [number(each, 3) for each in rows["value"]], pl.String)
    rows = rows.with_columns(pl.col("row").alias("label"), texts)
    drawn: View = amounts(rows, title_of(y), palette(title_of(y), [y]))
    return drawn.properties(width=WIDTH)


def _check(frame: pl.DataFrame, argument: str, name: str) -> None:
    if name not in _numeric(frame):
        raise UserError(argument, "", name, f"expected one of {', '.join(_numeric(frame))}")


def _numeric(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if frame[name].dtype.is_numeric()]


def _text(name: str) -> pl.Expr:
    """Return a coordinate for a legend: numbers and switches with their name, texts alone."""
    column = pl.col(name).cast(pl.String)
    return (
        column
        if name in ("target", "workload")
        else pl.format(f"{name.replace('{', '').replace('}', '')} {{}}", column)
    )


def _along(name: str) -> Axis:
    """Return an axis: queue depths and threads in steps of two, others from zero, or log over decades."""
    titles = {"qd": "Queue depth (outstanding I/Os)"}
    return Axis("x", titles.get(name) or title_of(name), "depth" if name == "qd" else "rate")


def _scale(y: str) -> Literal["log", "rate"]:
    """Return the scale: log for latencies, else from zero if the values allow it."""
    return "log" if y.endswith("_ns") else "rate"


def title_of(name: str) -> str:
    """Return a column's title, with its unit in the chart."""
    if name in TITLES:
        return TITLES[name]
    direction, _, rest = name.partition("_")
    if direction in ("read", "write") and rest:
        return f"{title_of(rest)} of {direction}s" if rest == "iops" else f"{title_of(rest)}, {direction}s"
    if name.startswith("latency_"):
        return f"{LATENCIES.get(name.removeprefix('latency_').removesuffix('_ns'), name)} (ms)"
    return name


def sweep_html(sweep: Sweep) -> str:
    """Return the notebook's view: the progress, the first rows, and IOPS over the first numeric axis."""
    frame = sweep.frame
    left = "".join(f"<li>{escape(str(dict(at)))}</li>" for at in sweep.missing[:SHOWN_ROWS])
    try:
        image = picture(sweep_chart(sweep, "iops", None))
    except UserError:
        # No run finished.
        image = ""
    missing = f"<p>Missing:</p><ul>{left}</ul>" if left else ""
    return f"<div><strong>{escape(repr(sweep))}</strong>{frame_html(frame)}{image}{missing}</div>"
