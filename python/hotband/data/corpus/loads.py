"""The load of a row of a corpus in numbers, and the class of its figure.

Everything here follows from the columns that describe the set-up and never from a value. Only `class_of` decides a
class; `load_of` names the reason if a row cannot be set up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from hotband.data.corpus.figure import Figure

Direction = Literal["read", "write", "mix"]
State = Literal["new", "filled", "steady", "unknown"]
Sync = Literal["", "flush", "force"]
Part = Literal["", "cache", "beyond", "fill"]
Where = Literal["", "outer", "inner", "middle"]
Path = Literal["libaio", "io_uring", "polled", "spdk", "sync", "windows"]
Controller = Literal["", "hba", "raid", "usb"]

CLASSES = (
    "disk, random reads",
    "disk, random writes and mixes",
    "sequential",
    "SSD, reads at depth 1",
    "SSD, reads at depth 2 to 7",
    "SSD, reads at depth 8 and more",
    "SSD, steady random writes",
    "SSD, mixes",
    "SSD, random writes, new or unknown",
    "sync writes and flushes",
    "disk, p99",
    "SSD, p99",
    "p99.9",
    "other",
)
"""Classes of figures, as in the table of targets."""
RATES = ("iops", "mb_s", "lat_mean")
"""Metrics of which a closed loop needs only one: rate, bytes and mean latency follow from one another."""
SPEEDS = ("iops", "mb_s")
"""Metrics that are larger for a faster drive; times are smaller."""
SYNC = re.compile(r"(fsync|fdatasync)|(o_dsync|o_sync|\bsync=1|--sync=1)", re.I)
STATES: tuple[tuple[str, State], ...] = (
    (r"steady|preconditioned", "steady"),
    (r"filled", "filled"),
    (r"^fob|^new\b", "new"),
)
PARTS: tuple[tuple[str, Part], ...] = (
    (r"whole fill|writing the whole capacity|average of filling", "fill"),
    (r"still in the cache|within the p?slc|(peak|^) ?in the cache|until the slc|45 s write|first \d+ %", "cache"),
    (
        r"(beyond|past) the (p?slc|cache)|after the cache|average beyond|from [\d.]+ [GT]B (to|on)|last \d+ %|"
        r"once \d+ GB are written",
        "beyond",
    ),
)
"""Words of the note, the duration or the span that name the part of a fill in a row."""
PLACES: tuple[tuple[str, Where], ...] = (
    (r"outer|fastest", "outer"),
    (r"inner|slowest", "inner"),
    (r"average|middle", "middle"),
)
OVERWRITTEN = re.compile(r"around ([\d.]+) x capacity written at random")
SPARE = 0.2
"""Random writes, as a share of capacity, before a drive starts garbage collection: above most over-provisioning."""
TEST_FILE = 1 << 30
"""Size of CrystalDiskMark's file in bytes if the source states none."""
LATE = 1024
"""Depth from which the tests of iocost follow minutes of writing (README of the corpus)."""
SIZE = re.compile(r"([\d.]+)\s*(K|M|G|T)(i?)B?\b", re.I)
POWER = {"K": 1, "M": 2, "G": 3, "T": 4}
OF_A_THREAD = 32
"""I/Os in flight per thread if the source states neither the number of threads nor their depth."""
IN_THE_SETTINGS = re.compile(r"(\d+) in the settings")
SECTOR = 512
"""Bytes of the blocks by which hosts address most drives."""
LEFT_OUT = (
    (r"^ACT", "a mix of two open loops whose rates are not printed"),
    (r"zones|zonemode|activezones", "zones that the host writes in order"),
    (r"object store|CDN", "a program whose sizes and order are not printed"),
    (r"^seek|^idle", "no load of reads and writes"),
    (r"written once and never again", "two ranges of the drive with rates of their own"),
    (r"back and forth|short (forward|backward) steps", "places that are neither in order nor random"),
    (r"on zeroes", "data that may be compressed"),
)
"""Words in a workload or a span that cannot be set up, with the reason."""
JOURNALED = "direct writes go through the journal of a file system (README of the corpus: rows `fs-`)"


