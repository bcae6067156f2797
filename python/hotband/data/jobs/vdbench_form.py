"""vdbench's runs as streams, loops and steps.

Traps, each with a test: `seekpct` is a run length (20 is one seek in five I/Os, in runs of five), not a coin for every
I/O; `threads` are of each storage definition, so that two with `forthreads=8` have 16 outstanding; `iorate=curve` first
measures the maximum, which is not known here; sizes are powers of 1024; the first interval is in no average.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.jobs.form import (
    MOST_STREAMS,
    Closed,
    Form,
    Loop,
    Open,
    Step,
    StreamForm,
    Value,
    bytes_text,
    number_text,
)
from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.parts import Amount, Files
from hotband.data.jobs.source import Option
from hotband.data.jobs.vdbench_fates import report_all
from hotband.data.jobs.vdbench_file import Definition, Parameters, listed, named, read_parameters
from hotband.data.jobs.vdbench_values import block, count, number, points, seconds, seek, size_bytes, sizes

# Users Guide 5.04.07: "threads=nn: maximum number of concurrent outstanding I/O for this SD. Default 8".
DEFAULT_THREADS = 8
DEFAULT_ELAPSED = 30.0
DEFAULT_SIZE = 4096
# What the program itself asks for (docs/guides/workloads.md, "Hot band").
HOT_BAND: Value = {"hotband": {"table_unit": "1 kB"}}
# Numbers of a range above this are bytes (Users Guide, "range=").
LARGEST_PERCENT = 200
# Every step of every stream costs the run some of its time.
MOST_STEPS = 512
MOST_OUTSTANDING = 65_536
# Ends of ranges in percent are those of a block of 4 KiB (crates/workloads/src/bounds.rs: GRAIN).
GRAIN = 4096


@dataclass
class Storage:
    """A storage definition: its position and its limit of outstanding I/Os."""

    name: str
    definition: Definition
    file: str
    size: int | None
    threads: int


@dataclass
class Reader:
    """The state of reading a file."""

    parameters: Parameters
    report: LossReport
    storages: dict[str, Storage]
    files: Files
    closed: list[StreamForm] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    made: dict[tuple[object, ...], list[StreamForm]] = field(default_factory=dict)
    fates: dict[int, tuple[Fate, str]] = field(default_factory=dict)
    opened: dict[str, set[str]] = field(default_factory=dict)
    """The values of openflags= with which runs open storage, by its definition's name; empty for none."""

    def approximate(self, option: Option, why: str) -> None:
        self.fates[id(option)] = (Fate.APPROXIMATED, why)

    def ignore(self, option: Option, why: str) -> None:
        self.fates[id(option)] = (Fate.IGNORED, why)


def form(path: Path, text: str, report: LossReport) -> Form:
    """Read the parameters into streams, loops and steps; `report` gets one line per option. Raises UserError for a
    mistake."""
    parameters = read_parameters(path, text)
    reader = Reader(parameters, report, _storages(parameters), Files())
    for storage in reader.storages.values():
        reader.files.meet(storage.file, storage.size)
    runs = parameters.of("rd")
    if not reader.storages or not parameters.of("wd") or not runs:
        missing = next(kind for kind in ("sd", "wd", "rd") if not parameters.of(kind))
        raise UserError(report.file, missing, "", f"missing: expected at least one {missing}= besides default")
    for run in runs:
        _run(reader, run)
    loops = [Loop(reader.closed, Closed(_most_threads(reader)))] if reader.closed else []
    for step in reader.steps:
        step.loops = [*([] if step.only is None else [0]), *(n + len(loops) for n in step.loops)]
    report_all(parameters, report, reader.fates, reader.opened)
    title = f"{path.name}: {', '.join(run.name for run in runs[:4])}"
    interval = runs[0].get("interval")
    job_form = Form(title, report, loops + reader.loops, reader.steps, seconds(interval) if interval else None)
    if len(job_form.steps) == 1:
        job_form.steps[0].name, job_form.steps[0].only = "measure", None
        if job_form.steps[0].threads is not None:
            job_form.loops[0].load, job_form.steps[0].threads = Closed(job_form.steps[0].threads), None
    return job_form


