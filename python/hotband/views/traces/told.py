"""Describe a trace in words: a few sentences, and a table of its figures."""

from __future__ import annotations

from hotband.base.text.numbers import counted, number, plural, share, size, span
from hotband.inference.traces.properties import Direction, Properties, Quantiles

EVEN, BURSTY = 0.5, 2.0
"""Index of dispersion below which arrivals count as even, and above which as bursts: a factor of two from Poisson."""
SHOWN_WINDOWS = (1e7, 1e9, 1e11)
"""Windows of dispersion in the table, in ns."""
CACHES = (0.01, 0.1)
"""Sizes of a cache in the table, as shares of the footprint."""
MISFIT, LEAST_THETA = 0.05, 0.1
"""Largest misfit and least exponent for which the text mentions Zipf's law."""
MOSTLY = 0.5
"""Share of I/Os from which a trace counts as sequential."""

Row = tuple[str, str]


def answers_of(properties: Properties) -> list[str]:
    """Describe the trace in sentences."""
    transfers = properties.of("read"), properties.of("write")
    return [
        _whole(properties),
        *_failed(properties),
        *([_place(properties), *_again(properties)] if any(transfers) else []),
        *_measured(properties),
    ]


def _whole(properties: Properties) -> str:
    rate = "" if properties.rate is None else f", {number(properties.rate)} a second"
    head = f"{counted(properties.ios, 'I/O')} in {span(properties.span_ns)}{rate}{_spread(properties)}"
    sides = [side for side in (properties.of("read"), properties.of("write")) if side is not None]
    if not sides:
        return f"{head}."
    if len(sides) == 1:
        return f"{head}: all {plural(sides[0].direction)}, of {_sizes(sides[0])}."
    read, write = sides
    return f"{head}: {share(properties.read_share)} reads of {_sizes(read)}, writes of {_sizes(write)}."


def _failed(properties: Properties) -> list[str]:
    """Return how many I/Os failed when they were recorded, if any did."""
    failed = sum(direction.failed for direction in properties.directions)
    if not failed:
        return []
    return [f"! {failed:,} of them failed when they were recorded ({share(failed / properties.ios)})."]


def _spread(properties: Properties) -> str:
    """Describe the evenness of arrivals, at the window nearest to a second."""
    known = [window for window in properties.time.dispersion if window.mean >= 1]
    if not known:
        return ""
    nearest = min(known, key=lambda window: abs(window.window_ns - 1e9))
    dispersion = f"variance over mean in {span(nearest.window_ns)}: {number(nearest.index)}"
    word = "evenly" if nearest.index < EVEN else "in bursts" if nearest.index > BURSTY else "as a Poisson process"
    return f", {word} ({dispersion})"


def _sizes(direction: Direction) -> str:
    if direction.size.min == direction.size.max:
        return size(direction.size.max)
    if direction.size.p10 == direction.size.p90:
        return f"mostly {size(direction.size.p50)}"
    return f"{size(direction.size.p10)} to {size(direction.size.p90)} (half up to {size(direction.size.p50)})"


def _place(properties: Properties) -> str:
    runs = properties.runs
    if runs.continuing >= MOSTLY:
        return f"Mostly sequential: {share(runs.continuing)} continue the previous I/O."
    if runs.in_streams >= MOSTLY:
        where = f"one of the last {runs.heads} runs"
        return f"Mostly sequential, in several streams at once: {share(runs.in_streams)} continue {where}."
    if not properties.jumps.count:
        return "A single place."
    far = f"half of the jumps are longer than {size(properties.jumps.distance.p50)}"
    return f"At scattered places: {share(runs.continuing)} continue the previous I/O, {far}."


def _again(properties: Properties) -> list[str]:
    """Describe the footprint, its reuse, and the misses of a cache."""
    touched = (
        f"It touches {_about(properties)}{size(properties.footprint.bytes)} (blocks of {size(properties.block_bytes)})"
    )
    first = properties.reuse.first
    if first > 0.995:
        return [f"{touched}, hardly any of it twice: no cache would help."]
    top = properties.popularity.share_of_top(0.1)
    popular = "" if top is None else f"; a tenth of it has {share(top)} of the accesses"
    zipf = properties.popularity.zipf
    law = (
        ""
        if zipf is None or zipf.misfit > MISFIT or zipf.theta < LEAST_THETA
        else f" (Zipf, exponent {_with_error(zipf.theta, zipf.error)})"
    )
    tenth = share(properties.reuse.curve.at(0.1 * properties.footprint.bytes))
    cache = f"An LRU cache of a tenth of that would miss {tenth}, one for all of it {share(first)}"
    return [f"{touched}{popular}{law}. {cache}."]


def _about(properties: Properties) -> str:
    return "" if properties.is_exact else "about "


def _measured(properties: Properties) -> list[str]:
    means = [
        f"{plural(latency.direction)} {span(latency.ns.mean)} (p99 {span(latency.ns.p99)})"
        for latency in properties.latency
    ]
    return [f"Measured when it was recorded, on average: {', '.join(means)}."] if means else []


def _with_error(value: float, error: float) -> str:
    return f"{number(value)} ± {number(error, 2)}"


