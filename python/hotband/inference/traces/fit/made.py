"""Generate the I/Os of a workload on a volume that serves any number at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import hotband._core as _core
from hotband.base.heavy import np
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR
from hotband.data.traces.io_log import AT_ONCE, FUA, UNKNOWN
from hotband.data.traces.rows import write_blocks
from hotband.inference.traces.properties import Properties

if TYPE_CHECKING:
    from hotband.inference.traces.fit.ios import Numbers

SERVICE_NS = 100_000
"""Latency (ns) for traces without latencies: that of a flash drive. Their properties do not depend on it."""
GRAIN = 1 << 20
"""Volumes are whole MiB."""
ROW_BYTES = 8 * len(_core.LOG_COLUMNS)
HEAD = 'file = "synthetic"\nios = 0\nunmeasured = 0\nnotes = []\n[[streams]]\nname = "main"\n'
"""Text that follows the rows."""


def volume_text(capacity: int, read_ns: float, write_ns: float) -> str:
    """Return a volume whose commands take a time that depends only on their direction."""
    values = {
        "capacity": f'"{-(-capacity // GRAIN) * GRAIN} B"',
        "read_time": f'"{max(1, round(read_ns))} ns"',
        "write_time": f'"{max(1, round(write_ns))} ns"',
        "read_rate": '"1000 GB/s"',
        "write_rate": '"1000 GB/s"',
        "read_spread": '"0 %"',
        "write_spread": '"0 %"',
        "slots": "65536",
        "ios_limit": "100000000",
        "ios_burst": "100000000",
        "rate_limit": '"1000 GB/s"',
        "rate_burst": '"1 TB"',
    }
    lines = ['kind = "black-box"', 'title = "serves all at once"', 'model = ""']
    for key, value in values.items():
        lines += [
            "",
            f"[values.{key}]",
            f"value = {value}",
            'source = "made up: a workload alone"',
            'confidence = "low"',
        ]
    return "\n".join(lines) + "\n"


def service_of(trace: Properties) -> tuple[float, float]:
    """Return the mean latencies of reads and of writes in ns; a missing one equals the other."""
    means = [None if quantiles is None else quantiles.mean for quantiles in map(trace.latency_of, ("read", "write"))]
    read, write = means
    return read or write or SERVICE_NS, write or read or SERVICE_NS


def made(workload: str, capacity: int, service: tuple[float, float] | None, seed: int, folder: Path) -> Path:
    """Generate the I/Os of a workload with `service` as the times of reads and writes in ns (None: without latencies);
    return a file with their rows. `folder` has the files. Raises _core.SpecError, OSError."""
    drive, log, rows = folder / "volume.toml", folder / "synthetic.log", folder / "synthetic.rows"
    write_file(drive, volume_text(capacity, *(service or (SERVICE_NS, SERVICE_NS))))
    machine = f'[drives.d]\nproduct = "{drive}"\n'
    run = _core.Run(
        CATALOG_DIR,
        "volume.toml",
        "synthetic.toml",
        machine_text=machine,
        workload_text=workload,
        io_log=log,
        seed=seed,
    )
    run.execute()
    ios = log.stat().st_size // ROW_BYTES
    write_blocks(rows, rows_of(log, ios, has_latencies=service is not None), ios, HEAD)
    return rows


def rows_of(log: Path, ios: int, *, has_latencies: bool) -> Iterator[Numbers]:
    """Yield the rows of a log in order of issue, in batches."""
    first = 1
    for block in _in_order(log, ios):
        column = {name: block[:, at] for at, name in enumerate(_core.LOG_COLUMNS)}
        latency = column["latency_ns"] if has_latencies else np.full(len(block), UNKNOWN, "u8")
        what = column["direction"] | column["fua"] << np.uint64(FUA)
        numbers = np.arange(first, first + len(block), dtype="u8")
        columns = (column["submit_ns"], latency, what, column["offset_bytes"], column["size_bytes"], numbers)
        yield np.stack(columns, axis=1)
        first += len(block)


def _in_order(log: Path, ios: int) -> Iterator[Numbers]:
    """Yield a log in order of issue, in batches. It is in order of completion, so each batch lies close together."""
    number, submit = (_core.LOG_COLUMNS.index(name) for name in ("number", "submit_ns"))
    keys = np.empty((2, ios), "u8")
    with log.open("rb") as file:
        for begin in range(0, ios, AT_ONCE):
            block = _block(file, begin, min(AT_ONCE, ios - begin))
            keys[:, begin : begin + len(block)] = block[:, number], block[:, submit]
        order = np.lexsort(tuple(keys))
        del keys
        for begin in range(0, ios, AT_ONCE):
            here = order[begin : begin + AT_ONCE]
            first = int(here.min())
            yield _block(file, first, int(here.max()) + 1 - first)[here - first]


def _block(file: BinaryIO, first: int, count: int) -> Numbers:
    """Read rows of a log."""
    file.seek(first * ROW_BYTES)
    return np.fromfile(file, "<u8", count * len(_core.LOG_COLUMNS)).reshape(count, -1)
