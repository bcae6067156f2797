"""What the Rust extension offers. Units are in the names; errors are typed."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TypedDict

from hotband.data.documents.workload import WorkloadTable
from hotband.data.record.files import Cell

LOG_COLUMNS: list[str]
"""Columns of an I/O log file: rows of unsigned 64-bit little-endian numbers."""

LAYOUTS: list[str]
"""Names of the layouts."""

SET_KEYS: list[str]
"""Keys that `set` takes in workloads."""

STEADY_WINDOW: int
"""Rounds of the measurement window of steady state."""

STEADY_MOST_ROUNDS: int
"""Rounds after which the search for steady state ends."""

STEADY_RANGE_PCT: float
"""Largest range of a steady window, in percent of its mean."""

STEADY_SLOPE_PCT: float
"""Largest slope excursion of a steady window, in percent of its mean."""

class SpecError(Exception):
    """A mistake in the input: args are (file, key, value, accepted)."""

class OutOfMemory(Exception):
    """A machine that does not fit: args are the bytes it needs, and those available (None where the system refused)."""

class Interrupted(Exception):
    """The run was asked to stop."""

class Table:
    """Columns of one length by name; units end the names. `kinds` says what the cells are: "u64", "f64" or "text",
    None where there is no such cell."""

    columns: dict[str, list[Cell]]
    kinds: dict[str, str]

class Output:
    """What a run leaves: its record as JSON, its tables by name (docs/guides/records.md), the I/Os simulated."""

    record: str
    tables: dict[str, Table]
    ios: int

class Run:
    """A workload on a machine, checked. `cache` is the folder of stored drive contents, the file of the engine, and
    the folder's size limit in bytes. Raises SpecError, OutOfMemory if it needs more than `memory` bytes, and
    KeyboardInterrupt, because a large machine is slow to build."""

    def __init__(
        self,
        catalog: Path,
        machine: str,
        workload: str,
        *,
        machine_text: str | None = None,
        workload_text: str | None = None,
        set: list[tuple[str, str]] = ...,
        seed: int = 1,
        duration: str | None = None,
        precision: str | None = None,
        traces: list[Path] = ...,
        io_log: Path | None = None,
        power_loss: str | None = None,
        fail: list[str] = ...,
        events: list[str] = ...,
        spares: int = 0,
        rebuild_rate: str | None = None,
        rebuild_after: str | None = None,
        follows: bool = False,
        is_followed: bool = False,
        in_use: bool = False,
        memory: int | None = None,
        cache: tuple[Path, Path, int] | None = None,
    ) -> None: ...
    def follow(self, first: Run) -> None:
        """Makes this run ready to follow `first` and those that were made so before. Raises SpecError where it is not
        on the same machine, with the same values, or its events do not go with those before; none must have been
        executed."""

    def drives_key(self) -> str | None:
        """What preconditioning reads of its drives: runs that also agree in workload and seed share contents. None if
        nothing is preconditioned, and once it was executed."""

    def volumes(self) -> list[str]:
        """Names of the machine's volumes, by number."""

    def check_times(self) -> None:
        """Raises SpecError where an event comes after the end of the last run that follows this one."""

    def execute(self, after: Run | None = None, keep: bool = False) -> Output:
        """What the run leaves.

        Once; releases the GIL. Runs on the machine that `after` left, where that is given; with `keep` leaves its own
        to one more run.

        Raises Interrupted after `stop`, OSError if the I/O log cannot be written, SpecError if the run was over
        before power was to be cut.
        """

    def memory(self) -> int | None:
        """Bytes that it takes, as far as that is known before it runs; None once it was executed."""

    def progress(self) -> tuple[float, int]:
        """Share done (0 to 1) and I/Os completed; from any thread."""

    def intervals(self, known: int = 0) -> list[tuple[int, float, float | None]]:
        """Intervals of the measured time that are over, without the first `known` of them: time since it began in ns,
        I/Os a second, mean latency in ns (None where there was no I/O); from any thread."""

    def phase(self) -> str | None:
        """Name of the phase under way, preconditioning and laying out included; None once they are over."""

    def stop(self) -> None:
        """Asks `execute` to stop; from any thread."""

    def is_stopped(self) -> bool:
        """Whether it was asked to stop."""

