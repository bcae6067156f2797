"""fio's jobs as streams, loops and steps. Jobs between two `stonewall` run concurrently and form one step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.jobs import fio_job, fio_lists, fio_order, fio_rates, flushes
from hotband.data.jobs.fio_file import Job, read_jobs
from hotband.data.jobs.fio_job import JobOptions, Pattern
from hotband.data.jobs.fio_names import NO_BLOCK_IO
from hotband.data.jobs.fio_sizes import Fitted, fitted, sizes
from hotband.data.jobs.fio_values import amount, count, decimal, flag
from hotband.data.jobs.fio_zones import Part, hot_part, listed_blocks, zone_list
from hotband.data.jobs.form import (
    MOST_STREAMS,
    UNSAID_SECONDS,
    Closed,
    Form,
    Loop,
    Open,
    Step,
    StreamForm,
    Value,
    bytes_text,
)
from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.parts import Amount, Files
from hotband.data.jobs.source import Option

# Clones of a sequential job each have a position that begins at the same place; beyond so many they share the range.
MOST_CLONES = 64
# Limits of reads and writes whose ratio is that of rwmixread, to this many points of percent, are those of one loop:
# rwmixread is a whole percentage.
RATE_MATCHES = 0.5


@dataclass
class Draft:
    """A parsed job whose position on the target is not yet known."""

    job_options: JobOptions
    pattern: Pattern
    on_drive: tuple[Fitted, Fitted, Fitted]
    load: Closed
    file: str
    region: Amount | None
    offset: Amount | None
    step: Amount | None
    own_files: bool
    flush_every: int

    @property
    def name(self) -> str:
        return self.job_options.job.name

    def mean(self) -> float:
        """Return the bytes of an I/O as fio counts them towards the size of a job: a write and the trim before it are
        one."""
        return self._of_kinds(*(side.mean for side in self.on_drive))

    def pieces(self) -> float:
        """Return the drive's I/Os for one of fio."""
        return self._of_kinds(*(side.pieces for side in self.on_drive))

    def _of_kinds(self, read: float, write: float, trim: float) -> float:
        share = self.pattern.first_pct / 100
        return {"r": read, "w": write, "rw": share * read + (1 - share) * write}.get(self.pattern.kinds, trim)

    def differs(self) -> bool:
        """Return whether reads and writes of a mix have separate positions, sizes or offsets."""
        pattern, job_options = self.pattern, self.job_options
        if pattern.kinds != "rw" or not pattern.random:
            return pattern.kinds == "rw"
        read, write, _ = pattern.random_pcts
        keys = [key for key in ("ba", "random_distribution") if job_options.get(key)]
        return (
            self.on_drive[0] != self.on_drive[1]
            or (read != write and pattern.run == 1)
            or any(len({fio_lists.text_at(job_options, key, index, "")[0] for index in (0, 1)}) > 1 for key in keys)
        )

    def writes(self) -> float:
        """Return the share of writes, after which flushes come."""
        return {"w": 1.0, "rw": 1 - self.pattern.first_pct / 100}.get(self.pattern.kinds, 0.0)

    def with_flushes(self) -> float:
        """Return the I/Os issued here for one of fio, which does not count its flushes as I/Os."""
        return 1 + self.writes() / self.flush_every if self.flush_every else 1.0

    def has_own_loops(self) -> bool:
        """Return whether each clone has its own position or range, and so its own loop."""
        alone = not (self.step or not self.pattern.random) or self.load.threads == 1
        return not alone and self.load.threads <= MOST_CLONES


