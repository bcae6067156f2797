"""What a trace is like, in words: a few sentences that answer what it is, and a table of its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.cells import counted
from hotband.base.text.numbers import number, span

if TYPE_CHECKING:
    from hotband.inference.traces.properties import Direction, Properties, Quantiles

SIZES = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
LONG = (("days", 2 * 86400e9, 86400e9), ("h", 2 * 3600e9, 3600e9), ("min", 120e9, 60e9))
"""Units of long times, from when on, and how long."""
EVEN, BURSTY = 0.5, 2.0
"""Index of dispersion at which arrivals are called more even than Poisson's, and bursts: by a factor of two."""
SHOWN_WINDOWS = (1e7, 1e9, 1e11)
"""Windows of dispersion in the table, in ns."""
CACHES = (0.01, 0.1)
"""Sizes of a cache in the table, as shares of the footprint."""
MISFIT, LEAST_THETA = 0.05, 0.1
"""Beyond this misfit, and below this exponent, nobody would speak of Zipf's law."""
MOSTLY = 0.5
"""Share of I/Os from which on a trace is called sequential."""

Row = tuple[str, str]


def size(value: float) -> str:
    """Bytes in the largest binary unit that leaves at least one: "4 KiB"."""
    for unit, bytes_of in SIZES:
        if value >= bytes_of:
            return f"{number(value / bytes_of, 3)} {unit}"
    return f"{number(value, 3)} B"


def time(ns: float) -> str:
    """A time with three digits: "2.5 ms", "8.34 min"."""
    for unit, least, length in LONG:
        if ns >= least:
            return f"{number(ns / length, 3)} {unit}"
    return span(float(f"{ns:.3g}"))


def percent(part: float) -> str:
    """A share in percent."""
    return f"{number(100 * part, 3)} %"


def answers_of(found: Properties) -> list[str]:
    """What the trace is, in sentences."""
    transfers = found.of("read"), found.of("write")
    return [_whole(found), *([_place(found), *_again(found)] if any(transfers) else []), *_measured(found)]


def _whole(found: Properties) -> str:
    rate = "" if found.rate is None else f", {number(found.rate, 3)} a second"
    head = f"{counted(found.ios, 'I/O')} in {time(found.span_ns)}{rate}{_spread(found)}"
    sides = [one for one in (found.of("read"), found.of("write")) if one is not None]
    if not sides:
        return f"{head}."
    if len(sides) == 1:
        return f"{head}: all {sides[0].direction}s, of {_sizes(sides[0])}."
    read, write = sides
    return f"{head}: {percent(found.read_share)} reads of {_sizes(read)}, writes of {_sizes(write)}."


def _spread(found: Properties) -> str:
    """How even they are, at the window nearest to a second."""
    known = [one for one in found.time.dispersion if one.mean >= 1]
    if not known:
        return ""
    one = min(known, key=lambda one: abs(one.window_ns - 1e9))
    of = f"variance over mean in {time(one.window_ns)}: {number(one.index, 3)}"
    word = "evenly" if one.index < EVEN else "in bursts" if one.index > BURSTY else "as a Poisson process"
    return f", {word} ({of})"


def _sizes(one: Direction) -> str:
    if one.size.min == one.size.max:
        return size(one.size.max)
    if one.size.p10 == one.size.p90:
        return f"mostly {size(one.size.p50)}"
    return f"{size(one.size.p10)} to {size(one.size.p90)} (half up to {size(one.size.p50)})"


def _place(found: Properties) -> str:
    runs = found.runs
    if runs.continuing >= MOSTLY:
        return f"Mostly sequential: {percent(runs.continuing)} continue the I/O before."
    if runs.in_streams >= MOSTLY:
        share = percent(runs.in_streams)
        return f"Mostly sequential, in several streams at once: {share} continue one of the last {runs.heads} runs."
    if not found.jumps.count:
        return "A single place."
    far = f"half of the jumps are longer than {size(found.jumps.distance.p50)}"
    return f"At scattered places: {percent(runs.continuing)} continue the I/O before, {far}."


def _again(found: Properties) -> list[str]:
    """What is touched, how often again, and what a cache would do."""
    touched = f"It touches {_about(found)}{size(found.footprint.bytes)} (blocks of {size(found.block_bytes)})"
    first = found.reuse.first
    if first > 0.995:
        return [f"{touched}, hardly any of it twice: no cache would help."]
    top = found.popularity.share_of_top(0.1)
    popular = "" if top is None else f"; a tenth of it has {percent(top)} of the accesses"
    zipf = found.popularity.zipf
    law = (
        ""
        if zipf is None or zipf.misfit > MISFIT or zipf.theta < LEAST_THETA
        else f" (Zipf, exponent {_with_error(zipf.theta, zipf.error)})"
    )
    tenth = percent(found.reuse.curve.at(0.1 * found.footprint.bytes))
    cache = f"An LRU cache of a tenth of that would miss {tenth}, one for all of it {percent(first)}"
    return [f"{touched}{popular}{law}. {cache}."]


def _about(found: Properties) -> str:
    return "" if found.is_exact else "about "


def _measured(found: Properties) -> list[str]:
    said = [f"{one.direction}s {time(one.ns.mean)} (p99 {time(one.ns.p99)})" for one in found.latency]
    return [f"Measured when it was recorded, on average: {', '.join(said)}."] if said else []


