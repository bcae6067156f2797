"""What the way from fio to a served drive and back takes at least: part of what fio measures, and not of the drive."""

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
    """What the way takes at least, and by how much it takes longer on average; in ns."""

    least_ns: int
    more_ns: float


def way_of_fio(folder: Path) -> Way:
    """Measured by some thousand reads of a drive that takes the same time for each, the shortest and the mean of them;
    socket and files are made in `folder`. Tools like fio measured the drives that are modelled, with what they take
    themselves; so what fio takes here is taken off. Raises UserError if fio fails or the folder's path is too long,
    OSError where nothing can be served."""
    folder.mkdir()
    socket = socket_in(folder, "way.sock")
    server = _core.FixedServer(socket, DRIVE_NS)
    try:
        job = JOB.format(uri=nbd_uri(socket, "drive"), milliseconds=round(1000 * SECONDS))
        told = run_fio(job, folder).read_text()
    finally:
        server.stop()
    [one] = json.loads(told[told.index("{") :])["jobs"]
    of = one["read"]["lat_ns"]
    return Way(max(0, int(of["min"]) - DRIVE_NS), float(of["mean"] - of["min"]))