def _most_threads(reader: Reader) -> int:
    return max(step.threads or 1 for step in reader.steps)


# --- storage ----------------------------------------------------------------------------------------------------


def _storages(parameters: Parameters) -> dict[str, Storage]:
    storages: dict[str, Storage] = {}
    for definition in parameters.of("sd"):
        for name, lun in _counted(definition):
            host = definition.get("host")
            size, threads = definition.get("size"), definition.get("threads")
            whole = size_bytes(size.value, size) if size else None
            file = f"{host.value if host else ''}:{lun}"
            each = count(threads.value, threads) if threads else DEFAULT_THREADS
            storages[name] = Storage(name, definition, file, whole or None, each)
    return storages


def _counted(definition: Definition) -> list[tuple[str, str]]:
    """Return (name, lun) of a definition; several with `count=(first,last)`."""
    lun, row = definition.get("lun"), definition.get("count")
    if lun is None:
        raise UserError(
            str(definition.location), "lun", "", f"missing in sd={definition.name}: expected a device or file"
        )
    if row is None:
        return [(definition.name, lun.value)]
    ends = [count(part, row) for part in listed(row.value)]
    if len(ends) != 2 or not 0 <= ends[1] - ends[0] < MOST_STREAMS:
        row.refuse("expected (FIRST,LAST)")
    numbers = range(ends[0], ends[1] + 1)
    return [
        (f"{definition.name}{n}", lun.value.replace("*", str(n)) if "*" in lun.value else f"{lun.value}{n}")
        for n in numbers
    ]


# --- runs -------------------------------------------------------------------------------------------------------

_LOOPED = ("xfersize", "rdpct", "seekpct", "threads")


def _run(reader: Reader, run: Definition) -> None:
    """Add the steps of a run definition: one for each value of its `for...` options and each rate."""
    wanted = run.get("wd")
    if wanted is None:
        raise UserError(
            str(run.location), "wd", "", f"missing in rd={run.name}: expected names of workload definitions"
        )
    names = _names(wanted, reader, "wd")
    works = [work for work in reader.parameters.of("wd") if work.name in names]
    loops = [option for option in run.options.values() if option.key.removeprefix("for") in _LOOPED]
    values = [[(option, value) for value in points(option)] for option in loops]
    for option, of_loop in zip(loops, values, strict=True):
        if not of_loop:
            option.refuse("expected at least one value")
    for chosen in product(*values):
        for rate in _rates(reader, run, works):
            if len(reader.steps) >= MOST_STEPS:
                raise UserError(
                    str(run.location), "rd", run.name, f"more than {MOST_STEPS} runs; expected fewer in one file"
                )
            over = {option.key.removeprefix("for"): (option, value) for option, value in chosen}
            _one_step(reader, run, works, over, rate)


def _names(option: Option, reader: Reader, kind: str) -> list[str]:
    return named(option, [definition.name for definition in reader.parameters.of(kind)])


Over = dict[str, tuple[Option, str]]


def _rates(reader: Reader, run: Definition, works: list[Definition]) -> list[float | None]:
    """Return the I/Os per second of each run; None for the maximum rate."""
    option, curve = run.get("iorate"), run.get("curve")
    if option is None:
        return [None]
    word = option.value.strip().lower()
    if word != "max" and all(work.get("iorate") for work in works):
        reader.ignore(option, "each workload of the run sets its own rate")
        return [None]
    if word.startswith("curve") or word == "smooth":
        why = "only the run at the maximum rate: the other points are shares of that maximum, which is not yet known"
        reader.approximate(curve or option, why)
        if curve:
            reader.approximate(option, why)
        return [None]
    if curve:
        reader.ignore(curve, f"iorate={option.value} is not a curve")
    if word == "max":
        return [None]
    parts = points(option)
    if not all(re.fullmatch(r"[\d.]{1,12}", part) for part in parts):
        option.refuse("expected max, curve, or rates above zero")
    rates = [number(part, option, 1e9) for part in parts]
    if not rates or not all(rates):
        option.refuse("expected max, curve, or rates above zero")
    return [*rates]


