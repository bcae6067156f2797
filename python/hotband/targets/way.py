"""What the way from fio to a served drive and back takes at least: part of what fio measures, and not of the drive."""

from __future__ import annotations

import json
from pathlib import Path

from hotband import _core
from hotband.serve.served import nbd_uri
from hotband.targets.fio_child import run_fio

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


def way_of_fio(folder: Path) -> int:
    """Measured in ns, by the shortest of some thousand reads of a drive that takes the same time for each; socket and
    files are made in `folder`. Tools like fio measured the drives that are modelled, with what they take themselves; so
    what fio takes here is taken off. Raises UserError where fio fails, OSError where nothing can be served."""
    folder.mkdir()
    socket = folder / "way.sock"
    server = _core.FixedServer(socket, DRIVE_NS)
    try:
        job = JOB.format(uri=nbd_uri(socket, "drive"), milliseconds=round(1000 * SECONDS))
        told = run_fio(job, folder).read_text()
    finally:
        server.stop()
    [one] = json.loads(told[told.index("{") :])["jobs"]
    return max(0, int(one["read"]["lat_ns"]["min"]) - DRIVE_NS)
