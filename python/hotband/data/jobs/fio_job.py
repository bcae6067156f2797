"""A fio job's settings, and the fate of each option (HOWTO of fio 3.33).

Traps, each with a test: a synchronous engine has one I/O outstanding whatever iodepth says; `thinktime` waits for all
outstanding I/Os first, so that it caps the depth (HOWTO, thinktime_blocks; backend.c: handle_thinktime); flushes count
to `flow` alone, not to size, number, rate or pause (tried); `percentage_random` is a coin for every I/O,
`rw=randread:8` a run of eight; offsets of a mix of sizes are aligned to the smallest (`blockalign`); reads and writes
of a sequential mix each have a position; `rate_iops` without a comma is for reads and for writes, each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from hotband.base.text.nearest import expected, hint
from hotband.data.jobs.fio_contradictions import refuse_contradictions
from hotband.data.jobs.fio_file import Job
from hotband.data.jobs.fio_lists import random_shares
from hotband.data.jobs.fio_names import (
    ALIASES,
    ASYNCHRONOUS,
    FATES,
    MEMORY,
    NO_BLOCK_IO,
    OF_A_VOLUME,
    SYNCHRONOUS,
    TRACES,
)
from hotband.data.jobs.fio_values import (
    SECTOR,
    ZONE_SIZE,
    amount,
    count,
    flag,
    microseconds,
    percent,
    size_bytes,
)
from hotband.data.jobs.form import Closed
from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.source import Option

# fio's own default on Linux (ioengines.c: "psync").
DEFAULT_ENGINE = "psync"
MOST_OUTSTANDING = 65_536
# The name of what a job uses that names no file and no size: both are left to fio's command line.
TARGET = "the target"

_PATTERNS = {
    "read": (False, "r"),
    "write": (False, "w"),
    "trim": (False, "t"),
    "randread": (True, "r"),
    "randwrite": (True, "w"),
    "randtrim": (True, "t"),
    "rw": (False, "rw"),
    "readwrite": (False, "rw"),
    "randrw": (True, "rw"),
    "trimwrite": (False, "tw"),
    "randtrimwrite": (True, "tw"),
}


@dataclass
class JobOptions:
    """The options of a job, and the fates of those that are not simply kept."""

    job: Job
    base: int = 1024
    fates: dict[str, tuple[Fate, str]] = field(default_factory=dict)
    unsaid: list[tuple[str, str]] = field(default_factory=list)

    def approximate(self, key: str, why: str) -> None:
        self.fates[key] = (Fate.APPROXIMATED, why)

    def ignore(self, key: str, why: str) -> None:
        self.fates[key] = (Fate.IGNORED, why)

    def get(self, key: str) -> Option | None:
        return self.job.get(key)

    def report(self, report: LossReport) -> None:
        """Add one line per option to `report`."""
        for option in self.job.in_order:
            fate, why = FATES.get(option.key, (None, ""))
            used = self.job.options[option.key] is option
            if not used:
                over = self.job.options[option.key].location
                if option.location.file == over.file and self.job.location.line < option.location.line:
                    report.add(Fate.IGNORED, option.location, str(option), f"line {over.line} sets it again")
                continue
            noted = (Fate.APPROXIMATED, option.note) if option.note and fate is None else (fate or Fate.KEPT, why)
            fate, why = self.fates.get(option.key, noted)
            report.add(fate, option.location, str(option), why)
        for what, why in self.unsaid:
            report.add(Fate.APPROXIMATED, self.job.location, what, why)


def begin(job: Job) -> JobOptions:
    """Check that the job is one of block I/O, and read the base of its sizes."""
    job_options = JobOptions(job)
    base = job.get("kb_base")
    if base is not None:
        if base.value.strip() not in ("1000", "1024"):
            base.refuse("expected 1024 (k is 1024, kib is 1000) or 1000 (k is 1000, kib is 1024)")
        job_options.base = int(base.value)
    for unknown in job.in_order:
        if unknown.key not in FATES:
            _of_no_list(job_options, unknown)
    for key in TRACES:
        option = job.get(key)
        if option is not None:
            option.refuse("a job that replays a trace is not a workload; expected a job without it")
    refuse_contradictions(job, job_options.base)
    return job_options


def _of_no_list(job_options: JobOptions, option: Option) -> None:
    """Ignore an option that may be of an engine from outside fio. Raises UserError for any other."""
    name = engine_name(job_options.job)
    if is_external(name) or name in NO_BLOCK_IO:
        job_options.ignore(option.key, f"belongs to ioengine={name}")
        return
    near = hint(option.spelled, [*FATES, *ALIASES])
    option.refuse(f"fio has no such option; {near}expected an option of fio 3.33 to 3.41")


# --- pattern ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """Access pattern of a job: random or not, directions ("r", "w", "t", "rw", "tw"), share of the first in percent;
    `run` is the run length, `hole` the bytes skipped after each I/O (below zero: back) or after each `zone` bytes,
    `random_pcts` the percentages of random reads, writes and trims."""

    random: bool
    kinds: str
    first_pct: float
    run: int = 1
    hole: int = 0
    zone: int = 0
    random_pcts: tuple[float, float, float] = (100.0, 100.0, 100.0)


def pattern(job_options: JobOptions) -> Pattern:
    """Read `rw=` and the options that modify it."""
    option = job_options.get("rw")
    name, _, suffix = (option.value if option else "read").partition(":")
    if name.strip() not in _PATTERNS:
        assert option is not None, "the default is one of them"
        option.refuse(expected(name, [*_PATTERNS]))
    is_random, kinds = _PATTERNS[name.strip()]
    run, hole = 1, 0
    if suffix and option is not None:
        number = Option("rw", suffix.removeprefix("-"), option.location)
        run = max(1, count(number, 0, 2**31)) if is_random else 1
        hole = 0 if is_random else size_bytes(number.value, job_options.base, number)
        if hole % SECTOR:
            hole += SECTOR - hole % SECTOR
            job_options.approximate("rw", f"holes have whole sectors: {hole} bytes")
        hole = -hole if suffix.startswith("-") else hole
    zone, skip = _strided(job_options, is_random)
    hole = hole or skip
    sequencer = job_options.get("rw_sequencer")
    if sequencer is not None and sequencer.value == "identical" and run > 1:
        job_options.ignore("rw_sequencer", "offsets do not repeat: the run continues")
    first_pct = _first_pct(job_options, kinds)
    if kinds == "rw" and first_pct in (0, 100):
        # Tried: limits and flushes of the other direction have no effect in fio 3.33.
        kinds, first_pct = ("r" if first_pct else "w"), 100.0
    return Pattern(is_random, kinds, first_pct, run, hole, zone, random_shares(job_options, is_random, run))


def _strided(job_options: JobOptions, is_random: bool) -> tuple[int, int]:
    """Return the bytes of a zone and those from its end to the next (tried: 3.33); zeros without `zonemode=strided`,
    the default with `zonesize=`."""
    keys = ("zonesize", "zonerange", "zoneskip")
    mode, zones = job_options.get("zonemode"), [job_options.get(key) for key in keys]
    if mode is not None and mode.value not in ("none", "strided", "zbd"):
        mode.refuse("expected none, strided or zbd")
    why = "the target is a plain block device without zones"
    if mode is None or mode.value == "strided":
        size, reach, skip = (0 if zone is None else size_bytes(zone.value, job_options.base, zone) for zone in zones)
        if size and not is_random:
            return size, max(reach, size) + skip - size
        why = "offsets are random in the whole range, not in one zone after the other" if size else "has no zonesize="
    for key in ("zonemode", *keys):
        if job_options.get(key) and why:
            job_options.ignore(key, why)
    return 0, 0


def _first_pct(job_options: JobOptions, kinds: str) -> float:
    """Return the percentage of reads (of trims in a mix with writes)."""
    read, write = job_options.get("rwmixread"), job_options.get("rwmixwrite")
    if kinds != "rw":
        for key in ("rwmixread", "rwmixwrite"):
            option = job_options.get(key)
            if option:
                percent(option)
                job_options.ignore(key, "rw= does not mix reads and writes: fio also ignores it")
        return 50.0 if kinds == "tw" else 100.0
    last = mix(job_options)
    if last is None:
        return 50.0
    if read and write and percent(read) + percent(write) != 100:
        first = write if last is read else read
        job_options.ignore(first.key, f"contradicts {last}, which comes later and takes precedence, as in fio")
    return float(percent(last)) if last is read else 100.0 - percent(last)


def mix(job_options: JobOptions) -> Option | None:
    """Return the option that sets the mix of reads and writes: the later of two."""
    known = [option for key in ("rwmixread", "rwmixwrite") if (option := job_options.get(key))]
    return max(known, key=job_options.job.in_order.index, default=None)


# --- load -------------------------------------------------------------------------------------------------------


def engine_name(job: Job) -> str:
    """Return the name of a job's I/O engine, or the path of one from outside fio."""
    option = job.get("ioengine")
    name = (option.value if option else DEFAULT_ENGINE).strip()
    return name if is_external(name) else name.partition(":")[0].strip()