def _one_step(reader: Reader, run: Definition, works: list[Definition], over: Over, rate: float | None) -> None:
    chosen = {work.name: _chosen(reader, run, work) for work in works}
    fixed = [work for work in works if work.get("iorate")]
    rest = [work for work in works if work not in fixed]
    shares = _shares(rest)
    streams: list[StreamForm] = []
    for work_ in rest:
        streams += _streams(reader, work_, chosen[work_.name], shares[work_.name], over, run)
    fixed_streams = [_streams(reader, work_, chosen[work_.name], 100.0, over, run) for work_ in fixed]
    if (
        len(reader.closed) + sum(map(len, [streams, *fixed_streams, *(loop.streams for loop in reader.loops)]))
        > MOST_STREAMS
    ):
        raise UserError(
            str(run.location), "rd", run.name, f"more than {MOST_STREAMS} streams; expected fewer in one file"
        )
    threads = _threads(
        reader, list(dict.fromkeys(name for work_ in rest or works for name in chosen[work_.name])), over
    )
    measured, warm_up = _times(reader, run)
    name = " ".join(
        [run.name, *(f"{key}={value}" for key, (_, value) in over.items() if len(points(over[key][0])) > 1)]
    )
    loops = [
        _open(reader, run, work_.options["iorate"], loop_streams, threads)
        for work_, loop_streams in zip(fixed, fixed_streams, strict=True)
    ]
    for skew in (work_.get("skew") for work_ in fixed):
        if skew is not None:
            reader.ignore(skew, "iorate= sets its rate")
    if not rest:
        reader.steps.append(Step(name, loops, measured, warm_up))
    elif rate is None:
        reader.closed += [stream for stream in streams if not any(stream is work_ for work_ in reader.closed)]
        only = [*streams, *(stream for number in loops for stream in reader.loops[number].streams)]
        reader.steps.append(Step(name, loops, measured, warm_up, None, threads, only))
    else:
        option = run.options["iorate"]
        label = f"{name} iorate={number_text(rate)}" if len(points(option)) > 1 else name
        loops.append(_open(reader, run, option, streams, threads, rate))
        reader.steps.append(Step(label, loops, measured, warm_up))


def _open(
    reader: Reader, run: Definition, option: Option, streams: list[StreamForm], threads: int, rate: float | None = None
) -> int:
    """Add an open loop of these streams and return its number; without `rate`, `option` sets the rate."""
    rate_iops = number(option.value, option, 1e9) if rate is None else rate
    if not rate_iops:
        option.refuse("expected a rate above zero")
    reader.loops.append(Loop([replace(stream) for stream in streams], Open(rate_iops, _arrival(reader, run), threads)))
    return len(reader.loops) - 1


def _arrival(reader: Reader, run: Definition) -> str:
    option = run.get("distribution")
    word = listed(option.value)[0].lower() if option and listed(option.value) else "exponential"
    if option is not None and not any(known.startswith(word) for known in ("exponential", "uniform", "deterministic")):
        option.refuse("expected exponential, uniform or deterministic")
    if option is not None and "uniform".startswith(word):
        reader.approximate(option, "I/Os arrive independently (exponential)")
    return "fixed" if "deterministic".startswith(word) else "poisson"


def _chosen(reader: Reader, run: Definition, work: Definition) -> list[str]:
    """Return the storage definitions of a workload in a run."""
    option = run.get("sd") or work.get("sd")
    known = list(reader.storages)
    if option is None:
        return known
    work_sd = work.get("sd")
    if run.get("sd") and work_sd:
        reader.ignore(work_sd, f"rd={run.name} sets sd=, which takes precedence")
    return named(option, known)


