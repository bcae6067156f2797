"""Quantities of a solid-state drive that its figures show: times of single I/Os, rates at deep queues, streams.

A figure of a load that loads one part of a drive is that part's quantity: 4 KiB reads one at a time are the time of a
read, deep ones with many threads its rate. These quantities are what rules are learned from; they never leave here as
predictions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from statistics import median

from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import Load, Unusable, load_of

HOST = {"libaio": 3.3e-6, "io_uring": 2.5e-6, "polled": 0.5e-6, "spdk": 0.4e-6, "sync": 3.3e-6, "windows": 3.3e-6}
"""Seconds of a core for an I/O by path. libaio: the reciprocal of the rate that one thread reaches on fast drives; the
others follow in the ratios of docs/models/layouts.md."""
COPY = {"windows": 25e-6 / (1 << 20)}
"""Seconds of a core for a byte by path: half of the time that 1 MiB from one thread takes beyond the rating of fast
drives. The half was chosen after errors of the figures under Windows were seen; no family is left out of it."""
CONTROLLER = {"": 0.0, "hba": 14e-6, "raid": 20e-6, "usb": 0.0}
"""Seconds for an I/O by the controller between host and drive: the reciprocal of the rate that one job reaches through
it on drives that are faster. A fit to the figures of one tester; none is known for USB."""
QUEUED = 200e-6
"""The mean latency from which reads wait in a queue: a solid-state drive completes a single read in less."""
FULL = 0.5
"""The share of what its threads can issue from which a rate is the host's and not the drive's."""
STREAM = 2 << 20
"""Bytes in flight from which a sequential load fills what it goes through."""


def host_time(load: Load) -> float:
    """Return the seconds that a thread and a controller take for an I/O of a load."""
    return HOST[load.path] + COPY.get(load.path, 0.0) * load.block + CONTROLLER[load.controller]


def rate_of(figure: Figure, load: Load) -> float | None:
    """Return I/Os per second of a figure of rate, bytes or mean latency; None for others."""
    if figure.metric == "iops":
        return figure.middle
    if figure.metric == "mb_s":
        return figure.middle * 1e6 / load.block
    if figure.metric == "lat_mean" and load.rate is None and not figure.side and figure.middle:
        return load.depth / (figure.middle * 1e-6)
    return None


def observed(figures: Iterable[Figure]) -> dict[str, float]:
    """Return the quantities that the figures of a family show, by name (base units); none of a disk, which rules do not
    learn from."""
    values: dict[str, list[float]] = defaultdict(list)
    percentiles: dict[tuple[Load, str], dict[str, float]] = defaultdict(dict)
    for figure in figures:
        load = load_of(figure)
        if isinstance(load, Unusable) or load.kind == "disk" or load.rate or load.of_flush or figure.side:
            continue
        rate = rate_of(figure, load)
        if rate:
            for name, value in _shown(load, rate, figure.metric):
                values[name].append(value)
        if _is_single_write(load):
            percentiles[load, figure.device][figure.metric] = figure.middle
    for those in percentiles.values():
        if {"lat_p50", "lat_p99"} <= those.keys():
            values["write_tail"].append(those["lat_p99"] / those["lat_p50"])
    return {name: COMBINED[name](those) for name, those in values.items()}


def _shown(load: Load, rate: float, metric: str) -> Iterable[tuple[str, float]]:
    """Yield the quantities that one rate shows."""
    if load.sync:
        if load.direction == "write" and load.block <= 4096 and load.depth == 1:
            yield "flush_time", 1.0 / rate - host_time(load)
    elif not load.random:
        if load.block * load.depth >= STREAM or (load.part and load.block >= 65536):
            alone = 1.0 / (1.0 / rate - host_time(load)) if load.depth == 1 else rate
            yield from _streams(load, alone * load.block)
    elif load.block <= 4096 and load.zipf is None:
        yield from _small(load, rate, metric)


def _small(load: Load, rate: float, metric: str) -> Iterable[tuple[str, float]]:
    """Yield what small random I/Os of a solid-state drive show."""
    host = host_time(load)
    if load.depth == 1:
        is_read = load.direction == "read" and load.state != "new" and metric != "mb_s" and not load.is_rest_empty
        if is_read or _is_single_write(load):
            yield f"{load.direction}_time", 1.0 / rate - host
    elif rate * host / load.threads <= FULL and load.port is None:
        if load.direction == "read" and load.state != "new" and load.depth >= max(32, QUEUED * rate):
            yield "read_rate", rate
        elif load.direction == "write" and load.depth >= 8:
            is_late = load.state == "steady" or load.part == "beyond"
            yield ("write_rate_steady" if is_late else "write_rate_new"), rate


def _is_single_write(load: Load) -> bool:
    """Return whether small writes come one at a time, and flash takes them without collecting any."""
    is_small = load.random and load.block <= 4096 and load.zipf is None and not load.sync
    return is_small and load.depth == 1 and load.direction == "write" and load.state != "steady" and not load.part


def _streams(load: Load, rate: float) -> Iterable[tuple[str, float]]:
    if load.port is not None:
        return
    if load.direction == "read":
        yield "read_stream", rate
    elif load.direction == "write":
        if load.part == "beyond" and load.block >= 65536:
            yield "write_stream_after_cache", rate
        elif load.part in ("", "cache") and load.seconds is None and load.block >= 65536:
            yield "write_stream", rate


COMBINED: Mapping[str, Callable[[list[float]], float]] = defaultdict(
    lambda: median,
    read_rate=max,
    write_rate_new=lambda values: median(sorted(values)[-3:]),
    read_stream=max,
    write_stream=max,
)
"""How several figures of a family make one value: the best of a rate that anything may limit, else the middle."""
