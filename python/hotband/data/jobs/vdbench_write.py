"""A workload as a parameter file of vdbench 5.04.

Differences in vdbench: `seekpct` is a run length and there is no coin; threads of a storage definition share one
position; one rate or none for all of a run; no pauses, flushes or trims.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes
from hotband.data.jobs.form import number_text
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.tables import Conversion, Step, Stream, plain

# What an open loop may have outstanding at most: vdbench needs a bound.
OPEN_THREADS = 256
INTERVAL = 1


def vdbench_text(conversion: Conversion, target: str) -> str:
    """Return the parameter file without its heading."""
    volumes = list(dict.fromkeys(str(stream.table.get("volume", "")) for stream in conversion.streams))
    storages = [_storage(conversion, volume, target, number) for number, volume in enumerate(volumes, 1)]
    names = _names(conversion)
    running = {stream.index for step in conversion.steps for stream in step.streams}
    skews = _skews(conversion)
    works = [
        _work(conversion, stream, names[stream.index], volumes, skews)
        for stream in conversion.streams
        if stream.index in running
    ]
    runs = [_run(conversion, step, number, names) for number, step in enumerate(conversion.steps)]
    general = _general(conversion)
    return "\n".join([*general, *storages, *works, *runs]) + "\n"


def _names(conversion: Conversion) -> list[str]:
    """Return the names of workload definitions, each once."""
    names: list[str] = []
    for stream in conversion.streams:
        name = plain(stream.name)
        names.append(name if name not in names else f"{name}-{stream.index}")
    return names


def _general(conversion: Conversion) -> list[str]:
    """Return the compression ratio, which vdbench sets for all writes of a file."""
    entropies = [(stream, conversion.entropy(stream)) for stream in conversion.streams if stream.read_pct < 100]
    distinct = {data for _, data in entropies if data is not None}
    if not distinct:
        return []
    data = sorted(distinct)[0]
    for stream_, each in entropies:
        key = stream_.key("data") if "data" in stream_.table else "data"
        if each is not None and (len(distinct) > 1 or not each[1]):
            conversion.approximate(
                key, f"all writes have the same compression ratio, {number_text(1 / max(data[0], 0.001))}:1"
            )
    return [f"compratio={number_text(round(1 / max(data[0], 0.001), 6))}"] if data[0] < 1 else []


def _storage(conversion: Conversion, volume: str, target: str, number: int) -> str:
    """Return one storage definition per volume, which sets alignment and forced writes."""
    streams = [stream for stream in conversion.streams if str(stream.table.get("volume", "")) == volume]
    lun = f"{target}-{plain(volume)}" if volume else target
    writing = [stream for stream in streams if stream.read_pct < 100]
    forced = bool(writing) and all(stream_.table.get("fua") for stream_ in writing)
    for stream_ in writing:
        if stream_.table.get("fua") and not forced:
            conversion.ignore(
                stream_.key("fua"), "applies to a whole storage definition: other streams also write to it"
            )
        if stream_.table.get("flush_every"):
            conversion.ignore(stream_.key("flush_every"), "vdbench does not flush: the other I/Os keep their rate")
    grids = {str(stream.table["align"]) for stream in streams if "align" in stream.table}
    all_say = len(grids) == 1 and all("align" in stream.table for stream in streams)
    if grids and not all_say:
        for stream_ in streams:
            if "align" in stream_.table:
                why = "applies to a whole storage definition: offsets are aligned to the size of each I/O"
                conversion.ignore(stream_.key("align"), why)
    align = f",align={_size(_grid(grids.pop()))}" if all_say else ""
    return f"sd=sd{number},lun={lun},openflags={'o_dsync' if forced else 'o_direct'}{align}"


def _grid(text: str) -> int:
    return round(size_bytes(text) or 512)


def _size(size: int) -> str:
    """Format bytes in vdbench's units, which are powers of 1024."""
    for unit, power in (("t", 40), ("g", 30), ("m", 20), ("k", 10)):
        if size and size % (1 << power) == 0:
            return f"{size >> power}{unit}"
    return str(size)


