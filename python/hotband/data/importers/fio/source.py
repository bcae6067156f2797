"""The requested settings of a fio run, from its options, for the record's `source`.

fio prints an option without a value (`time_based`) only in newer versions, so one that is missing is not known to be
off. Sizes in percent, `bssplit`, `bsrange` and several jobs of different values are None.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import TypeVar

from hotband.base.claim import broken
from hotband.data.documents.source import NS_PER_S, Asked, Source, iso, nothing_asked
from hotband.data.importers.fio.jobs import Job, Quantity, pattern_of
from hotband.data.importers.fio.load import promised_concurrency, promised_jobs, sections_of
from hotband.data.importers.fio.text import Fields, directions
from hotband.data.importers.fio.time import Spell

_T = TypeVar("_T")
# fio parse.c, get_mult_time: a number alone is seconds for runtime and ramp_time.
_TIMES = {
    **dict.fromkeys(("us", "usec"), 1_000),
    **dict.fromkeys(("ms", "msec"), 1_000_000),
    **dict.fromkeys(("", "s", "sec"), NS_PER_S),
    **dict.fromkeys(("m", "min"), 60 * NS_PER_S),
    **dict.fromkeys(("h", "hour"), 3600 * NS_PER_S),
    **dict.fromkeys(("d", "day"), 86400 * NS_PER_S),
}
_PREFIXES = "kmgtp"
_NUMBER_AND_UNIT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]*)", re.ASCII)
_LARGEST = 2**64 - 1


def duration_of(text: str) -> int | None:
    """A time of fio in ns, None if it is not one."""
    match = _NUMBER_AND_UNIT.fullmatch(text.strip().lower())
    if match is None or match[2] not in _TIMES:
        return None
    whole = round(float(match[1]) * _TIMES[match[2]])
    return whole if whole <= _LARGEST else None


def size_of(text: str, kb_base: str = "1024") -> int | None:
    """A size of fio in bytes. By default k is 1024 and ki 1000; with kb_base=1000 as the standards have them."""
    match = _NUMBER_AND_UNIT.fullmatch(text.strip().lower())
    if match is None:
        return None
    unit = match[2].removesuffix("b")
    if unit == "":
        whole = round(float(match[1]))
        return whole if whole <= _LARGEST else None
    prefix, binary = unit[0], unit[1:] == "i"
    if prefix not in _PREFIXES or unit[1:] not in ("", "i"):
        return None
    base = 1024 if binary == (kb_base == "1000") else 1000
    whole = round(float(match[1]) * base ** (_PREFIXES.index(prefix) + 1))
    return whole if whole <= _LARGEST else None


DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
"""Levels of fio's distribution of depths, in JSON and in the order of terse output."""


def source_of(file: str, document: Fields, jobs: list[Job], spell: Spell, target: str, quantity: Quantity) -> Source:
    """The `source` of a record from one fio document."""
    ended = document.count("timestamp_ms") / 1000 or document.count("timestamp") or None
    starts = [job.start_ns for job in jobs if job.start_ns is not None]
    hosts = {job.host for job in jobs}
    used = [job.cpu_pct for job in jobs if job.cpu_pct is not None]
    depth = None if any(job.options for job in jobs) else _depth_at_most(document)
    source: Source = {
        "tool": "fio",
        "version": (document.text("fio version") or "").removeprefix("fio-") or None,
        "file": file,
        "began": iso(min(starts) / NS_PER_S) if starts and len(starts) == len(jobs) else None,
        "ended": iso(ended),
        "asked": asked_of(jobs, spell),
        "target": target,
        "host": next(iter(hosts)) or None if len(hosts) == 1 else None,
        "latency": quantity,
        "job_cpu_pct": min(used) if used and len(used) == len(jobs) else None,
        "elapsed_ns": max(job.elapsed_ns for job in jobs) or None,
        "job_errors": [f"{job.name}: {error_word(job.error_code)}" for job in jobs if job.error_code],
    }
    if spell.guesses:
        source["guesses"] = [guess.to_dict() for guess in spell.guesses]
    if contradictions := broken(claim for job in jobs for claim in job.claims):
        source["contradictions"] = contradictions
    if depth is not None:
        source["job_depth_at_most"] = depth
    if len(clients := [host for host in sorted(hosts, key=str) if host]) > 1:
        source["hosts"] = clients
    return source


