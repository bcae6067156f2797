"""`Record`: the result of a run, as a frozen, typed object over its JSON document (docs/guides/records.md).

Times are floats in seconds (`Seconds`), bandwidths in bytes per second (`BytesPerSecond`); both show their unit. The
document itself keeps its own names and integers of nanoseconds: `Record.to_dict()`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.shown import Shown
from hotband.base.text import write
from hotband.base.text.numbers import number
from hotband.base.views import self_contained, view_of
from hotband.data.record.files import RECORD_FILE, file_key, frame_of, parquet_of_frame, series_table
from hotband.data.record.intervals import Intervals
from hotband.data.record.quantity import BytesPerSecond, Seconds, seconds
from hotband.data.record.stats import OTHER_DIRECTIONS, merge, percentile
from hotband.data.record.tables import Tables, of_run
from hotband.data.record.writable import check_writable
from hotband.data.record.written import record_text

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.data.documents.context import ContextDoc
    from hotband.data.documents.counters import DeviceCountersDoc
    from hotband.data.documents.record import (
        AppDoc,
        ComparisonDoc,
        EnergyDoc,
        FiguresDoc,
        LimitDoc,
        PowerLossDoc,
        RecordDoc,
        RepairDoc,
        ScriptDoc,
        SteadyStateDoc,
        StepDoc,
        TimesDoc,
        TraceDoc,
    )
    from hotband.data.documents.sides import Histogram, Side
    from hotband.data.record.finished import Finished
    from hotband.data.record.imported import Imported
    from hotband.data.record.load import LoadedRecord

Direction = Literal["read", "write", "flush", "trim"]
Plot = Literal["latency", "iops", "latency_mean", "latency_p99", "queue_depth"]


@dataclass(frozen=True)
class Times:
    """Components of the mean latency, in seconds; they add up to it."""

    queue: Seconds
    overhead: Seconds
    seek: Seconds
    rotation: Seconds
    transfer: Seconds
    flash: Seconds
    link: Seconds

    @classmethod
    def of(cls, times: TimesDoc) -> Times:
        """Build the components from the record's `times_mean_ns`."""
        parts = ("queue", "overhead", "seek", "rotation", "transfer", "flash", "link")
        return cls(*(Seconds(cast("dict[str, float]", times).get(name, 0.0) / 1e9) for name in parts))


@dataclass(frozen=True)
class Figures:
    """Rates and latencies of some I/Os.

    `iops` (I/Os per second) and `bandwidth` (bytes per second) are zero if there were no I/Os, None if the imported
    tool did not count them. Latencies are seconds, None if nothing was measured: `mean`, `min`, `p50`, `p99`, `p999`
    (99.9 %) and `max`. `queue_depth` is the mean number of I/Os outstanding, `errors` counts I/Os that failed, `times`
    has the parts of the mean latency (None if unknown).
    """

    iops: float | None
    bandwidth: BytesPerSecond | None
    count: int | None
    bytes: int | None
    errors: int
    mean: Seconds | None
    min: Seconds | None
    p50: Seconds | None
    p99: Seconds | None
    p999: Seconds | None
    max: Seconds | None
    queue_depth: float | None
    times: Times | None
    histogram: Histogram = field(repr=False, compare=False)

    @classmethod
    def of(cls, figures: FiguresDoc, histogram: Histogram) -> Figures:
        """Build figures from a block of a record's summary and the buckets of the same I/Os."""
        volume, times = figures["bandwidth_bytes_per_s"], figures.get("times_mean_ns")
        return cls(
            figures["iops"],
            None if volume is None else BytesPerSecond(volume),
            figures["count"],
            figures["bytes"],
            figures["errors"],
            seconds(figures["latency_mean_ns"]),
            seconds(figures["latency_min_ns"]),
            seconds(figures["latency_p50_ns"]),
            seconds(figures["latency_p99_ns"]),
            seconds(figures["latency_p999_ns"]),
            seconds(figures["latency_max_ns"]),
            figures["queue_depth_mean"],
            None if times is None else Times.of(times),
            histogram,
        )

    def percentile(self, q: float) -> Seconds | None:
        """Return the latency in seconds that `q` percent (0 to 100) of the I/Os do not exceed. It comes from the
        histogram, so it is as exact as its buckets (0.1 % for Hotband's runs); None if there are no buckets. Raises
        UserError for a `q` out of range."""
        return seconds(percentile(self.histogram, q))


