"""A fio job's settings, and the fate of each option (HOWTO of fio 3.33).

Traps, each with a test: a synchronous engine has one I/O outstanding whatever iodepth says; `thinktime` waits for all
outstanding I/Os first, so that it caps the depth (HOWTO, thinktime_blocks; backend.c: handle_thinktime); flushes count
to `flow` alone, not to size, number, rate or pause (tried); `percentage_random` is a coin for every I/O,
`rw=randread:8` a run of eight; offsets of a mix of sizes are aligned to the smallest (`blockalign`); reads and writes
of a sequential mix each have a position; `rate_iops` without a comma is for reads and for writes, each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hotband.base.errors import UserError
from hotband.base.text.nearest import expected
from hotband.data.jobs.fio_file import Job
from hotband.data.jobs.fio_lists import random_shares, text_at
from hotband.data.jobs.fio_names import ASYNCHRONOUS, FATES, MEMORY, NO_BLOCK_IO, SYNCHRONOUS, TRACES
from hotband.data.jobs.fio_values import (
    SECTOR,
    amount,
    block,
    count,
    decimal,
    flag,
    microseconds,
    percent,
    size_bytes,
    splits,
)
from hotband.data.jobs.form import Closed
from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.source import Option

# fio's own default on Linux (ioengines.c: "psync").
DEFAULT_ENGINE = "psync"
# fio's own size of an I/O (HOWTO, "blocksize").
DEFAULT_SIZE = 4096
MOST_OUTSTANDING = 65_536
# More sizes than that between the ends of bsrange= are drawn from as many.
MOST_SIZES = 64

Sizes = tuple[tuple[int, float], ...]

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
            fate, why = FATES[option.key]
            used = self.job.options[option.key] is option
            if not used:
                over = self.job.options[option.key].location
                if option.location.file == over.file and self.job.location.line < option.location.line:
                    report.add(Fate.IGNORED, option.location, str(option), f"line {over.line} sets it again")
                continue
            fate, why = self.fates.get(option.key, (fate or Fate.KEPT, why))
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
    for key in TRACES:
        option = job.get(key)
        if option is not None:
            option.refuse("a job that replays a trace is not a workload; expected a job without it")
    return job_options


# --- pattern ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """Access pattern of a job: random or not, directions ("r", "w", "t", "rw", "tw"), share of the first in percent;
    `run` is the run length, `hole` the bytes skipped after each I/O, `random_pcts` the percentages of random reads,
    writes and trims."""

    random: bool
    kinds: str
    first_pct: float
    run: int = 1
    hole: int = 0
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
        number = Option("rw", suffix, option.location)
        run = count(number, 1, 2**31) if is_random else 1
        hole = 0 if is_random else size_bytes(suffix, job_options.base, number)
    if kinds == "tw":
        job_options.approximate("rw", "each block is trimmed or written at random, not trimmed and then written")
    sequencer = job_options.get("rw_sequencer")
    if sequencer is not None and sequencer.value == "identical" and run > 1:
        job_options.ignore("rw_sequencer", "offsets do not repeat: the run continues")
    return Pattern(
        is_random, kinds, _first_pct(job_options, kinds), run, hole, random_shares(job_options, is_random, run)
    )


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
    if read and write and percent(read) + percent(write) != 100:
        last = max((read, write), key=lambda mix_option: job_options.job.in_order.index(mix_option))
        first = write if last is read else read
        job_options.ignore(first.key, f"contradicts {last}, which comes later and takes precedence, as in fio")
        return float(percent(last)) if last is read else 100.0 - percent(last)
    if read:
        return float(percent(read))
    return 100.0 - percent(write) if write else 50.0


# --- sizes ------------------------------------------------------------------------------------------------------


def sizes(job_options: JobOptions, kinds: str) -> tuple[Sizes, Sizes, Sizes]:
    """Return sizes and weights of reads, writes and trims; writes that follow their trims have the sizes of trims."""
    size_keys = [key for key in ("bs", "bsrange", "bssplit") if job_options.get(key)]
    if not size_keys:
        default: Sizes = ((DEFAULT_SIZE, 1.0),)
        return default, default, default
    # fio: bssplit counts before bs; of bs and bsrange the later one.
    order = job_options.job.in_order
    key = (
        "bssplit"
        if "bssplit" in size_keys
        else max(size_keys, key=lambda name: order.index(job_options.job.options[name]))
    )
    for other in size_keys:
        if other != key:
            job_options.ignore(other, f"{key}= takes precedence")
    read, write, trim = (
        _sizes_of(*text_at(job_options, key, index, str(DEFAULT_SIZE)), job_options) for index in range(3)
    )
    return read, trim if kinds == "tw" else write, trim


def _sizes_of(text: str, option: Option, job_options: JobOptions) -> Sizes:
    if option.key == "bs":
        return ((block(text, job_options.base, option), 1.0),)
    if option.key == "bssplit":
        pairs = [(block(size, job_options.base, option), share) for size, share in splits(text, option)]
        if any(
            share != int(share) for part in text.split(":") if (share := decimal(part.partition("/")[2] or "0", option))
        ):
            # Tried: of bssplit=4k/4.5:8k/95.5 fio 3.33 asks for 10 % and 90 %.
            job_options.approximate(
                "bssplit", "shares are used as written; fio itself accepts whole percentages only and misreads others"
            )
        weights: dict[int, float] = {}
        for size, share in pairs:
            weights[size] = weights.get(size, 0.0) + share
        positive = tuple((size, share) for size, share in weights.items() if share > 0)
        return positive or option.refuse("expected shares above zero, such as 4k/60:64k/40")
    low, _, high = text.partition("-")
    least, most = block(low, job_options.base, option), block(high or low, job_options.base, option)
    if most < least:
        option.refuse("the second size is smaller than the first: expected SMALLEST-LARGEST")
    steps = (most - least) // least
    stride = least * max(1, -(-steps // (MOST_SIZES - 1)))
    if stride != least:
        job_options.approximate("bsrange", f"{(most - least) // stride + 1} evenly spaced sizes between both ends")
    evenly = tuple((size, 1.0) for size in range(least, most + 1, stride))
    # Tried: of bsrange=4k-10k fio 3.33 asks for 4k and 8k, and for 10k half as often.
    return (*evenly, (most, most % least / least)) if stride == least and most % least else evenly


# --- load -------------------------------------------------------------------------------------------------------


def engine(job_options: JobOptions) -> tuple[str, bool]:
    """Return the I/O engine and whether it has several I/Os outstanding."""
    option = job_options.get("ioengine")
    name = (option.value if option else DEFAULT_ENGINE).partition(":")[0].strip()
    if name in NO_BLOCK_IO and option is not None:
        option.refuse("is not a block I/O engine; expected one such as libaio, io_uring or psync")
    if option is not None and name not in SYNCHRONOUS | ASYNCHRONOUS | MEMORY:
        option.refuse(expected(name, sorted(SYNCHRONOUS | ASYNCHRONOUS)))
    if name == "mmap" or name in MEMORY:
        job_options.approximate("ioengine", "I/Os of size bs= go to the target, without page cache or mapped memory")
    if name == "null":
        job_options.ignore("ioengine", "I/Os go to the target; null discards them")
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
    closed.burst = count(blocks, 1, 2**31) if blocks and closed.think_us else 1
    if closed.burst < closed.depth and closed.think_us:
        closed.depth = closed.burst
        why = f"thinktime= waits for all outstanding I/Os after every {closed.burst}, which limits the depth, as in fio"
        job_options.ignore("iodepth", why)


# --- time and place ---------------------------------------------------------------------------------------------


def seconds(job_options: JobOptions, key: str) -> float | None:
    """Return a time in seconds; None if it is not set, or zero."""
    option = job_options.get(key)
    return microseconds(option.value, option, "s") / 1e6 or None if option else None


def names(job_options: JobOptions) -> list[str]:
    """Return the files that the job names. A colon separates two names; `\\:` is a colon within a name."""
    option = job_options.get("filename")
    if option is None:
        return []
    file_names = [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", option.value)]
    if not all(name.strip() for name in file_names):
        option.refuse("a name is empty: expected names with one colon between two")
    return file_names


def size(job_options: JobOptions) -> Amount | None:
    """Return `size=`, the bytes that the job uses; None for a whole device."""
    option, each = job_options.get("size"), job_options.get("filesize")
    if option is not None:
        job_size = amount(option, job_options.base)
        if not job_size.value:
            option.refuse("is zero: expected a size above zero")
        return job_size
    if each is not None:
        low, _, high = each.value.partition("-")
        files = job_options.get("nrfiles")
        if high:
            job_options.approximate("filesize", f"every file has size {high}")
        return Amount(size_bytes(high or low, job_options.base, each) * (count(files, 1) if files else 1))
    if not names(job_options):
        accepted = "missing: expected size=, or filename= with an existing device or file"
        raise UserError(str(job_options.job.location), "size", "", accepted)
    return None


def extent(job_options: JobOptions) -> tuple[Amount | None, Amount | None]:
    """First byte and bytes of the job's part of its file. Of a file whose size `filesize=` says, shares are of that,
    and nothing lies behind its end (tried)."""
    at, each = job_options.get("offset"), job_options.get("filesize")
    first, region = amount(at, job_options.base) if at else None, size(job_options)
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
    loops = job_options.get("loops")
    times = count(loops, 1) if loops else 1
    if number is not None and count(number):
        return count(number) * times
    if most is not None:
        whole = amount(most, job_options.base)
        part = None if region is None else Amount(region.value * whole.value, region.is_share)
        region = part if whole.is_share else whole
    return None if region is None or region.is_share else max(1, round(region.value * times / mean))


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
