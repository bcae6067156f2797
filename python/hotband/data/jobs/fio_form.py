"""fio's jobs as streams, loops and steps: jobs between two `stonewall` run side by side and are one step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.jobs import fio_job, fio_lists, fio_rates, flushes
from hotband.data.jobs.fio_file import Job, read_jobs
from hotband.data.jobs.fio_job import Asked, Pattern, Sizes
from hotband.data.jobs.fio_values import amount, count, flag
from hotband.data.jobs.fio_zones import Part, hot_part, zone_list
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
from hotband.data.jobs.loss import LossReport
from hotband.data.jobs.parts import Amount, Files
from hotband.data.jobs.source import Option

# Clones of a sequential job each have a position that begins at the same place; beyond so many they share the range.
MOST_CLONES = 64
# Limits of reads and writes whose ratio is that of rwmixread, to this many points of percent, are those of one loop:
# rwmixread is a whole percentage.
RATE_MATCHES = 0.5


@dataclass
class Draft:
    """A job that was read, before it is known where its files lie."""

    asked: Asked
    pattern: Pattern
    sizes: tuple[Sizes, Sizes, Sizes]
    load: Closed
    file: str
    region: Amount | None
    offset: Amount | None
    step: Amount | None
    own_files: bool
    flush_every: int

    @property
    def name(self) -> str:
        return self.asked.job.name

    def means(self) -> tuple[float, float, float]:
        """Mean sizes of reads, writes and trims."""
        read, write, trim = (_mean(size) for size in self.sizes)
        return read, write, trim

    def mean(self) -> float:
        """Bytes of an I/O as fio counts them to the size of a job: a write that follows its trim is one with it."""
        read, write, trim = self.means()
        share = self.pattern.first_pct / 100
        return {"r": read, "w": write, "rw": share * read + (1 - share) * write}.get(self.pattern.kinds, trim)

    def differs(self) -> bool:
        """Whether reads and writes of a mix have positions, sizes or offsets of their own."""
        pattern, asked = self.pattern, self.asked
        if pattern.kinds != "rw" or not pattern.random:
            return pattern.kinds == "rw"
        read, write, _ = pattern.random_pcts
        said = [key for key in ("ba", "random_distribution") if asked.get(key)]
        return (
            self.sizes[0] != self.sizes[1]
            or (read != write and pattern.run == 1)
            or any(len({fio_lists.text_at(asked, key, place, "")[0] for place in (0, 1)}) > 1 for key in said)
        )

    def writes(self) -> float:
        """The share of writes where flushes come after them."""
        return {"w": 1.0, "rw": 1 - self.pattern.first_pct / 100}.get(self.pattern.kinds, 0.0)

    def with_flushes(self) -> float:
        """I/Os here to one of fio, which has its flushes beside its I/Os."""
        return 1 + self.writes() / self.flush_every if self.flush_every else 1.0

    def has_own_loops(self) -> bool:
        """Whether each clone has a position or a range of its own, and so a loop."""
        alone = not (self.step or not self.pattern.random) or self.load.threads == 1
        return not alone and self.load.threads <= MOST_CLONES


def _mean(sizes: Sizes) -> float:
    return sum(size * share for size, share in sizes) / sum(share for _, share in sizes)


def form(path: Path, text: str, report: LossReport) -> Form:
    """The job file as streams, loops and steps; `report` gets a line an option. UserError names what is wrong."""
    jobs = read_jobs(path, text)
    files = Files()
    drafts = [_draft(job, files) for job in jobs]
    found = Form(f"{path.name}: {', '.join(draft.name for draft in drafts[:4])}", report)
    groups: list[list[tuple[Draft, list[int]]]] = []
    streams = 0
    for draft in drafts:
        begins = _waits(draft.asked)
        loops = _loops(draft, files)
        places = list(range(len(found.loops), len(found.loops) + len(loops)))
        found.loops += loops
        streams += sum(len(loop.streams) for loop in loops)
        if streams > MOST_STREAMS:
            accepted = f"more than {MOST_STREAMS} streams (jobs, zones, directions); expected fewer in one file"
            raise UserError(str(draft.asked.job.place), "", draft.name, accepted)
        if begins or not groups:
            groups.append([])
        groups[-1].append((draft, places))
    _flows(found, groups)
    for number, group in enumerate(groups):
        found.steps.append(_step(group, number, len(groups)))
    for draft in drafts:
        draft.asked.report(report)
    return found


def _flows(found: Form, groups: list[list[tuple[Draft, list[int]]]]) -> None:
    """Jobs that `flow=` holds to a ratio become one loop: its streams by their weights, its depth that of all jobs."""
    for group in groups:
        of: dict[str, list[tuple[Draft, list[int]]]] = {}
        for draft, places in group:
            flow, name = draft.asked.get("flow"), draft.asked.get("flow_id")
            if flow is not None and count(flow):
                of.setdefault(name.value if name else "", []).append((draft, places))
                plain = len(places) == 1 and found.loops[places[0]].load == draft.load and draft.load.burst == 1
                if not plain:
                    draft.asked.ignore("flow", "jobs with a rate or positions of their own keep their own loops")
                    of[name.value if name else ""].pop()
            elif name is not None:
                draft.asked.ignore("flow_id", "there is no flow=")
        for members in of.values():
            if len(members) > 1:
                _join(found, members)
                for _, places in members[1:]:
                    places.clear()


def _join(found: Form, members: list[tuple[Draft, list[int]]]) -> None:
    first = found.loops[members[0][1][0]]
    outstanding = 0
    streams: list[StreamForm] = []
    for draft, [place] in members:
        weight = count(draft.asked.job.options["flow"])
        outstanding += draft.load.threads * draft.load.depth
        whole = sum(stream.share for stream in found.loops[place].streams)
        for stream in found.loops[place].streams:
            stream.share *= weight / whole
            streams.append(stream)
        draft.asked.approximate("flow", "one loop with the I/Os outstanding of all jobs draws them by their weights")
    think = max(draft.load.think_us for draft, _ in members)
    first.streams, first.load = streams, Closed(outstanding if think else 1, 1 if think else outstanding, think)
    for _, [place] in members[1:]:
        found.loops[place].streams = []


def _waits(asked: Asked) -> bool:
    """Whether the job begins when those before it have ended."""
    wall, other = asked.get("stonewall"), asked.get("wait_for")
    if other is not None:
        asked.approximate("wait_for", "the job waits for all jobs before it")
    return other is not None or (wall is not None and flag(wall))


def _draft(job: Job, files: Files) -> Draft:
    asked = fio_job.begin(job)
    pattern, sizes, load = (
        fio_job.pattern(asked),
        fio_job.sizes(asked, fio_job.pattern(asked).kinds),
        fio_job.load(asked),
    )
    named = fio_job.names(asked)
    offset, region = fio_job.place(asked)
    increment = asked.get("offset_increment")
    step = amount(increment, asked.base) if increment else None
    own = not named
    if len(named) > 1 and not pattern.random:
        asked.approximate("filename", f"{len(named)} files are one range, gone through in order")
    file = ":".join(named) if named else f"{job.name} {job.place}"
    clones = load.threads if own else 1
    files.meet(file, _used(region, offset, step, load.threads, clones))
    fio_job.page_cache(asked)
    every = flushes.flush_every(asked, pattern.kinds)
    draft = Draft(asked, pattern, sizes, load, file, region, offset, step, own, every)
    return replace(draft, load=flushes.paced(load, draft.with_flushes()))


def _used(region: Amount | None, offset: Amount | None, step: Amount | None, threads: int, clones: int) -> int | None:
    """Bytes of a file that a job uses; None where that depends on the file."""
    if region is None or region.is_share or (offset and offset.is_share) or (step and step.is_share):
        return None
    moved = int(step.value) * (threads - 1) if step else 0
    return (int(offset.value) if offset else 0) + moved + int(region.value) * clones


def _loops(draft: Draft, files: Files) -> list[Loop]:
    """The loops of a job: one, or one a clone where each clone has a position or a range of its own."""
    if draft.has_own_loops():
        one = replace(draft.load, threads=1)
        clones = range(draft.load.threads)
        return [loop for clone in clones for loop in _loops_of(replace(draft, load=one), files, clone, one)]
    if draft.load.threads > MOST_CLONES and not draft.own_files and (draft.step or not draft.pattern.random):
        key = "offset_increment" if draft.step else "numjobs"
        draft.asked.approximate(key, f"positions of more than {MOST_CLONES} jobs are spread over the range")
        return _loops_of(replace(draft, step=None), files, None, draft.load)
    return _loops_of(draft, files, None, draft.load)


def _loops_of(draft: Draft, files: Files, clone: int | None, load: Closed) -> list[Loop]:
    streams = _streams(draft, files, clone)
    most = fio_rates.MOST_RATE / draft.with_flushes()
    rates = fio_rates.rates(draft.asked, load, draft.pattern.kinds, draft.means(), most)
    if draft.flush_every:
        flushes.tell(draft.asked, load, 0 < draft.writes() < 1, rates is not None, clone is None)
    if rates is None:
        return [Loop(streams, load)]
    if load.think_us:
        draft.asked.ignore("thinktime", "the rate says when I/Os come")
    pattern = draft.pattern
    if pattern.kinds != "rw":
        rate = rates.of(pattern.kinds)
        return [Loop(streams, Open(rate * draft.with_flushes(), rates.arrival) if rate else load)]
    both = (rates.read or 0.0) + (rates.write or 0.0)
    if rates.read and rates.write and abs(100 * rates.read / both - pattern.first_pct) < RATE_MATCHES:
        return [Loop(streams, Open(both * draft.with_flushes(), rates.arrival))]
    # A mix with a limit for each direction is two loops: each keeps its own rate.
    loops = []
    for kind, limit in (("r", rates.read), ("w", rates.write)):
        share = pattern.first_pct if kind == "r" else 100 - pattern.first_pct
        side = replace(draft, pattern=replace(pattern, kinds=kind, first_pct=100.0))
        if share:
            of = [replace(stream, name=f"{stream.name} {_WORDS[kind]}") for stream in _streams(side, files, clone)]
            loops.append(Loop(of, Open(limit * side.with_flushes(), rates.arrival) if limit else load))
    return loops


_WORDS = {"r": "reads", "w": "writes", "t": "trims"}


def _streams(draft: Draft, files: Files, clone: int | None) -> list[StreamForm]:
    """The streams of a job: one, or one a direction where they differ, one a zone where there are zones."""
    pattern = draft.pattern
    apart = draft.differs()
    sides = [("r", pattern.first_pct), ("w", 100 - pattern.first_pct)] if apart else [(pattern.kinds, 100.0)]
    name = draft.name if clone is None else f"{draft.name} {clone + 1}"
    found = []
    for kind, share in sides:
        if share:
            called = f"{name} {_WORDS[kind]}" if apart and 0 < share < 100 else name
            asks = share * (1 + 1 / draft.flush_every) if kind == "w" and draft.flush_every else share
            found += _zones(draft, files, _Side(called, kind, asks, clone))
    return found


@dataclass(frozen=True)
class _Side:
    """I/Os of one kind of a job (or of one of its clones), and their share."""

    name: str
    kind: str
    share: float
    clone: int | None

    @property
    def place(self) -> int:
        """Its place in a list READ,WRITE,TRIM; reads and writes of one stream are alike."""
        return fio_lists.places(self.kind)[0]


def _zones(draft: Draft, files: Files, side: _Side) -> list[StreamForm]:
    offset, region = _place(draft, side.clone)
    chosen = fio_lists.distribution(draft.asked, side.place) if draft.pattern.random else None
    if not draft.pattern.random and draft.asked.get("random_distribution"):
        draft.asked.ignore("random_distribution", "rw= is sequential: fio ignores it, too")
    if chosen is None or not chosen[0].startswith("zoned") or hot_part(chosen):
        return [_stream(draft, files, side, (offset, region), chosen)]
    streams = []
    for number, (share, part) in enumerate(zone_list(draft.asked.base, chosen, offset, region), 1):
        stream = _stream(draft, files, replace(side, name=f"{side.name} zone {number}"), part, None)
        stream.share = side.share * share / 100
        stream.came_from["range"] = chosen[2]
        streams.append(stream)
    return streams


def _place(draft: Draft, clone: int | None) -> Part:
    """First byte and bytes of the job's region in its file, those of one clone where it has its own."""
    moved, offset = draft.offset, draft.offset
    if clone is not None and draft.step is not None:
        moved = Amount((offset.value if offset else 0) + clone * draft.step.value, draft.step.is_share)
    elif clone is not None and draft.own_files and draft.region is not None and not draft.region.is_share:
        moved = Amount((offset.value if offset else 0) + clone * draft.region.value)
    region = draft.region
    if clone is None and draft.own_files and draft.load.threads > 1 and region is not None and not region.is_share:
        region = Amount(region.value * draft.load.threads)
    if region is not None and region.is_share and moved is not None and moved.is_share:
        region = Amount(min(region.value, 1 - moved.value), True)
    return moved, region