@dataclass(frozen=True)
class Summary(Figures):
    """Figures of reads and writes together; `read` and `write` have those of each direction, `flush` and `trim` are set
    if there were any."""

    read: Figures = field(kw_only=True)
    write: Figures = field(kw_only=True)
    flush: Figures | None = field(kw_only=True, default=None)
    trim: Figures | None = field(kw_only=True, default=None)


@dataclass(frozen=True)
class Step:
    """One of several measured phases; times in seconds, `begin` from the start of the measured time. Its figures have
    no histograms, so only the percentiles of the summary."""

    name: str
    threads: int | None
    clients: int | None
    begin: Seconds
    duration: Seconds
    summary: Summary

    @classmethod
    def of(cls, step: StepDoc) -> Step:
        """Build a step from an entry of a record's `steps`."""
        begin, duration = Seconds(step["begin_ns"] / 1e9), Seconds(step["duration_ns"] / 1e9)
        summary = summary_of(step["summary"], {})
        return cls(step["name"], step["threads"], step["clients"], begin, duration, summary)


@dataclass(frozen=True)
class Part:
    """A drive, link or network: its counters of the measured time, and the content of its caches at the end."""

    id: str
    kind: str
    counters: Mapping[str, int]
    at_end: Mapping[str, int]


def summary_of(summary: Mapping[str, object], histograms: Mapping[str, Histogram]) -> Summary:
    """Return the summary with the merged buckets of each direction, and of reads and writes together."""
    document = cast("Mapping[str, FiguresDoc]", summary)
    empty: Histogram = {"kind": "none", "buckets": []}

    def one(direction: str) -> Figures:
        return Figures.of(document[direction], histograms.get(direction, empty))

    both = [histograms[name] for name in ("read", "write") if name in histograms and histograms[name]["buckets"]]
    whole = Figures.of(cast("FiguresDoc", summary), merged(both))
    flush, trim = (one(name) if document.get(name) is not None else None for name in OTHER_DIRECTIONS)
    return Summary(**vars(whole), read=one("read"), write=one("write"), flush=flush, trim=trim)


def merged(histograms: list[Histogram]) -> Histogram:
    """Merge histograms into one; it has no buckets if they are of different kinds and cannot be merged."""
    return (
        merge(histograms)
        if len({histogram["kind"] for histogram in histograms}) == 1
        else {"kind": "none", "buckets": []}
    )