def _depth_at_most(document: Fields) -> int | None:
    """Return an upper bound of the I/Os of a job in flight by fio's distribution of depths (stat.c: io_u_map; each
    level ends where the next begins); None without it, or if the open-ended last level is used."""
    most = 0
    for job in document.children("jobs"):
        levels = job.child("iodepth_level")
        used = [level for level in DEPTHS if levels is not None and levels.number(level) > 0]
        if not used or used[-1] == DEPTHS[-1]:
            return None
        most = max(most, 2 * int(used[-1]) - 1)
    return most or None


def error_word(code: int) -> str:
    """Return an error number of the system with its name."""
    return f"error {code} ({errno.errorcode[code]})" if code in errno.errorcode else f"error {code}"


def asked_of(jobs: list[Job], spell: Spell) -> Asked:
    """Return the settings that the options request; None if the jobs differ."""
    requested = nothing_asked()
    if not any(job.options for job in jobs):
        return requested
    together = len(spell.stages) == 1
    requested["duration_ns"] = _alike(jobs, lambda job: _first(job, duration_of, "runtime", "timeout"))
    requested["ramp_ns"] = _alike(jobs, lambda job: duration_of(job.options.get("ramp_time", "0")))
    requested["concurrency"] = promised_concurrency(jobs) if together else None
    requested["jobs"] = promised_jobs(jobs)
    requested["block_bytes"] = _alike(jobs, block_of)
    requested["read_pct"] = _read_pct(jobs)
    patterns = {_pattern(job) for job in jobs}
    requested["pattern"] = patterns.pop() if len(patterns) == 1 else "mixed"
    begin, size = _region(jobs)
    requested["offset_begin_bytes"], requested["working_set_bytes"] = begin, size
    requested["direct"] = _alike(jobs, _direct)
    requested["seed"] = _alike(jobs, _seed)
    requested["seed_text"] = _alike(jobs, lambda job: job.options.get("randseed"))
    rates = [_rate(job, processes) for job, processes in zip(jobs, _processes(jobs), strict=True)]
    known = [rate for rate in rates if rate is not None]
    # Rates of jobs that ran one after the other do not add up.
    requested["rate_iops"] = sum(known) if together and known and len(known) == len(rates) else None
    requested["group_reporting"] = _alike(jobs, lambda job: _switch(job, "group_reporting"))
    requested["time_based"] = _alike(jobs, lambda job: _switch(job, "time_based"))
    return requested


def _alike(jobs: list[Job], value_of: Callable[[Job], _T | None]) -> _T | None:
    """The value that all jobs share, else None."""
    values = [value_of(job) for job in jobs]
    return values[0] if values and all(value == values[0] for value in values) else None


def _first(job: Job, read: Callable[[str], _T | None], *names: str) -> _T | None:
    given = next((job.options[name] for name in names if name in job.options), None)
    return None if given is None else read(given)


def _size(job: Job, *names: str) -> int | None:
    return _first(job, lambda text: size_of(text, job.options.get("kb_base", "1024")), *names)


def _each(job: Job, text: str, default: str) -> list[str]:
    """The values of an option READ,WRITE,TRIM for what the job does; an empty one is fio's `default`."""
    words = pattern_of(job.options).removeprefix("rand")
    share = _job_read_pct(job)
    # A write that follows its trim has the trim's offset and size (tried: 3.33).
    places = {100.0: [0], 0.0: [1]}.get(-1.0 if share is None else share, [2] if words.startswith("trim") else [0, 1])
    return [directions(text)[index] or default for index in places]


def _pattern(job: Job) -> str:
    shares = {share.rstrip("%") for share in _each(job, job.options.get("percentage_random", "100"), "100")}
    if pattern_of(job.options).startswith("rand"):
        return {"100": "random", "0": "sequential"}.get(shares.pop(), "mixed") if len(shares) == 1 else "mixed"
    return "sequential"