def is_external(name: str) -> bool:
    """Return whether an engine is a shared object: `external:PATH`, a path alone, or one that SPDK preloads."""
    return name.startswith(("external", "spdk")) or "/" in name or name.endswith(".so")


def engine(job_options: JobOptions) -> tuple[str, bool]:
    """Return the I/O engine and whether it has several I/Os outstanding."""
    option, name = job_options.get("ioengine"), engine_name(job_options.job)
    if name in NO_BLOCK_IO and option is not None:
        option.refuse("is not a block I/O engine; expected one such as libaio, io_uring or psync")
    if is_external(name):
        job_options.approximate("ioengine", "I/Os go to the target, not through the engine's own software")
        return name, True
    if option is not None and name not in SYNCHRONOUS | ASYNCHRONOUS | MEMORY:
        option.refuse(expected(name, sorted(SYNCHRONOUS | ASYNCHRONOUS)))
    if name == "mmap" or name in MEMORY:
        job_options.approximate("ioengine", "I/Os of size bs= go to the target, without page cache or mapped memory")
    if name in ("null", "cpp_null"):
        job_options.ignore("ioengine", f"I/Os go to the target; {name} discards them")
    return name, name in ASYNCHRONOUS


def load(job_options: JobOptions) -> Closed:
    """Return jobs, depth and pauses as a closed loop."""
    name, several = engine(job_options)
    jobs, depth = job_options.get("numjobs"), job_options.get("iodepth")
    threads = count(jobs, 1, MOST_OUTSTANDING) if jobs else 1
    outstanding = count(depth, 1, MOST_OUTSTANDING) if depth else 1
    if depth is not None and not several and outstanding > 1:
        job_options.ignore("iodepth", f"ioengine={name} waits for every I/O: the depth is 1, as in fio")
    outstanding = outstanding if several else 1
    if threads * outstanding > MOST_OUTSTANDING:
        (depth or jobs or Option("numjobs", str(threads), job_options.job.location)).refuse(
            f"numjobs x iodepth is {threads * outstanding}: expected at most {MOST_OUTSTANDING}"
        )
    closed = Closed(threads, outstanding)
    think = job_options.get("thinktime")
    if think is not None:
        _think(job_options, closed, think)
    elif job_options.get("thinktime_blocks"):
        job_options.ignore("thinktime_blocks", "has no effect without thinktime=")
    return closed


