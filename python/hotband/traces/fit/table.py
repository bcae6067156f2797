"""Properties of a trace and of the workload that was fitted to it, side by side.

Shares differ by points (of a hundred), all else by percent of the trace's. What is called kept is within the bound that
stands beside it, or within three standard errors where the trace itself says how uncertain the property is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hotband.text.quantities import span_text
from hotband.text.tables import binary_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hotband.traces.properties import Popularity, Properties, Quantiles

Unit = Literal["share", "bytes", "ns", "per s", ""]

POINTS = 2.0
"""A share of 10,000 I/Os is drawn to a point (two standard errors of a half); twice that."""
MEANS = 5.0
"""Percent that a mean or a rate may be off: of 10,000 I/Os it is drawn to 1 or 2."""
SHAPES = 10.0
"""Percent of what depends on a whole distribution: quantiles, bytes touched."""
BURSTS = 25.0
"""Percent of an index of dispersion: its own standard error with 30 windows."""
ERRORS = 3.0
"""Standard errors."""
FEWEST_WINDOWS = 20
"""Of fewer, an index of dispersion is not shown."""
MOST_WINDOWS = 4
"""Widths of windows that are shown, evenly chosen."""


@dataclass(frozen=True)
class Kept:
    """A property of the trace and of the workload: in `unit` ("share" of one, bytes, ns, "per s" or none). `error` is the
    difference, in points where it is a share, else in percent of the trace's (None where that is zero); `within` the
    bound of it, `kept` whether it holds."""

    property: str
    unit: Unit
    trace: float
    synthetic: float
    error: float | None
    within: float
    kept: bool

    def values(self) -> tuple[str, str]:
        """Both values as text."""
        return _text(self.trace, self.unit), _text(self.synthetic, self.unit)

    def error_text(self) -> str:
        """The error with its unit."""
        if self.error is None:
            return "–"
        return f"{self.error:+.1f} points" if self.unit == "share" else f"{self.error:+.1f} %"

    def within_text(self) -> str:
        """The bound with its unit."""
        return f"{self.within:.3g} points" if self.unit == "share" else f"{self.within:.3g} %"


def _text(value: float, unit: Unit) -> str:
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "bytes":
        return binary_size(round(value))
    if unit == "ns":
        return span_text(value) if value >= 1 else "0 s"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def kept_of(name: str, unit: Unit, trace: float, synthetic: float, within: float, uncertain: float = 0.0) -> Kept:
    """A row; `uncertain` is the trace's standard error of the property, in its unit."""
    if unit == "share":
        error: float | None = 100 * (synthetic - trace)
        bound = max(within, 100 * ERRORS * uncertain)
    elif trace:
        error = 100 * (synthetic / trace - 1)
        bound = max(within, 100 * ERRORS * uncertain / abs(trace))
    else:
        error, bound = (0.0 if synthetic == trace else None), within
    return Kept(name, unit, trace, synthetic, error, bound, error is not None and abs(error) <= bound)


def table_of(trace: Properties, synthetic: Properties) -> list[Kept]:
    """All rows."""
    return [
        *_asked(trace, synthetic),
        *_times(trace, synthetic),
        *_order(trace, synthetic),
        *_places(trace, synthetic),
        *_again(trace, synthetic),
    ]


def _asked(trace: Properties, synthetic: Properties) -> Iterator[Kept]:
    yield kept_of("I/Os", "", trace.ios, synthetic.ios, MEANS)
    for direction in ("read", "write", "flush", "trim"):
        one, other = trace.of(direction), synthetic.of(direction)
        if one is None and other is None:
            continue
        shares = [0.0 if side is None else side.ios / of.ios for side, of in ((one, trace), (other, synthetic))]
        if direction != "write" or trace.of("flush") or trace.of("trim"):
            yield kept_of(f"{direction}s", "share", *shares, POINTS)
        if one is None or direction == "flush":
            continue
        sizes = [0.0 if side is None else side.size.mean for side in (one, other)]
        yield kept_of(f"size of {direction}s, mean", "bytes", *sizes, MEANS)
        yield kept_of(f"size of {direction}s, p90", "bytes", one.size.p90, other.size.p90 if other else 0.0, SHAPES)
        if one.fua:
            fua = [0.0 if side is None else side.fua / side.ios for side in (one, other)]
            yield kept_of(f"FUA among {direction}s", "share", *fua, POINTS)


