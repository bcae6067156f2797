"""Flushes of fio on an emulated drive, and when what it measured there is not the drive's."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.data.documents.record import FiguresDoc, SummaryDoc
from hotband.data.documents.run import RunSpec
from hotband.data.documents.serving import Kind, Serving, Times
from hotband.execution.targets.emulated import OnServed
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_flushes import (
    CONNECTIONS,
    as_served,
    flush_notes,
    flushes_once,
    most_connections,
    slots_as_jobs,
)
from hotband.execution.targets.on_device import OnDevice, Setup
from hotband.execution.targets.real_target import RealTarget
from hotband.execution.targets.validity import reasons

JOB = """[global]
ioengine=nbd

[j]
uri=u
rw={rw}
numjobs=2
iodepth=8
fsync={fsync}
runtime=5s{more}
"""


@pytest.mark.parametrize(
    ("rw", "fsync", "more", "jobs"),
    [
        ("randwrite", 1, "", (16, 1)),
        ("randrw", 15, "", (16, 1)),
        ("randwrite", 16, "", (2, 8)),
        ("write", 1, "", (2, 8)),
        ("randwrite", 1, "\nnumber_ios=9", (2, 8)),
        ("randwrite", 1, "\nrate_iops=9", (2, 8)),
    ],
)
def test_random_writes_with_close_flushes_come_from_clones(
    rw: str, fsync: int, more: str, jobs: tuple[int, int]
) -> None:
    job = JOB.format(rw=rw, fsync=fsync, more=more)
    expected = job.replace("numjobs=2", f"numjobs={jobs[0]}").replace("iodepth=8", f"iodepth={jobs[1]}")
    assert slots_as_jobs(job) == expected


def run_with_flushes(tmp_path: Path, depth: int) -> RunSpec:
    job = tmp_path / "job.fio"
    text = f"[j]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\nrw=randwrite\nbs=8k\niodepth={depth}\nfsync=4\n"
    job.write_text(text + "time_based=1\nruntime=5s\n")
    return RunSpec("run", "ent-15k", str(job))


def test_only_an_emulated_drive_goes_on_during_a_flush(tmp_path: Path) -> None:
    fio_run = fio_run_of(run_with_flushes(tmp_path, 8))
    assert [line.rpartition(": ")[2] for line in fio_run.differences] == [
        "fio waits for a flush before it issues more I/Os"
    ]
    assert as_served(fio_run).differences == ()


def test_a_target_that_repeats_flushes_is_refused(tmp_path: Path) -> None:
    target = RealTarget("real:rbd:p/i", "rbd", None, "rbd:p/i", 1 << 30, 512, is_ours=True)
    executor = OnDevice(target, None, Setup())
    assert fio_run_of(run_with_flushes(tmp_path, 1)).flushes_aside is False
    with pytest.raises(UserError) as error:
        executor._checked(type("Point", (), {"spec": run_with_flushes(tmp_path, 8)})())
    assert "flushes during other I/Os, which fio's engine rbd repeats in every free slot" in str(error.value)


def figures(count: int, mean_ns: float, outstanding: float = 0.0) -> FiguresDoc:
    return {
        "iops": count / 10,
        "bandwidth_bytes_per_s": 0.0,
        "count": count,
        "bytes": 0,
        "errors": 0,
        "latency_mean_ns": mean_ns,
        "latency_min_ns": None,
        "latency_p50_ns": None,
        "latency_p99_ns": None,
        "latency_p999_ns": None,
        "latency_max_ns": None,
        "queue_depth_mean": outstanding,
    }


def summary(writes: FiguresDoc, flushes: FiguresDoc | None) -> SummaryDoc:
    document: SummaryDoc = {**writes, "read": figures(0, 0.0), "write": writes}
    if flushes is not None:
        document["flush"] = flushes
    return document


def kind(name: str, count: int, model_ns: float, client_ns: float) -> Kind:
    return Kind(name, count, 0, 0, *(Times(mean, mean, mean, mean, mean, mean) for mean in (model_ns, client_ns)))


def serving(writes: Kind, flushes: Kind | None, repeated: int = 0, late: str | None = None) -> Serving:
    return Serving(None, late, (writes,) if flushes is None else (writes, flushes), repeated)


MODEL = summary(figures(1600, 1e6), figures(98, 5e6, 2.0))
SERVER = summary(figures(1600, 1.02e6), figures(100, 5.1e6))
SERVED = serving(kind("write", 1600, 1e6, 1.02e6), kind("flush", 100, 5e6, 5.1e6))


def test_as_many_flushes_on_a_host_that_kept_up_are_comparable() -> None:
    assert reasons(MODEL, [summary(figures(1600, 1.05e6), figures(100, 5.1e6))], SERVED) == ()
    no_flushes = summary(figures(1600, 1e6), None)
    assert reasons(no_flushes, [no_flushes], serving(kind("write", 1600, 1e6, 1e6), None)) == ()


def test_other_numbers_of_flushes_are_invalid() -> None:
    [reason] = reasons(MODEL, [summary(figures(1600, 1e6), figures(800, 5e6))], SERVED)
    assert reason == "for 1,600 writes there were 98 flushes in the model, 800 by fio, 100 by the server"
    half = serving(kind("write", 1600, 1e6, 1e6), kind("flush", 50, 5e6, 5e6))
    assert len(reasons(MODEL, [summary(figures(1600, 1e6), figures(100, 5e6))], half)) == 1


def test_a_client_that_waited_for_the_host_is_invalid() -> None:
    [reason] = reasons(MODEL, [summary(figures(1600, 2e6), figures(100, 5e6))], SERVED)
    assert reason == (
        "the client waited longer than the server took, by 74.7 % of the time in the model "
        "(write mean 2 ms against 1.02 ms): "
        "the host is too busy"
    )
    assert reasons(MODEL, [summary(figures(1600, 1e6), figures(100, 5e6))], serving(*SERVED.kinds, late="late")) == (
        "late",
    )


def test_repeated_flushes_are_counted_as_the_server_did() -> None:
    fio = summary(figures(800, 1e6), figures(5000, 1e4))
    note = flushes_once(fio, copy.deepcopy(MODEL), serving(*SERVED.kinds, repeated=4950))
    assert (fio["flush"]["count"], fio["flush"]["latency_mean_ns"]) == (49, 5.1e6)
    assert note.startswith("fio counted 5,000 flushes")


def test_repeated_flushes_make_no_result_invalid() -> None:
    """fio counts 2,848 flushes where 98 were requested: they are the server's before they are compared."""
    fio = summary(figures(1600, 1e6), figures(2848, 1e4))
    repeated = serving(*SERVED.kinds, repeated=2750)
    stream = {"name": "j", "read": {}, "write": {}, "flush": {"count": 2848}}
    record: Any = {"summary": fio, "streams": [stream]}
    [[note]] = flush_notes([record], copy.deepcopy(SERVER), repeated)
    assert "flush" not in stream, "which of them fio repeated is not known"
    assert reasons(MODEL, [fio], repeated) == ()
    assert note.startswith("fio counted 2,848 flushes")