def _stream(draft: Draft, files: Files, side: _Side, part: Part, chosen: fio_lists.Chosen | None) -> StreamForm:
    asked, pattern = draft.asked, draft.pattern
    came: dict[str, Option | None] = {"read_pct": asked.get("rwmixread") or asked.get("rw")}
    read = {"r": 100.0, "rw": pattern.first_pct}.get(side.kind, 0.0)
    keys: dict[str, Value] = {"read_pct": read}
    trim = {"t": 100.0, "tw": 50.0}.get(side.kind)
    if trim is not None:
        keys["trim_pct"] = trim
    _add_random(draft, side.place, keys, came, chosen)
    sizes = draft.sizes[side.place]
    came["size"] = came["sizes"] = asked.get("bssplit") or asked.get("bs") or asked.get("bsrange")
    if len(sizes) == 1:
        keys["size"] = bytes_text(sizes[0][0])
    else:
        keys["sizes"] = {bytes_text(size): share for size, share in sizes}
    grid = fio_lists.align(asked, sizes, side.place)
    if grid is not None and (pattern.random or asked.get("ba")):
        keys["align"] = bytes_text(grid)
        came["align"] = asked.get("ba") or came["sizes"]
    place = asked.get("size") or asked.get("filesize") or asked.get("offset") or asked.get("filename")
    extent = files.part(draft.file, *part, place)
    if extent is not None:
        keys["range"], came["range"] = list(extent), place
    if side.clone is None and draft.load.threads > 1 and keys.get("random_pct") != 100.0:
        keys["cursor"], came["cursor"] = "per-thread", asked.get("numjobs")
    if draft.flush_every and side.kind != "r":
        keys["flush_every"], came["flush_every"] = draft.flush_every, flushes.options(asked)[0]
    if fio_job.forced(asked):
        keys["fua"], came["fua"] = True, asked.get("sync")
    entropy = fio_job.data(asked) if side.kind != "r" else None
    if entropy is not None:
        keys["data"], came["data"] = entropy, asked.get("buffer_compress_percentage") or asked.get("zero_buffers")
    return StreamForm(side.name, keys, {key: one for key, one in came.items() if one is not None}, side.share)