def form(path: Path, text: str, report: LossReport) -> Form:
    """Read the job file into streams, loops and steps; `report` gets one line per option. Raises UserError for a
    mistake."""
    jobs = _of_block_io(read_jobs(path, text), report)
    files = Files()
    drafts = [_draft(job, files) for job in jobs]
    job_form = Form(f"{path.name}: {', '.join(draft.name for draft in drafts[:4])}", report)
    groups: list[list[tuple[Draft, list[int]]]] = []
    streams = 0
    clock = fio_order.Clock()
    for number, draft in enumerate(drafts):
        earlier = [before.name for before in drafts[:number]]
        begins = clock.begins_step(draft.job_options, fio_order.waits(draft.job_options, earlier))
        loops = _loops(draft, files)
        places = list(range(len(job_form.loops), len(job_form.loops) + len(loops)))
        job_form.loops += loops
        streams += sum(len(loop.streams) for loop in loops)
        if streams > MOST_STREAMS:
            accepted = f"more than {MOST_STREAMS} streams (jobs, zones, directions); expected fewer in one file"
            raise UserError(str(draft.job_options.job.location), "", draft.name, accepted)
        if begins or not groups:
            groups.append([])
        groups[-1].append((draft, places))
    _flows(job_form, groups)
    for number, group in enumerate(groups):
        job_form.steps.append(_step(group, number, len(groups)))
    for draft in drafts:
        draft.job_options.report(report)
    return job_form


def _of_block_io(jobs: list[Job], report: LossReport) -> list[Job]:
    """Return the jobs of block I/O; all of them if there is none, to be refused."""
    others = [job for job in jobs if fio_job.engine_name(job) in NO_BLOCK_IO]
    if len(others) == len(jobs):
        return jobs
    for job in others:
        why = f"ioengine={fio_job.engine_name(job)} is not block I/O: the job is left out"
        report.add(Fate.IGNORED, job.location, f"[{job.name}]", why)
    return [job for job in jobs if job not in others]


def _flows(job_form: Form, groups: list[list[tuple[Draft, list[int]]]]) -> None:
    """Merge jobs that `flow=` holds to a ratio into one loop: weighted streams, and the depth of all jobs together."""
    for group in groups:
        by_flow: dict[str, list[tuple[Draft, list[int]]]] = {}
        for draft, places in group:
            flow, name = draft.job_options.get("flow"), draft.job_options.get("flow_id")
            if flow is not None and flow.value.strip() != "0":
                by_flow.setdefault(name.value if name else "", []).append((draft, places))
                plain = len(places) == 1 and job_form.loops[places[0]].load == draft.load and draft.load.burst == 1
                if not plain:
                    draft.job_options.ignore("flow", "jobs with their own rate or positions become separate loops")
                    by_flow[name.value if name else ""].pop()
            elif name is not None:
                draft.job_options.ignore("flow_id", "has no effect without flow=")
        for members in by_flow.values():
            if len(members) > 1:
                _join(job_form, members)
                for _, places in members[1:]:
                    places.clear()


def _weights(members: list[tuple[Draft, list[int]]]) -> list[int]:
    """Return the weights of jobs that `flow=` holds to a ratio. Before fio 3.27 one of two was negative,
    and the weight of each job was the number of the other."""
    flows = [draft.job_options.job.options["flow"] for draft, _ in members]
    sizes = [count(replace(flow, value=flow.value.strip().removeprefix("-")), 1) for flow in flows]
    below = [flow for flow in flows if flow.value.strip().startswith("-")]
    if len(below) == 1 and len(flows) == 2:
        return sizes[::-1]
    return below[0].refuse("expected weights above zero") if below else sizes


def _join(job_form: Form, members: list[tuple[Draft, list[int]]]) -> None:
    first = job_form.loops[members[0][1][0]]
    outstanding = 0
    streams: list[StreamForm] = []
    for weight, (draft, [number]) in zip(_weights(members), members, strict=True):
        outstanding += draft.load.threads * draft.load.depth
        whole = sum(stream.share for stream in job_form.loops[number].streams)
        for stream in job_form.loops[number].streams:
            stream.share *= weight / whole
            streams.append(stream)
        draft.job_options.approximate("flow", "one loop with the outstanding I/Os of all jobs picks streams by weight")
    think = max(draft.load.think_us for draft, _ in members)
    first.streams, first.load = streams, Closed(outstanding if think else 1, 1 if think else outstanding, think)
    for _, [number] in members[1:]:
        job_form.loops[number].streams = []


