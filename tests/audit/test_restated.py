"""Is a figure found that others of the tool's own output contradict, and nothing in what is right?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hotband.inference.audit import load_results
from hotband.inference.audit.contradictions import check

Change = Callable[[Any, Any], object]
N = 60_000
RIGHT: dict[str, Any] = {
    "jobname": "reads",
    "error": 0,
    "job options": {"rw": "randread", "bs": "4k", "iodepth": "1", "direct": "1", "ioengine": "libaio"},
    "read": {
        "io_bytes": 4096 * N,
        "io_kbytes": 4 * N,
        "bw_bytes": 4096 * N // 60,
        "bw": 4 * N // 60,
        "iops": N / 60,
        "runtime": 60_000,
        "total_ios": N,
        "bw_min": 3_800,
        "bw_max": 4_200,
        "bw_mean": 4_000.0,
        "bw_samples": 119,
        "slat_ns": {"min": 900, "max": 60_000, "mean": 1_800.0, "stddev": 500.0, "N": N},
        "clat_ns": {"min": 300_000, "max": 1_900_000, "mean": 990_000.0, "stddev": 150_000.0, "N": N}
        | {"percentile": {"50.000000": 970_000, "99.000000": 1_400_000, "99.900000": 1_600_000}},
        "lat_ns": {"min": 301_000, "max": 1_902_000, "mean": 991_800.0, "stddev": 150_000.0, "N": N},
    },
    "latency_us": {"500": 5.0, "750": 10.0, "1000": 45.0},
    "latency_ms": {"2": 40.0},
}
WRONG: dict[str, Change] = {
    "reads reads: bw": lambda job, read: read.update(bw=4),
    "reads reads: io_kbytes": lambda job, read: read.update(io_kbytes=240),
    "reads reads: bw_mean": lambda job, read: read.update(bw_max=400),
    "reads reads: slat samples": lambda job, read: read["clat_ns"].update(N=N // 2),
    "reads reads: latency samples": lambda job, read: [
        read[f"{q}_ns"].update(N=N // 2) for q in ("slat", "clat", "lat")
    ],
    "reads reads: mean slat": lambda job, read: read["slat_ns"].update(mean=90_000.0),
    "reads reads: mean lat": lambda job, read: read["lat_ns"].update(mean=1_500_000.0),
    "reads reads: stddev of clat": lambda job, read: read["clat_ns"].update(stddev=1_400_000.0),
    "reads reads: stddev of lat": lambda job, read: read["lat_ns"].update(stddev=5_700_000.0),
    "reads: sum of its latency bins, percent": lambda job, read: job["latency_us"].update({"1000": 135.0}),
    "reads reads: mean latency": lambda job, read: job.update(latency_us={}, latency_ms={"4": 100.0}),
}
"""The figure that a change makes wrong, or the one that the changed figure makes so."""


def contradicted(path: Path) -> list[str]:
    """The figures of a result that others contradict."""
    rows = [finding.table for finding in check(load_results([path])) if finding.table is not None]
    return [str(row[0]) for table in rows for row in table.rows]


def of_fio(folder: Path, change: Change | None = None) -> list[str]:
    """The contradictions of a result of fio with one change."""
    job = json.loads(json.dumps(RIGHT))
    if change is not None:
        change(job, job["read"])
    file = folder / "result.json"
    file.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    return contradicted(file)


def test_a_right_result_of_fio_contradicts_nothing(tmp_path: Path) -> None:
    assert of_fio(tmp_path) == []


@pytest.mark.parametrize("figure", WRONG)
def test_a_figure_of_fio_that_follows_from_others(figure: str, tmp_path: Path) -> None:
    assert figure in of_fio(tmp_path, WRONG[figure])
