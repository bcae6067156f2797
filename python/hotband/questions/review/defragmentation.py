"""Defragmentation: extents of 64 KiB are read from anywhere and written one after the other, one at a time.

No defragmentation tool of the time documents its I/O; pairs of a read and a write of 64 KiB are our definition. The
contiguous target begins in the middle of the volume.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.questions.review.asked import KIB, MIB, Ask, step, steps_of, stream, warming, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import DefragmentationDoc
    from hotband.data.documents.workload import ScriptStepTable, ScriptTable

EXTENT = 64 * KIB
IOS, BEFORE = 4000, 400
NEEDS = 64 * MIB


def asks(target: Target) -> list[Ask]:
    """Return one run: a client that moves extent after extent."""
    streams = [stream("read", "read", EXTENT, True), stream("write", "write", EXTENT, False, start="50 %")]
    steps: list[ScriptStepTable] = [{"name": op, "stream": op, "ios": 1} for op in ("read", "write")]
    script: ScriptTable = {"name": "move", "unit": "extent", "clients": 1, "repeat": True, "steps": steps}
    phases = [warming("move", target.ios(BEFORE)), step("move", target.ios(IOS))]
    return [Ask("move", workload("defragmentation", streams, phases, scripts=[script]))]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> DefragmentationDoc:
    """Return extents and bytes moved per second; the latency is that of an extent, read and written."""
    moves = steps_of(records["move"])["move"]
    read_ns, write_ns = moves["read"]["latency_mean_ns"], moves["write"]["latency_mean_ns"]
    return {
        "extent_bytes": EXTENT,
        "extents_per_s": moves["write"]["iops"],
        "bandwidth_bytes_per_s": moves["write"]["bandwidth_bytes_per_s"],
        "latency_mean_ns": None if read_ns is None or write_ns is None else read_ns + write_ns,
    }