# --- workloads --------------------------------------------------------------------------------------------------


def _work(conversion: Conversion, stream: Stream, name: str, volumes: list[str], skews: Mapping[int, Skew]) -> str:
    parts = [f"wd={name}", f"sd=sd{volumes.index(str(stream.table.get('volume', ''))) + 1}"]
    parts.append(f"rdpct={number_text(stream.read_pct)}")
    if stream.table.get("trim_pct"):
        conversion.ignore(stream.key("trim_pct"), "vdbench does not trim: these I/Os are writes")
    if stream.trims_first:
        conversion.ignore(stream.key("trim_first"), "vdbench does not trim: it writes twice as many blocks")
    if stream.table.get("cursor") == "per-thread" and stream.random_pct < 100:
        conversion.approximate(stream.key("cursor"), "threads share one position")
    if stream.table.get("start", "0 %") not in ("0 %", "0%"):
        conversion.ignore(stream.key("start"), "a workload starts at the beginning of its range")
    parts += [_seek(conversion, stream), _sizes(stream), *_where(conversion, stream)]
    if stream.index not in skews:
        return ",".join(parts)
    skew = skews[stream.index]
    if skew.of_several_loads:
        why = "concurrent loads become one load, with a skew by their I/Os"
        conversion.approximate(stream.load_key, why)
    return ",".join([*parts, f"skew={number_text(skew.percent)}"])


def _seek(conversion: Conversion, stream: Stream) -> str:
    random = stream.random_pct
    if 0 < random < 100 and stream.table.get("random_mode", "coin") == "coin":
        why = f"runs of {100 / random:.4g} I/Os: vdbench does not choose at random for every I/O"
        conversion.approximate(stream.key("random_pct"), why)
    return f"seekpct={number_text(random)}"


def _sizes(stream: Stream) -> str:
    sizes = stream.sizes
    if len(sizes) == 1:
        return f"xfersize={_size(sizes[0][0])}"
    return f"xfersize=({','.join(f'{_size(size)},{number_text(round(share, 6))}' for size, share in sizes)})"


def _where(conversion: Conversion, stream: Stream) -> list[str]:
    """Return the parameters for the range, a hot band or a stride."""
    offsets = stream.table.get("offsets", {})
    key = stream.key("offsets")
    if "zipf" in offsets:
        conversion.ignore(key, "vdbench has no Zipf distribution: offsets are uniform in the range")
    if "hotspot" in offsets:
        conversion.ignore(
            key, "offsets are uniform in the range: vdbench expresses a hot part as a separate workload with a skew"
        )
    parts = []
    if "stride" in offsets:
        back = str(offsets["stride"]).strip().startswith("-")
        if back:
            conversion.approximate(key, "vdbench has no stride back: it continues forward by the same distance")
        stride = _size(_grid(str(offsets["stride"]).strip().removeprefix("-")))
        parts.append(f"stride=({stride},{stride})")
    word = "hotband" if "hotband" in offsets else "range"
    band = offsets.get("hotband", {})
    if band and (band.get("table_unit", "1 MB") != "1 kB" or band.get("writes_shifted", "1 %") not in ("1 %", "1%")):
        conversion.approximate(key, "vdbench's own table and shift of writes: table_unit 1 kB, writes_shifted 1 %")
    if not stream.whole or word == "hotband":
        low, high = stream.range
        if (low.is_share != high.is_share and low.value) or low.further + high.further:
            conversion.ignore(stream.key("range"), "its ends have different units")
        else:
            parts.append(f"{word}=({_end(low, high.is_share)},{_end(high, high.is_share)})")
    return parts


def _end(amount: Amount, is_share: bool) -> str:
    return number_text(round(100 * amount.value, 9)) if is_share else _size(int(amount.value))


class Skew(NamedTuple):
    """A stream's share of the I/Os of a run, in which other streams may have other loads."""

    percent: float
    of_several_loads: bool


