"""A workload as a parameter file of vdbench 5.04.

What vdbench has otherwise: `seekpct` is a run length and there is no coin; threads of a storage definition share one
position; one rate or none for all of a run; no pauses, flushes or trims.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes
from hotband.data.jobs.form import number_text
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.tables import Step, Stream, Told, plain

# What an open loop may have outstanding at most: vdbench needs a bound.
OPEN_THREADS = 256
INTERVAL = 1


def vdbench_text(told: Told, target: str) -> str:
    """The parameter file; the loss report of `told` gets a line a key."""
    volumes = list(dict.fromkeys(str(stream.table.get("volume", "")) for stream in told.streams))
    storages = [_storage(told, volume, target, number) for number, volume in enumerate(volumes, 1)]
    names = _names(told)
    asked = {stream.index for step in told.steps for stream in step.streams}
    skews = _skews(told)
    works = [
        _work(told, stream, names[stream.index], volumes, skews) for stream in told.streams if stream.index in asked
    ]
    runs = [_run(told, step, number, names) for number, step in enumerate(told.steps)]
    general = _general(told)
    told.finish()
    comments = [f"* {told.table.get('title', told.file)}", f"* hotband: {told.report.summary('written from')}"]
    comments += [f"* {line}" for line in told.report.matters()]
    return "\n".join([*comments, *general, *storages, *works, *runs]) + "\n"


def _names(told: Told) -> list[str]:
    """Names of workload definitions, each once."""
    found: list[str] = []
    for stream in told.streams:
        name = plain(stream.name)
        found.append(name if name not in found else f"{name}-{stream.index}")
    return found


def _general(told: Told) -> list[str]:
    """Compression is that of all writes of a file."""
    said = [(stream, told.entropy(stream)) for stream in told.streams if stream.read_pct < 100]
    found = {data for _, data in said if data is not None}
    if not found:
        return []
    data = sorted(found)[0]
    for one, each in said:
        key = one.key("data") if "data" in one.table else "data"
        if each is not None and (len(found) > 1 or not each[1]):
            told.approximate(key, f"the data of all writes has one ratio, {number_text(1 / max(data[0], 0.001))}:1")
    return [f"compratio={number_text(round(1 / max(data[0], 0.001), 6))}"] if data[0] < 1 else []


def _storage(told: Told, volume: str, target: str, number: int) -> str:
    """A storage definition a volume: alignment and forced writes are said here."""
    streams = [stream for stream in told.streams if str(stream.table.get("volume", "")) == volume]
    lun = f"{target}-{plain(volume)}" if volume else target
    writing = [stream for stream in streams if stream.read_pct < 100]
    forced = bool(writing) and all(one.table.get("fua") for one in writing)
    for one in writing:
        if one.table.get("fua") and not forced:
            told.ignore(one.key("fua"), "is of a whole storage definition: other streams write to it, too")
        if one.table.get("flush_every"):
            told.ignore(one.key("flush_every"), "vdbench does not flush: the other I/Os keep their rate")
    grids = {str(stream.table["align"]) for stream in streams if "align" in stream.table}
    all_say = len(grids) == 1 and all("align" in stream.table for stream in streams)
    if grids and not all_say:
        for one in streams:
            if "align" in one.table:
                why = "is of a whole storage definition: offsets are aligned to the size of each I/O"
                told.ignore(one.key("align"), why)
    align = f",align={_size(_grid(grids.pop()))}" if all_say else ""
    return f"sd=sd{number},lun={lun},openflags={'o_dsync' if forced else 'o_direct'}{align}"


def _grid(text: str) -> int:
    return round(size_bytes(text) or 512)


def _size(size: int) -> str:
    """Bytes in vdbench's words, which are powers of 1024."""
    for unit, power in (("t", 40), ("g", 30), ("m", 20), ("k", 10)):
        if size and size % (1 << power) == 0:
            return f"{size >> power}{unit}"
    return str(size)


# --- workloads --------------------------------------------------------------------------------------------------


def _work(told: Told, stream: Stream, name: str, volumes: list[str], skews: Mapping[int, Skew]) -> str:
    parts = [f"wd={name}", f"sd=sd{volumes.index(str(stream.table.get('volume', ''))) + 1}"]
    parts.append(f"rdpct={number_text(stream.read_pct)}")
    if stream.table.get("trim_pct"):
        told.ignore(stream.key("trim_pct"), "vdbench does not trim: these I/Os are writes")
    if stream.table.get("cursor") == "per-thread" and stream.random_pct < 100:
        told.approximate(stream.key("cursor"), "threads share one position")
    if stream.table.get("start", "0 %") not in ("0 %", "0%"):
        told.ignore(stream.key("start"), "a workload begins where its range begins")
    parts += [_seek(told, stream), _sizes(stream), *_where(told, stream)]
    if stream.index not in skews:
        return ",".join(parts)
    skew = skews[stream.index]
    if skew.of_several_loads:
        why = "loads beside one another are one, whose skew is that of their I/Os"
        told.approximate(stream.load_key, why)
    return ",".join([*parts, f"skew={number_text(skew.percent)}"])


def _seek(told: Told, stream: Stream) -> str:
    random = stream.random_pct
    if 0 < random < 100 and stream.table.get("random_mode", "coin") == "coin":
        why = f"runs of {100 / random:.4g} I/Os: vdbench has no coin for every I/O"
        told.approximate(stream.key("random_pct"), why)
    return f"seekpct={number_text(random)}"