@dataclass(frozen=True)
class Load:
    """A load in numbers: `block` in bytes, `depth` of all threads, `span` in bytes (None: the whole drive, or not
    stated), `port` in bytes per second if a port is slower than the drive's, `rate` of an open loop. `is_rest_empty`
    means that nothing beyond the span was ever written; `seconds` is the time for which a stream writes from the
    start."""

    kind: Literal["disk", "ssd"]
    direction: Direction
    read_pct: float
    random: bool
    block: int
    threads: int
    depth: int
    state: State
    sync: Sync
    part: Part = ""
    span: int | None = None
    where: Where = ""
    cache: Literal["on", "off", ""] = ""
    path: Path = "libaio"
    controller: Controller = ""
    port: float | None = None
    rate: float | None = None
    zipf: float | None = None
    of_flush: bool = False
    is_rest_empty: bool = False
    seconds: float | None = None


@dataclass(frozen=True)
class Unusable:
    """A row whose load cannot be set up, with the reason."""

    reason: str


def kind_of(figure: Figure) -> Literal["disk", "ssd"] | None:
    """Return the kind of a drive; None for arrays, pools, volumes and databases."""
    if figure.device_class.startswith("hdd"):
        return "disk"
    return "ssd" if figure.device_class.startswith("ssd") else None


def class_of(metric: str, load: Load) -> str:
    """Return the class of a figure of this load, one of `CLASSES`."""
    if metric == "lat_p999":
        return "p99.9"
    if metric == "lat_p99":
        return "disk, p99" if load.kind == "disk" else "SSD, p99"
    single = load.kind == "ssd" and load.random and load.direction == "read" and load.depth == 1 and not load.sync
    if metric not in RATES and not (metric == "lat_p50" and single):
        return "other"
    if load.sync or load.of_flush:
        return "sync writes and flushes"
    if not load.random:
        return "sequential"
    if load.kind == "disk":
        return "disk, random reads" if load.direction == "read" else "disk, random writes and mixes"
    if load.direction == "mix":
        return "SSD, mixes"
    if load.direction == "write":
        return "SSD, steady random writes" if load.state == "steady" else "SSD, random writes, new or unknown"
    if load.depth == 1:
        return "SSD, reads at depth 1"
    return "SSD, reads at depth 2 to 7" if load.depth < 8 else "SSD, reads at depth 8 and more"