def _skews(conversion: Conversion) -> dict[int, Skew]:
    """Skews by the index of a stream, each in the first of the runs with most streams beside it; none of a stream that
    is alone in all of its runs."""
    skews: dict[int, Skew] = {}
    for step in sorted(conversion.steps, key=lambda step_: -len(step_.streams)):
        new = [stream for stream in step.streams if stream.index not in skews]
        if len(step.streams) > 1 and new:
            weights = {stream.index: _weight(stream) for stream in step.streams}
            whole, several = sum(weights.values()), len({stream.load_key for stream in step.streams}) > 1
            skews |= {stream.index: Skew(100 * weights[stream.index] / whole, several) for stream in new}
    return skews


def _weight(stream: Stream) -> float:
    """Return a stream's weight next to others, without flushes: its rate, else its outstanding I/Os."""
    if "open" in stream.load:
        return float(stream.load["open"]["rate_iops"]) * stream.share
    closed = stream.closed()
    return (closed[0] * closed[1] if closed else 1) * stream.data_share


# --- runs -------------------------------------------------------------------------------------------------------


def _run(conversion: Conversion, step: Step, number: int, names: list[str]) -> str:
    works = [names[stream.index] for stream in step.streams]
    parts = [f"rd={plain(step.name)}", f"wd=({','.join(works)})" if len(works) > 1 else f"wd={works[0]}"]
    parts += _rate(conversion, step)
    if step.ios is not None:
        conversion.approximate(f"phases[{step.index}].ios", "a run ends after a time: 60 s")
    seconds = step.seconds or 60.0
    whole = max(2 * INTERVAL, round(seconds))
    if whole != seconds:
        conversion.approximate(
            f"phases[{step.index}].duration", f"vdbench accepts whole seconds, at least two: {whole}"
        )
    parts += [f"elapsed={whole}", f"interval={INTERVAL}"]
    # Without a warm-up the first interval would be in no average.
    warm = max(INTERVAL, round(conversion.warm_up)) if not number else INTERVAL
    return ",".join([*parts, f"warmup={warm}"])


def _rate(conversion: Conversion, step: Step) -> list[str]:
    """Return the rate of a run: `max` with threads, or a number."""
    is_open = [stream for stream in step.streams if "open" in stream.load]
    loads = {stream.load_key: stream for stream in step.streams}
    for kind in {"bursts", "arrivals"} & next(iter(loads.values())).load.keys():
        accepted = f"vdbench has no {kind}; expected a closed or an open load"
        raise UserError(conversion.file, f"{next(iter(loads))}.{kind}", "", accepted)
    if is_open and len(is_open) == len(step.streams):
        rate = sum(float(stream.load["open"]["rate_iops"]) * stream.share for stream in step.streams)
        fixed = all(stream.load["open"].get("arrival") == "fixed" for stream in step.streams)
        if rate < 1:
            accepted = "is below vdbench's minimum rate: expected 1 or more"
            raise UserError(conversion.file, "rate_iops", number_text(rate), accepted)
        bounds = [stream_.load["open"].get("outstanding") for stream_ in loads.values()]
        threads = OPEN_THREADS if None in bounds else sum(bounds)
        for stream_ in loads.values():
            if "outstanding" not in stream_.load["open"]:
                conversion.approximate(stream_.load_key, f"vdbench waits when {threads} I/Os are outstanding")
        spacing = ["distribution=deterministic"] if fixed else []
        return [f"iorate={number_text(round(rate, 6))}", f"threads={threads}", *spacing]
    threads = 0
    for key, stream_ in loads.items():
        closed = stream_.closed()
        if closed is None:
            conversion.approximate(key, "runs at the maximum rate, by its skew: a run has one rate or none")
            continue
        count = step.threads if step.threads is not None and key == "load" else closed[0]
        threads += count * closed[1]
        if closed[2]:
            conversion.ignore(f"{key}.closed" if key == "load" else key, "vdbench does not pause between I/Os")
    return ["iorate=max", f"threads={max(1, threads)}"]