def _with_error(value: float, error: float) -> str:
    return f"{number(value, 3)} ± {number(error, 2)}"


def rows_of(found: Properties) -> list[Row]:
    """Names of figures and figures, as text."""
    return [*_of_load(found), *_of_places(found), *_of_blocks(found), *_of_latency(found)]


def _of_load(found: Properties) -> list[Row]:
    total = sum(one.bytes for one in found.directions if one.direction in ("read", "write"))
    rows = [("I/Os", f"{found.ios:,} in {time(found.span_ns)}")]
    if found.rate is not None:
        rows.append(("rate", f"{number(found.rate, 3)} IOPS, {number(total / found.span_ns * 1e3, 3)} MB/s"))
    for one in found.directions:
        share = f"{percent(one.ios / found.ios)} of I/Os"
        if one.bytes:
            sizes = f"p50 {size(one.size.p50)}, mean {size(one.size.mean)}"
            rows.append((f"{one.direction}s", f"{share}, {size(one.bytes)}: {sizes}"))
        else:
            rows.append((f"{one.direction}{'es' if one.direction == 'flush' else 's'}", f"{one.ios:,}"))
    failed = sum(one.failed for one in found.directions)
    rows += [("failed", f"{failed:,}")] if failed else []
    known = [one for one in found.time.dispersion if one.window_ns in SHOWN_WINDOWS]
    of = [f"{_with_error(one.index, one.error)} in {time(one.window_ns)}" for one in known]
    rows += [("variance over mean", "; ".join(of))] if of else []
    if found.time.gap_scv is not None:
        rows.append(("gaps", f"{_quantiles(found.time.gap_ns)}, SCV {number(found.time.gap_scv, 3)}"))
    if len(found.devices) > 1:
        rows.append(("devices", f"{len(found.devices):,}; the busiest: {found.devices[0].name}"))
    return rows


def _quantiles(of: Quantiles) -> str:
    return f"p50 {time(of.p50)}, p99 {time(of.p99)}"


def _of_places(found: Properties) -> list[Row]:
    runs, jumps = found.runs, found.jumps
    if not runs.ios:
        return []
    sides = f"reads {percent(runs.reads_continuing)}, writes {percent(runs.writes_continuing)}"
    lengths = runs.streams.ios
    rows = [
        ("continue the I/O before", f"{percent(runs.continuing)} ({sides})"),
        (f"continue one of {runs.heads} runs", percent(runs.in_streams)),
        ("runs", f"mean {number(lengths.mean, 3)} I/Os, p99 {lengths.p99:,}, longest {lengths.max:,}"),
    ]
    if jumps.distance.count:
        of = f"p50 {size(jumps.distance.p50)}, p90 {size(jumps.distance.p90)}"
        near = f"{percent(jumps.near)} up to 1 MiB, {percent(jumps.backward)} back"
        rows.append(("jumps", f"{of}; {near}"))
    return rows


def _of_blocks(found: Properties) -> list[Row]:
    if not found.reuse.accesses:
        return []
    touched, top, zipf = found.footprint, found.popularity, found.popularity.zipf
    parts = f"read {size(touched.read_bytes)}, written {size(touched.written_bytes)}"
    error = f" ± {size(touched.error_bytes)}" if touched.error_bytes else ""
    rows = [("touched", f"{size(touched.bytes)}{error} ({parts})")]
    # Of whole decades; shorter windows hold single I/Os, the longest is nearly all.
    windows = [one for one in found.working_set.windows if str(one.window_ns).startswith("1")][-3:-1]
    rows += [("working set", "; ".join(f"{size(one.bytes)} in {time(one.window_ns)}" for one in windows))] * bool(
        windows
    )
    tops = [f"{percent(share)}: {percent(top.share_of_top(share) or 0.0)}" for share in (0.01, 0.1)]
    rows.append(("accesses to the top", "; ".join(tops)))
    if zipf is not None:
        rows.append(("Zipf's exponent", f"{_with_error(zipf.theta, zipf.error)} (misfit {percent(zipf.misfit)})"))
    curve, whole = found.reuse.curve, touched.bytes
    caches = [f"{percent(curve.at(share * whole))} with {size(share * whole)}" for share in CACHES]
    rows.append(("LRU misses", f"{'; '.join(caches)}; {percent(found.reuse.first)} with all{_error(found)}"))
    again = found.rewrites
    if again.read_after_write_ns.count:
        rows.append(
            ("read after write", f"{percent(again.read_after_write)} of reads; {_quantiles(again.read_after_write_ns)}")
        )
    if again.overwrite_ns.count:
        rows.append(("overwrites", f"{percent(again.overwrite)} of writes; {_quantiles(again.overwrite_ns)}"))
    return rows


def _error(found: Properties) -> str:
    errors = found.reuse.curve.error
    return "" if found.is_exact or not errors else f"; ± {percent(max(errors))} or less"


def _of_latency(found: Properties) -> list[Row]:
    rows = [(f"{one.direction} latency", f"{_quantiles(one.ns)}, longest {time(one.ns.max)}") for one in found.latency]
    if found.depth is not None:
        depth = found.depth
        rows.append(("in flight", f"mean {number(depth.mean, 3)}; p99 {depth.at_issue.p99:,} when one is asked for"))
    return rows