def _shares(works: list[Definition]) -> dict[str, float]:
    """Return the skew of each workload; workloads without a skew divide the remainder evenly."""
    skews = {work_.name: number(option.value, option) for work_ in works if (option := work_.get("skew"))}
    skews = {name: share for name, share in skews.items() if share}
    rest = [work_.name for work_ in works if work_.name not in skews]
    left = 100 - sum(skews.values())
    if left < -0.01 or (rest and skews and left <= 0):
        option = next(work_ for work_ in (work.get("skew") for work in reversed(works)) if work_)
        option.refuse(f"the skews of the run add up to {sum(skews.values()):g}: expected at most 100")
    return {**skews, **{name: left / len(rest) for name in rest}}


def _threads(reader: Reader, used: list[str], over: Over) -> int:
    """Return the outstanding I/Os of a run: those of each storage definition, times their number."""
    option, value = over.get("threads", (None, ""))
    each = count(value, option) if option else None
    threads = sum(each or reader.storages[name].threads for name in used)
    if len(used) > 1:
        why = f"per sd: {threads} in total; the skew draws the sd of each I/O, which is not bound to a thread"
        for option_ in [option] if option else [reader.storages[name].definition.get("threads") for name in used]:
            if option_ is not None:
                reader.approximate(option_, why if option else "per sd: the skew draws the sd of each I/O")
    if threads > MOST_OUTSTANDING:
        named_by = option or reader.storages[used[0]].definition.options["lun"]
        named_by.refuse(f"{threads} threads in total: expected at most {MOST_OUTSTANDING}")
    return threads


def _times(reader: Reader, run: Definition) -> tuple[float, float]:
    """Return measured time and warm-up; without `warmup=` the first interval is in no average."""
    option, step, warm = run.get("elapsed"), run.get("interval"), run.get("warmup")
    elapsed = seconds(option) if option else DEFAULT_ELAPSED
    interval = seconds(step) if step else min(elapsed / 2, 60.0)
    if reader.steps:
        if warm is not None:
            reader.ignore(warm, "measured steps follow each other directly, without a warm-up")
        return elapsed - (0.0 if warm or elapsed <= interval else interval), 0.0
    if warm is not None:
        return elapsed, seconds(warm, zero=True)
    if elapsed <= interval and step is not None:
        step.refuse(f"is not less than elapsed, {elapsed:g} s: expected at least two intervals")
    return elapsed - interval, interval


# --- streams ----------------------------------------------------------------------------------------------------


def _streams(
    reader: Reader, work: Definition, chosen: list[str], share: float, over: Over, run: Definition
) -> list[StreamForm]:
    """Return the streams of a workload on its storage definitions: one if that makes no difference, else one each."""
    values = tuple(sorted((key, value) for key, (_, value) in over.items() if key != "threads"))
    opened = run.get("openflags") or work.get("openflags")
    for definition in (reader.storages[name].definition for name in chosen):
        flags = opened or definition.get("openflags")
        reader.opened.setdefault(definition.name, set()).add(flags.value if flags else "")
    identity = (work.name, tuple(chosen), share, values, opened.value if opened else "")
    if identity in reader.made:
        return reader.made[identity]
    keys, came = _asked(reader, work, over)
    parts = [(name, _part(reader, reader.storages[name], work)) for name in chosen]
    plain = keys["random_pct"] == 100 and "offsets" not in keys and not work.get("range")
    forms = []
    if len(parts) > 1 and plain and _adjacent(reader, chosen):
        first, last = parts[0][1], parts[-1][1]
        extent = [first[0], last[1]] if first and last else None
        parts = [("", None if extent == ["0 %", "100 %"] else extent)]
    for name, extent in parts:
        stream_keys = dict(keys)
        if extent:
            stream_keys["range"] = list(extent)
        _of_storage(reader.storages[name or chosen[0]], opened, stream_keys, came)
        several = [value for key, (option, value) in over.items() if key != "threads" and len(points(option)) > 1]
        label = " ".join([work.name, *several, name if len(chosen) > 1 else ""]).strip()
        forms.append(StreamForm(label, stream_keys, dict(came), share / len(parts)))
    reader.made[identity] = forms
    return forms