def _think(job_options: JobOptions, closed: Closed, think: Option) -> None:
    closed.think_us = microseconds(think.value, think, "us")
    blocks = job_options.get("thinktime_blocks")
    after = job_options.get("thinktime_iotime")
    if after is not None and blocks is not None:
        job_options.ignore("thinktime_iotime", "a pause comes after thinktime_blocks=, however long they take")
    elif after is not None and closed.think_us and not (job_options.get("rate") or job_options.get("rate_iops")):
        after.refuse("a model pauses after a number of I/Os, not after a time: expected thinktime_blocks=")
    elif after is not None:
        job_options.ignore("thinktime_iotime", "has no effect here: only thinktime= without a rate pauses")
    closed.burst = count(blocks, 1, 2**31) if blocks and closed.think_us else 1
    if closed.burst < closed.depth and closed.think_us:
        closed.depth = closed.burst
        why = f"thinktime= waits for all outstanding I/Os after every {closed.burst}, which limits the depth, as in fio"
        job_options.ignore("iodepth", why)


# --- time and place ---------------------------------------------------------------------------------------------


def seconds(job_options: JobOptions, key: str) -> float | None:
    """Return a time in seconds; None if it is not set, or zero."""
    option = job_options.get(key)
    text = option.value.partition("-")[0] if option and key == "startdelay" else option.value if option else ""
    return microseconds(text, option, "s") / 1e6 or None if option else None


