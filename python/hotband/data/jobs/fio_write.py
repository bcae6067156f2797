"""A workload as a job file of fio 3.33.

Differences in fio: `iodepth` of one job is one position with that many I/Os outstanding, `numjobs` are as many
positions; percentages of `rwmixread`, `bssplit`, `offset` and `size` are whole (tried: 12.5 % of an offset is none);
jobs concurrently have no shared loop, `flow=` holds their ratio; flushes count to `flow=` only, not to the I/Os.
"""

from __future__ import annotations

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.jobs import flushes
from hotband.data.jobs.form import number_text
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.tables import Conversion, Step, Stream, plain

# An open loop never waits; fio needs a bound.
OPEN_DEPTH = 256
# fio's `flow=` goes from 1 to 1000.
FLOW = 1000

Lines = list[tuple[str, str]]


def fio_text(conversion: Conversion, target: str) -> str:
    """Return the job file without its heading."""
    sections: list[str] = []
    for number, step in enumerate(conversion.steps):
        for index, stream in enumerate(step.streams):
            wait = [("stonewall", "")] if number and not index else []
            lines = [*wait, *_job(conversion, step, stream, target, number)]
            name = plain(stream.name if len(conversion.steps) == 1 else f"{step.name}-{stream.name}")
            sections += ["", f"[{name}]", *(f"{key}={value}" if value else key for key, value in lines)]
    # Runs of fio repeat their offsets unless told not to, and then are served by what cached them.
    shared = ["ioengine=libaio", "direct=1", "norandommap", "randrepeat=0", "group_reporting"]
    return "\n".join(["[global]", *shared, *sections]) + "\n"


def _job(conversion: Conversion, step: Step, stream: Stream, target: str, number: int) -> Lines:
    lines: Lines = []
    if "volume" in stream.table:
        target = f"{target}-{plain(stream.table['volume'])}"
    lines.append(("filename", target.replace(":", "\\:")))
    lines += [*_pattern(conversion, stream), *_sizes(conversion, stream), *_range(conversion, stream)]
    load = _load(conversion, step, stream)
    _flushes(conversion, stream, dict(load))
    lines += [*load, *_writes(conversion, stream)]
    return [*lines, *_time(conversion, step, stream, number)]


# --- I/Os -------------------------------------------------------------------------------------------------------


def _pattern(conversion: Conversion, stream: Stream) -> Lines:
    """Return `rw=` with the mix, the random share and the offsets."""
    kind = _kind(conversion, stream)
    random, offsets = stream.random_pct, stream.table.get("offsets", {})
    if "stride" in offsets:
        return [("rw", f"{kind}:{_hole(conversion, stream)}"), *_mix(conversion, stream, kind)]
    rw = ("rand" if random else "") + kind
    lines: Lines = []
    if 0 < random < 100 and stream.table.get("random_mode") == "run":
        run = round(100 / random)
        if abs(run - 100 / random) > 1e-6:
            why = f"runs of {run} I/Os: fio accepts whole numbers only, the mean is {100 / random:.4g}"
            conversion.approximate(stream.key("random_pct"), why)
        rw += f":{run}" if run > 1 else ""
    elif 0 < random < 100:
        share = round(random)
        if share != random:
            conversion.approximate(stream.key("random_pct"), f"fio accepts whole percentages only: {share}")
        lines.append(("percentage_random", str(share)))
    if kind == "rw" and random < 100:
        conversion.approximate(stream.key("read_pct"), "fio continues reads and writes each from their own last I/O")
    return [("rw", rw), *_mix(conversion, stream, kind), *lines, *_offsets(conversion, stream)]


def _kind(conversion: Conversion, stream: Stream) -> str:
    """Return `rw=` without the random share."""
    read, trim = stream.read_pct, stream.trim_pct
    if _is_trimwrite(stream):
        return "trimwrite"
    if trim >= 100 and not read:
        return "trim"
    if stream.trims_first:
        conversion.ignore(stream.key("trim_first"), "fio trims before each write of a job that only writes")
    elif trim:
        conversion.ignore(stream.key("trim_pct"), "fio trims all I/Os or none: these I/Os are writes")
    return "rw" if 0 < read < 100 else "read" if read else "write"


def _is_trimwrite(stream: Stream) -> bool:
    """Return whether a job trims each block and writes it: fio counts neither the writes to number_ios nor the trims to
    rate_iops (tried: 3.33)."""
    return stream.trims_first and not stream.read_pct


