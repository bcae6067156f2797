"""One job of a fio result in our units: counts, bytes, times and latencies, whatever fio's age.

Sources: fio's stat.c (add_ddir_status_json, add_ddir_lat_json, plat_idx_to_val) of 2.1 to 3.33. fio before
2.99 prints `lat`, `clat` in microseconds and `io_bytes` in KiB; later ones print `lat_ns`, `clat_ns` in
nanoseconds, `io_bytes` in bytes and `io_kbytes` beside it.

Left out: `iodepth_level`, CPU use, disk utilisation, per-priority
latencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from hotband.base.claim import Claim
from hotband.base.errors import UserError
from hotband.data.documents.sides import Histogram, PrintedSide, Side
from hotband.data.importers.fio.restated import claims_of
from hotband.data.importers.fio.text import LARGEST, Fields
from hotband.data.record.stats import DIRECTIONS, Direction, idle_side

Quantity = Literal["lat", "clat"]
QUANTITIES: tuple[Quantity, Quantity] = ("lat", "clat")
QUANTITY_WORDS: dict[Quantity, str] = {
    "lat": "fio's total latency (lat: submission + completion)",
    "clat": "fio's completion latency (clat), as its percentiles are; it excludes submission latency (slat)",
}
NS_PER_US = 1000
NS_PER_MS = 1_000_000
BYTES_PER_KIB = 1024
# Keys of a direction that fio prints since it counts in bytes and nanoseconds.
_SINCE_2_99 = ("io_kbytes", "bw_bytes", "lat_ns", "clat_ns")
# fio stat.h: FIO_IO_U_PLAT_BITS, and FIO_IO_U_PLAT_NR = 29 groups (19 in older fio) of 64 buckets.
PLAT_BITS = 6
PLAT_NR = 29 << PLAT_BITS
# The upper edges of its coarse bins (stat.c: show_lat_n, show_lat_u, show_lat_m); the last bin has none.
_BIN_EDGES = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
BIN_EDGES_NS = [edge * scale for scale in (1, NS_PER_US, NS_PER_MS) for edge in _BIN_EDGES] + [2000 * NS_PER_MS]


def pattern_of(options: Mapping[str, str]) -> str:
    """Return the pattern that a job's options request, such as `randread`, without what follows its colon."""
    return options.get("rw", options.get("readwrite", "read")).split(":")[0].strip().lower()


def bucket_value(index: int) -> int:
    """The value fio prints for a bucket: its middle (stat.c, plat_idx_to_val)."""
    if index < 2 << PLAT_BITS:
        return index
    error_bits = (index >> PLAT_BITS) - 1
    base = 1 << (error_bits + PLAT_BITS)
    return base + (2 * (index % (1 << PLAT_BITS)) + 1) * (1 << error_bits) // 2


@dataclass(frozen=True)
class Latency:
    """One of fio's latencies of one side, in ns; `samples` is None if fio is too old (3.12) to print N."""

    mean_ns: float
    min_ns: int
    max_ns: int
    samples: int | None
    printed: dict[float, int]
    buckets: list[list[int]]

    @property
    def has_distribution(self) -> bool:
        return bool(self.printed or self.buckets)


@dataclass(frozen=True)
class JobSide:
    """The reads or the writes of one job, before one of its latencies is chosen. `ios` are those that succeeded."""

    ios: int
    bytes: int
    printed: PrintedSide
    latencies: dict[Quantity, Latency]
    count_is_estimated: bool
    submission_mean_ns: float | None = None

    @property
    def runtime_ns(self) -> int:
        """fio's runtime of this direction."""
        return self.printed["runtime_ns"]

    @property
    def failed_ios(self) -> int:
        """I/Os that fio counted although they failed."""
        return self.printed["count"] - self.ios


@dataclass(frozen=True)
class SteadyData:
    """fio's samples for its own steady state rule; the last `steadystate_duration` of them."""

    rule: str
    attained: bool
    interval_ns: int
    iops: list[float]
    bandwidth_bytes_per_s: list[float]