def rows_of(properties: Properties) -> list[Row]:
    """Return names and values of figures, as text."""
    return [*_of_load(properties), *_of_places(properties), *_of_blocks(properties), *_of_latency(properties)]


def _of_load(properties: Properties) -> list[Row]:
    total = sum(direction.bytes for direction in properties.directions if direction.direction in ("read", "write"))
    rows = [("I/Os", f"{properties.ios:,} in {span(properties.span_ns)}")]
    if properties.rate is not None:
        rows.append(("rate", f"{number(properties.rate)} IOPS, {number(total / properties.span_ns * 1e3)} MB/s"))
    for direction in properties.directions:
        part = f"{share(direction.ios / properties.ios)} of I/Os"
        if direction.bytes:
            sizes = f"p50 {size(direction.size.p50)}, mean {size(direction.size.mean)}"
            rows.append((plural(direction.direction), f"{part}, {size(direction.bytes)}: {sizes}"))
        else:
            rows.append((plural(direction.direction), f"{direction.ios:,}"))
    failed = sum(direction.failed for direction in properties.directions)
    rows += [("failed", f"{failed:,}")] if failed else []
    known = [window for window in properties.time.dispersion if window.window_ns in SHOWN_WINDOWS]
    dispersion = [f"{_with_error(window.index, window.error)} in {span(window.window_ns)}" for window in known]
    rows += [("variance over mean", "; ".join(dispersion))] if dispersion else []
    if properties.time.gap_scv is not None:
        rows.append(("gaps", f"{_quantiles(properties.time.gap_ns)}, SCV {number(properties.time.gap_scv)}"))
    if len(properties.devices) > 1:
        rows.append(("devices", f"{len(properties.devices):,}; the busiest: {properties.devices[0].name}"))
    return rows


def _quantiles(quantiles: Quantiles) -> str:
    return f"p50 {span(quantiles.p50)}, p99 {span(quantiles.p99)}"


def _of_places(properties: Properties) -> list[Row]:
    runs, jumps = properties.runs, properties.jumps
    if not runs.ios:
        return []
    sides = f"reads {share(runs.reads_continuing)}, writes {share(runs.writes_continuing)}"
    lengths = runs.streams.ios
    rows = [
        ("continue the previous I/O", f"{share(runs.continuing)} ({sides})"),
        (f"continue one of {runs.heads} runs", share(runs.in_streams)),
        ("runs", f"mean {number(lengths.mean)} I/Os, p99 {lengths.p99:,}, longest {lengths.max:,}"),
    ]
    if jumps.distance.count:
        distance = f"p50 {size(jumps.distance.p50)}, p90 {size(jumps.distance.p90)}"
        near = f"{share(jumps.near)} up to 1 MiB, {share(jumps.backward)} back"
        rows.append(("jumps", f"{distance}; {near}"))
    return rows


def _of_blocks(properties: Properties) -> list[Row]:
    if not properties.reuse.accesses:
        return []
    touched, top, zipf = properties.footprint, properties.popularity, properties.popularity.zipf
    parts = f"read {size(touched.read_bytes)}, written {size(touched.written_bytes)}"
    error = f" ± {size(touched.error_bytes)}" if touched.error_bytes else ""
    rows = [("touched", f"{size(touched.bytes)}{error} ({parts})")]
    # Only whole decades: shorter windows hold single I/Os, and the longest holds nearly all.
    windows = [window for window in properties.working_set.windows if str(window.window_ns).startswith("1")][-3:-1]
    rows += [
        ("working set", "; ".join(f"{size(window.bytes)} in {span(window.window_ns)}" for window in windows))
    ] * bool(windows)
    tops = [f"{share(part)}: {share(top.share_of_top(part) or 0.0)}" for part in (0.01, 0.1)]
    rows.append(("accesses to the top", "; ".join(tops)))
    if zipf is not None:
        rows.append(("Zipf's exponent", f"{_with_error(zipf.theta, zipf.error)} (misfit {share(zipf.misfit)})"))
    curve, whole = properties.reuse.curve, touched.bytes
    caches = [f"{share(curve.at(part * whole))} with {size(part * whole)}" for part in CACHES]
    rows.append(("LRU misses", f"{'; '.join(caches)}; {share(properties.reuse.first)} with all{_error(properties)}"))
    again = properties.rewrites
    if again.read_after_write_ns.count:
        rows.append(
            ("read after write", f"{share(again.read_after_write)} of reads; {_quantiles(again.read_after_write_ns)}")
        )
    if again.overwrite_ns.count:
        rows.append(("overwrites", f"{share(again.overwrite)} of writes; {_quantiles(again.overwrite_ns)}"))
    return rows


def _error(properties: Properties) -> str:
    errors = properties.reuse.curve.error
    return "" if properties.is_exact or not errors else f"; ± {share(max(errors))} or less"


def _of_latency(properties: Properties) -> list[Row]:
    rows = [
        (f"{latency.direction} latency", f"{_quantiles(latency.ns)}, longest {span(latency.ns.max)}")
        for latency in properties.latency
    ]
    if properties.depth is not None:
        depth = properties.depth
        rows.append(("in flight", f"mean {number(depth.mean)}; p99 {depth.at_issue.p99:,} when one is issued"))
    return rows