def _mix(conversion: Conversion, stream: Stream, kind: str) -> Lines:
    if kind != "rw":
        return []
    share = round(stream.read_pct)
    if share != stream.read_pct:
        conversion.approximate(stream.key("read_pct"), f"fio accepts whole percentages only: {share}")
    return [("rwmixread", str(share))]


def _hole(conversion: Conversion, stream: Stream) -> int:
    """Return the bytes skipped between two I/Os of a stride, below zero of one that goes back."""
    text = str(stream.table["offsets"]["stride"]).strip()
    stride = round(size_bytes(text.removeprefix("-")) or 0) * (-1 if text.startswith("-") else 1)
    hole = stride - max(size for size, _ in stream.sizes)
    if len(stream.sizes) > 1 or -stride < hole < 0:
        hole = hole if stride < 0 else max(0, hole)
        conversion.approximate(stream.key("offsets"), f"{hole} bytes are skipped after each I/O")
    return hole


def _offsets(conversion: Conversion, stream: Stream) -> Lines:
    offsets = stream.table.get("offsets", {})
    key = stream.key("offsets")
    if "zipf" in offsets:
        exponent = float(offsets["zipf"]["exponent"])
        if exponent == 1.0:
            conversion.approximate(key, "fio accepts no exponent of exactly 1: 0.999 is used")
            exponent = 0.999
        if offsets["zipf"].get("scramble") is False:
            conversion.approximate(key, "fio scatters popular blocks")
        return [("random_distribution", f"zipf:{number_text(exponent)}")]
    if "hotspot" in offsets:
        data, ios = (round(float(str(offsets["hotspot"][part]).rstrip(" %"))) for part in ("data", "ios"))
        return [("random_distribution", f"zoned:{ios}/{data}:{100 - ios}/{100 - data}")]
    if "hotband" in offsets:
        conversion.ignore(key, "fio has no hot band: offsets are uniform in the range")
    return []


def _sizes(conversion: Conversion, stream: Stream) -> Lines:
    """Return `bs` or `bssplit`, and the grid of offsets."""
    sizes = stream.sizes
    align = stream.table.get("align")
    lines: Lines = []
    if len(sizes) == 1:
        lines.append(("bs", str(sizes[0][0])))
    else:
        shares = _whole_percent([share for _, share in sizes])
        if any(abs(share - new) > 1e-6 for (_, share), new in zip(sizes, shares, strict=True)):
            conversion.approximate(stream.key("sizes"), "fio accepts whole percentages only")
        pairs = [(size, share) for (size, _), share in zip(sizes, shares, strict=True) if share]
        lines.append(("bssplit", ":".join(f"{size}/{share}" for size, share in pairs)))
    if align is not None:
        lines.append(("blockalign", str(round(size_bytes(align) or 512))))
    elif len(sizes) > 1 and stream.random_pct:
        conversion.approximate(stream.key("sizes"), "fio aligns offsets to the smallest size, not to that of each I/O")
    return lines


def _whole_percent(shares: list[float]) -> list[int]:
    """Return whole numbers that add up to 100: the largest remainders are rounded up."""
    low = [int(share + 1e-9) for share in shares]
    order = sorted(range(len(shares)), key=lambda n: low[n] - shares[n])
    for n in order[: 100 - sum(low)]:
        low[n] += 1
    return low


def _range(conversion: Conversion, stream: Stream) -> Lines:
    if stream.table.get("start", "0 %") not in ("0 %", "0%"):
        conversion.ignore(stream.key("start"), "a job starts at the beginning of its range")
    if stream.whole:
        return [("size", "100%")]
    low, high = stream.range
    if high.further and (low == Amount(high.further) or low == Amount(high.value, True)):
        rest = Amount(high.further) if low.is_share else Amount(high.value, True)
        return [("offset", _amount(low)), ("size", _amount(rest))]
    if low.is_share and high.is_share and not low.further + high.further:
        first, last = round(100 * low.value), round(100 * high.value)
        if abs(first - 100 * low.value) + abs(last - 100 * high.value) > 1e-6:
            conversion.approximate(stream.key("range"), "fio accepts whole percentages of a file only")
        return [("offset", f"{first}%"), ("size", f"{max(1, last - first)}%")]
    if low.is_share != high.is_share or low.further + high.further:
        if low.value and not (high.is_share and high.value == 1):
            conversion.approximate(
                stream.key("range"), "the range extends to the end of the file, because its ends have different units"
            )
        return [("size", _amount(high))] if not low.value else [("offset", _amount(low)), ("size", "100%")]
    return [("offset", _amount(low)), ("size", str(int(high.value - low.value)))]