@dataclass
class Job:
    """One entry of fio's `jobs` or `client_stats`."""

    name: str
    group: int
    host: str
    options: dict[str, str]
    sides: dict[Direction, JobSide]
    error_code: int
    error_count: int
    elapsed_ns: int
    start_ns: int | None
    own_options: dict[str, str] = field(default_factory=dict)
    uncarried: dict[str, int] = field(default_factory=dict)
    syncs: JobSide | None = None
    trims: JobSide | None = None
    steadystate: SteadyData | None = None
    latency_bins: list[tuple[int | None, float]] = field(default_factory=list)
    cpu_pct: float | None = None
    claims: list[Claim] = field(default_factory=list)

    def active(self) -> list[tuple[Direction, JobSide]]:
        return [(direction, self.sides[direction]) for direction in DIRECTIONS if self.sides[direction].ios]

    @property
    def runtime_ns(self) -> int:
        return max(side.runtime_ns for side in (*self.sides.values(), self.trims or self.sides["read"]))


def _buckets(latency: Fields, scale: int) -> list[list[int]]:
    """JSON+ bins as sorted [value_ns, count]; some fio 2.x name them by bucket number instead of value."""
    bins = latency.child("bins")
    if bins is None:
        return []
    settings = {"FIO_IO_U_PLAT_BITS", "FIO_IO_U_PLAT_VAL", "FIO_IO_U_PLAT_NR"} & bins.values.keys()
    if settings and bins.count("FIO_IO_U_PLAT_BITS") != PLAT_BITS:
        bins.fail("FIO_IO_U_PLAT_BITS", f"accepted: {PLAT_BITS}, as all released fio have it")
    counts: dict[int, int] = {}
    for name in bins.values.keys() - settings:
        if not (name.isascii() and name.isdigit() and len(name) <= 20 and int(name) <= LARGEST):
            bins.fail(name, "accepted: bins named by a latency, a whole number from 0 to 2^64-1")
        if settings and int(name) >= PLAT_NR:
            bins.fail(name, f"accepted: a bucket number below {PLAT_NR}")
        count = bins.count(name)
        if count:
            value = bucket_value(int(name)) if settings else int(name)
            counts[value * scale] = counts.get(value * scale, 0) + count
    return [[value, counts[value]] for value in sorted(counts)]


def _printed_percentiles(latency: Fields, scale: int) -> dict[float, int]:
    """Percent to ns. Old fio fills its list up with entries "0.00", which mean nothing."""
    percentiles = latency.child("percentile")
    values: dict[float, int] = {}
    if percentiles is None:
        return values
    for name in percentiles.values:
        try:
            q = float(name)
        except ValueError:
            q = -1.0
        if not 0 <= q <= 100:
            percentiles.fail(name, "accepted: percentiles named by a number from 0 to 100")
        if q > 0:
            values[q] = percentiles.count(name) * scale
    return values


def _latency(side: Fields, quantity: Quantity) -> Latency | None:
    """The latency in ns, or None if fio measured none (gtod_reduce, disable_lat, no I/O)."""
    for name, scale in ((f"{quantity}_ns", 1), (quantity, NS_PER_US)):
        fields = side.child(name)
        if fields is None:
            continue
        samples = fields.count("N") if "N" in fields else None
        low, high = fields.count("min"), fields.count("max")
        mean = fields.number("mean")
        printed, buckets = _printed_percentiles(fields, scale), _buckets(fields, scale)
        if samples == 0 or (samples is None and not (high or mean or buckets)):
            return None
        return Latency(mean * scale, low * scale, high * scale, samples, printed, buckets)
    return None


def _job_side(side: Fields | None) -> JobSide:
    if side is None:
        return JobSide(0, 0, _NOTHING, {}, False)
    runtime_ms = side.count("runtime")
    iops = side.number("iops")
    estimated = "total_ios" not in side
    ios = round(iops * runtime_ms / 1000) if estimated else side.count("total_ios")
    volume = side.count("io_bytes") * (1 if any(key in side for key in _SINCE_2_99) else BYTES_PER_KIB)
    latencies: dict[Quantity, Latency] = {}
    for quantity in QUANTITIES:
        latency = _latency(side, quantity)
        if latency is not None:
            latencies[quantity] = latency
    samples = side.count("iops_samples")
    printed: PrintedSide = {
        "count": ios,
        "iops": iops,
        "bandwidth_bytes_per_s": side.number("bw_bytes") or side.number("bw") * BYTES_PER_KIB,
        "runtime_ns": runtime_ms * NS_PER_MS,
        "samples": next((latency.samples for latency in latencies.values() if latency.samples), None),
        "iops_min": side.number("iops_min") if samples else None,
        "iops_mean": side.number("iops_mean") if samples else None,
        "iops_max": side.number("iops_max") or None,
        "iops_samples": samples or None,
        "short_ios": side.count("short_ios"),
        "dropped_ios": side.count("drop_ios"),
    }
    return JobSide(ios, volume, printed, latencies, estimated and ios > 0, _submission(side))


