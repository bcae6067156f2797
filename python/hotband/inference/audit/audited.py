"""A result as the auditor sees it: a record, the options of its tool, and the figures that a table printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

import tomli

from hotband.base.guess import Guess
from hotband.base.heavy import pl
from hotband.base.text.numbers import finite
from hotband.base.text.quantities import share, size_bytes
from hotband.data.documents.record import FiguresDoc, RecordDoc, figures_of
from hotband.data.documents.source import Source, moment_of
from hotband.data.record.overload import open_rate
from hotband.inference.audit import distribution
from hotband.inference.audit.distribution import Distribution

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True)
class Asked:
    """Options that the tool ran with (the record's `source.asked`); None is unknown."""

    duration_ns: float | None = None
    ramp_ns: float | None = None
    concurrency: int | None = None
    jobs: int | None = None
    block_bytes: int | None = None
    read_pct: float | None = None
    pattern: str | None = None
    working_set_bytes: float | None = None
    offset_begin_bytes: float | None = None
    direct: bool | None = None
    seed: str | None = None
    seed_text: str | None = None
    rate_iops: float | None = None
    group_reporting: bool | None = None
    time_based: bool | None = None


@dataclass(frozen=True)
class Printed:
    """A number of a published table: the printed value, the size of its last digit, and the printed unit."""

    value: float
    step: float
    unit: str


@dataclass(frozen=True)
class Audited:
    """One result under the name that findings give it. `origin` is the file or folder it came from.

    `printed` has IOPS, bandwidth and mean latency of a published table by those names, `over_time` the tables of a
    record besides its series: `caches`, `power`, and `health` (temperature and throttling of a real device).
    """

    name: str
    record: RecordDoc
    series: pl.DataFrame | None = None
    origin: str = ""
    printed: Mapping[str, Printed] = field(default_factory=dict)
    over_time: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @property
    def source(self) -> Source | None:
        """The record's `source`, None if it has none."""
        return self.record.get("source") or None

    @property
    def is_model(self) -> bool:
        """Whether Hotband's model made it: a run on a fresh machine, or a run of a `sequence`."""
        return bool(self.record["target"].get("kind") == "model")

    @property
    def is_published(self) -> bool:
        """Whether it is a cell of a published table, whose number of repeats is unknown."""
        return bool(self.record["target"].get("kind") == "published")

    @property
    def tool(self) -> str:
        """The tool that measured it."""
        return str((self.source and self.source.get("tool")) or self.record["target"].get("kind") or "")

    @property
    def version(self) -> tuple[int, ...]:
        """The tool's version, empty if it is not known."""
        text = str(
            (self.source and self.source.get("version")) or (self.record.get("versions") or {}).get(self.tool) or ""
        )
        return tuple(int(number) for number in re.findall(r"\d+", text)[:3])

    @property
    def target(self) -> str:
        """The measured target, as the tool names it, with its host."""
        name = (self.source and self.source.get("target")) or self.record["target"].get("machine") or ""
        if "sequence" in self.record:
            name = f"{name} (sequence {self.record['sequence']['id']})"
        host = self.source.get("host") if self.source else None
        return f"{host}:{name}" if host else str(name)

    @cached_property
    def asked(self) -> Asked:
        """The options of the tool; for a model's record, those of its workload."""
        given: object = self.source.get("asked") if self.source else None
        if isinstance(given, Mapping):
            known = {known_field.name for known_field in fields(Asked)}
            return Asked(**{key: value for key, value in given.items() if key in known})
        return _asked_of_spec(self.record) if self.is_model else Asked(concurrency=self.record.get("concurrency"))

    @property
    def workload(self) -> Mapping[str, object]:
        """The workload of a model's record as a table."""
        return _workload_of(self.record)

    @property
    def option_tables(self) -> list[Mapping[str, str]]:
        """The options of fio as the record has them: those of all jobs, then the further ones of each job."""
        spec = self.record.get("spec") or {}
        jobs = spec.get("jobs")
        return [_texts(spec.get("global")), *map(_texts, jobs.values() if isinstance(jobs, Mapping) else [])]

    @property
    def job_options(self) -> list[Mapping[str, str]]:
        """The options of each job of fio, with those of all jobs."""
        shared, *jobs = self.option_tables
        return [{**shared, **job} for job in jobs or [{}]]

    @property
    def concurrency(self) -> int | None:
        """Outstanding I/Os of a closed loop; None for an open loop, or if unknown.

        If the importer withdrew the concurrency because the latencies refute it, this is the one that the tool
        declared.
        """
        options, recorded = self.asked, self.record.get("concurrency")
        taken_back = [note for note in self.notes if note.startswith("concurrency is null:")]
        if options.rate_iops or (taken_back and not any("measured a queue depth" in note for note in taken_back)):
            return None
        return recorded or options.concurrency

    @property
    def deepest(self) -> float:
        """I/Os that a model had in flight on average over its time, or over the deepest of several measured phases
        (those that wait for the last I/Os issue none); 0 for other results, whose depth is derived."""
        blocks = (
            [self.summary(), *(step["summary"] for step in self.record.get("steps") or [])] if self.is_model else []
        )
        return max((finite(block.get("queue_depth_mean")) or 0.0 for block in blocks), default=0.0)

    @property
    def duration_ns(self) -> float:
        """The measured time."""
        return float(self.record["duration_ns"])

    @property
    def ended(self) -> datetime | None:
        """End of the run, as the tool states it or computed from the beginning; None if unknown."""
        ended, began = (
            (moment_of(self.source.get("ended")), moment_of(self.source.get("began"))) if self.source else (None, None)
        )
        if ended is not None or began is None:
            return ended
        try:
            return began + timedelta(microseconds=(self.duration_ns + (self.asked.ramp_ns or 0)) / 1e3)
        except OverflowError:
            return None

    @property
    def notes(self) -> list[str]:
        """Notes of the record on data that the importer could not convert."""
        return [str(note) for note in self.record.get("notes") or []]

    @property
    def events(self) -> list[str]:
        """Events requested of a model's run: failures, losses of power and others."""
        spec: Mapping[str, Any] = self.record.get("spec") or {}
        failed, others, lost = (spec.get("repair") or {}).get("fail"), spec.get("events"), spec.get("power_loss")
        events = [f"fail {drive}" for drive in failed or []] + [str(event) for event in others or []]
        return [*events, f"power loss at {lost}"] if lost else events

    @property
    def guesses(self) -> list[Guess]:
        """Readings of the tool's files that leave another open."""
        stored = self.source.get("guesses") if self.source else None
        return [Guess(**document) for document in stored or []]

    def summary(self, direction: str | None = None) -> FiguresDoc:
        """Return the figures of a direction, or of all. Read them with `get`: a published table has only some."""
        summary = self.record["summary"]
        return cast("FiguresDoc", (summary if direction is None else figures_of(summary, direction)) or {})

    def directions(self) -> list[str]:
        """Return the directions in which it did I/O."""
        return [name for name in ("read", "write") if (self.summary(name).get("count") or 0) > 0]

    def shares(self, direction: str | None) -> Distribution | None:
        """Return the latency distribution that is best for counting shares below a cut."""
        return distribution.of(self.record["streams"], direction, distribution.SHARES)

    def quantiles(self, direction: str | None) -> Distribution | None:
        """Return the latency distribution that is best for reading quantiles."""
        return distribution.of(self.record["streams"], direction, distribution.FINE)

    def commits(self) -> list[Distribution | None]:
        """Return the latency distributions of writes and of flushes in the streams that flush; none without flushes."""
        streams = [stream for stream in self.record["streams"] if distribution.sides_of([stream], "flush")]
        return [distribution.of(streams, direction, distribution.FINE) for direction in ("write", "flush") if streams]

    @property
    def load(self) -> tuple[Any, ...]:
        """The load without its concurrency: runs of equal loads on two targets are comparable."""
        options = self.asked
        return (options.pattern, options.block_bytes, options.read_pct, options.rate_iops)


@dataclass(frozen=True)
class Side:
    """One side of a comparison: at least one run, or repeats of the same run."""

    name: str
    runs: Sequence[Audited]


def _texts(options: object) -> dict[str, str]:
    """Return the options that are text; a record may be made up."""
    if not isinstance(options, Mapping):
        return {}
    return {key: value for key, value in options.items() if isinstance(value, str)}


def _workload_of(record: RecordDoc) -> dict[str, Any]:
    """Return the table of a model's workload; an empty one if it cannot be read."""
    return _table_of(str((record.get("spec") or {}).get("workload") or ""))


@lru_cache(maxsize=64)
def _table_of(text: str) -> dict[str, Any]:
    """Return the table of a TOML text, which the records of a sweep share; an empty one if it cannot be read."""
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError:
        return {}


def _asked_of_spec(record: RecordDoc) -> Asked:
    """Return the options of a model's workload, as far as all its streams agree."""
    spec, sequence, workload = record.get("spec") or {}, record.get("sequence"), _workload_of(record)
    changed: Mapping[str, str] = spec.get("set") or {}
    streams = [stream for stream in workload.get("streams", []) if isinstance(stream, dict)]
    random = {_number(changed.get("random_pct", table.get("random_pct", 0))) for table in streams}
    pattern = {frozenset({100.0}): "random", frozenset({0.0}): "sequential"}.get(frozenset(random))
    sizes = {str(changed.get("bs", table.get("size"))) for table in streams}
    # The last read of a file is as short as the file's end makes it.
    has_files = any("files" in table for table in streams)
    reads = {_number(changed.get("read_pct", table.get("read_pct", 100))) for table in streams}
    plain = bool(streams) and not any(key in workload for key in ("app", "scripts"))
    skewed = any("offsets" in table or "range" in table for table in streams)
    return Asked(
        concurrency=record.get("concurrency"),
        block_bytes=_whole(size_bytes(sizes.pop())) if len(sizes) == 1 and not has_files else None,
        read_pct=reads.pop() if len(reads) == 1 else None,
        pattern=(pattern or "mixed") if plain and not skewed else None,
        working_set_bytes=size_bytes(str(changed["span"])) if "span" in changed else None,
        rate_iops=open_rate(workload, changed),
        seed=sequence.get("seeds", "fresh") if sequence else "fresh",
        seed_text=str(record.get("seed")),
    )


def span_share(record: RecordDoc) -> float | None:
    """Return the share of the target to which `--set span=10 %` confined a model's workload; None without it."""
    text = ((record.get("spec") or {}).get("set") or {}).get("span")
    return None if text is None or size_bytes(str(text)) is not None else share(str(text))


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return -1.0


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def grouped(items: Iterable[_T], key: Callable[[_T], _K]) -> list[tuple[_K, list[_T]]]:
    """Group items by key, in the order in which keys appear."""
    groups: dict[_K, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())