def _amount(amount: Amount) -> str:
    return f"{round(100 * amount.value)}%" if amount.is_share else str(int(amount.value))


def _writes(conversion: Conversion, stream: Stream) -> Lines:
    lines: Lines = []
    if stream.read_pct < 100:
        lines += [("sync", "dsync")] if stream.table.get("fua") else []
        flushes_ = stream.flush_every and not _is_trimwrite(stream)
        lines += [("fsync", str(stream.flush_every))] if flushes_ else []
        data = conversion.entropy(stream)
        if data is not None and data[0] < 1:
            key = stream.key("data") if "data" in stream.table else "data"
            if not data[1]:
                conversion.approximate(key, "every write compresses equally, by the mean")
            lines += [("buffer_compress_percentage", str(round(100 - 100 * data[0]))), ("refill_buffers", "1")]
    return lines


def _flushes(conversion: Conversion, stream: Stream, load: dict[str, str]) -> None:
    """Report how fio's flushes differ from those of the workload."""
    if not stream.flush_every:
        return
    if _is_trimwrite(stream):
        conversion.ignore(stream.key("flush_every"), flushes.NOT_AFTER_TRIMS)
        return
    why = []
    if load.get("iodepth", "1") != "1":
        why.append(flushes.WAITS)
    if load.get("numjobs", "1") != "1":
        why.append("each of fio's jobs counts its own writes")
    if 0 < stream.read_pct < 100:
        why.append(flushes.REPEATS)
    if why:
        conversion.approximate(stream.key("flush_every"), "; ".join(why))


# --- who asks ---------------------------------------------------------------------------------------------------


def _load(conversion: Conversion, step: Step, stream: Stream) -> Lines:
    closed = stream.closed()
    if closed is not None:
        return _closed(conversion, step, stream, closed)
    if "bursts" in stream.load:
        return _bursts(conversion, stream)
    if "arrivals" in stream.load:
        accepted = "fio has no uneven arrivals; expected a closed or an open load, or bursts"
        raise UserError(conversion.file, f"{stream.load_key}.arrivals", "", accepted)
    rate = float(stream.load["open"]["rate_iops"]) * stream.share
    rate /= 2 if _is_trimwrite(stream) else 1
    poisson = stream.load["open"].get("arrival") == "poisson"
    if rate < 1:
        if rate * 3.6e9 < 1:
            raise UserError(
                conversion.file, f"{stream.load_key}.open", number_text(rate), "is below fio's minimum rate"
            )
        why = f"fio accepts whole I/Os per second only: a pause of {number_text(1 / rate)} s after each"
        conversion.approximate(stream.load_key, why)
        return [("iodepth", "1"), ("thinktime", str(round(1e6 / rate)))]
    read = stream.read_pct / 100
    limits = [round(rate * read), round(rate * (1 - read))] if 0 < read < 1 else [round(rate)]
    if poisson and stream.flush_every:
        # Tried: it divides by zero at the first flush.
        conversion.approximate(
            stream.load_key, "even gaps: fio 3.33 aborts when a job with rate_process=poisson flushes"
        )
    if len(limits) == 2:
        # A mixed job draws a direction, waits for its clock and catches up: at 79 I/Os a second the mean latency of a
        # disk was 31 % longer than the model's, that of two jobs 2 %.
        why = "fio has one clock for reads and one for writes: I/Os bunch; a stream for each keeps even gaps"
        conversion.approximate(stream.load_key, why)
    depth = _open_depth(conversion, stream)
    if 0 in limits or sum(limits) != rate:
        conversion.approximate(stream.load_key, "fio accepts whole I/Os per second only")
    lines = [("iodepth", str(depth)), ("rate_iops", ",".join(str(max(1, limit)) for limit in limits))]
    return [*lines, ("rate_process", "poisson")] if poisson and not stream.flush_every else lines


def _open_depth(conversion: Conversion, stream: Stream) -> int:
    """Return the outstanding I/Os at which a job with a rate waits."""
    most = stream.load["open"].get("outstanding")
    if most is None:
        conversion.approximate(stream.load_key, f"fio waits when {OPEN_DEPTH} I/Os are outstanding")
        return OPEN_DEPTH
    if stream.share < 1:
        conversion.approximate(stream.load_key, "fio's jobs share no loop: outstanding I/Os are divided")
    return max(1, round(int(most) * stream.share))


