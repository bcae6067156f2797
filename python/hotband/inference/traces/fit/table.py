"""Properties of a trace and of the workload that was fitted to it, side by side.

Differences of shares are in percentage points, all others in percent of the trace's value. A property counts as
preserved when it is within its bound, or within three standard errors where these are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from hotband.base.text.numbers import percent, quantity, span, with_sign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hotband.inference.traces.properties import Properties

Unit = Literal["share", "bytes", "ns", "per s", ""]

POINTS = 2.0
"""A share of 10,000 I/Os is drawn to a point (two standard errors of a half); twice that."""
MEANS = 5.0
"""Percent that a mean or a rate may be off: of 10,000 I/Os it is drawn to 1 or 2."""
SHAPES = 10.0
"""Percent of what depends on a whole distribution: quantiles, bytes touched."""
BURSTS = 25.0
"""Percent of an index of dispersion: its own standard error with 30 windows."""
MOST_SHOWN = 1000
"""Percent: larger errors are not printed exactly."""
FLAT = 0.05
"""Exponents below it are not shown: all blocks are identical."""
NO_SPREAD = 1e-4
"""A squared spread of gaps below it is none: they differ by less than a percent, and in percent only rounding would be
compared."""
ERRORS = 3.0
"""Standard errors."""
FEWEST_WINDOWS = 20
"""With fewer, no index of dispersion is shown."""
MOST_WINDOWS = 4
"""Widths of windows that are shown, evenly chosen."""


@dataclass(frozen=True)
class Kept:
    """A property of the trace and of the workload: in `unit` ("share" of one, bytes, ns, "per s" or none). `error` is
    the difference, in points if it is a share, else in percent of the trace's (None if that is zero); `within`
    the bound of it, `kept` whether it holds."""

    property: str
    unit: Unit
    trace: float
    synthetic: float
    error: float | None
    within: float
    kept: bool

    def error_text(self) -> str:
        """The error with its unit."""
        if self.error is None:
            return "–"
        if self.unit == "share":
            return f"{with_sign(self.error)} points"
        return percent(self.error) if self.error < MOST_SHOWN else f"over {MOST_SHOWN:,} %"

    def within_text(self) -> str:
        """The bound with its unit."""
        return quantity(self.within, "points" if self.unit == "share" else "%")


def kept_of(name: str, unit: Unit, both: tuple[float, float], within: float, uncertain: float = 0.0) -> Kept:
    """A row of both values; `uncertain` is the trace's standard error of the property, in its unit."""
    trace, synthetic = both
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
    both = _Both(trace, synthetic)
    return [*_asked(both), *_times(both), *_order(both), *_places(both), *_again(both)]


@dataclass(frozen=True)
class _Both:
    """A trace and the workload fitted to it."""

    trace: Properties
    synthetic: Properties

    def row(
        self, name: str, unit: Unit, value: Callable[[Properties], float], within: float, uncertain: float = 0.0
    ) -> Kept:
        """A property that both have."""
        return kept_of(name, unit, (value(self.trace), value(self.synthetic)), within, uncertain)

    def has(self, *directions: str) -> bool:
        """Return whether the trace has I/Os of all of these directions."""
        return all(self.trace.of(direction) is not None for direction in directions)


def _asked(both: _Both) -> Iterator[Kept]:
    yield both.row("I/Os", "", lambda properties: properties.ios, MEANS)
    for name in ("read", "write", "flush", "trim"):
        if not both.has(name):
            continue
        if name != "write" or both.has("flush") or both.has("trim"):
            share = _share(both.trace, name)
            drawn = (share * (1 - share) / both.trace.ios) ** 0.5
            yield both.row(f"{name}s", "share", partial(_share, direction=name), POINTS, drawn)
        if name == "flush":
            continue
        yield both.row(f"{name} size, mean", "bytes", partial(_mean_size, direction=name), MEANS)
        yield both.row(f"{name} size, p90", "bytes", partial(_large_size, direction=name), SHAPES)
        if _fua(both.trace, name):
            yield both.row(f"FUA among {name}s", "share", partial(_fua, direction=name), POINTS)


def _share(properties: Properties, direction: str) -> float:
    of_direction = properties.of(direction)
    return 0.0 if of_direction is None else of_direction.ios / properties.ios


def _fua(properties: Properties, direction: str) -> float:
    of_direction = properties.of(direction)
    return 0.0 if of_direction is None else of_direction.fua / of_direction.ios


def _mean_size(properties: Properties, direction: str) -> float:
    of_direction = properties.of(direction)
    return 0.0 if of_direction is None else of_direction.size.mean