def names(job_options: JobOptions) -> list[str]:
    """Return the files that the job names. A colon separates two names; `\\:` is a colon within a name."""
    option = job_options.get("filename")
    if option is None:
        size_, each = job_options.get("size"), job_options.get("filesize")
        # A file that fio makes has no size of which to take a share.
        is_share = size_ is not None and size_.value.endswith("%") and each is None and not job_options.get("directory")
        volume = engine_name(job_options.job) in OF_A_VOLUME
        return [TARGET] if volume or is_share or not any(map(_is_set, (size_, each))) else []
    file_names = [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", option.value)]
    if not all(name.strip() for name in file_names):
        option.refuse("a name is empty: expected names with one colon between two")
    return file_names


def _is_set(option: Option | None) -> bool:
    """Return whether a size is set: zero is as good as none (tried)."""
    return option is not None and option.value.strip() not in ("", "0")


def _zone(job_options: JobOptions, option: Option | None) -> int:
    """Return the bytes of a zone, the unit of `10z`."""
    zone = job_options.get("zonesize")
    if zone is not None and (of_job := size_bytes(zone.value, job_options.base, zone)):
        return of_job
    if option is not None and option.value.strip().lower().endswith("z"):
        job_options.approximate(option.key, "a zone has 256 MiB; zonesize= sets another size")
    return ZONE_SIZE


def _is_amount(job_options: JobOptions) -> bool:
    """Return whether `size=` is the bytes that the job moves, anywhere in files whose size `filesize=` sets (tried)."""
    option, each = job_options.get("size"), job_options.get("filesize")
    return option is not None and _is_set(option) and _is_set(each) and not option.value.strip().endswith("%")


def size(job_options: JobOptions) -> Amount | None:
    """Return the bytes that the job's offsets lie in: `size=`, or those of its files; None for a whole device."""
    option, each = job_options.get("size"), job_options.get("filesize")
    if option is not None and not _is_set(option):
        job_options.approximate("size", "the whole target is used: zero is as good as no size, as in fio")
    elif option is not None and not _is_amount(job_options):
        low, _, high = option.value.partition("-")
        if high:
            job_options.approximate("size", f"every file has size {high}")
        return amount(Option("size", high or low, option.location), job_options.base, _zone(job_options, option))
    if each is not None and _is_set(each):
        low, _, high = each.value.partition("-")
        files = job_options.get("nrfiles")
        number = max(len(names(job_options)), count(files, 1) if files else 1)
        if high:
            job_options.approximate("filesize", f"every file has size {high}")
        return Amount(size_bytes(high or low, job_options.base, each) * number)
    if option is None and names(job_options) == [TARGET]:
        job_options.unsaid.append(("size (not set)", "the whole target is used, as with filename= of a device"))
    return None


def extent(job_options: JobOptions) -> tuple[Amount | None, Amount | None]:
    """First byte and bytes of the job's part of its file. Of a file whose size `filesize=` says, shares are of that,
    and nothing lies behind its end (tried)."""
    at, each = job_options.get("offset"), job_options.get("filesize")
    first = amount(at, job_options.base, _zone(job_options, at)) if at else None
    region = size(job_options)
    if each is None or job_options.get("nrfiles") or len(names(job_options)) > 1:
        return first, region
    whole = size_bytes(each.value.rpartition("-")[2], job_options.base, each)
    first, region = _in_bytes(first, whole), _in_bytes(region, whole)
    if first is None or region is None:
        return first, region
    if first.value >= whole:
        (at or each).refuse(f"is not within filesize={each.value}")
    return first, Amount(min(region.value, whole - first.value))


def _in_bytes(part: Amount | None, whole: int) -> Amount | None:
    """Convert a share to bytes, rounded down to whole sectors."""
    return part if part is None or not part.is_share else Amount(int(part.value * whole) // SECTOR * SECTOR)


def ios(job_options: JobOptions, mean: float, region: Amount | None) -> int | None:
    """Return the I/Os after which one of the jobs ends; None if only time ends it."""
    based = job_options.get("time_based")
    if based is not None and flag(based) and seconds(job_options, "runtime"):
        return None
    number, most = job_options.get("number_ios"), job_options.get("io_size")
    times = passes(job_options)
    if number is not None and count(number):
        return count(number) * times
    if most is not None:
        whole = amount(most, job_options.base, _zone(job_options, most))
        part = None if region is None else Amount(region.value * whole.value, region.is_share)
        region = part if whole.is_share else whole
    elif _is_amount(job_options):
        option = job_options.job.options["size"]
        text = option.value.rpartition("-")[2]
        moved = amount(replace(option, value=text), job_options.base, _zone(job_options, option))
        region = moved if region is None or region.is_share else Amount(min(moved.value, region.value))
    return None if region is None or region.is_share else max(1, round(region.value * times / mean))


def passes(job_options: JobOptions) -> int:
    """Return how often the job goes through its range."""
    loops = job_options.get("loops")
    return max(1, count(loops)) if loops else 1


def forced(job_options: JobOptions) -> bool:
    """Return whether each write is forced to the media."""
    sync = job_options.get("sync")
    if sync is None or sync.value in ("", "0", "none"):
        return False
    if sync.value not in ("1", "sync", "dsync"):
        sync.refuse("expected none, sync or dsync")
    return True


def data(job_options: JobOptions) -> float | None:
    """Return the entropy of written data; None if no option sets it."""
    zero, option = job_options.get("zero_buffers"), job_options.get("buffer_compress_percentage")
    if option is not None:
        share = percent(option)
        job_options.approximate("buffer_compress_percentage", f"the data compresses to {100 - share} % of its size")
        return (100 - share) / 100
    return 0.0 if zero is not None and flag(zero) else None


def page_cache(job_options: JobOptions) -> None:
    """Report that I/Os bypass the page cache, unless the job itself sets that."""
    direct, buffered = job_options.get("direct"), job_options.get("buffered")
    on = flag(direct) if direct else not flag(buffered) if buffered else False
    if direct and buffered and flag(direct) == flag(buffered):
        job_options.ignore("buffered", "contradicts direct=")
    why = "every I/O bypasses the host's page cache, which is not modelled, as with direct=1"
    if not on and (direct or buffered):
        job_options.approximate("direct" if direct else "buffered", why)
    elif not on:
        job_options.unsaid.append(("direct=0 (not set)", why))
