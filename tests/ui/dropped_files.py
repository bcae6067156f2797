"""Files that tests drop on the page."""

from __future__ import annotations

import json

FLEET = """
years = 1
repetitions = 20
[[group]]
name = "a"
machines = 5
machine = "raid5:4xent-10k"
afr = "5 %"
rebuild_time = "10 h"
"""


def result_text() -> bytes:
    """A result of fio: 60 s of random reads of a disk, one at a time."""
    times = {"min": 1000, "max": 10**8, "mean": 7.4e6, "N": 8000, "percentile": {"99.000000": 9_700_000}}
    read = {"io_bytes": 32_768_000, "total_ios": 8000, "runtime": 60_000, "iops": 133.3, "clat_ns": times}
    none = {"io_bytes": 0, "total_ios": 0, "runtime": 0, "iops": 0, "clat_ns": {}}
    options = {
        "ioengine": "libaio",
        "direct": "1",
        "bs": "4k",
        "filename": "/dev/sdb",
        "rw": "randread",
        "iodepth": "1",
    }
    job = {"jobname": "a", "groupid": 0, "error": 0, "elapsed": 61, "job options": options, "read": read, "write": none}
    return json.dumps({"fio version": "fio-3.33", "global options": options, "jobs": [job]}).encode()
