"""Trims of fio's results: what the audit, the table and the report make of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from hotband.inference.audit.load import load_results
from hotband.inference.audit.rules import findings

Hotband = Callable[..., CompletedProcess[str]]


def side(ios: int, mean_ns: int) -> dict[str, object]:
    latency = {"min": mean_ns, "max": mean_ns, "mean": float(mean_ns), "stddev": 0.0, "N": ios}
    sizes = {"io_bytes": ios * 65536, "io_kbytes": ios * 64, "iops": ios / 10, "runtime": 10_000, "total_ios": ios}
    return sizes | {"lat_ns": latency, "clat_ns": {**latency, "percentile": {"99.000000": mean_ns}}}


def result(folder: Path, rw: str = "trimwrite", **options: str) -> Path:
    """Write a result of one job that trims for 3 ms and then writes for 2 ms, or only trims."""
    own = {"rw": rw, "bs": "64k", "iodepth": "1", "direct": "1", "filename": "/dev/sdx", **options}
    job = {"jobname": "a", "groupid": 0, "error": 0, "elapsed": 11, "job options": own, "read": {}, "write": {}}
    job |= {"trim": side(2000, 3_000_000), "latency_ms": {"4": 100.0}}
    if rw == "trimwrite":
        job |= {"write": side(2000, 2_000_000), "latency_ms": {"2": 0.0, "4": 100.0}}
    path = folder / "trims.json"
    path.write_text(json.dumps({"fio version": "fio-3.33", "global options": {}, "jobs": [job]}))
    return path


def rules(path: Path) -> set[str]:
    return {finding.rule for finding in findings(load_results([path]), None)}


def test_a_job_that_waits_for_its_trims_is_not_idle(tmp_path: Path) -> None:
    assert not rules(result(tmp_path)) & {"idle-concurrency", "littles-law", "contradiction"}


def test_a_requested_rate_includes_trims(tmp_path: Path) -> None:
    assert "overload" not in rules(result(tmp_path, rate_iops=",200,200"))
    assert "overload" in rules(result(tmp_path, rate_iops=",400,400"))


def test_trims_are_in_the_table_and_in_the_report(tmp_path: Path, hotband: Hotband) -> None:
    table = hotband("import", str(result(tmp_path))).stdout
    assert any(line.replace("│", " ").split()[:2] == ["trim", "200"] for line in table.splitlines()), table
    page = tmp_path / "page.html"
    done = hotband("report", str(result(tmp_path, "trim")), "-o", str(page))
    assert done.stdout.startswith("200 trims/s.\nA trim takes 3 ms on average"), done.stdout