def _draft(job: Job, files: Files) -> Draft:
    job_options = fio_job.begin(job)
    pattern = fio_job.pattern(job_options)
    on_drive = fitted(job_options, sizes(job_options, pattern.kinds, pattern.random), pattern.kinds)
    load = fio_job.load(job_options)
    named = fio_job.names(job_options)
    offset, region = fio_job.extent(job_options)
    whole, least = job_options.get("size"), min(side.least for side in on_drive)
    if whole is not None and region is not None and not region.is_share and 0 < region.value < least:
        whole.refuse(f"holds no I/O of {bytes_text(least)}: expected at least the smallest size of an I/O, as in fio")
    increment = job_options.get("offset_increment")
    step = amount(increment, job_options.base) if increment and increment.value != "0" else None
    is_own = not named
    if len(named) > 1 and not pattern.random:
        job_options.approximate("filename", f"{len(named)} files form one range, accessed in order")
    file = ":".join(named) if named else f"{job.name} {job.location}"
    clones = load.threads if is_own else 1
    files.meet(file, _used(region, offset, step, load.threads, clones))
    fio_job.page_cache(job_options)
    if pattern.kinds == "tw" and load.depth > 1:
        job_options.approximate("rw", "other outstanding I/Os continue during a trim; fio waits for it")
    if fio_job.forced(job_options) and pattern.kinds in ("r", "t"):
        job_options.ignore("sync", "the job does not write")
    every = round(flushes.flush_every(job_options, pattern.kinds) * on_drive[1].pieces)
    draft = Draft(job_options, pattern, on_drive, load, file, region, offset, step, is_own, every)
    return replace(draft, load=flushes.paced(_in_pieces(load, draft.pieces()), draft.with_flushes()))


