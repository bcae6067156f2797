"""Does an experiment give one frame, whoever ran it and whenever, and what is finished when it is stopped?"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from forms import sized
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment import (
    Experiment,
    Local,
    Point,
    Progress,
    Range,
    Tick,
    grid,
    one_at_a_time,
    points_of,
    sequence,
)
from hotband.execution.experiment.executor import Done
from hotband.execution.experiment.store import load_finished
from hotband.execution.runs import run as runs
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import save

DISK = "savvio-10k1"


def iops(finished: Finished) -> float:
    return float(finished.record["summary"]["iops"])


def depths(*of: int) -> Experiment:
    return Experiment(grid([DISK], ["fio-randread"], {"qd": of}, duration="1 s"), {"iops": iops})


def test_a_frame_has_a_row_a_run_with_its_coordinates_and_measures() -> None:
    points = grid([DISK, "cheetah-15k4"], ["fio-randread"], {"qd": [1, 8], "zones": [20]}, [1, 2], duration="1 s")
    measures = {"iops": iops, "note": lambda one: None if iops(one) > 200 else "slow"}
    frame = Experiment(points, measures).run().frame
    assert frame.columns == ["target", "workload", "qd", "zones", "seed", "iops", "note"]
    assert [str(kind) for kind in frame.dtypes] == ["String", "String", "Int64", "Int64", "Int64", "Float64", "String"]
    assert frame["target"].to_list() == [DISK] * 4 + ["cheetah-15k4"] * 4
    assert frame["qd"].to_list() == [1, 1, 8, 8] * 2
    assert frame["seed"].to_list() == [1, 2] * 4
    assert frame["iops"].n_unique() == 8


def test_a_resumed_frame_is_that_of_one_call(tmp_path: Path) -> None:
    depths(4, 1).run(out=tmp_path)
    again = depths(1, 2, 4).run(out=tmp_path)
    assert again.kept == 2
    assert again.frame.equals(depths(1, 2, 4).run(jobs=1).frame)


@pytest.mark.parametrize(
    ("target", "workload", "pairs"),
    [
        (DISK, "fio-randwrite", ()),
        ("raid5:3xsavvio-10k1", "iometer-database", ()),
        ("s4500-960", "fio-randwrite", (("scale", "256"),)),
        ("s4500-960", "ycsb-c", (("app.records", sized("100000", "1000000")), ("scale", "64"))),
    ],
)
def test_a_run_from_disk_is_that_from_memory(
    tmp_path: Path, target: str, workload: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    spec = RunSpec("r", target, workload, pairs, duration="1 s")
    [memory] = Experiment(points_of([spec])).run().finished
    save(memory, tmp_path)
    disk = load_finished(spec, tmp_path, memory.ios)
    assert (disk.record, disk.text, disk.ios) == (memory.record, memory.text, memory.ios)
    assert list(disk.tables) == list(memory.tables)
    for name, table in memory.tables.items():
        assert disk.columns(name) == memory.columns(name), name
        assert disk.tables[name].kinds == table.kinds, name


def two_of_which_end() -> Experiment:
    """Two short runs, and two that end when they are stopped."""
    specs = [
        RunSpec(f"r{n}", DISK, "fio-randread", duration="1 s" if n < 2 else "900 h", weight=9.0 - n) for n in range(4)
    ]
    return Experiment(points_of(specs), {"iops": iops})


def test_what_is_finished_when_the_user_interrupts_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = runs.execute_one

    def interrupt(line: Sequence[runs.Prepared], place: int) -> Finished:
        if line[place].spec.id == "r2":
            signal.raise_signal(signal.SIGINT)
        return original(line, place)

    monkeypatch.setattr(runs, "execute_one", interrupt)
    experiment = two_of_which_end()
    with pytest.raises(RunsInterrupted) as stop:
        experiment.run(out=tmp_path, jobs=1)
    assert [one.spec.id for one in stop.value.finished] == ["r0", "r1"]
    assert experiment.frame(stop.value.finished).height == 2
    first = Experiment(experiment.points[:2])
    assert first.run(out=tmp_path).kept == 2


def test_a_cancelled_executor_ends_and_keeps_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    executor, original = Local(1), runs.execute_one

    def cancel(line: Sequence[runs.Prepared], place: int) -> Finished:
        if line[place].spec.id == "r2":
            executor.cancel()
        return original(line, place)

    monkeypatch.setattr(runs, "execute_one", cancel)
    with pytest.raises(RunsInterrupted) as stop:
        two_of_which_end().run(executor=executor)
    assert [one.spec.id for one in stop.value.finished] == ["r0", "r1"]


def test_progress_counts_what_was_there(tmp_path: Path) -> None:
    depths(1, 2).run(out=tmp_path)
    told: list[Progress] = []
    depths(1, 2, 4).run(out=tmp_path, progress=told.append)
    assert (told[0].done, told[0].of) == (2, 3)
    assert told[0].share >= 2 / 3
    assert (told[-1].done, told[-1].of, told[-1].share) == (3, 3, 1.0)


def test_another_executor_is_given_points_and_gives_results() -> None:
    class Recorded:
        """An executor as one of another computer would be: it sees specs, and answers in its own order."""

        asked: Sequence[Point] = ()

        def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
            self.asked = points
            [one] = depths(1).run().finished
            for point in reversed(points):
                done(point, replace(one, spec=point.spec))

        def cancel(self) -> None:
            raise AssertionError("nobody cancels")

    executor = Recorded()
    frame = depths(1, 2).run(executor=executor).frame
    assert [point.id for point in executor.asked] == [f"{DISK} fio-randread qd={qd}" for qd in (1, 2)]
    assert frame["qd"].to_list() == [1, 2]


def test_a_mistake_in_one_run_is_told_before_any_begins(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="qd"):
        depths(1, 0).run(out=tmp_path)
    assert not list(tmp_path.rglob("record.json"))


def test_names_are_of_one_run() -> None:
    with pytest.raises(UserError, match="is listed twice"):
        depths(1, 1)


def test_ranges_are_swung_one_at_a_time() -> None:
    tags, zones = Range("tags", "queue_tags", "1", "64"), Range("zones", "zones", "10", "20", nominal="20")
    points = one_at_a_time(grid([DISK], ["fio-randread"], {"qd": [8]}, duration="1 s"), [tags, zones])
    frame = Experiment(points, {"iops": iops}).run().frame
    assert frame.select("range", "end").rows() == [("", "nominal"), ("tags", "low"), ("tags", "high"), ("zones", "low")]
    nominal, low, high, _ = frame["iops"]
    assert low < nominal
    assert high == nominal


def test_a_sequence_is_on_one_machine() -> None:
    experiment = Experiment(sequence(DISK, ["fio-randread"] * 2, {"qd": 4}, duration="1 s"), {"iops": iops})
    done = experiment.run()
    assert [one.record["sequence"]["place"] for one in done.finished] == [1, 2]
    assert done.frame["place"].to_list() == [1, 2]
    assert "4" in done.frame["qd"].to_list()
