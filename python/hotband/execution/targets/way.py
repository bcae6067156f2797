"""Minimum latency of the path from fio to a served drive and back: part of fio's measurement, but not of the drive."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import hotband._core as _core
from hotband.execution.serve.served import nbd_uri
from hotband.execution.serve.speed import socket_in
from hotband.execution.targets.fio_child import run_fio

# A drive on which fio waits, about as fast as the fastest that are served, and how long it is read.
DRIVE_NS, SECONDS = 100_000, 0.5
JOB = """[global]
ioengine=nbd
thread=1
lat_percentiles=1
[way]
uri={uri}
rw=randread
bs=4k
iodepth=1
time_based=1
runtime={milliseconds}ms
"""


@dataclass(frozen=True)
class Way:
    """Minimum latency of the path, and the average excess over it; in ns."""

    least_ns: int
    more_ns: float


def way_of_fio(folder: Path) -> Way:
    """Measure the path by some thousand reads of a drive with a constant latency: the shortest and the mean; socket and
    files are made in `folder`. The modelled drives were measured by tools like fio, with their own overhead, so fio's
    overhead is subtracted here. Raises UserError if fio fails or the folder's path is too long, OSError if nothing can
    be served."""
    folder.mkdir()
    socket = socket_in(folder, "way.sock")
    server = _core.FixedServer(socket, DRIVE_NS)
    try:
        job = JOB.format(uri=nbd_uri(socket, "drive"), milliseconds=round(1000 * SECONDS))
        output = run_fio(job, folder).read_text()
    finally:
        server.stop()
    [job_result] = json.loads(output[output.index("{") :])["jobs"]
    latency = job_result["read"]["lat_ns"]
    return Way(max(0, int(latency["min"]) - DRIVE_NS), float(latency["mean"] - latency["min"]))
