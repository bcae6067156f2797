"""fio results (JSON and JSON+, fio 2.x and 3.x) as records: one record per document, one stream per job.

Left out: disk utilisation, steady-state data of several jobs, the
logs next to the JSON (a record from fio has no series). Percentiles of several jobs come from merged JSON+ bins, or are
null.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import cast

from hotband.base.errors import UserError
from hotband.base.text.numbers import percent
from hotband.base.text.words import unused
from hotband.base.version import __version__
from hotband.data.documents.record import FiguresDoc, RecordDoc, SummaryDoc
from hotband.data.documents.sides import Side
from hotband.data.importers.fio.failed import without_failed
from hotband.data.importers.fio.jobs import (
    QUANTITY_WORDS,
    Job,
    JobSide,
    Quantity,
    choose_quantity,
    pattern_of,
    printed_bins,
    read_job,
    record_side,
)
from hotband.data.importers.fio.load import declared_concurrency
from hotband.data.importers.fio.source import error_word, source_of
from hotband.data.importers.fio.text import Fields, read_documents
from hotband.data.importers.fio.time import Spell, spell_of
from hotband.data.record.stats import (
    DIRECTIONS,
    NANOSECONDS_PER_SECOND,
    SUMMARY_PERCENTILES,
    Direction,
    percentile,
    rates_of,
    summary_of,
    total,
)

SCHEMA_VERSION = 1
# The entry fio's client adds over all hosts (client.c); it holds no buckets and doubles every count.
ALL_CLIENTS = "All clients"
# fio prints IOPS from the same counts; old fio cuts them to whole numbers, so differ by more than both.
_PRINTED_TOLERANCE = 0.01
_MOST_NAMES = 3
# Shares are printed with two digits or more, so bins that hold everything add up to 100 within this.
_WHOLE_BINS_PCT = 99.5


@dataclass(frozen=True)
class Stream:
    """A job under the name it has in the record, with its sides in the record's shape."""

    name: str
    job: Job
    sides: dict[Direction, Side]
    errors_of_unknown_direction: int
    flush: Side | None = None
    trim: Side | None = None

    def document(self) -> dict[str, object]:
        """Return the stream as a record has it."""
        sides: dict[str, object] = {"name": self.name, "read": self.sides["read"], "write": self.sides["write"]}
        others = {"flush": self.flush, "trim": self.trim}
        return sides | {direction: side for direction, side in others.items() if side is not None}


def read_fio(text: str | bytes, file: str) -> list[RecordDoc]:
    """Return the records in a fio result, one per JSON document. Raises UserError for a mistake."""
    return [record_of(document, notes) for document, notes in read_documents(text, file)]


def record_of(document: Fields, notes: list[str]) -> RecordDoc:
    """Return the record of one document; `notes` are those of reading it."""
    file = document.file
    jobs = _jobs(document, notes)
    quantity = choose_quantity(jobs)
    streams = _streams(jobs, quantity)
    spell = spell_of(jobs)
    if spell.duration_ns == 0 and any(job.active() for job in jobs):
        codes = sorted({job.error_code for job in jobs if job.error_code})
        failed = f" ({', '.join(error_word(code) for code in codes)})" if codes else ""
        raise UserError(file, "runtime", "0", f"the I/O has no rate{failed}; accepted: runs of 1 ms or more")
    summary = _summary(streams, spell, quantity, notes)
    concurrency, why = declared_concurrency(jobs, spell, summary["queue_depth_mean"])
    if not any(job.options for job in jobs):
        concurrency, why = None, ["concurrency is null: this output does not have the job's options"]
    notes += [*spell.notes, *why, *_notes(streams, document, quantity)]
    machine = _machine(jobs)
    record = {
        "schema": "hotband-record",
        "schema_version": SCHEMA_VERSION,
        "versions": {"hotband": __version__, "fio": _version(document)},
        "name": f"{_list([job.name for job in jobs])} on {machine}",
        "target": {"kind": "fio", "machine": machine},
        "source": source_of(file, document, jobs, spell, machine, quantity),
        "seed": next((job.options["randseed"] for job in jobs if job.options.get("randseed")), None),
        "spec": {
            "global": _global_options(document),
            "jobs": {stream.name: stream.job.own_options for stream in streams},
        },
        "duration_ns": spell.duration_ns,
        "concurrency": concurrency,
        "summary": summary,
        "streams": [stream.document() for stream in streams],
        "parts": [],
        **_samples(streams),
        "series": None,
        "notes": notes,
    }
    return cast("RecordDoc", record)


def _samples(streams: list[Stream]) -> dict[str, object]:
    """Return fio's samples for steady state if they are of the only job; those of several do not add up."""
    data = streams[0].job.steadystate if len(streams) == 1 else None
    if data is None:
        return {}
    samples = {
        "source": "fio steadystate",
        "rule": data.rule,
        "attained": data.attained,
        "interval_ns": data.interval_ns,
        "iops": data.iops,
        "bandwidth_bytes_per_s": data.bandwidth_bytes_per_s,
    }
    return {"samples": samples}


