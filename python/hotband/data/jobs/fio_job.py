"""One job of fio: what its options ask for, and what becomes of each option (HOWTO of fio 3.33).

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
class Asked:
    """What a job asks for, and the fates of its options where they are not plainly kept."""

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
        """One line an option into `report`."""
        for option in self.job.said:
            fate, why = FATES[option.key]
            used = self.job.options[option.key] is option
            if not used:
                over = self.job.options[option.key].place
                if option.place.file == over.file and self.job.place.line < option.place.line:
                    report.add(Fate.IGNORED, option.place, str(option), f"line {over.line} says it again")
                continue
            fate, why = self.fates.get(option.key, (fate or Fate.KEPT, why))
            report.add(fate, option.place, str(option), why)
        for what, why in self.unsaid:
            report.add(Fate.APPROXIMATED, self.job.place, what, why)


def begin(job: Job) -> Asked:
    """Checks that the job is one of block I/O, and what its numbers mean."""
    asked = Asked(job)
    base = job.get("kb_base")
    if base is not None:
        if base.value.strip() not in ("1000", "1024"):
            base.refuse("expected 1024 (k is 1024, kib is 1000) or 1000 (k is 1000, kib is 1024)")
        asked.base = int(base.value)
    for key in TRACES:
        option = job.get(key)
        if option is not None:
            option.refuse("a job that replays a trace is no workload; expected a job without it")
    return asked


# --- pattern ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """Which I/Os: random or not, which directions ("r", "w", "t", "rw", "tw"), the share of the first in percent; a run
    length, or the hole after each I/O; how many percent of reads, writes and trims are random."""

    random: bool
    kinds: str
    first_pct: float
    run: int = 1
    hole: int = 0
    random_pcts: tuple[float, float, float] = (100.0, 100.0, 100.0)


def pattern(asked: Asked) -> Pattern:
    """`rw=` and what modifies it."""
    option = asked.get("rw")
    name, _, suffix = (option.value if option else "read").partition(":")
    if name.strip() not in _PATTERNS:
        assert option is not None, "the default is one of them"
        option.refuse(expected(name, [*_PATTERNS]))
    is_random, kinds = _PATTERNS[name.strip()]
    run, hole = 1, 0
    if suffix and option is not None:
        number = Option("rw", suffix, option.place)
        run = count(number, 1, 2**31) if is_random else 1
        hole = 0 if is_random else size_bytes(suffix, asked.base, number)
    if kinds == "tw":
        asked.approximate("rw", "each block is trimmed or written by a coin, not trimmed and then written")
    sequencer = asked.get("rw_sequencer")
    if sequencer is not None and sequencer.value == "identical" and run > 1:
        asked.ignore("rw_sequencer", "an offset is not repeated: the run goes on from it")
    return Pattern(is_random, kinds, _first_pct(asked, kinds), run, hole, random_shares(asked, is_random, run))


def _first_pct(asked: Asked, kinds: str) -> float:
    """The share of reads (of trims where they go with writes)."""
    read, write = asked.get("rwmixread"), asked.get("rwmixwrite")
    if kinds != "rw":
        for key in ("rwmixread", "rwmixwrite"):
            option = asked.get(key)
            if option:
                percent(option)
                asked.ignore(key, "rw= is no mix of reads and writes: fio ignores it, too")
        return 50.0 if kinds == "tw" else 100.0
    if read and write and percent(read) + percent(write) != 100:
        last = max((read, write), key=lambda one: asked.job.said.index(one))
        first = write if last is read else read
        asked.ignore(first.key, f"contradicts {last}, which comes later and counts, in fio too")
        return float(percent(last)) if last is read else 100.0 - percent(last)
    if read:
        return float(percent(read))
    return 100.0 - percent(write) if write else 50.0


# --- sizes ------------------------------------------------------------------------------------------------------


def sizes(asked: Asked, kinds: str) -> tuple[Sizes, Sizes, Sizes]:
    """Sizes and weights of reads, writes and trims; those of writes that follow their trims are those of trims."""
    said = [key for key in ("bs", "bsrange", "bssplit") if asked.get(key)]
    if not said:
        one: Sizes = ((DEFAULT_SIZE, 1.0),)
        return one, one, one
    # fio: bssplit counts before bs; of bs and bsrange the later one.
    order = asked.job.said
    key = "bssplit" if "bssplit" in said else max(said, key=lambda name: order.index(asked.job.options[name]))
    for other in said:
        if other != key:
            asked.ignore(other, f"{key}= counts")
    read, write, trim = (_sizes_of(*text_at(asked, key, index, str(DEFAULT_SIZE)), asked) for index in range(3))
    return read, trim if kinds == "tw" else write, trim


def _sizes_of(text: str, option: Option, asked: Asked) -> Sizes:
    if option.key == "bs":
        return ((block(text, asked.base, option), 1.0),)
    if option.key == "bssplit":
        pairs = [(block(size, asked.base, option), share) for size, share in splits(text, option)]
        if any(
            share != int(share) for part in text.split(":") if (share := decimal(part.partition("/")[2] or "0", option))
        ):
            # Tried: of bssplit=4k/4.5:8k/95.5 fio 3.33 asks for 10 % and 90 %.
            asked.approximate(
                "bssplit", "shares as they are written: fio itself takes whole percentages and misreads others"
            )
        weights: dict[int, float] = {}
        for size, share in pairs:
            weights[size] = weights.get(size, 0.0) + share
        kept = tuple((size, share) for size, share in weights.items() if share > 0)
        return kept or option.refuse("expected shares above zero, such as 4k/60:64k/40")
    low, _, high = text.partition("-")
    least, most = block(low, asked.base, option), block(high or low, asked.base, option)
    if most < least:
        option.refuse("the second size is smaller than the first: expected SMALLEST-LARGEST")
    steps = (most - least) // least
    stride = least * max(1, -(-steps // (MOST_SIZES - 1)))
    if stride != least:
        asked.approximate("bsrange", f"{(most - least) // stride + 1} sizes between both ends, evenly")
    evenly = tuple((size, 1.0) for size in range(least, most + 1, stride))
    # Tried: of bsrange=4k-10k fio 3.33 asks for 4k and 8k, and for 10k half as often.
    return (*evenly, (most, most % least / least)) if stride == least and most % least else evenly


# --- load -------------------------------------------------------------------------------------------------------


def engine(asked: Asked) -> tuple[str, bool]:
    """The I/O engine and whether it has several I/Os outstanding."""
    option = asked.get("ioengine")
    name = (option.value if option else DEFAULT_ENGINE).partition(":")[0].strip()
    if name in NO_BLOCK_IO and option is not None:
        option.refuse("is no engine of block I/O; expected one such as libaio, io_uring or psync")
    if option is not None and name not in SYNCHRONOUS | ASYNCHRONOUS | MEMORY:
        option.refuse(expected(name, sorted(SYNCHRONOUS | ASYNCHRONOUS)))
    if name == "mmap" or name in MEMORY:
        asked.approximate("ioengine", "I/Os of bs= go to the target: there is no page cache and no mapped memory")
    if name == "null":
        asked.ignore("ioengine", "I/Os go to the target, which null does not")
    return name, name in ASYNCHRONOUS


def load(asked: Asked) -> Closed:
    """Jobs, depth and pauses."""
    name, several = engine(asked)
    jobs, depth = asked.get("numjobs"), asked.get("iodepth")
    threads = count(jobs, 1, MOST_OUTSTANDING) if jobs else 1
    outstanding = count(depth, 1, MOST_OUTSTANDING) if depth else 1
    if depth is not None and not several and outstanding > 1:
        asked.ignore("iodepth", f"ioengine={name} waits for every I/O: the depth is 1, in fio too")
    outstanding = outstanding if several else 1
    if threads * outstanding > MOST_OUTSTANDING:
        (depth or jobs or Option("numjobs", str(threads), asked.job.place)).refuse(
            f"numjobs x iodepth is {threads * outstanding}: expected at most {MOST_OUTSTANDING}"
        )
    closed = Closed(threads, outstanding)
    think = asked.get("thinktime")
    if think is not None:
        _think(asked, closed, think)
    elif asked.get("thinktime_blocks"):
        asked.ignore("thinktime_blocks", "there is no thinktime=")
    return closed


def _think(asked: Asked, closed: Closed, think: Option) -> None:
    closed.think_us = microseconds(think.value, think, "us")
    blocks = asked.get("thinktime_blocks")
    closed.burst = count(blocks, 1, 2**31) if blocks and closed.think_us else 1
    if closed.burst < closed.depth and closed.think_us:
        closed.depth = closed.burst
        why = f"thinktime= waits for all outstanding I/Os after every {closed.burst}: the depth is that, in fio too"
        asked.ignore("iodepth", why)


# --- time and place ---------------------------------------------------------------------------------------------


def seconds(asked: Asked, key: str) -> float | None:
    """A time; None where it is not said, or zero."""
    option = asked.get(key)
    return microseconds(option.value, option, "s") / 1e6 or None if option else None


def names(asked: Asked) -> list[str]:
    """The files that the job names; a colon lies between two, `\\:` is one within a name."""
    option = asked.get("filename")
    if option is None:
        return []
    found = [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", option.value)]
    if not all(name.strip() for name in found):
        option.refuse("a name is empty: expected names with one colon between two")
    return found


def size(asked: Asked) -> Amount | None:
    """`size=`, the bytes that the job uses; None for the whole of a device."""
    option, each = asked.get("size"), asked.get("filesize")
    if option is not None:
        found = amount(option, asked.base)
        if not found.value:
            option.refuse("is nothing: expected a size above zero")
        return found
    if each is not None:
        low, _, high = each.value.partition("-")
        files = asked.get("nrfiles")
        if high:
            asked.approximate("filesize", f"every file has {high}")
        return Amount(size_bytes(high or low, asked.base, each) * (count(files, 1) if files else 1))
    if not names(asked):
        accepted = "missing: expected size=, or filename= with the name of a device or of a file that is there"
        raise UserError(str(asked.job.place), "size", "", accepted)
    return None


def place(asked: Asked) -> tuple[Amount | None, Amount | None]:
    """First byte and bytes of the job's part of its file. Of a file whose size `filesize=` says, shares are of that,
    and nothing lies behind its end (tried)."""
    at, each = asked.get("offset"), asked.get("filesize")
    first, region = amount(at, asked.base) if at else None, size(asked)
    if each is None or asked.get("nrfiles") or len(names(asked)) > 1:
        return first, region
    whole = size_bytes(each.value.rpartition("-")[2], asked.base, each)
    first, region = _in_bytes(first, whole), _in_bytes(region, whole)
    if first is None or region is None:
        return first, region
    if first.value >= whole:
        (at or each).refuse(f"is not within filesize={each.value}")
    return first, Amount(min(region.value, whole - first.value))


def _in_bytes(part: Amount | None, whole: int) -> Amount | None:
    """A share as bytes, whole sectors of them."""
    return part if part is None or not part.is_share else Amount(int(part.value * whole) // SECTOR * SECTOR)


def ios(asked: Asked, mean: float, region: Amount | None) -> int | None:
    """I/Os after which one of the jobs ends; None where only time ends it."""
    based = asked.get("time_based")
    if based is not None and flag(based) and seconds(asked, "runtime"):
        return None
    number, most = asked.get("number_ios"), asked.get("io_size")
    loops = asked.get("loops")
    times = count(loops, 1) if loops else 1
    if number is not None and count(number):
        return count(number) * times
    if most is not None:
        whole = amount(most, asked.base)
        part = None if region is None else Amount(region.value * whole.value, region.is_share)
        region = part if whole.is_share else whole
    return None if region is None or region.is_share else max(1, round(region.value * times / mean))


def forced(asked: Asked) -> bool:
    """Whether each write is forced to the media."""
    sync = asked.get("sync")
    if sync is None or sync.value in ("", "0", "none"):
        return False
    if sync.value not in ("1", "sync", "dsync"):
        sync.refuse("expected none, sync or dsync")
    return True


def data(asked: Asked) -> float | None:
    """The entropy of what is written; None where nothing is said."""
    zero, option = asked.get("zero_buffers"), asked.get("buffer_compress_percentage")
    if option is not None:
        share = percent(option)
        asked.approximate("buffer_compress_percentage", f"an archive of the data has {100 - share} % of its size")
        return (100 - share) / 100
    return 0.0 if zero is not None and flag(zero) else None


def page_cache(asked: Asked) -> None:
    """Says that I/Os pass the page cache by, where the job does not say so itself."""
    direct, buffered = asked.get("direct"), asked.get("buffered")
    on = flag(direct) if direct else not flag(buffered) if buffered else False
    if direct and buffered and flag(direct) == flag(buffered):
        asked.ignore("buffered", "contradicts direct=")
    why = "every I/O goes to the target as with direct=1: the host's page cache is not modelled"
    if not on and (direct or buffered):
        asked.approximate("direct" if direct else "buffered", why)
    elif not on:
        asked.unsaid.append(("direct=0 (not set)", why))