def _add_random(
    draft: Draft,
    place: int,
    keys: dict[str, Value],
    came: dict[str, Option | None],
    chosen: fio_lists.Chosen | None,
) -> None:
    """Where I/Os go: `random_pct`, `random_mode`, `offsets`."""
    asked, pattern = draft.asked, draft.pattern
    came["random_pct"] = asked.get("percentage_random") or asked.get("rw")
    if pattern.hole:
        smallest = min(size for size, _ in draft.sizes[place])
        if len(draft.sizes[place]) > 1:
            asked.approximate("rw", f"holes of {pattern.hole} bytes between I/Os of {bytes_text(smallest)}")
        keys["random_pct"], keys["offsets"] = 100.0, {"stride": bytes_text(smallest + pattern.hole)}
        return
    random_pct = pattern.random_pcts[place]
    keys["random_pct"] = 100.0 / pattern.run if pattern.run > 1 else random_pct
    if pattern.run > 1:
        keys["random_mode"] = "run"
    elif 0 < random_pct < 100:
        keys["random_mode"] = "coin"
    map_off = asked.get("norandommap")
    if chosen is not None:
        offsets = _offsets(asked, chosen)
        if offsets:
            keys["offsets"], came["offsets"] = offsets, chosen[2]
    elif pattern.random and random_pct == 100 and not (map_off and flag(map_off)):
        why = "some blocks are asked for twice before all were asked for once, which fio's map of blocks prevents"
        if map_off:
            asked.approximate("norandommap", why)
        elif not asked.get("random_distribution") and ("norandommap=0 (not set)", why) not in asked.unsaid:
            asked.unsaid.append(("norandommap=0 (not set)", why))