def _sizes(stream: Stream) -> str:
    sizes = stream.sizes
    if len(sizes) == 1:
        return f"xfersize={_size(sizes[0][0])}"
    return f"xfersize=({','.join(f'{_size(size)},{number_text(round(share, 6))}' for size, share in sizes)})"


def _where(told: Told, stream: Stream) -> list[str]:
    """The range, a hot band, a stride."""
    offsets = stream.table.get("offsets", {})
    key = stream.key("offsets")
    if "zipf" in offsets:
        told.ignore(key, "vdbench has no such distribution: offsets are uniform in the range")
    if "hotspot" in offsets:
        told.ignore(key, "offsets are uniform in the range: a hot part is a workload of its own, with its skew")
    found = []
    if "stride" in offsets:
        stride = _size(_grid(str(offsets["stride"])))
        found.append(f"stride=({stride},{stride})")
    word = "hotband" if "hotband" in offsets else "range"
    band = offsets.get("hotband", {})
    if band and (band.get("table_unit", "1 MB") != "1 kB" or band.get("writes_shifted", "1 %") not in ("1 %", "1%")):
        told.approximate(key, "vdbench's own table and shift of writes: table_unit 1 kB, writes_shifted 1 %")
    if not stream.whole or word == "hotband":
        low, high = stream.range
        if low.is_share != high.is_share and low.value:
            told.ignore(stream.key("range"), "its ends have different units")
        else:
            found.append(f"{word}=({_end(low, high.is_share)},{_end(high, high.is_share)})")
    return found


def _end(amount: Amount, is_share: bool) -> str:
    return number_text(round(100 * amount.value, 9)) if is_share else _size(int(amount.value))


class Skew(NamedTuple):
    """The share of a stream of the I/Os of a run, in which others may have other loads."""

    percent: float
    of_several_loads: bool


def _skews(told: Told) -> dict[int, Skew]:
    """Skews by the index of a stream, each in the first of the runs with most streams beside it; none of a stream that
    is alone in all of its runs."""
    found: dict[int, Skew] = {}
    for step in sorted(told.steps, key=lambda one: -len(one.streams)):
        new = [stream for stream in step.streams if stream.index not in found]
        if len(step.streams) > 1 and new:
            weights = {stream.index: _weight(stream) for stream in step.streams}
            whole, several = sum(weights.values()), len({stream.load_key for stream in step.streams}) > 1
            found |= {one.index: Skew(100 * weights[one.index] / whole, several) for one in new}
    return found


def _weight(stream: Stream) -> float:
    """What a stream asks for beside others, flushes aside: of its rate, else of what it keeps outstanding."""
    if "open" in stream.load:
        return float(stream.load["open"]["rate_iops"]) * stream.share * stream.without_flushes
    closed = stream.closed()
    return (closed[0] * closed[1] if closed else 1) * stream.share * stream.without_flushes


# --- runs -------------------------------------------------------------------------------------------------------


def _run(told: Told, step: Step, number: int, names: list[str]) -> str:
    works = [names[stream.index] for stream in step.streams]
    parts = [f"rd={plain(step.name)}", f"wd=({','.join(works)})" if len(works) > 1 else f"wd={works[0]}"]
    parts += _rate(told, step)
    if step.ios is not None:
        told.approximate(f"phases[{step.index}].ios", "a run ends with its time: 60 s")
    seconds = step.seconds or 60.0
    whole = max(2 * INTERVAL, round(seconds))
    if whole != seconds:
        told.approximate(f"phases[{step.index}].duration", f"vdbench takes whole seconds, at least two: {whole}")
    parts += [f"elapsed={whole}", f"interval={INTERVAL}"]
    # Without a warm-up the first interval would be in no average.
    warm = max(INTERVAL, round(told.warm_up)) if not number else INTERVAL
    return ",".join([*parts, f"warmup={warm}"])


def _rate(told: Told, step: Step) -> list[str]:
    """How fast: `max` with threads, or a rate."""
    is_open = [stream for stream in step.streams if "open" in stream.load]
    loads = {stream.load_key: stream for stream in step.streams}
    for kind in {"bursts", "arrivals"} & next(iter(loads.values())).load.keys():
        accepted = f"vdbench has no {kind}; expected a closed or an open load"
        raise UserError(told.file, f"{next(iter(loads))}.{kind}", "", accepted)
    if is_open and len(is_open) == len(step.streams):
        rate = sum(
            float(stream.load["open"]["rate_iops"]) * stream.share * stream.without_flushes for stream in step.streams
        )
        fixed = all(stream.load["open"].get("arrival") == "fixed" for stream in step.streams)
        if rate < 1:
            accepted = "is less than vdbench can ask for: expected 1 or more"
            raise UserError(told.file, "rate_iops", number_text(rate), accepted)
        for one in loads.values():
            told.approximate(one.load_key, f"vdbench waits where {OPEN_THREADS} are outstanding")
        spacing = ["distribution=deterministic"] if fixed else []
        return [f"iorate={number_text(round(rate, 6))}", f"threads={OPEN_THREADS}", *spacing]
    threads = 0
    for key, one in loads.items():
        closed = one.closed()
        if closed is None:
            told.approximate(key, "is asked for as fast as it goes, by its skew: a run has one rate or none")
            continue
        count = step.threads if step.threads is not None and key == "load" else closed[0]
        threads += count * closed[1]
        if closed[2]:
            told.ignore(f"{key}.closed" if key == "load" else key, "vdbench does not pause between I/Os")
    return ["iorate=max", f"threads={max(1, threads)}"]