def load_of(figure: Figure) -> Load | Unusable:
    """Return the load of a row, or why there is none."""
    kind = kind_of(figure)
    if kind is None:
        return Unusable("not a single drive")
    for words, reason in LEFT_OUT:
        if re.search(words, f"{figure.workload} {figure.span}", re.I):
            return Unusable(reason)
    if figure.metric not in {*RATES, "lat_p50", "lat_p90", "lat_p95", "lat_p99", "lat_p999", "lat_p9999"}:
        return Unusable("a figure that no run of a load gives")
    text = f"{figure.workload} {figure.host}"
    read_pct = _read_pct(figure)
    if read_pct is None:
        return Unusable("neither reads nor writes are named")
    if figure.id.startswith("fs-") and read_pct < 100:
        return Unusable(JOURNALED)
    random = figure.random if figure.random is not None else "rand" in figure.workload
    flushed = SYNC.search(text) if read_pct < 100 else None
    rate = re.search(r"total offered rate (\d+)/s", figure.workload)
    if rate is None and figure.depth.startswith("open loop"):
        return Unusable("an open loop whose rate is not printed")
    depth = _depth(figure, random)
    written = f"{figure.note}|{figure.duration}|{figure.span}" if read_pct < 100 and not random else ""
    part: Part = next((part for words, part in PARTS if re.search(words, written, re.I)), "")
    if read_pct < 100 and "iocost-params" in figure.host and depth >= LATE:
        part = "beyond"
    if read_pct < 100 and float((OVERWRITTEN.search(figure.note) or ("", "0"))[1]) >= SPARE:
        part = "beyond"
    block = figure.block_bytes or _first_size(figure.bs)
    threads = int(figure.threads) if figure.threads.isdigit() else max(1, depth // OF_A_THREAD)
    is_test_file = _is_test_file(figure)
    seconds = _seconds(figure) if kind == "ssd" and written and part in ("", "cache") else None
    direction: Direction = "read" if read_pct == 100 else "write" if read_pct == 0 else "mix"
    return Load(
        kind=kind,
        direction=direction,
        read_pct=read_pct,
        random=random,
        block=block or (4096 if random else 131_072),
        threads=max(1, min(threads, depth)),
        depth=depth,
        state=next((state for words, state in STATES if re.search(words, figure.state, re.I)), "unknown"),
        sync="" if flushed is None else "flush" if flushed[1] else "force",
        part=part,
        span=TEST_FILE if is_test_file and _span(figure, threads) is None else _span(figure, threads),
        where=next((where for words, where in PLACES if re.search(words, figure.span)), ""),
        cache=_cache(figure.cache),
        path=_path(figure.host),
        port=300e6 if re.search(r"SATA 3 Gb/s|300 MB/s link", f"{figure.interface} {figure.host}") else None,
        rate=float(rate[1]) if rate else None,
        zipf=float(match[1]) if (match := re.search(r"zipf theta ([\d.]+)", figure.workload)) else None,
        of_flush=bool(re.match(r"f(data)?sync call", figure.workload)),
        is_rest_empty="rest unused" in figure.span
        or (is_test_file and read_pct > 0)
        or (seconds is not None and "whole file written before" in figure.span),
        controller="usb" if "USB" in figure.interface else _controller(figure.host),
        seconds=seconds,
    )


def _is_test_file(figure: Figure) -> bool:
    """Return whether a small file was written right before it is accessed, as CrystalDiskMark does, and is still in the
    cache: SATA drives empty their caches at once."""
    return "CrystalDiskMark" in f"{figure.host} {figure.span}" and "nvme" in figure.device_class


def _seconds(figure: Figure) -> float | None:
    """Return how long a stream is written from the start of the test; None if the source does not state it."""
    match = re.match(r"(\d+) ?s$|what (\d+) s write", figure.duration) or re.match(r"()what (\d+) s write", figure.span)
    return float(match[1] or match[2]) if match else None


def _controller(host: str) -> Controller:
    """Return the controller of a host between it and the drive."""
    if re.search(r"Smart Array|MegaRAID|PERC|\bH7\d0\b", host):
        return "raid"
    return "hba" if re.search(r"\bHBA\b|M1015|SAS\d{4}", host) else ""


def _read_pct(figure: Figure) -> float | None:
    if figure.read_pct is not None:
        return figure.read_pct
    reads, writes = "read" in figure.workload, "write" in figure.workload
    return None if reads == writes else 100.0 if reads else 0.0


def _depth(figure: Figure, random: bool) -> int:
    """Return the I/Os in flight; if the source states none, the usual number for each thread that it states."""
    if figure.outstanding:
        return figure.outstanding
    if set_up := IN_THE_SETTINGS.match(figure.depth):
        return int(set_up[1])
    threads = int(figure.threads) if figure.threads.isdigit() else 1
    return OF_A_THREAD * threads if random else max(8, threads)


def _first_size(words: str) -> int | None:
    """Return the first size of words such as "mostly 128k" or "one sector"; None if there is none."""
    if words == "one sector":
        return SECTOR
    match = SIZE.search(words)
    return int(float(match[1]) * 1024 ** POWER[match[2].upper()]) if match else None


def _span(figure: Figure, threads: int) -> int | None:
    """Return the accessed bytes; None for the whole drive, and if the source does not state them."""
    words = figure.span
    size = SIZE.search(words)
    if size is None or re.match(r"whole|raw|all|unknown", words, re.I):
        return None
    if "span unknown" in figure.note or figure.id.startswith("nl"):
        return None
    base = 1024 if size[3] else 1000
    several = threads if re.search(r"a job|per job|a thread", words) else 1
    return int(float(size[1]) * base ** POWER[size[2].upper()]) * several


def _cache(words: str) -> Literal["on", "off", ""]:
    """Return the write cache that the source states: assumed values and defaults count as unknown."""
    if re.search(r"assumed|default|unknown", words):
        return ""
    return "off" if re.search(r"\boff\b|^vwc 0|^none$", words) else "on" if re.search(r"\bon\b", words) else ""


def _path(host: str) -> Path:
    words = host.lower()
    if "windows" in words:
        return "windows"
    if "spdk" in words:
        return "spdk"
    if re.search(r"hipri|poll", words):
        return "polled"
    if "io_uring" in words:
        return "io_uring"
    return "sync" if re.search(r"\bp?v?p?sync2?\b", words) else "libaio"
