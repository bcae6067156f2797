"""fsync and fdatasync: what a result has of them, and what the audit, `expect` and `run` make of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hotband.data.documents.run import RunSpec
from hotband.data.importers import load
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_steps import by_stream
from hotband.inference.audit.load import load_results
from hotband.inference.audit.rules import findings
from hotband.questions.expect.judge import compared

Hotband = Callable[..., CompletedProcess[str]]
ETCD = "[etcd]\nrw=write\nioengine=sync\nfdatasync=1\ndirectory=d\nsize=2m\nbs=2300\n"


def result(tmp_path: Path, sync_ns: int) -> Path:
    """Write a result of one job that waits for an fsync after each of 600 writes a second of 20 us."""
    latency = {"min": 1000, "max": 90_000, "mean": 20_000.0, "stddev": 0.0, "N": 6000}
    sync = {"min": 1000, "max": 9_000_000, "mean": float(sync_ns), "stddev": 0.0, "N": 6000}
    sync["percentile"] = {"50.000000": sync_ns, "99.000000": 2 * sync_ns, "99.900000": 3 * sync_ns}
    write = {"io_bytes": 6000 * 4096, "io_kbytes": 24_000, "iops": 600.0, "runtime": 10_000, "total_ios": 6000}
    write |= {"lat_ns": latency, "clat_ns": {**latency, "percentile": {"99.000000": 30_000}}}
    options = {"rw": "randwrite", "bs": "4k", "iodepth": "1", "direct": "1", "fsync": "1", "filename": "/dev/sdx"}
    job = {"jobname": "a", "groupid": 0, "error": 0, "elapsed": 11, "job options": options, "write": write}
    job |= {"read": {}, "sync": {"lat_ns": sync, "total_ios": 6000}}
    path = tmp_path / "fsync.json"
    path.write_text(json.dumps({"fio version": "fio-3.33", "global options": {}, "jobs": [job]}))
    return path


def rules(path: Path) -> list[str]:
    return [finding.rule for finding in findings(load_results([path]), None)]


def test_a_job_that_waits_for_its_flushes_is_not_idle(tmp_path: Path) -> None:
    assert "idle-concurrency" not in rules(result(tmp_path, 1_640_000))
    assert "idle-concurrency" in rules(result(tmp_path, 640_000)), "1 ms of each cycle is unexplained"
    assert "littles-law" in rules(result(tmp_path, 2_640_000)), "writes and flushes take longer than the time"


def test_runs_through_fio_keep_the_flushes_of_each_stream(tmp_path: Path) -> None:
    [measured] = load(result(tmp_path, 1_640_000))
    [stream] = measured.record["streams"]
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=randwrite\nbs=4k\nioengine=libaio\ndirect=1\nfsync=1\nruntime=10\nfilename=/dev/sdx\n")
    fio_run = fio_run_of(RunSpec("run", "real:/dev/sdx", str(job)))
    [merged] = by_stream(fio_run, [stream, {**stream, "name": "a#2"}])
    assert (merged["name"], merged["flush"]["count"], merged["write"]["count"]) == ("a", 12000, 12000)


def test_expect_judges_flushes(tmp_path: Path) -> None:
    (measured,) = load(result(tmp_path, 1_640_000))
    predicted: Any = json.loads(json.dumps(measured.record))
    judged = {figure.figure: figure for figure in compared(measured.record, predicted, "closed")}
    assert judged["flush.latency_p99_ns"].measured == judged["flush.latency_p99_ns"].predicted == 3_280_000
    assert next(iter(judged)) == "iops"


@pytest.mark.parametrize(("text", "word"), [(ETCD, "fdatasync"), (ETCD.replace("fdatasync", "fsync"), "fsync")])
def test_the_answer_is_the_p99_of_a_buffered_write_and_its_flush(
    hotband: Hotband, tmp_path: Path, text: str, word: str
) -> None:
    (tmp_path / "etcd.fio").write_text(text)
    answer = hotband("run", "etcd.fio", "--on", "980-pro-1tb", "--json")
    figures = json.loads(answer.stdout)["summary"]
    shown = hotband("run", "etcd.fio", "--on", "980-pro-1tb")
    both = (figures["write"]["latency_p99_ns"] + figures["flush"]["latency_p99_ns"]) / 1e6
    assert f"; {word} p99 {both:.3g} ms." in shown.stdout.splitlines()[0]
    assert "\nflush" in shown.stdout
