"""fio's logs of one run, read and put on one axis of time: bandwidth, IOPS, latencies and histograms over time.

Sources: iolog.c of fio. The kind of a log is in its name (`PREFIX_clat.1.log`), the number is that of the process.
A log of every I/O is summed by second; an averaged one has one row per window (`log_avg_msec`), stamped with its end.
Left out: trims and syncs, priorities, the submission latency where another is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import cast

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.data.importers.cells import LATEST_MS
from hotband.data.importers.files import name_of, read_beginning, without_mark

_NAME = re.compile(
    r"(?P<prefix>.*?)_?(?P<kind>clat_hist|bw|iops|lat|clat|slat)(\.(?P<number>\d{1,6}))?\.log(\.(?P<host>.+))?"
)
_SAMPLE = re.compile(rb"\s*(\d{1,20}), ?-?\d+, ?\d+, ?\d+")
_CALENDAR_MS = 100_000_000_000
# More processes of a host than fio has numbers for (six digits).
HOSTS_APART = 1_000_000
ACCEPTED = "a fio log named PREFIX_KIND.N.log, with KIND of bw, iops, lat, clat, slat, clat_hist"


@dataclass
class Log:
    """One file: what kind it is, of which process, and what was read of it, one line per sample (`samples`) or
    histograms over time (`histograms`); times count from `base_ms`. `host` is that of a server of fio."""

    path: Path
    prefix: str
    kind: str
    number: int
    samples: _core.FioLog | None = None
    histograms: _core.FioHistogramLog | None = None
    base_ms: int = 0
    host: str = ""
    is_part: bool = False
    """Whether the file has the samples of other processes, too."""

    @property
    def file(self) -> str:
        return name_of(self.path)

    @property
    def is_raw(self) -> bool:
        return self.samples is not None and not self.samples["averaged"]

    @property
    def is_cut(self) -> bool:
        content = self.samples or self.histograms
        return content is not None and content["cut"]

    @property
    def sides(self) -> list[_core.FioLogSide]:
        """Reads, writes, trims and syncs of a log with one line per sample."""
        return self.samples["sides"] if self.samples else []

    def buckets(self, direction: int) -> list[tuple[int, int]]:
        """The (value, count) of reads, writes or trims."""
        if self.histograms is not None:
            return self.histograms["buckets"][direction]
        return self.sides[direction]["buckets"] if self.samples else []

    @property
    def length_ms(self) -> int:
        """When the last sample was, on the axis of the run."""
        return self.samples["last_ms"] - self.base_ms if self.samples else 0


def is_log(beginning: bytes) -> bool:
    """Return whether a file that begins so is a log of fio."""
    return _SAMPLE.match(beginning) is not None


def log_of(path: Path) -> Log:
    """The log behind a name. Raises UserError if the name does not tell the kind."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise UserError(name_of(path), "", "", f"the name does not state what is logged; accepted: {ACCEPTED}")
    return Log(path, match["prefix"], match["kind"], int(match["number"] or 0), host=match["host"] or "")


def number_apart(logs: Sequence[Log]) -> None:
    """Give processes of different hosts, each of which counts its own from 1, numbers that differ."""
    hosts = sorted({log.host for log in logs})
    for log in logs:
        log.number = log.number % HOSTS_APART + HOSTS_APART * hosts.index(log.host)


def read_logs(logs: Sequence[Log]) -> int | None:
    """Read the content of logs of one run; times count from the earliest of them. Returns the run's begin in ms since
    1970, None if times are of the run.
    """
    firsts = [_first_ms(log) for log in logs]
    calendar = [first for first in firsts if first >= _CALENDAR_MS]
    base = min(calendar) if calendar else None
    for log in logs:
        _read(log, base)
    return base


def _read(log: Log, base_ms: int | None) -> None:
    log.base_ms = base_ms or 0
    with without_mark(log.path) as path:
        try:
            if log.kind == "clat_hist":
                log.histograms = _core.fio_histogram_log(path)
            else:
                log.samples = _core.fio_log(path, base_ms)
        except _core.SpecError as error:
            raise UserError(log.file, *error.args[1:]) from None


def _first_ms(log: Log) -> int:
    sample = _SAMPLE.match(read_beginning(log.path))
    if sample is None or int(sample[1]) > LATEST_MS:
        raise UserError(log.file, "", "", f"it begins with no sample; accepted: {ACCEPTED}")
    return int(sample[1])


def parted(logs: Sequence[Log]) -> list[Log]:
    """Return one log per process: with per_job_logs=0 a file has the windows of one process after those of another, and
    its times begin again."""
    return [part for log in logs for part in _parts(log)]


def _parts(log: Log) -> list[Log]:
    if log.is_raw or log.samples is None:
        return [log]
    runs = [_rising(side["samples"]) for side in log.sides]
    most = max(map(len, runs))
    if most < 2:
        return [log]
    parts = []
    for at in range(most):
        sides = [
            {**side, "samples": run[at] if at < len(run) else []} for side, run in zip(log.sides, runs, strict=True)
        ]
        samples = cast("_core.FioLog", {**log.samples, "sides": sides})
        parts.append(replace(log, number=log.number + at, samples=samples, is_part=True))
    return parts


def _rising(samples: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Cut samples where their time begins again."""
    runs: list[list[tuple[int, int]]] = []
    for sample in samples:
        if not runs or sample[0] < runs[-1][-1][0]:
            runs.append([])
        runs[-1].append(sample)
    return runs


def window_ms(logs: Iterable[Log], asked_ms: int | None = None) -> int:
    """The window of averaged logs: what was asked for (`log_avg_msec`; fio ends one with the first I/O after it), else
    the most frequent step between two samples of a direction, 1 s if there is none."""
    if asked_ms:
        return asked_ms
    steps: dict[int, int] = {}
    for log in logs:
        for side in log.sides:
            times = [time for time, _ in side["samples"]]
            for before, after in pairwise(times):
                if after > before:
                    steps[after - before] = steps.get(after - before, 0) + 1
    return max(steps, key=lambda step: (steps[step], -step)) if steps else 1000


def counting(logs: Sequence[Log], quantity: str) -> list[Log]:
    """Return the log that counts the I/Os of each process, preferably that of the record's latency."""
    kinds = dict.fromkeys((quantity, "clat", "lat", "iops", "bw", "slat"))
    chosen: dict[int, Log] = {}
    for kind in kinds:
        for log in logs:
            if log.kind == kind and log.is_raw:
                chosen.setdefault(log.number, log)
    return [chosen[number] for number in sorted(chosen)]