def _large_size(properties: Properties, direction: str) -> float:
    of_direction = properties.of(direction)
    return 0.0 if of_direction is None else of_direction.size.p90


def _top(properties: Properties, blocks: float) -> float:
    return properties.popularity.share_of_top(blocks) or 0.0


def _misses(properties: Properties, cache: float) -> float:
    return properties.reuse.curve.at(cache)


def _times(both: _Both) -> Iterator[Kept]:
    trace, synthetic = both.trace, both.synthetic
    if trace.rate is not None and synthetic.rate is not None:
        yield kept_of("I/Os a second", "per s", (trace.rate, synthetic.rate), MEANS)
    if trace.time.gap_scv is not None and synthetic.time.gap_scv is not None:
        spreads = (trace.time.gap_scv, synthetic.time.gap_scv)
        yield kept_of("gaps, squared spread", "", (0.0, 0.0) if max(spreads) < NO_SPREAD else spreads, BURSTS)
    windows = [window for window in trace.time.dispersion if window.windows >= FEWEST_WINDOWS]
    step = max(1, -(-len(windows) // MOST_WINDOWS))
    other = {window.window_ns: window for window in synthetic.time.dispersion}
    for window in windows[::-1][::step][::-1]:
        if window.window_ns in other:
            name = f"dispersion, {span(window.window_ns)}"
            yield kept_of(name, "", (window.index, other[window.window_ns].index), BURSTS, window.error)
    if trace.depth is not None and synthetic.depth is not None:
        yield kept_of("in flight at issue", "", (trace.depth.at_issue.mean, synthetic.depth.at_issue.mean), SHAPES)


def _order(both: _Both) -> Iterator[Kept]:
    yield both.row("continue the last one", "share", lambda properties: properties.runs.continuing, POINTS)
    if both.has("read", "write"):
        yield both.row("reads that continue", "share", lambda properties: properties.runs.reads_continuing, POINTS)
        yield both.row("writes that continue", "share", lambda properties: properties.runs.writes_continuing, POINTS)
    yield both.row(
        f"continue 1 of {both.trace.runs.heads} runs", "share", lambda properties: properties.runs.in_streams, POINTS
    )
    yield both.row("I/Os of a run, mean", "", lambda properties: properties.runs.strict.ios.mean, SHAPES)
    yield both.row("I/Os of a run, p99", "", lambda properties: properties.runs.strict.ios.p99, SHAPES)
    yield both.row("jumps within 1 MiB", "share", lambda properties: properties.jumps.near, POINTS)
    yield both.row("jumps backward", "share", lambda properties: properties.jumps.backward, POINTS)
    yield both.row("jump distance, p25", "bytes", lambda properties: properties.jumps.distance.p25, SHAPES)
    yield both.row("jump distance, p50", "bytes", lambda properties: properties.jumps.distance.p50, SHAPES)
    yield both.row("jump distance, p90", "bytes", lambda properties: properties.jumps.distance.p90, SHAPES)


def _places(both: _Both) -> Iterator[Kept]:
    error = both.trace.footprint.error_bytes
    yield both.row("bytes touched", "bytes", lambda properties: properties.footprint.bytes, SHAPES, error)
    if both.has("read", "write"):
        yield both.row("bytes read", "bytes", lambda properties: properties.footprint.read_bytes, SHAPES, error)
        yield both.row("bytes written", "bytes", lambda properties: properties.footprint.written_bytes, SHAPES, error)
        yield both.row(
            "bytes read and written", "bytes", lambda properties: properties.footprint.both_bytes, SHAPES, error
        )
    for share, name in ((0.01, "1 %"), (0.1, "10 %")):
        yield both.row(f"accesses, top {name}", "share", partial(_top, blocks=share), POINTS)
    zipf, other = both.trace.popularity.zipf, both.synthetic.popularity.zipf
    if zipf is not None and other is not None and zipf.theta > FLAT:
        yield kept_of("Zipf's exponent", "", (zipf.theta, other.theta), SHAPES, zipf.error)


def _again(both: _Both) -> Iterator[Kept]:
    for share, name in ((0.01, "1 %"), (0.1, "10 %"), (0.5, "half")):
        cache = share * both.trace.footprint.bytes
        yield both.row(f"misses, cache {name}", "share", partial(_misses, cache=cache), POINTS)
    if both.has("read", "write"):
        yield both.row("reads after a write", "share", lambda properties: properties.rewrites.read_after_write, POINTS)
    if both.has("write"):
        yield both.row("writes over a write", "share", lambda properties: properties.rewrites.overwrite, POINTS)