_NOTHING: PrintedSide = {
    "count": 0,
    "iops": 0.0,
    "bandwidth_bytes_per_s": 0.0,
    "runtime_ns": 0,
    "samples": None,
    "iops_min": None,
    "iops_mean": None,
    "iops_max": None,
    "iops_samples": None,
    "short_ios": 0,
    "dropped_ios": 0,
}


def _submission(side: Fields) -> float | None:
    """Mean time to submit an I/O in ns, which the completion latency leaves out; None if fio measured none."""
    for name, scale in (("slat_ns", 1), ("slat", NS_PER_US)):
        fields = side.child(name)
        if fields is not None and (fields.count("max") or fields.number("mean")):
            return fields.number("mean") * scale
    return None


def _sides(entry: Fields, options: dict[str, str]) -> dict[Direction, JobSide]:
    mixed = entry.child("mixed")
    reads, writes = entry.child("read"), entry.child("write")
    if mixed is not None and reads is None and writes is None:
        pattern = pattern_of(options)
        if pattern in ("read", "randread"):
            reads = mixed
        elif pattern in ("write", "randwrite"):
            writes = mixed
        else:
            wanted = "accepted: a run without unified_rw_reporting=mixed"
            raise UserError(
                entry.file, f"{entry.key}.mixed", "", f"reads and writes are reported as one number; {wanted}"
            )
    elif reads is None and writes is None:
        entry.fail("read", "the sides 'read' and 'write' are missing; accepted: fio's job entries with them")
    return {"read": _job_side(reads), "write": _job_side(writes)}


def _uncarried(entry: Fields, syncs: JobSide | None) -> dict[str, int]:
    """Return the I/Os of sides that a record cannot hold."""
    counts = {}
    side = entry.child("sync")
    if side is not None and side.count("total_ios") and syncs is None:
        counts["sync"] = side.count("total_ios")
    return counts


def _trims(entry: Fields) -> JobSide | None:
    """Return the trims of a job; None if there were none."""
    side = entry.child("trim")
    trims = None if side is None else _job_side(side)
    return trims if trims is not None and trims.ios else None


def _syncs(entry: Fields) -> JobSide | None:
    """Return the fsyncs and fdatasyncs of a job, which fio times from 3.4 on; None if there were none."""
    side = entry.child("sync")
    latency = None if side is None else _latency(side, "lat")
    if side is None or latency is None:
        return None
    # Normal output has no count; that of the latencies leaves out a ramp, as the latencies do.
    count = side.count("total_ios") or latency.samples or 0
    return JobSide(count, 0, _NOTHING, {"lat": latency}, False) if count else None


def _latency_bins(entry: Fields) -> list[tuple[int | None, float]]:
    """fio's coarse distribution of completion latencies: upper edge in ns (None: there is none) and share in percent.

    fio stat.h: a bin holds what is below its name and not below the one before; a share below 0.01 is printed as 0.01.
    """
    bins: list[tuple[int | None, float]] = []
    for name, scale in (("latency_ns", 1), ("latency_us", NS_PER_US), ("latency_ms", NS_PER_MS)):
        table = entry.child(name)
        if table is None:
            continue
        for edge in table.values:
            if edge.isascii() and edge.isdigit() and len(edge) <= 6:
                bins.append((int(edge) * scale, table.number(edge)))
            elif edge.startswith(">="):
                bins.append((None, table.number(edge)))
    return sorted(bins, key=lambda pair: float("inf") if pair[0] is None else pair[0])


def _steady_data(entry: Fields) -> SteadyData | None:
    """fio's `steadystate`: samples per second, or as its `steadystate_check_interval` says."""
    steady = entry.child("steadystate")
    data = None if steady is None else steady.child("data")
    if steady is None or data is None:
        return None
    iops, bandwidth = data.numbers("iops"), data.numbers("bw")
    duration = steady.count("duration")
    if not iops or len(iops) != len(bandwidth) or not duration:
        return None
    interval = duration * 1000 * NS_PER_MS // len(iops)
    return SteadyData(steady.text("ss") or "", steady.count("attained") == 1, interval, iops, bandwidth)