def _adjacent(reader: Reader, chosen: list[str]) -> bool:
    """Return whether storage definitions are equal and adjacent, so that one range covers them all."""
    storages = [reader.storages[name] for name in chosen]
    order = list(reader.files.sizes)
    places = [order.index(storage.file) for storage in storages]
    same = (
        len(
            {
                (storage.size, str(storage.definition.get("align")), str(storage.definition.get("offset")))
                for storage in storages
            }
        )
        == 1
    )
    plain = not any(storage.definition.get("range", "offset", "hotband") for storage in storages)
    return same and plain and places == list(range(places[0], places[0] + len(places)))


def _asked(reader: Reader, work: Definition, over: Over) -> tuple[dict[str, Value], dict[str, Option]]:
    """Return the keys of a workload's streams; those of the run override those of the workload."""
    came: dict[str, Option] = {}

    def setting(key: str) -> tuple[Option, str] | None:
        work_option = work.get(key)
        if key in over and work_option is not None:
            reader.ignore(work_option, f"the run sets {over[key][0].spelled}=, which applies to all its workloads")
        return over.get(key) or ((work_option, work_option.value) if work_option else None)

    read, transfer, random = setting("rdpct"), setting("xfersize"), setting("seekpct")
    keys: dict[str, Value] = {"read_pct": number(read[1], read[0]) if read else 100.0}
    share = seek(random[1], random[0]) if random else 100.0
    keys["random_pct"] = share
    if 0 < share < 100:
        keys["random_mode"] = "run"
    _where(reader, work, keys, came)
    if transfer is None:
        keys["size"] = bytes_text(DEFAULT_SIZE)
    elif transfer[0].key == "xfersize" and transfer[0] is work.get("xfersize"):
        mix = sizes(transfer[0])
        keys.update({"size": bytes_text(mix[0][0])} if len(mix) == 1 else {"sizes": {bytes_text(s): w for s, w in mix}})
    else:
        keys["size"] = bytes_text(block(transfer[1], transfer[0]))
    for key, one in (("read_pct", read), ("random_pct", random), ("size", transfer), ("sizes", transfer)):
        if one is not None:
            came[key] = one[0]
    ratio = next((one for one in (work.get("compratio"), *_general(reader, "compratio")) if one), None)
    if ratio is not None and keys["read_pct"] != 100:
        keys["data"], came["data"] = _entropy(ratio), ratio
    return keys, came


def _where(reader: Reader, work: Definition, keys: dict[str, Value], came: dict[str, Option]) -> None:
    """Change the keys of offsets for a hot band or a stride."""
    band, stride = work.get("hotband"), work.get("stride")
    if band is not None:
        if keys["random_pct"] != 100:
            reader.approximate(band, "all I/Os of the band are random")
            keys["random_pct"] = 100.0
            keys.pop("random_mode", None)
        keys["offsets"], came["offsets"] = HOT_BAND, band
    elif stride is not None:
        ends = [size_bytes(part, stride) for part in listed(stride.value)]
        distance = sum(ends) // max(1, len(ends)) // 512 * 512
        if not distance:
            stride.refuse("expected (SMALLEST,LARGEST) in multiples of 512 bytes")
        reader.approximate(stride, f"every I/O begins {bytes_text(distance)} after the previous one")
        keys["random_pct"], keys["offsets"], came["offsets"] = 100.0, {"stride": bytes_text(distance)}, stride
        keys.pop("random_mode", None)


def _general(reader: Reader, key: str) -> list[Option]:
    return [option for option in reader.parameters.general if option.key == key]


