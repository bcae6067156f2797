"""Generate the I/Os of a workload on a volume that serves any number at once, and count the properties of that
trace."""

from __future__ import annotations

from pathlib import Path

import hotband._core as _core
from hotband.base.heavy import np
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR
from hotband.data.traces.io_log import UNKNOWN
from hotband.inference.traces.fit.ios import Ios, write_ios
from hotband.inference.traces.properties import Properties, properties_of

SERVICE_NS = 100_000
"""Latency (ns) for traces without latencies: that of a flash drive. Their properties do not depend on it."""
GRAIN = 1 << 20
"""Volumes are whole MiB."""


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


def made(workload: str, capacity: int, service: tuple[float, float] | None, seed: int, folder: Path) -> Ios:
    """Generate the I/Os of a workload in order of issue, with `service` as the times of reads and writes in ns (None:
    without latencies). `folder` has temporary files. Raises _core.SpecError, OSError."""
    drive, log = folder / "volume.toml", folder / "synthetic.log"
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
    columns = _core.LOG_COLUMNS
    rows = np.memmap(log, "<u8", "r").reshape(-1, len(columns))
    order = np.lexsort((rows[:, columns.index("number")], rows[:, columns.index("submit_ns")]))
    log_columns = {name: np.ascontiguousarray(rows[order, at]) for at, name in enumerate(columns)}
    latency = log_columns["latency_ns"] if service else np.full(len(order), UNKNOWN, "u8")
    return Ios(
        log_columns["submit_ns"],
        latency,
        log_columns["direction"],
        log_columns["fua"] > 0,
        log_columns["offset_bytes"],
        log_columns["size_bytes"],
    )


def properties_of_made(ios: Ios, block: int, sample: int, folder: Path) -> Properties:
    """Return the properties of these I/Os, counted as those of a trace. Raises OSError."""
    rows = folder / "synthetic.rows"
    write_ios(ios, rows)
    return properties_of(_core.trace_properties(rows, block, sample))