class Server:
    """The machine of a run, whose load is `clients`, on the clock of the wall.

    Raises SpecError, OSError where the host refuses, and RuntimeError where the run was executed or served before.
    `store` is the file that keeps what is written, `base` an image that is read where nothing was; where power may go
    off, what was there before is kept beside it. `spin_ns`, `priority` and `awake`: how answers are timed;
    `way_ns`: what the way from a client and back takes at least.
    """

    def __init__(
        self,
        run: Run,
        *,
        store: Path | None = None,
        base: Path | None = None,
        spin_ns: int,
        priority: bool,
        awake: bool,
        way_ns: int,
    ) -> None: ...
    def serve_nbd(self, socket: Path, *, skips_repeated_flushes: bool = False) -> None:
        """NBD clients find every volume at this unix socket, which only its owner may open. With
        `skips_repeated_flushes` the client is fio: a flush without a write since the last is completed at once."""

    def serve_nbd_tcp(
        self,
        address: IPv4Address | IPv6Address,
        port: int,
        certificate: Path | None = None,
        key: Path | None = None,
        clients: Path | None = None,
    ) -> int | None:
        """NBD clients find every volume at this TCP address; the port that it has got. Without certificates it must be
        one of the host itself."""

    def mount(self, folder: Path) -> list[tuple[str, Path]]:
        """Every volume is a file in this folder; names of volumes and paths of files."""

    def attach_loop(self) -> list[tuple[str, Path]]:
        """Every file is a block device, too; names of volumes and paths of devices."""

    def close(self) -> list[str]:
        """Takes devices off their files and unmounts the folder; who still uses them, where somebody does."""

    def volumes(self) -> list[tuple[str, int, int]]:
        """Name, bytes and smallest unit of an I/O of every volume."""

    def serving(self) -> str:
        """What was counted so far, as JSON: the section "serving" of its record."""

    def is_stopped(self) -> bool:
        """Whether it has ended: power went off, or it was stopped."""

    def stop(self) -> None:
        """Ends it: clients get no more answers."""

    def finish(self) -> Output:
        """What it leaves, once; ends it where it has not ended."""

class FixedServer:
    """A drive of 64 MiB in memory that takes `latency_ns` for every I/O, on NBD at a unix socket until it is stopped.
    Raises OSError."""

    def __init__(self, path: Path, latency_ns: int) -> None: ...
    def stop(self) -> None:
        """Ends it; does nothing where it has ended."""

def serve_speed(path: Path, seconds: float) -> tuple[float, float]:
    """What this host can serve of random 4 KiB reads: mean latency in ns with one outstanding, reads a second with 32.
    Measured for twice `seconds` behind a socket at `path`, which is not there yet. Raises OSError."""

def serve_way(path: Path, seconds: float) -> int:
    """What the way to a server and back takes at least, in ns; measured for so long behind a socket at `path`, which is
    not there yet. Raises OSError."""

class EntropyMeasured(TypedDict):
    """Report as JSON, threads, seconds of measuring, seconds of compressing added up over threads."""

    report: str
    jobs: int
    measuring_s: float
    compressing_s: float

class Entropy:
    """How far the data of files and folders compresses, checked. Raises SpecError."""

    def __init__(
        self,
        paths: list[Path],
        *,
        compressors: list[str] = ...,
        chunks: list[str] = ...,
        sample: str | None = None,
        seed: int = 1,
        jobs: int | None = None,
        one_file_system: bool = False,
    ) -> None: ...
    def measure(self) -> EntropyMeasured | None:
        """What was measured.

        Releases the GIL. After `stop`, of what was measured so far; None where that is nothing.
        """

    def progress(self) -> list[int]:
        """Files and bytes counted, bytes to measure (0 while counting), bytes measured; from any thread."""

    def stop(self) -> None:
        """Asks `measure` to stop; from any thread."""

class CatalogValue(TypedDict):
    """A value of a product, as text; `range` its ends where it has one."""

    key: str
    value: str
    range: tuple[str, str] | None
    source: str
    confidence: str
    estimate: bool
    note: str

class CatalogEntry(TypedDict):
    """A product and its values."""

    name: str
    title: str
    model: str
    kind: str
    values: list[CatalogValue]
    warnings: list[str]

def drive(catalog: Path, name: str) -> CatalogEntry:
    """A drive of the catalog, or of the file at a path; every value is checked. Raises SpecError."""

def osd(catalog: Path, name: str) -> CatalogEntry:
    """An object storage daemon of the catalog. Raises SpecError."""

class MachineOffer(TypedDict):
    """What a machine offers to workloads: its text, its volumes (name, bytes), what offsets and sizes of I/Os are
    multiples of, and the product of every drive."""

    text: str
    volumes: list[tuple[str, int]]
    block_bytes: int
    drives: list[str]

def machine_offer(catalog: Path, machine: str, machine_text: str | None, set: list[tuple[str, str]]) -> MachineOffer:
    """Builds a machine and asks it. `set` holds values of drives and daemons only. Raises SpecError."""

class Ceiling(TypedDict):
    """The most bytes a second that a machine can move: what ports, links and controllers carry, and what the media give
    and take, memory included; None where nothing that is known limits it."""

    ports: float | None
    media: float | None