def test_several_runs_on_a_busy_host_are_invalid_together() -> None:
    """The first of two runs waited for the host: the server counted both as one."""
    kept_up, waited = (summary(figures(800, mean_ns), None) for mean_ns in (1e6, 4e6))
    both = serving(kind("write", 1600, 1e6, 1e6), None)
    assert reasons(None, [kept_up, kept_up], both) == ()
    [reason] = reasons(None, [waited, kept_up], both)
    assert reason.startswith("the client waited longer than the server took, by 150 % of the time in the model")
    assert reasons(None, [kept_up, kept_up], serving(both.kinds[0], None, late="late"))[0] == "late"


def test_clones_need_no_more_connections_than_a_server_takes() -> None:
    many = JOB.format(rw="randwrite", fsync=1, more="").replace("numjobs=2", "numjobs=9")
    assert most_connections(many) == 9
    assert slots_as_jobs(many) == many
    steps = "[global]\n\n[a]\nrw=read\nnumjobs=40\n\n[b]\nstonewall\nrw=read\nnumjobs=30\n\n[c]\nrw=read\nnumjobs=20\n"
    assert most_connections(steps) == 50


def test_the_server_takes_as_many_connections() -> None:
    listener = Path(__file__).parents[2] / "crates/serve/src/nbd/listener.rs"
    assert f"            connections: {CONNECTIONS},\n" in listener.read_text(encoding="utf-8")


def test_more_threads_than_connections_are_refused(tmp_path: Path) -> None:
    threads = (("threads", "65"),)
    with pytest.raises(UserError) as error:
        OnServed().plan(RunSpec("run", "emulated:ent-15k", "fio-randread", threads))
    assert "needs an NBD connection for each of 65 threads: a served machine takes 64" in str(error.value)


def test_a_folder_that_a_killed_process_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "hotband-fio-left"
    left.mkdir()
    (tmp_path / "hotband-fio-left.lock").touch()
    (tmp_path / "hotband-other").mkdir()
    with TemporaryFolder("fio") as first, TemporaryFolder() as second:
        assert Path(first).is_dir()
        assert Path(second).is_dir()
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["hotband-other"]


def test_only_an_emulated_drive_is_preconditioned_by_its_workload() -> None:
    fio_run = fio_run_of(RunSpec("run", "ent-15k", "exchange-jetstress"))
    assert any("does not precondition drives" in line for line in fio_run.differences)
    assert not any("precondition" in line for line in as_served(fio_run).differences)
