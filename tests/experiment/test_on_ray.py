"""Does a cluster of Ray leave what this computer leaves, whatever becomes of its workers?"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hotband as hb
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.results.sweep_journal import FRAME_FILE
from hotband.execution.experiment import Experiment, executor_of, grid, points_of, ray_cluster, sequence, using
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.questions.calibrate import screen
from hotband.questions.calibrate.calibrate import CalibrationTask, of_plan, plan
from hotband.questions.calibrate.measure import measure
from hotband.questions.calibrate.model import Product
from hotband.questions.calibrate.unknowns import unknowns_of

pytest.importorskip("ray", reason="Ray is not installed: pip install hotband[ray]")

MACHINES = ["ent-10k", "ent-15k"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two processes of this computer; the tests of this file share them."""
    before = os.environ.pop("RAY_ADDRESS", None)
    with executor_of("ray", 2) as executor:  # type: ignore[attr-defined]
        yield executor
    if before is not None:
        os.environ["RAY_ADDRESS"] = before


def left(finished: list[Finished]) -> list[Any]:
    """All that runs left, to the byte."""
    return [
        (one.spec, one.text, one.record, one.ios, {name: (of.columns, of.kinds) for name, of in one.tables.items()})
        for one in finished
    ]


def test_runs_are_the_same_to_the_byte(cluster: Any) -> None:
    experiment = Experiment(
        grid(["ent-10k", "s4500-960", "raid5:4xsavvio-10k1"], ["fio-randread"], {"qd": [1, 4]}, duration="100 ms")
    )
    assert left(experiment.run(executor=cluster).finished) == left(experiment.run().finished)


def test_runs_on_one_machine_stay_together(cluster: Any) -> None:
    points = sequence(
        "s4500-960", ["fio-randread", "fio-randwrite", "fio-randread"], {"scale": "256"}, duration="50 ms"
    )
    assert left(Experiment(points).run(executor=cluster).finished) == left(Experiment(points).run().finished)


def test_files_of_the_user_travel(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drives").mkdir()
    (tmp_path / "drives/mine.toml").write_text('variant_of = "ent-10k"\ntitle = "mine"\n[values]\nrpm = "9000 rpm"\n')
    (tmp_path / "m.toml").write_text(
        '[drives.d]\nproduct = "drives/mine.toml"\ncount = 2\n[layouts.a]\nraid1 = { members = "d*" }\n'
    )
    (tmp_path / "w.toml").write_text(hb.workload("fio-randread"))
    whole = str(tmp_path / "drives/mine.toml")
    names = ["m.toml", "raid0:2x./drives/mine.toml", "drives/mine.toml", whole]
    specs = [RunSpec(name, name, "w.toml", duration="100 ms") for name in names]
    experiment = Experiment(points_of(specs))
    assert left(experiment.run(executor=cluster).finished) == left(experiment.run().finished)


@pytest.mark.parametrize("records", [False, True])
def test_a_sweep_leaves_the_same_frame_and_goes_on(cluster: Any, tmp_path: Path, records: bool) -> None:
    asked: Any = {"on": MACHINES, "qd": "1..4", "repeat": 3, "duration": "100 ms", "records": records}
    here = hb.sweep("fio-randread", out=tmp_path / "here", **asked)
    there = hb.sweep("fio-randread", out=tmp_path / "there", executor=cluster, **asked)
    assert (tmp_path / "there" / FRAME_FILE).read_bytes() == (tmp_path / "here" / FRAME_FILE).read_bytes()
    assert there.complete
    assert [one.document for one in there] == [one.document for one in here]
    journals = [(tmp_path / name / "sweep.journal").read_bytes().split(b"\n") for name in ("here", "there")]
    assert sorted(journals[0]) == sorted(journals[1])
    # What one left the other goes on from: nothing is run twice, here or there.
    before = (tmp_path / "there/sweep.journal").read_bytes()
    hb.sweep("fio-randread", out=tmp_path / "there", **asked)
    assert (tmp_path / "there/sweep.journal").read_bytes() == before


def test_a_study_has_the_same_result(cluster: Any, tiny: Path) -> None:
    here, there = (hb.study(tiny).run(executor=executor) for executor in (None, cluster))
    assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())


def test_an_inverse_question_has_the_same_answer(cluster: Any) -> None:
    asked: Any = {"on": MACHINES, "ios": 1000}
    here = hb.find("IOPS at p99 < 30 ms", "fio-randread", **asked)
    there = hb.find("IOPS at p99 < 30 ms", "fio-randread", executor=cluster, **asked)
    assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())


def test_intervals_of_a_run_are_the_same(cluster: Any) -> None:
    def made() -> Any:
        return hb.run("fio-randread", on="ent-10k", duration="500 ms", interval=90, draws=8).document["intervals"]

    with using(cluster):
        there = made()
    assert json.dumps(there) == json.dumps(made())