class Record:
    """The result of a run, with the same shape for every target and for imported results.

    `tables` holds polars frames by name: `series` and, if the run has them, `caches`, `smart`, `power`, `operations`;
    they are also attributes, None if there are none. Sections that only some records have (`energy`, `repair`, `app`,
    ...) are None or empty in others. Two records are equal if their documents are.
    """

    __slots__ = ("__dict__", "_document", "_tables")

    def __init__(self, document: RecordDoc, tables: Tables | None = None) -> None:
        object.__setattr__(self, "_document", document)
        object.__setattr__(self, "_tables", tables or Tables({}))

    _document: RecordDoc
    _tables: Tables

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a record is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a record is frozen: {name} cannot be deleted")

    def __reduce__(self) -> tuple[type[Record], tuple[RecordDoc, Tables]]:
        return Record, (self._document, self._tables)

    def __eq__(self, other: object) -> bool:
        return self._document == other._document if isinstance(other, Record) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self._document["seed"], self._document["duration_ns"]))

    # --- the run -------------------------------------------------------------------------------------------

    name: Shown[str] = Shown("The workload and its target.")

    @property
    def target(self) -> str:
        """Return the machine, or the target as an imported tool names it."""
        return str(self._document["target"].get("machine", ""))

    @property
    def seed(self) -> int | None:
        """Return the root seed; None if the imported tool states none."""
        text = self._document.get("seed")
        return int(text) if text is not None and text.isdecimal() else None

    @property
    def settings(self) -> dict[str, str]:
        """Return the changed settings, as text."""
        return dict(self._document["spec"].get("set") or {})

    @property
    def duration(self) -> Seconds:
        """Return the measured time, in seconds."""
        return Seconds(self._document["duration_ns"] / 1e9)

    # --- figures --------------------------------------------------------------------------------------------

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row, with the columns of `Sweep.frame`: target, workload, settings, seed and figures. That of a
        measured result joins a sweep: `pl.concat([sweep.frame, record.frame], how="diagonal")`."""
        rows: pl.DataFrame = view_of(self, "frame")(self)
        return rows

    @cached_property
    def summary(self) -> Summary:
        """Rates and latencies of all I/Os, and of each direction."""
        sides = [cast("Mapping[str, Side]", stream) for stream in self._document["streams"]]
        histograms: dict[str, Histogram] = {}
        for direction in ("read", "write", "flush", "trim"):
            active = [side for stream in sides if (side := stream.get(direction)) and side["count"]]
            if active:
                histograms[direction] = merged([side["histogram"] for side in active])
        return summary_of(cast("Mapping[str, object]", self._document["summary"]), histograms)

    @property
    def iops(self) -> float | None:
        """I/Os per second, reads and writes together."""
        return self.summary.iops

    @property
    def bandwidth(self) -> BytesPerSecond | None:
        """Bytes per second, reads and writes together."""
        return self.summary.bandwidth

    @property
    def mean(self) -> Seconds | None:
        """Mean latency of reads and writes together, in seconds."""
        return self.summary.mean

    @property
    def p99(self) -> Seconds | None:
        """99th percentile of the latencies of reads and writes together, in seconds."""
        return self.summary.p99

    @property
    def read(self) -> Figures:
        """Rates and latencies of the reads."""
        return self.summary.read

    @property
    def write(self) -> Figures:
        """Rates and latencies of the writes."""
        return self.summary.write

    @cached_property
    def intervals(self) -> Intervals | None:
        """Intervals of the figures (`run(..., interval=90)`); None if none were made."""
        document = self._document.get("intervals")
        return None if document is None else Intervals(document)

    errors: Shown[int] = Shown("I/Os that failed.", "summary", "errors")

    @property
    def notes(self) -> tuple[str, ...]:
        """Return remarks needed to interpret the figures."""
        return tuple(self._document.get("notes") or ())

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Return the measured phases if there are several."""
        return tuple(Step.of(step) for step in self._document.get("steps", []))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Drives, links and networks with their counters."""
        parts = self._document["parts"]
        return tuple(
            Part(str(part.get("id")), str(part.get("kind")), part.get("counters", {}), part.get("at_end", {}))
            for part in parts
        )

    # --- sections that only some records have, as copies of the document's -----------------------------------

    energy: Shown[EnergyDoc | None] = Shown(
        "Energy and power of the drives, in J and W (keys end in their unit); None if no power is known."
    )
    repair: Shown[RepairDoc | None] = Shown(
        "Failures, rebuilds and the service meanwhile; None if no failure was requested."
    )
    trace: Shown[TraceDoc | None] = Shown(
        "The recording next to its replay, times in ns; None if no trace was replayed."
    )

    @property
    def traces(self) -> list[TraceDoc]:
        """Return the traces that were replayed, in the order of the workload; with several, `trace` is None."""
        from hotband.data.record.trace import traces_in

        return copy.deepcopy(traces_in(self._document))

    comparison: Shown[ComparisonDoc | None] = Shown(
        "Measured next to replayed latencies of a trace: demerit, means, percentiles, classes; None if the "
        "trace had no latencies, or none was replayed."
    )
    power_loss: Shown[PowerLossDoc | None] = Shown("Losses by a power cut; None if power was not cut.")
    app: Shown[AppDoc | None] = Shown("Operations of a database or file system; None if the workload has none.")

    @property
    def scripts(self) -> tuple[ScriptDoc, ...]:
        """Return how often each script ran, and how long a run took."""
        return tuple(copy.deepcopy(self._document.get("scripts", [])))

    context: Shown[ContextDoc | None] = Shown(
        "Device and host of a run on real hardware, and other activity meanwhile; None for other targets."
    )
    counters: Shown[DeviceCountersDoc | None] = Shown(
        "Device counters before and after a run on real hardware; None if the device reports none."
    )
    steady_state: Shown[SteadyStateDoc | None] = Shown(
        "Verdict of the steady state rule; None if no phase ends at steady state."
    )

    @property
    def limits(self) -> tuple[LimitDoc, ...]:
        """Return the limits of the workload, each with whether it was met."""
        return tuple(copy.deepcopy(self._document.get("limits", [])))

    passed: Shown[bool | None] = Shown("Whether all limits were met; None if there are none.")
    # --- tables ---------------------------------------------------------------------------------------------

    @property
    def tables(self) -> Tables:
        """Return all tables by name, as polars frames. Reading one raises UserError if its file cannot be read."""
        return self._tables

    @property
    def series(self) -> pl.DataFrame | None:
        """Return one row per interval, stream and direction: `time_ns` (its start since the measured time began),
        `stream` and `direction` (text), `iops`, `bandwidth_bytes_per_s`, `latency_mean_ns`, `latency_p99_ns` (null if
        idle), `queue_depth`. None if the target recorded none."""
        return self._tables.get("series")

    @property
    def caches(self) -> pl.DataFrame | None:
        """Return one row per interval: activity and content of write caches and flash. None if the run reports none."""
        return self._tables.get("caches")

    @property
    def smart(self) -> pl.DataFrame | None:
        """Return one row per reading and drive: bytes of host and flash, write amplification, erases. None without
        wear."""
        return self._tables.get("smart")

    @property
    def power(self) -> pl.DataFrame | None:
        """Return one row per interval and drive: `power_w` with `low_w` and `high_w`. None if no power is known."""
        return self._tables.get("power")

    @property
    def operations(self) -> pl.DataFrame | None:
        """Return one row per interval and kind of operation: `ops_per_s`, `latency_mean_ns`. None without an app."""
        return self._tables.get("operations")

    # --- output ---------------------------------------------------------------------------------------------

    @property
    def document(self) -> RecordDoc:
        """Return the JSON document itself, for reading; `to_dict` returns a copy."""
        return self._document

    def to_dict(self) -> RecordDoc:
        """Return a copy of the JSON document (docs/guides/records.md): integers of nanoseconds, units in the names."""
        return copy.deepcopy(self._document)

    @public
    def save(self, folder: str | Path) -> Path:
        """Write `record.json` and a Parquet file for each table into `folder`, which is created; return the folder.

        `hotband.load`, `hotband report` and every other command can read the record. Raises UserError if the folder
        cannot be written, OSError if the disk fails.
        """
        path = Path(folder)
        check_writable(path, "folder")
        named = cast("Mapping[str, object]", self._document.get("series") or {})
        contents: dict[Path, str | bytes] = {}
        for name, frame in self._tables.items():
            file = named.get(file_key(name))
            if file is not None:
                contents[path / Path(str(file)).name] = parquet_of_frame(frame)
        contents[path / RECORD_FILE] = record_text(self._document) + "\n"
        write.write_files(contents)
        return path

    @public
    def plot(self, kind: Plot = "latency") -> View:
        """Return a chart (altair): "latency" by percentile, or over time "iops", "latency_mean", "latency_p99",
        "queue_depth".

        Raises UserError if the record has no data for it.
        """
        drawn: View = view_of(self, "chart")(self, kind)
        return self_contained(drawn)

    def loaded(self) -> LoadedRecord:
        """Return the record in the form that reports, charts and the auditor accept."""
        from hotband.data.record.load import loaded_frames

        return loaded_frames(self._document, self._tables)

    def __repr__(self) -> str:
        rate = "–" if self.iops is None else number(self.iops)
        mean = "" if self.mean is None else f", mean {self.mean}, p99 {self.p99}"
        failed = f", {self.errors:,} errors" if self.errors else ""
        # A name is foreign text: its control characters are printed as escapes.
        return f"<Record {self.name!r}: {rate} IOPS{mean}{failed}>"

    def _repr_html_(self) -> str:
        return str(view_of(self, "html")(self))


def record_of(finished: Finished) -> Record:
    """Return a finished run as a record."""
    return Record(finished.record, of_run(finished))


def record_of_import(imported: Imported) -> Record:
    """Return a result of another tool, as a record."""
    series = imported.series
    return Record(imported.record, Tables({} if series is None else {"series": frame_of(series_table(series))}))
