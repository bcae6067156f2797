"""Write the workload as text, with the source of each value."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING

from hotband.base.foreign import visible
from hotband.base.text.numbers import span
from hotband.inference.traces.fit.arrivals import Clock, Loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hotband.inference.traces.fit.streams import Stream

UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
MOST_INTERVALS = 1_000_000
"""A series that can be drawn; a run has ten times as many at most."""
MOSTLY = 0.5
"""Share of writes with FUA from which on all of a stream are."""
RATES_OF_LINE = 12
"""Rates in a line of text."""


def size_text(size: int) -> str:
    """Format bytes in the largest binary unit of which they are a whole number."""
    unit, bytes_of = next((entry for entry in UNITS if size and not size % entry[1]), ("B", 1))
    return f"{size // bytes_of} {unit}"


def workload_text(
    name: str, ios: int, span_s: float, load: Loop | Clock, in_a_row: float | None, streams: Sequence[Stream]
) -> str:
    """Return the workload fitted to the trace `name`, as TOML."""
    rate = f", {ios / span_s:,.4g} a second" if span_s else ""
    lines = [
        f"# Fitted by `hotband trace fit` to {visible(name)}: {ios:,} I/Os in {span_s:,.4g} s{rate}.",
        "# The command shows which properties of the trace it preserves.",
        f"title = {json.dumps(f'like {name}')}",
        f"source = {json.dumps(f'fitted to {name} by hotband trace fit')}",
        *_interval(span_s),
        "",
        "[load]",
        *([] if in_a_row is None else [f"in_a_row = {in_a_row:g}".ljust(36) + "# runs, by how often streams change"]),
        *(_loop(load) if isinstance(load, Loop) else _clock(load)),
    ]
    # A rate does not count flushes, a closed loop does.
    counts = [stream.with_flushes if isinstance(load, Loop) else stream.ios for stream in streams]
    for stream, count in zip(streams, counts, strict=True):
        lines += ["", *_stream(stream, count / sum(counts))]
    # A phase counts flushes, of which the load issues at most one per write; the trace may have more.
    of_phase = ios if isinstance(load, Loop) else round(sum(stream.with_flushes for stream in streams))
    why = "# as many as the trace has" if of_phase == ios else "# the trace's data I/Os, and flushes"
    lines += ["", "[[phases]]", f"ios = {of_phase}".ljust(36) + why, "measure = true", ""]
    return "\n".join(lines)


def _interval(span_s: float) -> list[str]:
    """Return a line with longer intervals for a trace of days than the default second."""
    long = f'interval = "{ceil(span_s / MOST_INTERVALS)} s"'.ljust(36)
    return [long + "# the trace is long"] if span_s > MOST_INTERVALS else []


def _loop(loop: Loop) -> list[str]:
    think = f', think = "{round(loop.think_ns)} ns"' if loop.think_ns >= 1 else ""
    state = "I/O finds none other" if loop.depth == 1 else f"I/O finds {loop.depth - 1} others"
    return [
        f"# {100 * loop.alike:.3g} % of the I/Os: each {state} in flight, and comes",
        f"# {span(loop.think_ns)} after a completion, on average",
        f"closed = {{ threads = {loop.depth}, depth = 1{think} }}",
    ]


def _clock(clock: Clock) -> list[str]:
    rate = float(f"{clock.rate:.6g}")
    if clock.is_even:
        return ["# gaps are all alike", f'open = {{ rate_iops = {rate}, arrival = "fixed" }}']
    if not clock.gaps:
        return ["# gaps of random arrivals", f'open = {{ rate_iops = {rate}, arrival = "poisson" }}']
    mix = ", ".join(f'"{_gap(gap)}" = {100 * share:.4g}' for gap, share in clock.gaps)
    lines = [
        "[load.arrivals]",
        "# gaps: exponentials of these means, fitted by maximum likelihood, and shares in percent",
    ]
    lines.append(f"gaps = {{ {mix} }}")
    if clock.rates:
        lines.append(f'every = "{round(clock.every_ns)} ns"'.ljust(36) + f"# {len(clock.rates)} pieces of the trace")
        texts = [f"{rate:g}" for rate in clock.rates]
        rows = [", ".join(texts[at : at + RATES_OF_LINE]) for at in range(0, len(texts), RATES_OF_LINE)]
        lines += ["# I/Os in each, over the mean", "rates = [", *(f"    {row}," for row in rows), "]"]
    return lines


def _gap(ns: float) -> str:
    return f"{ns:.4f} ns" if 0 < ns < 10 else f"{round(ns)} ns"


def _percent(share: float) -> str:
    """Format a share for a workload: below 1 % with its unit, because a plain number would be read as a share."""
    percent = f"{100 * share:.6g}"
    return f'"{percent} %"' if 0 < float(percent) < 1 else percent


def _stream(stream: Stream, share: float) -> list[str]:
    sizes = ", ".join(f'"{size_text(size)}" = {100 * part:.4g}' for size, part in stream.sizes)
    size_line = f'size = "{size_text(stream.sizes[0][0])}"'
    lines = [
        "[[streams]]",
        f"# {stream.ios:,} I/Os",
        f'name = "{stream.name}"',
        f"share_pct = {_percent(share)}",
        f"read_pct = {_percent(stream.reads)}",
        *(["trim_pct = 100"] if stream.trims else []),
        size_line if len(stream.sizes) == 1 else f"sizes = {{ {sizes} }}",
        f'range = ["{size_text(stream.low)}", "{size_text(stream.high)}"]',
        *_places(stream),
        *_runs(stream),
    ]
    lines += ["fua = true".ljust(36) + f"# {100 * stream.fua:.3g} % of the writes are"] * (stream.fua > MOSTLY)
    lines += [f"flush_every = {stream.flush_every}"] * bool(stream.flush_every)
    return lines


def _places(stream: Stream) -> list[str]:
    """Return lines on the alignment and the choice of a place."""
    choice, near = stream.choice, stream.near
    sparser = 1 if choice is None else choice.sparser
    why = (
        ""
        if choice is None or sparser == 1
        else f"# {sparser} times fewer places: {100 * choice.top:.3g} % go to the top tenth"
    )
    align = min(stream.align * sparser, stream.high - stream.low)
    lines = [f'align = "{size_text(align)}"'.ljust(36) + why]
    if choice is not None and choice.theta is not None:
        setting = f"offsets.zipf.exponent = {max(choice.theta, 0.01):.3g}".ljust(36)
        lines.append(f"{setting}# {choice.touched:,} places touched")
    if near is not None:
        setting = f'offsets.near = {{ ios = "{100 * near.ios:.3g} %", within = "{size_text(near.within)}" }}'
        lines.append(f"{setting} # of the jumps")
    return [line.rstrip() for line in lines]


def _runs(stream: Stream) -> list[str]:
    """Return lines on the share of I/Os that continue the previous one."""
    if stream.random == 0.0:
        start = min(stream.start, 0.999999)
        return ["random_pct = 0", *([f'start = "{100 * start:.6g} %"'] if start > 0 else [])]
    lines = [f"random_pct = {_percent(stream.random)}".ljust(36) + f"# runs of {stream.runs:.3g} I/Os"]
    if stream.random < 1.0:
        lines.append(f'random_mode = "{"run" if stream.is_constant else "coin"}"')
    return lines
