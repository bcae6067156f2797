"""What the Rust extension offers. Units are in the names; errors are typed."""

from pathlib import Path
from typing import Any

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

class Interrupted(Exception):
    """The run was asked to stop."""

class Run:
    """A workload on a machine, checked. Raises SpecError."""

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
        io_log: Path | None = None,
        power_loss: str | None = None,
        fail: list[str] = ...,
        spares: int = 0,
        rebuild_rate: str | None = None,
        rebuild_after: str | None = None,
    ) -> None: ...
    def check_follows(self, before: Run) -> None:
        """Raises SpecError where this run is not on the same machine, with the same values, as `before`; both must not
        have been executed."""

    def execute(
        self, after: Run | None = None, keep: bool = False
    ) -> tuple[
        str,
        dict[str, list[Any]],
        dict[str, list[Any]],
        dict[str, list[Any]],
        dict[str, list[Any]],
        list[str],
        int,
        dict[str, list[Any]],
    ]:
        """Record as JSON; series, caches, SMART attributes and operations over time, each by column; names of the
        streams; I/Os simulated; power of every drive over time by column (time_ns, length_ns, drive, power_w, low_w,
        high_w).

        Once; releases the GIL. Runs on the machine that `after` left, where that is given; with `keep` leaves its own
        to one more run.

        Raises Interrupted after `stop`, OSError if the I/O log cannot be written, SpecError if the run was over
        before power was to be cut.
        """

    def progress(self) -> tuple[float, int]:
        """Share done (0 to 1) and I/Os completed; from any thread."""

    def phase(self) -> str | None:
        """Name of the phase under way, preconditioning and laying out included; None once they are over."""

    def stop(self) -> None:
        """Asks `execute` to stop; from any thread."""

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
    def measure(self) -> tuple[str, int, float, float] | None:
        """Report as JSON, threads, seconds of measuring, seconds of compressing added up over threads.

        Releases the GIL. After `stop`, of what was measured so far; None where that is nothing.
        """

    def progress(self) -> list[int]:
        """Files and bytes counted, bytes to measure (0 while counting), bytes measured; from any thread."""

    def stop(self) -> None:
        """Asks `measure` to stop; from any thread."""

DriveValue = tuple[str, str, tuple[str, str] | None, str, str, bool, str]

def drive(catalog: Path, name: str) -> tuple[str, str, str, list[DriveValue]]:
    """Kind, title, model and values (key, value, range, source, confidence, estimate, note) of a drive."""

def osd(catalog: Path, name: str) -> tuple[str, str, str, list[DriveValue]]:
    """The same of an object storage daemon."""

def machine_offer(
    catalog: Path, machine: str, machine_text: str | None, set: list[tuple[str, str]]
) -> tuple[str, list[tuple[str, int]], int, list[str]]:
    """What a machine offers to workloads: its text, its targets (name, bytes), what offsets and sizes of I/Os are
    multiples of, and the product of every drive. `set` holds values of drives and daemons only. Raises SpecError.
    """

def set_keys(
    catalog: Path,
    workload: str,
    machine: str,
    workload_text: str | None = None,
    machine_text: str | None = None,
    set: list[tuple[str, str]] = ...,
) -> list[tuple[str, str, str | None, str, str]]:
    """Every key that `set` takes for a workload on a machine: key, whose it is, value today, what it takes, meaning.
    Raises SpecError."""

def catalog_names(catalog: Path, folder: str) -> list[str]:
    """Names of the catalog entries in a folder."""

def layouts_of(catalog: Path, machine: str, machine_text: str | None = None, set: list[tuple[str, str]] = ...) -> str:
    """The layouts of a machine as a JSON list: name, kind, capacity_bytes, on_layout (the layout that a member is, or
    null) and `members` with drive, product, size_bytes, block_bytes and set. A machine without layouts has one "single"
    a drive. Raises SpecError."""

def steady_state(rounds: list[float]) -> dict[str, Any]:
    """The rule of the PTS on the tracked value of each round: reached, round (last of the first steady window, from 1,
    or None), rounds, window_mean, range_pct, slope_pct (None of fewer than five rounds, or where nothing was done).

    Raises SpecError for a round that is no number from 0 on.
    """

def departure(rounds: list[float]) -> tuple[int, int, float] | None:
    """How the steady state that `rounds` reached was left: the round that shows it, the first round of the change
    (both from 1), and the level since then in percent above the steady window's. None where it was not left, or never
    reached.

    Raises SpecError for a round that is no number from 0 on.
    """

def fio_log(path: Path, base_ms: int | None = None) -> dict[str, Any]:
    """A log of fio with one line a sample, summed: lines, averaged, cut, first_ms, last_ms, calendar, offsets, and
    `sides` (reads, writes, trims, syncs) with count, bytes, sum, min, max, buckets [(value, count)], the rows of
    its seconds by column (second, row_count, row_bytes, row_sum, row_p99) and, if averaged, samples [(ms, value)].

    Seconds and ms count from `base_ms`; where it is not given, from zero, or the first sample of a calendar's times.
    Releases the GIL. Raises SpecError.
    """

def fio_histogram_log(path: Path) -> dict[str, Any]:
    """fio's histograms over time: time_ms, direction, count, mean_ns and p99_ns of every line, the sums of all in
    `buckets` (reads, writes, trims), whether several of fio's buckets are one (`coarse`) and whether the last
    line is cut.

    Releases the GIL. Raises SpecError.
    """

def hdr_log(data: bytes, file: str) -> dict[str, Any]:
    """An HdrHistogram log: start_s, base_s, and `tags` with tag, buckets [(value, count)], sum, extent, digits and the
    intervals by column (start_s, length_s, count, mean, p99). Values are in the log's own unit.

    Releases the GIL. Raises SpecError.
    """