def read_job(entry: Fields, global_options: dict[str, str]) -> Job:
    """Read one entry of `jobs`; its own options override the global ones, as in a job file."""
    job_options = entry.child("job options")
    own_options = job_options.options() if job_options is not None else {}
    options = {**global_options, **own_options}
    error = entry.code("error")
    counted = entry.count("total_err") or (1 if error else 0)
    syncs = _syncs(entry)
    return Job(
        name=entry.text("jobname") or "job",
        group=entry.count("groupid"),
        host=entry.text("hostname") or "",
        options=options,
        own_options=own_options,
        sides=_sides(entry, options),
        error_code=error or entry.code("first_error"),
        error_count=counted,
        elapsed_ns=entry.count("elapsed") * 1000 * NS_PER_MS,
        start_ns=entry.count("job_start") * NS_PER_MS if "job_start" in entry else None,
        uncarried=_uncarried(entry, syncs),
        trims=_trims(entry),
        syncs=syncs,
        steadystate=_steady_data(entry),
        latency_bins=_latency_bins(entry),
        # User and system time of a job (of jobs reported together their mean), in percent of a processor.
        cpu_pct=entry.number("usr_cpu") + entry.number("sys_cpu") if "usr_cpu" in entry else None,
        claims=list(claims_of(entry, options)),
    )


def choose_quantity(jobs: list[Job]) -> Quantity:
    """Choose the latency that all sides are read in. Percentiles decide: mean and histogram must have the same.

    The total latency if it has percentiles everywhere (lat_percentiles=1), else the completion latency if it
    has; without percentiles everywhere, the first that was measured everywhere.
    """
    sides = [side for job in jobs for _, side in job.active()] or [job.trims for job in jobs if job.trims]
    for quantity in QUANTITIES:
        if sides and all(latency.has_distribution for latency in _all_of(sides, quantity)):
            return quantity
    for quantity in reversed(QUANTITIES):
        some = any(quantity in side.latencies and side.latencies[quantity].has_distribution for side in sides)
        if some and all(quantity in side.latencies for side in sides):
            return quantity
    return "lat" if all("lat" in side.latencies for side in sides) or not sides else _most(sides)


def _all_of(sides: list[JobSide], quantity: Quantity) -> list[Latency]:
    """Return the latencies of all sides; a side without one gets one without distribution."""
    absent = Latency(0.0, 0, 0, 0, {}, [])
    return [side.latencies.get(quantity, absent) for side in sides]


def _most(sides: list[JobSide]) -> Quantity:
    lat, clat = (sum(quantity in side.latencies for side in sides) for quantity in QUANTITIES)
    return "lat" if lat >= clat else "clat"


def record_side(side: JobSide, quantity: Quantity, errors: int) -> Side:
    """The side in the shape of a record. Its latency sum is mean x count, so that the mean stays fio's."""
    latency = side.latencies.get(quantity)
    if side.ios == 0:
        return {**idle_side("fio"), "errors": errors}
    histogram: Histogram = {"kind": "none", "buckets": []}
    if latency is not None and latency.buckets:
        histogram = {"kind": "fio", "buckets": latency.buckets}
    printed = None if latency is None else [[q, value] for q, value in sorted(latency.printed.items())]
    # Total latency has submission in it.
    submission = side.submission_mean_ns if quantity == "clat" else None
    return {
        "count": side.ios,
        "bytes": side.bytes,
        "errors": errors,
        "latency_sum_ns": None if latency is None else str(round(Fraction(latency.mean_ns) * side.ios)),
        "latency_min_ns": None if latency is None else latency.min_ns,
        "latency_max_ns": None if latency is None else latency.max_ns,
        "histogram": histogram,
        "percentiles": printed or None,
        "iops_max": side.printed["iops_max"],
        "submission_mean_ns": submission,
        "printed": side.printed,
    }


def printed_bins(job: Job) -> list[list[float | int]] | None:
    """Its coarse distribution as a record has it, [upper_ns, percent].

    The bin without an edge ends at the largest latency. None if reads, writes or trims were both done: they are in one.
    """
    active = job.active()
    if len(active) != 1 or job.trims is not None:
        return None
    latency = active[0][1].latencies.get("clat")
    bins: list[list[float | int]] = []
    # fio's shares are of all I/Os, those that failed included.
    all_ios = active[0][1].printed["count"] / active[0][1].ios
    for edge, share in job.latency_bins:
        upper = edge if edge is not None else (latency.max_ns if latency is not None else None)
        if share > 0 and upper is not None:
            bins.append([upper, share * all_ios])
    return bins or None