def ceiling(
    catalog: Path,
    machine: str,
    machine_text: str | None,
    set: list[tuple[str, str]],
    *,
    read_share: float,
    seconds: float,
) -> Ceiling:
    """Return the ceiling of reads and writes together in a run of `seconds`; `read_share` of the bytes are read.

    Values that are not set count at the end of their range that allows more. `set` may hold values of workloads, which
    do not count. Raises SpecError."""

class MachineDrive(TypedDict):
    """A drive that a machine names, and the values that the machine changes, as text."""

    name: str
    product: str
    set: dict[str, str]

class MachineLayout(TypedDict):
    """A layout that a machine names; `osd` is the product of a pool's daemons."""

    name: str
    kind: str
    osd: str | None

class Machine(TypedDict):
    """A machine as its text asks for it: every drive, every layout, names of volumes; text and values of the drives
    that are files of the user's, by the paths that the machine's text names."""

    text: str
    drives: list[MachineDrive]
    layouts: list[MachineLayout]
    volumes: list[str]
    is_replicated: bool
    own_drives: dict[str, str]
    own_products: dict[str, CatalogEntry]

def machine(catalog: Path, machine: str, machine_text: str | None = None) -> Machine:
    """A catalog drive, a short form or a text, read and checked; nothing is built. Raises SpecError."""

class Workload(TypedDict):
    """A workload: its title, its source, and its text, also as data."""

    title: str
    source: str
    text: str
    table: WorkloadTable

def workload(
    text: str, file: str = "workload", set: Sequence[tuple[str, str]] = (), duration: str | None = None
) -> Workload:
    """A workload's text, read and checked; mistakes name `file`. What is in `set` and the length of its measured phases
    are changed in the text that it gives. Raises SpecError."""

def workload_text(catalog: Path, name: str, text: str | None = None) -> str:
    """The text of a workload of the catalog, or `text` of a file `name`, with all that a variant takes from its base.
    Raises SpecError."""

class SetKey(TypedDict):
    """What `set` takes: whose key it is, its value today, what it takes, what it means."""

    key: str
    part: str
    value: str | None
    accepted: str
    meaning: str

class EventCell:
    event: str
    group: str
    on: str
    why: str | None

def event_table() -> list[EventCell]: ...
def check_events(texts: list[str]) -> None: ...
def set_keys(
    catalog: Path,
    workload: str,
    machine: str,
    workload_text: str | None = None,
    machine_text: str | None = None,
    set: list[tuple[str, str]] = ...,
) -> list[SetKey]:
    """Every key that `set` takes for a workload on a machine. Raises SpecError."""

def quantity(kind: str, text: str) -> float:
    """A quantity in text in its base unit: a size (bytes), rate (bytes a second), time (seconds), speed (rpm), power
    (watts) or share (of one). Raises ValueError, which says what is accepted."""

def catalog_names(catalog: Path, folder: str) -> list[str]:
    """Names of the catalog entries in a folder."""

def layouts_of(catalog: Path, machine: str, machine_text: str | None = None, set: list[tuple[str, str]] = ...) -> str:
    """The layouts of a machine as a JSON list: name, kind, capacity_bytes, on_layout (the layout that a member is, or
    null) and `members` with drive, product, size_bytes, block_bytes and set. A machine without layouts has one "single"
    a drive. Raises SpecError."""

class SteadyState(TypedDict):
    """The rule of the PTS on some rounds: `round` is the last of the first steady window, from 1; the figures of the
    window are None of fewer than five rounds, or where nothing was done."""

    reached: bool
    round: int | None
    rounds: list[float]
    window_mean: float | None
    range_pct: float | None
    slope_pct: float | None

def steady_state(rounds: list[float]) -> SteadyState:
    """The rule on the tracked value of each round. Raises SpecError for a round that is no number from 0 on."""

class Departure(TypedDict):
    """The round that shows that steady state was left, the first round of the change (both from 1), and the level
    since then in percent above the steady window's."""

    round: int
    since: int
    level_pct: float

def departure(rounds: list[float]) -> Departure | None:
    """How the steady state that `rounds` reached was left; None where it was not left, or never reached.

    Raises SpecError for a round that is no number from 0 on.
    """

class FioLogSide(TypedDict):
    """The samples of one direction: buckets are (value, count); the rows of its seconds by column; if averaged, samples
    are (ms, value)."""

    count: int
    bytes: int
    sum: int
    min: int
    max: int
    buckets: list[tuple[int, int]]
    second: list[int]
    row_count: list[int]
    row_bytes: list[int]
    row_sum: list[int]
    row_p99: list[int | None]
    samples: list[tuple[int, int]]