def _entropy(ratio: Option) -> float:
    """Convert `compratio=3`, which is 3:1, to an entropy."""
    value = number(ratio.value.partition(":")[0], ratio, 1e6)
    if value < 1:
        ratio.refuse("expected a ratio of 1 or more, such as 2")
    return 1 / value


def _of_storage(storage: Storage, opened: Option | None, keys: dict[str, Value], came: dict[str, Option]) -> None:
    """Add the keys that a storage definition sets for its I/Os; `opened` are the flags of the run, else those of the
    workload, which take precedence."""
    align, flags = storage.definition.get("align"), opened or storage.definition.get("openflags")
    if align is not None:
        keys["align"], came["align"] = bytes_text(block(align.value, align)), align
    syncs = {"o_sync", "o_dsync", "dsync", "o_rsync"}
    if flags is not None and keys["read_pct"] != 100 and {flag.lower() for flag in listed(flags.value)} & syncs:
        keys["fua"], came["fua"] = True, flags
    if size := storage.definition.get("size"):
        came["range"] = size


def _part(reader: Reader, storage: Storage, work: Definition) -> list[str] | None:
    """Return the range of a workload's I/Os on the target, within the range of the storage definition."""
    begin = storage.definition.get("offset")
    size = storage.definition.get("size") or storage.definition.get("lun")
    first = size_bytes(begin.value, begin) if begin else 0
    whole = None if storage.size is None else storage.size - first
    if begin is not None and whole is not None and whole <= 0:
        begin.refuse(f"is not within size=, {bytes_text(storage.size or 0)}")
    outer = _ends(reader, storage.definition, whole)
    inner = _ends(reader, work, whole)
    if outer is not None and inner is not None:
        inner_option = work.get("hotband", "range")
        if inner_option is not None and not all(end.is_share for end in (*outer, *inner)):
            inner_option.refuse("a range in bytes cannot be combined with a range of the sd: expected percent")
        width = outer[1].value - outer[0].value
        ends = [Amount(outer[0].value + end.value * width, True) for end in inner]
    else:
        ends = list(outer or inner or [])
    option = work.get("hotband", "range") or storage.definition.get("hotband", "range") or begin or size
    if not ends:
        return reader.files.part(storage.file, Amount(first) if first else None, None, option)
    low, high = ends
    if first and low.is_share and whole is None:
        (begin or option or storage.definition.options["lun"]).refuse(
            "offset= with range= in percent requires size= of the sd"
        )
    if low.is_share and (first or whole is not None) and whole is not None:
        low, high = (Amount(int(end.value * whole) // GRAIN * GRAIN) for end in (low, high))
    if not low.is_share:
        return reader.files.part(storage.file, Amount(first + low.value), Amount(high.value - low.value), option)
    return reader.files.part(storage.file, low, Amount(high.value - low.value, True), option)


def _ends(reader: Reader, definition: Definition, whole: int | None) -> tuple[Amount, Amount] | None:
    """Read `range=` or `hotband=`: shares, or bytes if the numbers are not percentages; None if neither is set."""
    option = definition.get("hotband", "range")
    if option is None:
        return None
    ends = listed(option.value)
    if len(ends) != 2:
        option.refuse("expected (FROM,TO) in percent or bytes")
    if all(part.replace(".", "", 1).isdigit() and float(part) <= LARGEST_PERCENT for part in ends):
        low, high = (float(part) / 100 for part in ends)
        if high > 1:
            reader.approximate(option, "cut at the end of the sd: the part that would wrap to the beginning is dropped")
        if not 0 <= low < min(high, 1.0):
            option.refuse("expected (FROM,TO) with FROM below TO and within the sd")
        return Amount(low, True), Amount(min(high, 1.0), True)
    first, last = (size_bytes(part, option) for part in ends)
    if not first < last or (whole is not None and last > whole):
        option.refuse("expected (FROM,TO) with FROM below TO and within the sd")
    return Amount(first), Amount(last)