def _version(document: Fields) -> str:
    return (document.text("fio version") or "").removeprefix("fio-")


def _global_options(document: Fields) -> dict[str, str]:
    """fio prints one object, its client with several servers an array of them."""
    merged: dict[str, str] = {}
    for options in document.children("global options"):
        merged |= options.options()
    return merged


def _jobs(document: Fields, notes: list[str]) -> list[Job]:
    options = _global_options(document)
    jobs = [without_failed(read_job(entry, options)) for entry in document.children("jobs")]
    clients = [without_failed(read_job(entry, options)) for entry in document.children("client_stats")]
    for_all = [job for job in clients if job.name == ALL_CLIENTS]
    if for_all and len(for_all) < len(clients):
        clients = [job for job in clients if job.name != ALL_CLIENTS]
        notes.append(f"fio's {ALL_CLIENTS!r} entry was dropped and the jobs of each client merged")
    if not jobs + clients:
        document.fail("jobs" if "jobs" in document else "client_stats", "accepted: at least one job")
    return jobs + clients


def _streams(jobs: list[Job], quantity: Quantity) -> list[Stream]:
    streams: list[Stream] = []
    taken: set[str] = set()
    for job in jobs:
        name = unused(f"{job.name}@{job.host}" if job.host else job.name, taken, "#{}")
        taken.add(name)
        counted = {direction: job.sides[direction].failed_ios for direction in DIRECTIONS}
        left, blamed = job.error_count - sum(counted.values()), _direction_of_errors(job)
        sides = {
            direction: record_side(
                job.sides[direction], quantity, counted[direction] + (left if direction == blamed else 0)
            )
            for direction in DIRECTIONS
        }
        # Bins are of completion latencies (io_u.c, account_io_completion), which are shorter than total ones.
        for direction, _ in job.active() if quantity == "clat" else ():
            sides[direction]["latency_bins"] = printed_bins(job)
        flush = None if job.syncs is None else record_side(job.syncs, "lat", 0)
        trim = None if job.trims is None else record_side(job.trims, quantity, 0)
        streams.append(Stream(name, job, sides, 0 if blamed else left, flush, trim))
    return streams


def _direction_of_errors(job: Job) -> Direction | None:
    """fio counts errors by job: theirs is the direction the job works in, if that is only one."""
    active = [direction for direction, _ in job.active()]
    if len(active) == 1:
        return active[0]
    words: dict[str, Direction] = {"read": "read", "randread": "read", "write": "write", "randwrite": "write"}
    return None if active else words.get(pattern_of(job.options))


def _summary(streams: list[Stream], spell: Spell, quantity: Quantity, notes: list[str]) -> SummaryDoc:
    printed: dict[str, dict[str, int | None]] = {}
    scopes: dict[str, tuple[str, tuple[Direction, ...]]] = {
        "all": ("all I/O", DIRECTIONS),
        "read": ("reads", ("read",)),
        "write": ("writes", ("write",)),
    }
    for scope, (words, directions) in scopes.items():
        busy = [(s, d) for s in streams for d in directions if s.sides[d]["count"]]
        bare = [(s, d) for s, d in busy if s.sides[d]["histogram"]["kind"] == "none"]
        if len(busy) == 1:
            stream, direction = busy[0]
            printed[scope] = _printed(stream.job.sides[direction], stream.sides[direction], quantity)
        if len(busy) == 1 or not bare:
            continue
        printed[scope] = dict.fromkeys(SUMMARY_PERCENTILES)
        lacking = _list([f"{s.name} {d}s" for s, d in bare])
        notes.append(
            f"percentiles of {words} are null: no buckets for {lacking}, and percentiles do not merge; "
            "run fio with --output-format=json+"
        )
    durations = {direction: spell.direction_ns[direction] for direction in DIRECTIONS}
    summary = summary_of(
        [stream.sides for stream in streams],
        spell.duration_ns,
        direction_duration_ns=durations,
        percentiles=printed,
    )
    summary["errors"] += sum(stream.errors_of_unknown_direction for stream in streams)
    flushes = [(stream.job.syncs, stream.flush) for stream in streams if stream.job.syncs and stream.flush]
    trims = [(stream.job.trims, stream.trim) for stream in streams if stream.job.trims and stream.trim]
    if flushes:
        summary["flush"] = _of_others(flushes, spell, "lat")
    if trims:
        summary["trim"] = _of_others(trims, spell, quantity)
    return summary


def _of_others(sides: list[tuple[JobSide, Side]], spell: Spell, quantity: Quantity) -> FiguresDoc:
    """Return the figures of flushes or trims. Percentiles of several jobs do not merge."""
    printed = _printed(*sides[0], quantity) if len(sides) == 1 else None
    return rates_of([side for _, side in sides], spell.duration_ns, printed)