class FioLog(TypedDict):
    """A log of fio with one line a sample, summed; `sides` are reads, writes, trims and syncs."""

    lines: int
    averaged: bool
    cut: bool
    first_ms: int
    last_ms: int
    calendar: bool
    offsets: tuple[int, int] | None
    sides: list[FioLogSide]

def fio_log(path: Path, base_ms: int | None = None) -> FioLog:
    """Reads a log of fio with one line a sample.

    Seconds and ms count from `base_ms`; where it is not given, from zero, or the first sample of a calendar's times.
    Releases the GIL. Raises SpecError.
    """

class FioHistogramLog(TypedDict):
    """fio's histograms over time: every line by column, the sums of all in `buckets` (reads, writes, trims), whether
    several of fio's buckets are one (`coarse`) and whether the last line is cut."""

    time_ms: list[int]
    direction: list[int]
    count: list[int]
    mean_ns: list[float | None]
    p99_ns: list[int | None]
    buckets: list[list[tuple[int, int]]]
    coarse: bool
    cut: bool

def fio_histogram_log(path: Path) -> FioHistogramLog:
    """Reads fio's histograms over time.

    Releases the GIL. Raises SpecError.
    """

class HdrLogTag(TypedDict):
    """The values of one tag: buckets are (value, count), `extent` the lowest and the highest (None of
    none); the intervals by column. Values are in the log's own unit."""

    tag: str | None
    start_s: list[float]
    length_s: list[float]
    count: list[int]
    mean: list[float | None]
    p99: list[int | None]
    buckets: list[tuple[int, int]]
    sum: float
    extent: tuple[int, int] | None
    digits: int

class HdrLog(TypedDict):
    """An HdrHistogram log; None where it does not say when it began."""

    start_s: float | None
    base_s: float | None
    tags: list[HdrLogTag]

def hdr_log(data: bytes, file: str) -> HdrLog:
    """Reads an HdrHistogram log.

    Releases the GIL. Raises SpecError.
    """

def trace_format(path: Path) -> str | None:
    """The name of the format of a trace as text, by its first lines, if it is one. Raises OSError."""

def trace_formats() -> list[str]:
    """Names of the formats that are read as text."""

def trace_targets() -> list[str]:
    """Names of the formats that are written as text."""

def write_trace(rows: Path, to: str, out: Path, ending: str) -> tuple[int, list[tuple[str, int]], int]:
    """Writes the trace whose rows are at `rows` to `out`, compressed where `ending` is "gz" or "zst": I/Os written,
    what was lost of how many, the most that a time was rounded by in ns. Releases the GIL. Raises OSError."""

def trace_properties(rows: Path, block: int, sample: int) -> str:
    """What the trace whose rows are at `rows` is like, as JSON (`hotband.inference.traces.properties`): in blocks of
    `block` bytes, at most `sample` of which are followed. Releases the GIL. Raises OSError."""

def compare_traces(measured: Path, replayed: Path) -> str:
    """Compares the traces whose rows are at `measured` and `replayed`: the JSON of a `TracesComparedDoc`. Releases the
    GIL. Raises OSError."""

class TraceAsked:
    """A trace that a workload names: its file, its key there, its format where it is said, and how it is read."""

    file: str
    key: str
    format: str | None
    selection: str

    def write_rows(self, path: Path, name: str, out: Path) -> None:
        """Reads a trace as text at `path`, called `name` in errors, and writes its rows to `out`.

        Releases the GIL. Raises SpecError for what is no trace or its first line that is wrong; OSError.
        """

    def properties(self, path: Path, name: str, block: int, sample: int) -> str | None:
        """Reads a trace as text at `path`, called `name` in errors, and says what it is like, as `trace_properties`
        does; None where that takes rows.

        Releases the GIL. Raises SpecError for what is no trace or its first line that is wrong; OSError.
        """

def traces_of(text: str, file: str) -> list[TraceAsked]:
    """The traces that a workload's text names; mistakes name `file`. Raises SpecError."""

class TraceMaking:
    """I/Os on their way to rows, of streams with these names and volumes; the I/O log's first measured row."""

    def __init__(
        self, asked: TraceAsked, out: Path, streams: list[tuple[str, str | None]], measured_from: int | None
    ) -> None: ...
    def push(self, ios: bytes) -> None:
        """Some I/Os, each seven little-endian numbers of 64 bits: time of issue and latency in ns (2^64 - 1 where it is
        not known), what it is (as in a row), offset and length in bytes, row, order. Releases the GIL. Raises
        OSError."""

    def finish(self, name: str, out: Path) -> None:
        """Writes the rows to `out`, once; errors call the trace `name`. Releases the GIL. Raises SpecError, OSError."""

def end_on_second_interrupt() -> None:
    """From now on a second SIGINT ends the process at once with exit code 130, even inside native code."""