def block_of(job: Job) -> int | None:
    """One size for all I/Os: of the direction alone where sizes are given by direction."""
    if any(name in job.options for name in ("bssplit", "bsrange", "blocksize_range", "bs_is_seq_rand")):
        return None
    text = job.options.get("bs", job.options.get("blocksize", job.options.get("block_size", "4k")))
    chosen = {size_of(part, job.options.get("kb_base", "1024")) for part in _each(job, text, "4k")}
    return chosen.pop() if len(chosen) == 1 else None


def _job_read_pct(job: Job) -> float | None:
    words = pattern_of(job.options).removeprefix("rand")
    if words in ("read", "write"):
        return 100.0 if words == "read" else 0.0
    if words not in ("rw", "readwrite"):
        return None
    try:
        if "rwmixwrite" in job.options:
            share = 100.0 - float(job.options["rwmixwrite"])
        else:
            share = float(job.options.get("rwmixread", "50"))
    except ValueError:
        return None
    return share if 0 <= share <= 100 else None


def _read_pct(jobs: list[Job]) -> float | None:
    return _alike(jobs, _job_read_pct)


def _region(jobs: list[Job]) -> tuple[int | None, int | None]:
    """Return begin and size of the accessed region: jobs on one file share it, separate files add up."""
    begins = [_size(job, "offset") if "offset" in job.options else 0 for job in jobs]
    sizes = [_size(job, "size", "filesize") for job in jobs]
    known_begins = [begin for begin in begins if begin is not None]
    known_sizes = [size for size in sizes if size is not None]
    begin = min(known_begins) if known_begins and len(known_begins) == len(begins) else None
    if not known_sizes or len(known_sizes) < len(sizes):
        return begin, None
    shared = {_where(job) for job in jobs}
    increments = any(job.options.get("offset_increment", "0") != "0" for job in jobs)
    if len(shared) == 1 and None not in shared and begin is not None and not increments:
        ends = [start + size for start, size in zip(known_begins, known_sizes, strict=True)]
        return begin, max(ends) - begin
    if None in shared:
        # Without a file name every process has a file of its own.
        return begin, round(sum(size * each for size, each in zip(known_sizes, _processes(jobs), strict=True)))
    return begin, None


def _processes(jobs: list[Job]) -> list[float]:
    """Return the processes behind each entry: all of its section where fio reports a group as one, else one each."""
    shares: dict[int, float] = {}
    for entries in sections_of(jobs).values():
        share = (promised_jobs(entries) or len(entries)) / len(entries)
        shares.update((id(job), share) for job in entries)
    return [shares[id(job)] for job in jobs]


_PLACES = ("filename", "rbdname", "rbd", "uri", "libblkio_path")
"""Options that name what all processes of a job share (engines/nbd.c, rbd.c, libblkio.c)."""


def _where(job: Job) -> tuple[str, ...] | None:
    """Return the file, image or export that a job names; None if fio names one for every process."""
    options = job.options
    named = next((options[name] for name in _PLACES if options.get(name)), None)
    return (job.host, options.get("pool", ""), named) if named else None


def _direct(job: Job) -> bool | None:
    if "direct" in job.options:
        return job.options["direct"].strip() != "0"
    if "buffered" in job.options:
        return job.options["buffered"].strip() == "0"
    return None


def _seed(job: Job) -> str | None:
    """fio draws offsets from a fixed seed unless told otherwise (init.c, setup_random_seeds)."""
    repeat = job.options.get("randrepeat", "1").strip() != "0"
    always = job.options.get("allrandrepeat", "0").strip() != "0"
    return "fixed" if repeat or always or "randseed" in job.options else "fresh"


def _rate(job: Job, processes: float) -> float | None:
    """I/Os per second that one entry is held to, all its processes and directions together."""
    text = job.options.get("rate_iops")
    if text is None:
        return None
    # Where a write follows its trim, the limit of writes is that of trims, too (tried: 3.33).
    both = pattern_of(job.options).removeprefix("rand") == "trimwrite"
    limits = [size_of(part or "0", "1000") for part in (2 * [directions(text)[1]] if both else _each(job, text, "0"))]
    known = [limit for limit in limits if limit]
    return sum(known) * processes if len(known) == len(limits) else None


def _switch(job: Job, name: str) -> bool | None:
    return None if name not in job.options else job.options[name].strip() != "0"