def _in_pieces(load: Closed, pieces: float) -> Closed:
    """Return the load of a drive that gets each I/O of fio in pieces, all at once."""
    if pieces <= 1:
        return load
    depth = min(round(load.depth * pieces), fio_job.MOST_OUTSTANDING // load.threads)
    return replace(load, depth=depth, burst=round(load.burst * pieces) if load.think_us else load.burst)


def _used(region: Amount | None, offset: Amount | None, step: Amount | None, threads: int, clones: int) -> int | None:
    """Return the bytes of a file that a job uses; None if that depends on the file."""
    if region is None or region.is_share or (offset and offset.is_share) or (step and step.is_share):
        return None
    moved = int(step.value) * (threads - 1) if step else 0
    return (int(offset.value) if offset else 0) + moved + int(region.value) * clones


def _loops(draft: Draft, files: Files) -> list[Loop]:
    """Return the loops of a job: one, or one per clone if clones have their own positions or ranges."""
    if draft.has_own_loops():
        single = replace(draft.load, threads=1)
        clones = range(draft.load.threads)
        return [loop for clone in clones for loop in _loops_of(replace(draft, load=single), files, clone, single)]
    if draft.load.threads > MOST_CLONES and not draft.own_files and (draft.step or not draft.pattern.random):
        key = "offset_increment" if draft.step else "numjobs"
        draft.job_options.approximate(key, f"positions of more than {MOST_CLONES} jobs are spread over the range")
        return _loops_of(replace(draft, step=None), files, None, draft.load)
    return _loops_of(draft, files, None, draft.load)


def _loops_of(draft: Draft, files: Files, clone: int | None, load: Closed) -> list[Loop]:
    rates = fio_rates.rates(draft.job_options, load, draft.pattern.kinds, draft.on_drive, fio_rates.MOST_RATE)
    streams = _streams(draft, files, clone, counts_flushes=rates is None)
    if draft.flush_every:
        flushes.tell(draft.job_options, load, 0 < draft.writes() < 1, rates is not None, clone is None)
    if rates is None:
        return [Loop(streams, load)]
    if load.think_us:
        draft.job_options.ignore("thinktime", "the rate sets when I/Os are issued")
    pattern = draft.pattern

    arrival, outstanding = rates.arrival, load.threads * load.depth

    def limited(rate: float) -> Open:
        return Open(rate, arrival, outstanding, drain=load.threads == 1 and load.depth > 1)

    if pattern.kinds != "rw":
        rate = rates.of(pattern.kinds)
        return [Loop(streams, limited(rate) if rate else load)]
    if rates.read and rates.write:
        read_pct = 100 * rates.read / (rates.read + rates.write)
        if abs(read_pct - pattern.first_pct) >= RATE_MATCHES:
            # Each direction has its own rate, but both together have one bound.
            why = f"reads are {read_pct:.3g} % by their limits, not by rwmixread=, even if a limit is not reached"
            mix = fio_job.mix(draft.job_options)
            draft.job_options.approximate(mix.key if mix else "rw", why)
            draft = replace(draft, pattern=replace(pattern, first_pct=read_pct))
            streams = _streams(draft, files, clone, counts_flushes=False)
        return [Loop(streams, limited(rates.read + rates.write))]
    # A mix in which one direction has a limit is two loops: only one keeps a rate.
    loops = []
    for kind, limit in (("r", rates.read), ("w", rates.write)):
        share = pattern.first_pct if kind == "r" else 100 - pattern.first_pct
        side = replace(draft, pattern=replace(pattern, kinds=kind, first_pct=100.0))
        if share:
            side_streams = [
                replace(stream, name=f"{stream.name} {_WORDS[kind]}")
                for stream in _streams(side, files, clone, counts_flushes=not limit)
            ]
            loops.append(Loop(side_streams, limited(limit) if limit else load))
    return loops


_WORDS = {"r": "reads", "w": "writes", "t": "trims"}


def _streams(draft: Draft, files: Files, clone: int | None, *, counts_flushes: bool) -> list[StreamForm]:
    """Return the streams of a job: one, or one per direction if they differ, one per zone if there are zones. Closed
    loops count flushes to shares."""
    pattern = draft.pattern
    apart = draft.differs()
    sides = [("r", pattern.first_pct), ("w", 100 - pattern.first_pct)] if apart else [(pattern.kinds, 100.0)]
    name = draft.name if clone is None else f"{draft.name} {clone + 1}"
    streams = []
    for kind, share in sides:
        if share and apart:
            share *= draft.on_drive[fio_lists.places(kind)[0]].pieces
        if share:
            called = f"{name} {_WORDS[kind]}" if apart and 0 < share < 100 else name
            is_flushed = kind == "w" and draft.flush_every and counts_flushes
            requests = share * (1 + 1 / draft.flush_every) if is_flushed else share
            streams += _zones(draft, files, _Side(called, kind, requests, clone))
    return streams


@dataclass(frozen=True)
class _Side:
    """I/Os of one kind of a job (or of one of its clones), and their share."""

    name: str
    kind: str
    share: float
    clone: int | None

    @property
    def index(self) -> int:
        """Return the index in a list READ,WRITE,TRIM; reads and writes of one stream are alike."""
        return fio_lists.places(self.kind)[0]


def _zones(draft: Draft, files: Files, side: _Side) -> list[StreamForm]:
    offset, region = _place(draft, side.clone)
    chosen = fio_lists.distribution(draft.job_options, side.index) if draft.pattern.random else None
    if not draft.pattern.random and draft.job_options.get("random_distribution"):
        draft.job_options.ignore("random_distribution", "rw= is sequential: fio also ignores it")
    if chosen is not None and chosen[0] == "sequence":
        offset, region = _listed(draft, side, chosen, (offset, region))
    if chosen is None or not chosen[0].startswith("zoned") or hot_part(chosen):
        return [_stream(draft, files, side, (offset, region), chosen)]
    streams = []
    for number, (share, part) in enumerate(zone_list(draft.job_options.base, chosen, offset, region), 1):
        stream = _stream(draft, files, replace(side, name=f"{side.name} zone {number}"), part, None)
        stream.share = side.share * share / 100
        stream.came_from["range"] = chosen[2]
        streams.append(stream)
    return streams


def _listed(draft: Draft, side: _Side, chosen: fio_lists.Chosen, part: Part) -> Part:
    """Return the part of the blocks that a job lists: once, or moved on after each list (`random_sequence_stride`)."""
    moves = draft.job_options.get("random_sequence_stride")
    if moves is not None and count(moves):
        draft.job_options.approximate("random_distribution", "the order within a list is lost, and lists overlap")
        return part
    draft.job_options.approximate("random_distribution", "offsets are uniform from the first listed block to the last")
    return listed_blocks(chosen, min(size for size, _ in draft.on_drive[side.index].sizes), part[0])


def _place(draft: Draft, clone: int | None) -> Part:
    """First byte and bytes of the job's region in its file, those of one clone where it has its own."""
    moved, offset = draft.offset, draft.offset
    if clone is not None and draft.step is not None:
        moved = (offset or Amount(0.0)) + Amount(clone * draft.step.value, draft.step.is_share)
    elif clone is not None and draft.own_files and draft.region is not None and not draft.region.is_share:
        moved = (offset or Amount(0.0)) + Amount(clone * draft.region.value)
    region = draft.region
    if clone and draft.step is not None and draft.job_options.get("filesize") and not draft.job_options.get("size"):
        # Nothing lies behind the end of a file.
        left = region.value - clone * draft.step.value if region and not (region.is_share or draft.step.is_share) else 0
        region = Amount(left) if left > 0 else region
    if clone is None and draft.own_files and draft.load.threads > 1 and region is not None and not region.is_share:
        region = Amount(region.value * draft.load.threads)
    if region is not None and region.is_share and moved is not None and moved.is_share:
        region = Amount(min(region.value, 1 - moved.value), True)
    return moved, region


def _stream(draft: Draft, files: Files, side: _Side, part: Part, chosen: fio_lists.Chosen | None) -> StreamForm:
    job_options, pattern = draft.job_options, draft.pattern
    came: dict[str, Option | None] = {"read_pct": fio_job.mix(job_options) or job_options.get("rw")}
    read = {"r": 100.0, "rw": pattern.first_pct}.get(side.kind, 0.0)
    trims: dict[str, dict[str, Value]] = {"t": {"trim_pct": 100.0}, "tw": {"trim_first": True}}
    keys: dict[str, Value] = {"read_pct": read, **trims.get(side.kind, {})}
    came["trim_first"] = job_options.get("rw")
    _add_random(draft, side.index, keys, came, chosen)
    sizes = draft.on_drive[side.index].sizes
    came["size"] = came["sizes"] = job_options.get("bssplit") or job_options.get("bs") or job_options.get("bsrange")
    if len(sizes) == 1:
        keys["size"] = bytes_text(sizes[0][0])
    else:
        keys["sizes"] = {bytes_text(size): share for size, share in sizes}
    grid = fio_lists.align(job_options, sizes, side.index)
    if grid is not None and (pattern.random or job_options.get("ba")):
        keys["align"] = bytes_text(grid)
        came["align"] = job_options.get("ba") or came["sizes"]
    extent_option = (
        job_options.get("size")
        or job_options.get("filesize")
        or job_options.get("offset")
        or job_options.get("filename")
    )
    if files.hides(*part) and extent_option is not None:
        why = "the size of another file of the job is not known: each file is an equal part of the target, used whole"
        job_options.approximate(extent_option.key, why)
        part = (None, None)
    extent = files.part(draft.file, *_of_one_block(draft, side.index, part), extent_option)
    if extent is not None:
        keys["range"], came["range"] = list(extent), extent_option
    if side.clone is None and draft.load.threads > 1 and keys.get("random_pct") != 100.0:
        keys["cursor"], came["cursor"] = "per-thread", job_options.get("numjobs")
    if draft.flush_every and side.kind != "r":
        keys["flush_every"], came["flush_every"] = draft.flush_every, flushes.options(job_options)[0]
    if fio_job.forced(job_options) and read < 100 and side.kind != "t":
        keys["fua"], came["fua"] = True, job_options.get("sync")
    entropy = fio_job.data(job_options) if side.kind != "r" else None
    if entropy is not None:
        keys["data"], came["data"] = (
            entropy,
            job_options.get("buffer_compress_percentage") or job_options.get("zero_buffers"),
        )
    return StreamForm(side.name, keys, {key: option for key, option in came.items() if option is not None}, side.share)


def _add_random(
    draft: Draft,
    index: int,
    keys: dict[str, Value],
    came: dict[str, Option | None],
    chosen: fio_lists.Chosen | None,
) -> None:
    """Add the keys of random I/O: `random_pct`, `random_mode`, `offsets`."""
    job_options, pattern = draft.job_options, draft.pattern
    came["random_pct"] = job_options.get("percentage_random") or job_options.get("rw")
    if pattern.hole:
        keys |= _hole(draft, index)
        return
    random_pct = pattern.random_pcts[index]
    run = pattern.run * draft.on_drive[index].pieces
    keys["random_pct"] = 100.0 / run if run > 1 and random_pct == 100 else random_pct / run
    if run > 1 and pattern.random:
        keys["random_mode"] = "run"
    elif 0 < random_pct < 100:
        keys["random_mode"] = "coin"
    map_off = job_options.get("norandommap")
    if chosen is not None:
        offsets = _offsets(job_options, chosen)
        if offsets and keys["random_pct"]:
            keys["offsets"], came["offsets"] = offsets, chosen[2]
    elif pattern.random and keys["random_pct"] == 100 and not (map_off and flag(map_off)):
        why = "some blocks are accessed twice before all were accessed once; fio's block map prevents this"
        if map_off:
            job_options.approximate("norandommap", why)
        elif not job_options.get("random_distribution") and ("norandommap=0 (not set)", why) not in job_options.unsaid:
            job_options.unsaid.append(("norandommap=0 (not set)", why))


def _hole(draft: Draft, index: int) -> dict[str, Value]:
    """Return the keys of I/Os with a hole after each."""
    job_options, hole, mix = draft.job_options, draft.pattern.hole, draft.on_drive[index].sizes
    run = max(1, round(draft.pattern.zone / draft.on_drive[index].mean * draft.on_drive[index].pieces))
    stride = _stride(draft, index)
    if len(mix) > 1:
        job_options.approximate("rw", f"holes of {hole} bytes between I/Os of {bytes_text(stride - hole)}")
    if not stride:
        return {"random_pct": 0.0}
    jumps: dict[str, Value] = {"offsets": {"stride": f"{'-' * (stride < 0)}{bytes_text(abs(stride))}"}}
    return {"random_pct": 100.0 / run, **({"random_mode": "run"} if run > 1 else {}), **jumps}


def _of_one_block(draft: Draft, index: int, part: Part) -> Part:
    """Return the first block of a part if each I/O is followed by a step back of its own size: fio repeats it
    forever."""
    if not draft.pattern.hole or _stride(draft, index):
        return part
    return part[0], Amount(max(size for size, _ in draft.on_drive[index].sizes))


def _stride(draft: Draft, index: int) -> int:
    """Return the bytes from the offset of an I/O to that of the next, of a job that leaves holes."""
    return min(size for size, _ in draft.on_drive[index].sizes) + draft.pattern.hole


def _offsets(job_options: JobOptions, chosen: fio_lists.Chosen) -> dict[str, Value]:
    name, arguments, option = chosen
    hot = hot_part(chosen)
    if name == "sequence":
        return {}
    if hot is not None:
        return {"hotspot": {"data": str(Amount(hot[0], True)), "ios": str(Amount(hot[1], True))}}
    if len(arguments) > 1:
        job_options.approximate(
            "random_distribution", "popular blocks are scattered: the position of the most popular one is lost"
        )
    if name == "zipf":
        exponent = fio_lists.number_of(arguments, option, 0.0, 5.0)
        if exponent == 1.0:
            option.refuse("fio accepts no exponent of exactly 1: expected another, such as 0.99")
        return {"zipf": {"exponent": max(0.01, exponent)}}
    if name == "pareto":
        # lib/zipf.c: a share h of the blocks gets 1 - h of the I/Os, and so on within both.
        power = fio_lists.number_of(arguments, option, 0.0, 0.999)
        why = f"the first {power:.3g} of the range gets {1 - power:.3g} of the I/Os, uniformly within each part"
        job_options.approximate("random_distribution", why)
        return {"hotspot": {"data": str(Amount(power, True)), "ios": str(Amount(1 - power, True))}}
    if arguments and arguments[0] and decimal(arguments[0], option) >= 100:
        option.refuse("expected a deviation of 0 to below 100 after the name, as in fio")
    job_options.ignore("random_distribution", "offsets are uniform: Hotband has no normal distribution of offsets")
    return {}


def _step(group: list[tuple[Draft, list[int]]], number: int, steps: int) -> Step:
    """Return the step of jobs that run concurrently; the longest job sets its length."""
    loops = [loop for _, places in group for loop in places]
    timed: list[tuple[Draft, float | None, int | None]] = []
    for draft, _ in group:
        timed.append((draft, fio_job.seconds(draft.job_options, "runtime"), _ios(draft)))
    name = " + ".join(draft.name for draft, _, _ in timed[:3]) + (" + ..." if len(timed) > 3 else "")
    longest = max((runtime for _, runtime, _ in timed if runtime), default=None)
    _say_lengths(timed, longest)
    alone = len(timed) == 1
    counts = [ios for _, _, ios in timed]
    ios = (
        sum(count_ for count_ in counts if count_ is not None) if all(count_ is not None for count_ in counts) else None
    )
    seconds = longest if longest or ios else UNSAID_SECONDS
    warm_up = max((fio_job.seconds(draft.job_options, "ramp_time") or 0.0 for draft, _, _ in timed), default=0.0)
    for draft, _, _ in timed:
        if number and draft.job_options.get("ramp_time"):
            draft.job_options.ignore("ramp_time", "measured steps follow each other directly, without a warm-up")
    if not alone and ios is not None and longest is None:
        for draft, _, _ in timed:
            key = "size" if draft.job_options.get("size") else "rw"
            draft.job_options.approximate(
                key, "the step ends after the I/Os of all its jobs together, not each job after its own"
            )
    return Step(name if steps > 1 else "measure", loops, seconds, warm_up, ios)


def _ios(draft: Draft) -> int | None:
    """Return the I/Os of all clones of a job including flushes; None if only time ends it."""
    each = fio_job.ios(draft.job_options, draft.mean(), draft.region)
    if each is None:
        return None
    each = round(min(each, _of_passes(draft) or each) * draft.pieces())
    # Tried: fio 3.33 counts neither to the size nor to number_ios the writes that follow their trims.
    each *= 2 if draft.pattern.kinds == "tw" else 1
    # Clones with loops of their own each count the writes to the next flush.
    loops = draft.load.threads if draft.has_own_loops() else 1
    return loops * flushes.with_flushes(each * draft.load.threads // loops, draft.writes(), draft.flush_every)


def _of_passes(draft: Draft) -> int | None:
    """Return the number of I/Os of a job that leaves holes: each pass ends with its range, even before number_ios
    (tried: 3.33). None if another limit counts."""
    pattern, region = draft.pattern, draft.region
    if pattern.hole <= 0 or pattern.zone or region is None or region.is_share or draft.job_options.get("io_size"):
        return None
    positions = len(fio_lists.places(pattern.kinds))
    return positions * ceil(region.value / (draft.mean() + pattern.hole)) * fio_job.passes(draft.job_options)


def _say_lengths(timed: list[tuple[Draft, float | None, int | None]], longest: float | None) -> None:
    for draft, runtime, ios in timed:
        job_options = draft.job_options
        if runtime is None and ios is None and longest is None:
            why = f"{UNSAID_SECONDS:g} s are measured; fio can read the target's size and runs until the job covered it"
            job_options.unsaid.append(("runtime (not set)", why))
        elif longest and runtime is not None and runtime < longest:
            job_options.approximate("runtime", f"the job continues to the end of its step, {longest:g} s")
        elif longest and runtime is None:
            job_options.unsaid.append(("runtime (not set)", f"the job continues to the end of its step, {longest:g} s"))