def _printed(side: JobSide, carried: Side, quantity: Quantity) -> dict[str, int | None]:
    """A side alone has its percentiles as fio printed them; those fio left out come from its buckets."""
    latency = side.latencies.get(quantity)
    printed = latency.printed if latency is not None else {}
    histogram = carried["histogram"]
    return {key: printed.get(q, percentile(histogram, q)) for key, q in SUMMARY_PERCENTILES.items()}


def _notes(streams: list[Stream], document: Fields, quantity: Quantity) -> list[str]:
    notes = []
    if any(quantity in side.latencies for stream in streams for _, side in stream.job.active()):
        notes.append(f"latency is {QUANTITY_WORDS[quantity]}")
    uncarried: Counter[str] = Counter()
    for stream in streams:
        notes += _job_notes(stream)
        uncarried.update(stream.job.uncarried)
        for direction, side in stream.job.active():
            notes += _side_notes(f"{stream.name} {direction}s", side, stream.sides[direction], quantity)
    notes += [f"not carried over: {count} {kind}s" for kind, count in sorted(uncarried.items())]
    if document.values.get("disk_util"):
        notes.append("not carried over: disk utilisation")
    steady = [stream for stream in streams if stream.job.steadystate is not None]
    if len(steady) > 1 or (steady and len(streams) > 1):
        notes.append(f"not carried over: steady-state data of {_list([stream.name for stream in steady])}")
    return notes


def _job_notes(stream: Stream) -> list[str]:
    job = stream.job
    notes = []
    binned = sum(share for _, share in job.latency_bins)
    if 0 < binned < _WHOLE_BINS_PCT and not job.error_count:
        # fio 3.12 prints zero for what took longer than a second.
        notes.append(
            f"{stream.name}: fio's coarse latency bins hold {percent(binned, signed=False)} of the I/Os, "
            "the slowest are missing"
        )
    if job.error_code:
        notes.append(f"{stream.name} ended with {error_word(job.error_code)}")
    if stream.errors_of_unknown_direction:
        notes.append(f"{stream.name}: fio does not say if its errors were reads or writes: in the total only")
    return notes


def _side_notes(name: str, side: JobSide, carried: Side, quantity: Quantity) -> list[str]:
    notes = []
    if side.count_is_estimated:
        notes.append(f"{name}: this fio prints no total_ios; the count is its IOPS x runtime")
    printed = side.printed
    if printed["short_ios"] or printed["dropped_ios"]:
        notes.append(f"{name}: fio counted {printed['short_ios']} short and {printed['dropped_ios']} dropped I/Os")
    measured = printed["count"] * NANOSECONDS_PER_SECOND / side.runtime_ns if side.runtime_ns else None
    if measured is not None and abs(measured - printed["iops"]) > max(1, _PRINTED_TOLERANCE * measured):
        notes.append(
            f"{name}: fio printed {printed['iops']:g} IOPS, but its count and runtime make {measured:g}; "
            "the latter is carried over"
        )
    latency = side.latencies.get(quantity)
    if latency is None:
        return [*notes, f"{name}: fio measured no latency"]
    samples = total(carried["histogram"]) if latency.buckets else latency.samples
    # I/Os that are under way where a ramp ends are in one of the two counts: fewer than 1 in 1,000 say nothing.
    if samples is not None and 1000 * abs(samples - side.ios) > side.ios:
        notes.append(f"{name}: latency was measured on {samples} of {side.ios} I/Os")
    return notes + _percentile_notes(name, latency.printed, carried)


def _percentile_notes(name: str, printed: dict[float, int], carried: Side) -> list[str]:
    """fio's rank is computed in binary, so on a tie it prints the next bucket; anything else is a defect."""
    notes = []
    histogram = carried["histogram"]
    for q in SUMMARY_PERCENTILES.values():
        ours = percentile(histogram, q) if histogram["buckets"] else None
        if q in printed and ours is not None and printed[q] != ours:
            notes.append(f"{name}: fio printed p{q:g} = {printed[q]} ns, its buckets make {ours} ns")
    return notes


def _machine(jobs: list[Job]) -> str:
    return _list([_target_of(job) for job in jobs])


def _target_of(job: Job) -> str:
    """Return the job's target from its options: file, pool and image, folder, else the engine."""
    options = job.options
    image = options.get("rbdname") or options.get("rbd")
    pool = "/".join(part for part in (options.get("pool"), image) if part)
    name = options.get("filename") or pool or options.get("directory") or options.get("ioengine")
    where = name or "unknown target"
    return f"{job.host}:{where}" if job.host else where


def _list(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - _MOST_NAMES} more" if len(unique) > _MOST_NAMES else ""
    return ", ".join(unique[:_MOST_NAMES]) + more
