"""What a trace is like, in words: a few sentences that answer what it is, and a table of its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, number, share, size, span

if TYPE_CHECKING:
    from hotband.inference.traces.properties import Direction, Properties, Quantiles

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


def answers_of(found: Properties) -> list[str]:
    """What the trace is, in sentences."""
    transfers = found.of("read"), found.of("write")
    return [_whole(found), *([_place(found), *_again(found)] if any(transfers) else []), *_measured(found)]


def _whole(found: Properties) -> str:
    rate = "" if found.rate is None else f", {number(found.rate)} a second"
    head = f"{counted(found.ios, 'I/O')} in {span(found.span_ns)}{rate}{_spread(found)}"
    sides = [one for one in (found.of("read"), found.of("write")) if one is not None]
    if not sides:
        return f"{head}."
    if len(sides) == 1:
        return f"{head}: all {sides[0].direction}s, of {_sizes(sides[0])}."
    read, write = sides
    return f"{head}: {share(found.read_share)} reads of {_sizes(read)}, writes of {_sizes(write)}."


def _spread(found: Properties) -> str:
    """How even they are, at the window nearest to a second."""
    known = [one for one in found.time.dispersion if one.mean >= 1]
    if not known:
        return ""
    one = min(known, key=lambda one: abs(one.window_ns - 1e9))
    of = f"variance over mean in {span(one.window_ns)}: {number(one.index)}"
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
        return f"Mostly sequential: {share(runs.continuing)} continue the I/O before."
    if runs.in_streams >= MOSTLY:
        where = f"one of the last {runs.heads} runs"
        return f"Mostly sequential, in several streams at once: {share(runs.in_streams)} continue {where}."
    if not found.jumps.count:
        return "A single place."
    far = f"half of the jumps are longer than {size(found.jumps.distance.p50)}"
    return f"At scattered places: {share(runs.continuing)} continue the I/O before, {far}."


def _again(found: Properties) -> list[str]:
    """What is touched, how often again, and what a cache would do."""
    touched = f"It touches {_about(found)}{size(found.footprint.bytes)} (blocks of {size(found.block_bytes)})"
    first = found.reuse.first
    if first > 0.995:
        return [f"{touched}, hardly any of it twice: no cache would help."]
    top = found.popularity.share_of_top(0.1)
    popular = "" if top is None else f"; a tenth of it has {share(top)} of the accesses"
    zipf = found.popularity.zipf
    law = (
        ""
        if zipf is None or zipf.misfit > MISFIT or zipf.theta < LEAST_THETA
        else f" (Zipf, exponent {_with_error(zipf.theta, zipf.error)})"
    )
    tenth = share(found.reuse.curve.at(0.1 * found.footprint.bytes))
    cache = f"An LRU cache of a tenth of that would miss {tenth}, one for all of it {share(first)}"
    return [f"{touched}{popular}{law}. {cache}."]


def _about(found: Properties) -> str:
    return "" if found.is_exact else "about "


def _measured(found: Properties) -> list[str]:
    said = [f"{one.direction}s {span(one.ns.mean)} (p99 {span(one.ns.p99)})" for one in found.latency]
    return [f"Measured when it was recorded, on average: {', '.join(said)}."] if said else []


def _with_error(value: float, error: float) -> str:
    return f"{number(value)} ± {number(error, 2)}"


def rows_of(found: Properties) -> list[Row]:
    """Names of figures and figures, as text."""
    return [*_of_load(found), *_of_places(found), *_of_blocks(found), *_of_latency(found)]


def _of_load(found: Properties) -> list[Row]:
    total = sum(direction.bytes for direction in found.directions if direction.direction in ("read", "write"))
    rows = [("I/Os", f"{found.ios:,} in {span(found.span_ns)}")]
    if found.rate is not None:
        rows.append(("rate", f"{number(found.rate)} IOPS, {number(total / found.span_ns * 1e3)} MB/s"))
    for one in found.directions:
        part = f"{share(one.ios / found.ios)} of I/Os"
        if one.bytes:
            sizes = f"p50 {size(one.size.p50)}, mean {size(one.size.mean)}"
            rows.append((f"{one.direction}s", f"{part}, {size(one.bytes)}: {sizes}"))
        else:
            rows.append((f"{one.direction}{'es' if one.direction == 'flush' else 's'}", f"{one.ios:,}"))
    failed = sum(direction.failed for direction in found.directions)
    rows += [("failed", f"{failed:,}")] if failed else []
    known = [one for one in found.time.dispersion if one.window_ns in SHOWN_WINDOWS]
    of = [f"{_with_error(one.index, one.error)} in {span(one.window_ns)}" for one in known]
    rows += [("variance over mean", "; ".join(of))] if of else []
    if found.time.gap_scv is not None:
        rows.append(("gaps", f"{_quantiles(found.time.gap_ns)}, SCV {number(found.time.gap_scv)}"))
    if len(found.devices) > 1:
        rows.append(("devices", f"{len(found.devices):,}; the busiest: {found.devices[0].name}"))
    return rows


def _quantiles(of: Quantiles) -> str:
    return f"p50 {span(of.p50)}, p99 {span(of.p99)}"


def _of_places(found: Properties) -> list[Row]:
    runs, jumps = found.runs, found.jumps
    if not runs.ios:
        return []
    sides = f"reads {share(runs.reads_continuing)}, writes {share(runs.writes_continuing)}"
    lengths = runs.streams.ios
    rows = [
        ("continue the I/O before", f"{share(runs.continuing)} ({sides})"),
        (f"continue one of {runs.heads} runs", share(runs.in_streams)),
        ("runs", f"mean {number(lengths.mean)} I/Os, p99 {lengths.p99:,}, longest {lengths.max:,}"),
    ]
    if jumps.distance.count:
        of = f"p50 {size(jumps.distance.p50)}, p90 {size(jumps.distance.p90)}"
        near = f"{share(jumps.near)} up to 1 MiB, {share(jumps.backward)} back"
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
    windows = [window for window in found.working_set.windows if str(window.window_ns).startswith("1")][-3:-1]
    rows += [
        ("working set", "; ".join(f"{size(window.bytes)} in {span(window.window_ns)}" for window in windows))
    ] * bool(windows)
    tops = [f"{share(part)}: {share(top.share_of_top(part) or 0.0)}" for part in (0.01, 0.1)]
    rows.append(("accesses to the top", "; ".join(tops)))
    if zipf is not None:
        rows.append(("Zipf's exponent", f"{_with_error(zipf.theta, zipf.error)} (misfit {share(zipf.misfit)})"))
    curve, whole = found.reuse.curve, touched.bytes
    caches = [f"{share(curve.at(part * whole))} with {size(part * whole)}" for part in CACHES]
    rows.append(("LRU misses", f"{'; '.join(caches)}; {share(found.reuse.first)} with all{_error(found)}"))
    again = found.rewrites
    if again.read_after_write_ns.count:
        rows.append(
            ("read after write", f"{share(again.read_after_write)} of reads; {_quantiles(again.read_after_write_ns)}")
        )
    if again.overwrite_ns.count:
        rows.append(("overwrites", f"{share(again.overwrite)} of writes; {_quantiles(again.overwrite_ns)}"))
    return rows


def _error(found: Properties) -> str:
    errors = found.reuse.curve.error
    return "" if found.is_exact or not errors else f"; ± {share(max(errors))} or less"


def _of_latency(found: Properties) -> list[Row]:
    rows = [(f"{one.direction} latency", f"{_quantiles(one.ns)}, longest {span(one.ns.max)}") for one in found.latency]
    if found.depth is not None:
        depth = found.depth
        rows.append(("in flight", f"mean {number(depth.mean)}; p99 {depth.at_issue.p99:,} when one is asked for"))
    return rows