def _bursts(conversion: Conversion, stream: Stream) -> Lines:
    bursts = stream.load["bursts"]
    conversion.approximate(
        stream.load_key, "the pause follows the last I/O of a burst; it is not measured from start to start"
    )
    ios = str(max(1, round(int(bursts["ios"]) * stream.share)))
    pause = str(round((span_ns(bursts["every"]) or 0) / 1000))
    return [
        ("iodepth", ios),
        ("thinktime", pause),
        ("thinktime_blocks", ios),
    ]


def _closed(conversion: Conversion, step: Step, stream: Stream, closed: tuple[int, int, float]) -> Lines:
    threads, depth, think = closed
    if step.threads is not None and stream.load_key == "load":
        threads = step.threads
    lines: Lines = []
    if stream.load_key == "load" and len(step.of_one_loop) > 1:
        total, share = threads * depth, stream.share / step.whole_of_one_loop
        threads, depth = 1, max(1, round(total * share))
        why = "fio's jobs share no loop: flow= sets the ratio, which also divides the outstanding I/Os"
        conversion.approximate(stream.key("share_pct"), why)
        lines += [("flow", str(max(1, round(FLOW * share)))), ("flow_id", "1")]
        if stream.table.get("cursor") == "per-thread":
            conversion.approximate(stream.key("cursor"), "the job has one position for all its I/Os")
    positions = stream.random_pct < 100 or "stride" in stream.table.get("offsets", {})
    if think:
        if positions and threads * depth > 1:
            key = "load.closed" if stream.load_key == "load" else stream.load_key
            conversion.approximate(key, "each thread has a position")
        if stream.flush_every:
            key = "load.closed" if stream.load_key == "load" else stream.load_key
            conversion.approximate(
                key, "fio does not pause after flushes: the other pauses are longer, with the same total"
            )
        pause = str(round(think / stream.without_flushes))
        jobs = [("numjobs", str(threads * depth)), ("iodepth", "1"), ("thinktime", pause)]
        return [*lines, *jobs]
    if positions and stream.table.get("cursor", "shared") == "shared":
        return [*lines, ("numjobs", "1"), ("iodepth", str(threads * depth))]
    if positions and threads > 1:
        lines += _apart(conversion, stream, threads)
    return [*lines, ("numjobs", str(threads)), ("iodepth", str(depth))]


def _apart(conversion: Conversion, stream: Stream, threads: int) -> Lines:
    """Return the offsets of threads that begin at even distances."""
    low, high = stream.range
    if low.is_share and high.is_share:
        each = (high.value - low.value) * 100 / threads
        if abs(each - round(each)) > 1e-6 or each < 1:
            conversion.approximate(
                stream.key("cursor"), "fio accepts whole percentages only: all threads begin at the same position"
            )
            return []
        step = f"{round(each)}%"
    else:
        step = str(int((high.value - low.value) / threads) // 4096 * 4096)
    conversion.approximate(
        stream.key("cursor"), "a thread wraps as far beyond the range's end as it began after the range's start"
    )
    return [("offset_increment", step)]


# --- time -------------------------------------------------------------------------------------------------------


def _time(conversion: Conversion, step: Step, stream: Stream, number: int) -> Lines:
    lines: Lines = []
    if step.ios is not None:
        closed = stream.closed()
        jobs = closed[0] if closed and stream.random_pct == 100 and len(step.streams) == 1 else 1
        if jobs > 1:
            conversion.approximate(f"phases[{step.index}].ios", "each of fio's jobs counts its own I/Os")
        count = max(1, flushes.without_flushes(round(step.ios_of(stream) / jobs), stream.writes, stream.flush_every))
        count = -(-count // 2) if _is_trimwrite(stream) else count
        # fio ends a job after the bytes of size=, too, unless io_size= is more.
        lines += [("number_ios", str(count)), ("io_size", str(count * max(size for size, _ in stream.sizes)))]
    if step.seconds is not None:
        if step.ios is None:
            lines.append(("time_based", ""))
        ms = max(1, round(step.seconds * 1000))
        lines.append(("runtime", f"{ms // 1000}s" if ms % 1000 == 0 else f"{ms}ms"))
    if conversion.warm_up and not number:
        ms = round(conversion.warm_up * 1000)
        lines.append(("ramp_time", f"{ms // 1000}s" if ms % 1000 == 0 else f"{ms}ms"))
    return lines