def _offsets(asked: Asked, chosen: fio_lists.Chosen) -> dict[str, Value]:
    name, arguments, option = chosen
    hot = hot_part(chosen)
    if hot is not None:
        return {"hotspot": {"data": str(Amount(hot[0], True)), "ios": str(Amount(hot[1], True))}}
    if len(arguments) > 1:
        asked.approximate(
            "random_distribution", "the popular blocks are scattered: the place of the most popular is not kept"
        )
    if name == "zipf":
        exponent = fio_lists.number_of(arguments, option, 0.0, 5.0)
        if exponent == 1.0:
            option.refuse("fio takes no exponent of exactly 1: expected another, such as 0.99")
        return {"zipf": {"exponent": max(0.01, exponent)}}
    if name == "pareto":
        # lib/zipf.c: a share h of the blocks gets 1 - h of the I/Os, and so on within both.
        power = fio_lists.number_of(arguments, option, 0.0, 0.999)
        why = f"{power:.3g} of the range, at its beginning, gets {1 - power:.3g} of the I/Os, each part evenly"
        asked.approximate("random_distribution", why)
        return {"hotspot": {"data": str(Amount(power, True)), "ios": str(Amount(1 - power, True))}}
    asked.ignore("random_distribution", "offsets are uniform: there is no normal distribution of offsets")
    return {}