def _times(trace: Properties, synthetic: Properties) -> Iterator[Kept]:
    if trace.rate is not None and synthetic.rate is not None:
        yield kept_of("I/Os a second", "per s", trace.rate, synthetic.rate, MEANS)
    if trace.time.gap_scv is not None and synthetic.time.gap_scv is not None:
        yield kept_of("squared spread of gaps", "", trace.time.gap_scv, synthetic.time.gap_scv, BURSTS)
    windows = [one for one in trace.time.dispersion if one.windows >= FEWEST_WINDOWS]
    step = max(1, -(-len(windows) // MOST_WINDOWS))
    other = {one.window_ns: one for one in synthetic.time.dispersion}
    for one in windows[::-1][::step][::-1]:
        if one.window_ns in other:
            name = f"index of dispersion, {span_text(one.window_ns)}"
            yield kept_of(name, "", one.index, other[one.window_ns].index, BURSTS, one.error)
    if trace.depth is not None and synthetic.depth is not None:
        yield kept_of("in flight at issue, mean", "", trace.depth.at_issue.mean, synthetic.depth.at_issue.mean, SHAPES)


def _order(trace: Properties, synthetic: Properties) -> Iterator[Kept]:
    one, other = trace.runs, synthetic.runs
    yield kept_of("continue the one before", "share", one.continuing, other.continuing, POINTS)
    if trace.of("read") and trace.of("write"):
        yield kept_of("  of reads", "share", one.reads_continuing, other.reads_continuing, POINTS)
        yield kept_of("  of writes", "share", one.writes_continuing, other.writes_continuing, POINTS)
    yield kept_of(f"continue one of {one.heads} runs", "share", one.in_streams, other.in_streams, POINTS)
    for name, sides in (("mean", (one.strict.ios.mean, other.strict.ios.mean)),):
        yield kept_of(f"I/Os of a run, {name}", "", *sides, SHAPES)
    yield kept_of("I/Os of a run, p99", "", one.strict.ios.p99, other.strict.ios.p99, SHAPES)
    yield kept_of("jumps within 1 MiB", "share", trace.jumps.near, synthetic.jumps.near, POINTS)
    yield kept_of("jumps backward", "share", trace.jumps.backward, synthetic.jumps.backward, POINTS)
    for quantile in ("p25", "p50", "p90"):
        sides = [float(getattr(_distance(of), quantile)) for of in (trace, synthetic)]
        yield kept_of(f"jump distance, {quantile}", "bytes", *sides, SHAPES)


def _distance(of: Properties) -> Quantiles:
    return of.jumps.distance


def _places(trace: Properties, synthetic: Properties) -> Iterator[Kept]:
    one, other = trace.footprint, synthetic.footprint
    yield kept_of("bytes touched", "bytes", one.bytes, other.bytes, SHAPES, one.error_bytes)
    if trace.of("read") and trace.of("write"):
        yield kept_of("  by reads", "bytes", one.read_bytes, other.read_bytes, SHAPES, one.error_bytes)
        yield kept_of("  by writes", "bytes", one.written_bytes, other.written_bytes, SHAPES, one.error_bytes)
        yield kept_of("  by both", "bytes", one.both_bytes, other.both_bytes, SHAPES, one.error_bytes)
    yield from _popular(trace.popularity, synthetic.popularity)


def _popular(trace: Popularity, synthetic: Popularity) -> Iterator[Kept]:
    for share, name in ((0.01, "1 %"), (0.1, "10 %")):
        one, other = trace.share_of_top(share), synthetic.share_of_top(share)
        if one is not None and other is not None:
            yield kept_of(f"accesses of the top {name}", "share", one, other, POINTS)
    if trace.zipf is not None and synthetic.zipf is not None:
        yield kept_of("exponent of Zipf's law", "", trace.zipf.theta, synthetic.zipf.theta, SHAPES, trace.zipf.error)


def _again(trace: Properties, synthetic: Properties) -> Iterator[Kept]:
    for share, name in ((0.01, "1 %"), (0.1, "10 %"), (0.5, "half")):
        cache = share * trace.footprint.bytes
        sides = [of.reuse.curve.at(cache) for of in (trace, synthetic)]
        yield kept_of(f"misses, cache of {name} of it", "share", *sides, POINTS)
    if trace.of("read") and trace.of("write"):
        sides = [of.rewrites.read_after_write for of in (trace, synthetic)]
        yield kept_of("reads of what was written", "share", *sides, POINTS)
    if trace.of("write"):
        sides = [of.rewrites.overwrite for of in (trace, synthetic)]
        yield kept_of("writes over what was written", "share", *sides, POINTS)