def test_a_review_is_the_same(cluster: Any) -> None:
    asked: Any = {"on": MACHINES, "quick": True, "only": ["access"], "progress": False}
    here, there = (hb.review(executor=executor, **asked) for executor in (None, cluster))
    assert json.dumps(there.reviews) == json.dumps(here.reviews)
    assert json.dumps(there.comparison) == json.dumps(here.comparison)


def test_what_is_expected_of_a_result_is_the_same(cluster: Any, tmp_path: Path) -> None:
    times = {"min": 1000, "max": 10**8, "mean": 7.4e6, "N": 8000, "percentile": {"99.000000": 9_700_000}}
    side = {"io_bytes": 32_768_000, "total_ios": 8000, "runtime": 60_000, "iops": 133.3, "clat_ns": times}
    options = {
        "ioengine": "libaio",
        "direct": "1",
        "bs": "4k",
        "filename": "/dev/sdb",
        "rw": "randread",
        "iodepth": "1",
    }
    none = {"io_bytes": 0, "total_ios": 0, "runtime": 0, "iops": 0, "clat_ns": {}}
    job = {"jobname": "a", "groupid": 0, "error": 0, "elapsed": 61, "job options": options, "read": side, "write": none}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"fio version": "fio-3.33", "global options": options, "jobs": [job]}))
    here, there = (
        hb.expect(path, on="ent-10k", draws=8, duration="2 s", progress=False, executor=executor)
        for executor in (None, cluster)
    )
    assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())


@pytest.mark.long
def test_a_calibration_is_the_same(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two unknown values, with short runs: they are the same on the cluster, whatever the fit is worth."""
    monkeypatch.setattr(screen, "SEEDS", 3)
    numbers = [one for number in unknowns_of("ent-10k", {}).numbers for one in number.values]
    known = tuple((one.range.key, one.range.nominal) for one in numbers if not one.range.key.startswith("seek_read"))

    @contextmanager
    def watch(_: str) -> Iterator[None]:
        yield None

    def made() -> Any:
        target = Product("ent-10k", None, (("seek_read_average", "3.6 ms"),))
        planned = plan(CalibrationTask(Product("ent-10k", None, known), target, seconds=240.0, ios=1_000), watch)
        measured = measure(planned.task.target, planned.loads, planned.counts, (None, None, 1), lambda _: None, watch)
        return of_plan(planned, measured, watch).to_dict()

    with using(cluster):
        there = made()
    assert json.dumps(there) == json.dumps(made())


def test_the_command_prints_the_same(cluster: Any, hotband: Callable[..., Any]) -> None:
    asked = ("sweep", "fio-randread", "--on", "ent-10k", "--set", "qd=1,2", "--duration", "100 ms", "--json")
    # The cluster of the tests is the one that it would start.
    there = hotband(*asked, "--executor", "ray", "--jobs", "2")
    assert there.returncode == 0, there.stderr
    assert there.stdout == hotband(*asked).stdout


def test_a_mistake_in_one_of_many_runs_is_told_before_any_begins(cluster: Any) -> None:
    # So many that most are checked on the cluster.
    points = grid(["ent-10k"], ["fio-randread"], {"qd": [*range(1, 80), 0]}, duration="100 ms")
    took: list[object] = []
    with pytest.raises(hb.UserError, match="qd"):
        cluster.execute(points, lambda point, _: took.append(point), lambda _: None)
    assert not took


def test_a_worker_that_dies_costs_nothing_but_time(cluster: Any) -> None:
    points = grid(["exos-15e900-512n"], ["fio-randread"], {"qd": [32]}, list(range(12)), duration="120 s")
    experiment, over, killed = Experiment(points), threading.Event(), set[int]()

    def kill() -> None:
        while not over.is_set() and len(killed) < 4:
            for pid in set(workers()) - killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        there = experiment.run(executor=cluster)
    finally:
        over.set()
        thread.join()
    assert killed
    assert left(there.finished) == left(experiment.run().finished)


def workers() -> list[int]:
    """Processes of Ray that have a task of ours."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::run_lines"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_cancelled_it_keeps_what_was_finished(cluster: Any) -> None:
    points = grid(["exos-15e900-512n"], ["fio-randread"], {"qd": [1, 2]}, duration="100 ms")
    points += grid(["exos-15e900-512n"], ["fio-randread"], {"qd": [64]}, list(range(3)), duration="1000000 s")

    def tick(told: Any) -> None:
        if told.done == 2:
            cluster.cancel()

    with pytest.raises(RunsInterrupted) as stopped:
        Experiment(points).run(executor=cluster, progress=tick)
    assert {one.spec.set for one in stopped.value.finished} == {(("qd", "1"),), (("qd", "2"),)}


def test_what_goes_wrong_in_a_cluster_is_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    import ray

    ray_cluster._errors_to_stderr(ray)
    ray._private.worker.print_to_stdstream({"lines": ["A worker died"], "pid": "raylet", "is_err": False}, False)
    assert capsys.readouterr() == ("", "ray: A worker died\n")