def _step(group: list[tuple[Draft, list[int]]], number: int, steps: int) -> Step:
    """The jobs that run side by side; the longest says how long."""
    loops = [place for _, places in group for place in places]
    timed: list[tuple[Draft, float | None, int | None]] = []
    for draft, _ in group:
        timed.append((draft, fio_job.seconds(draft.asked, "runtime"), _ios(draft)))
    name = " + ".join(draft.name for draft, _, _ in timed[:3]) + (" + ..." if len(timed) > 3 else "")
    longest = max((one for _, one, _ in timed if one), default=None)
    _say_lengths(timed, longest)
    alone = len(timed) == 1
    counts = [ios for _, _, ios in timed]
    ios = sum(one for one in counts if one is not None) if all(one is not None for one in counts) else None
    seconds = longest if longest or ios else UNSAID_SECONDS
    warm_up = max((fio_job.seconds(draft.asked, "ramp_time") or 0.0 for draft, _, _ in timed), default=0.0)
    for draft, _, _ in timed:
        if number and draft.asked.get("ramp_time"):
            draft.asked.ignore(
                "ramp_time", "measured steps follow one another directly: this one is measured from its begin"
            )
    if not alone and ios is not None and longest is None:
        for draft, _, _ in timed:
            key = "size" if draft.asked.get("size") else "rw"
            draft.asked.approximate(
                key, "the step ends after the I/Os of all its jobs together, not each job after its own"
            )
    return Step(name if steps > 1 else "measure", loops, seconds, warm_up, ios)


def _ios(draft: Draft) -> int | None:
    """I/Os of all clones of a job, their flushes too; None where only time ends it."""
    each = fio_job.ios(draft.asked, draft.mean(), draft.region)
    if each is None:
        return None
    # Tried: fio 3.33 counts neither to the size nor to number_ios the writes that follow their trims.
    each *= 2 if draft.pattern.kinds == "tw" else 1
    # Clones with loops of their own each count the writes to the next flush.
    loops = draft.load.threads if draft.has_own_loops() else 1
    return loops * flushes.with_flushes(each * draft.load.threads // loops, draft.writes(), draft.flush_every)


def _say_lengths(timed: list[tuple[Draft, float | None, int | None]], longest: float | None) -> None:
    for draft, one, ios in timed:
        asked = draft.asked
        if one is None and ios is None and longest is None:
            why = (
                f"{UNSAID_SECONDS:g} s are measured; fio goes on until the job covered its target, whose size it knows"
            )
            asked.unsaid.append(("runtime (not set)", why))
        elif longest and one is not None and one < longest:
            asked.approximate("runtime", f"the job goes on to the end of its step, {longest:g} s")
        elif longest and one is None:
            asked.unsaid.append(("runtime (not set)", f"the job goes on to the end of its step, {longest:g} s"))
