"""Does a workload on hardware leave the record that a model leaves, and is nothing else touched?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import hotband as hb
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.record.states import state_words
from hotband.execution.devices.contents import MARK
from hotband.execution.experiment import Cancelled, Experiment, Point
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets.fio_child import run_fio
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_job import NBD, job_at, job_on, on_volumes
from hotband.execution.targets.fio_record import measured_in
from hotband.execution.targets.on_device import Setup
from hotband.execution.targets.own_file import laid_out
from hotband.execution.targets.real_target import OWN_FILE, real_target_of
from hotband.execution.targets.target import executor_of

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
MIB = 1 << 20
SHORT = ("--duration", "1 s", "--set", "warm_up=0 s", "--expect", "none")


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A loop device of 16 MiB, and the file below it."""
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        pytest.skip("needs root and losetup")
    image = tmp_path / "loop.img"
    image.write_bytes(bytes(16 * MIB))
    made = subprocess.run(["losetup", "-f", "--show", str(image)], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    yield Path(made.stdout.strip()), image
    subprocess.run(["losetup", "-d", made.stdout.strip()], check=True)


# At a rate, so that nothing has to be found out before, and the tests leave the processor to others.
SLOW = 'open = { rate_iops = 400, arrival = "fixed" }'
BUSY = "closed = { threads = 1, depth = 2 }"


def workload(load: str = SLOW, **keys: object) -> str:
    """The text of a workload of one stream: a second of random 4 KiB I/Os."""
    stream = {"read_pct": 100, "random_pct": 100, "size": '"4 KiB"', **keys}
    lines = "\n".join(f"{key} = {value}" for key, value in stream.items())
    phase = '[[phases]]\nname = "measure"\nduration = "1 s"\nmeasure = true\n'
    return f"[load]\n{load}\n[[streams]]\n{lines}\n{phase}"


def spec(on: str, name: str = "run", load: str = SLOW, **keys: object) -> RunSpec:
    """A run of it."""
    return RunSpec(name, on, "own", seed=7, workload_text=workload(load, **keys))


def test_a_folder_gets_a_file_which_is_gone_afterwards(hotband, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = hotband(
        "run", "fio-randread", "--on", f"real:{folder}", "--size", "8 MiB", *SHORT, "--out", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    assert "laid out first, 8,388,608 bytes" in done.stderr
    assert "nothing is written" in done.stderr
    assert list(folder.iterdir()) == []
    record = json.loads((tmp_path / "out/record.json").read_text())
    assert record["target"] == {"kind": "real", "machine": f"real:{folder}"}
    assert record["summary"]["read"]["count"] > 0
    assert record["streams"][0]["read"]["histogram"]["kind"] == "fio"
    assert record["source"]["asked"]["working_set_bytes"] == 8 * MIB
    assert record["context"]["device"]["kind"] == "file"
    [drive] = record["drive_state"]["drives"]
    assert (drive["drives"], drive["holds"]) == ([f"{folder}/{OWN_FILE}"], "filled")
    assert "state: not known" not in done.stdout
    assert ", filled" in done.stdout
    assert record["context"]["background"]["duration_ns"] > 1e9
    assert "direct=1" in record["job"]
    assert f"filename={folder}/{OWN_FILE}" in record["job"]


def test_the_series_has_a_row_an_interval_and_the_percentile_of_each(tmp_path: Path) -> None:
    text = 'interval = "250 ms"\n' + workload().replace('duration = "1 s"', 'duration = "1200 ms"')
    record = hb.run(text, on=f"real:{tmp_path}", size="4 MiB", expect="none")
    rows = record.series.filter(record.series["iops"].is_not_null())
    assert record.document["series"]["interval_ns"] == 250_000_000
    # On a busy host no I/O may be completed in an interval, which then has no row: those that there are begin where an
    # interval begins, and none is there twice.
    times = rows["time_ns"].to_list()
    assert times == sorted({time // 250_000_000 * 250_000_000 for time in times})
    assert 2 <= len(times) <= 6
    assert rows["latency_p99_ns"].null_count() == 0


def test_a_file_is_read_without_words_and_written_only_where_it_is_named(hotband, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"mine" * (MIB // 4))
    (tmp_path / "write.toml").write_text(workload(read_pct=0))
    on = ("--on", f"real:{file}", "--expect", "none")
    write = ("run", str(tmp_path / "write.toml"), *on)
    assert hotband("run", "fio-randread", "--on", f"real:{file}", *SHORT).returncode == 0
    for words in (("--yes",), ("--yes", "--erase", "other"), ("--yes", "--erase", "data")):
        refused = hotband(*write, *words)
        assert refused.returncode == 2, refused.stderr
        assert "data" in refused.stderr
        assert file.read_bytes() == b"mine" * (MIB // 4)
    unasked = hotband(*write, "--erase", str(file))
    assert "no terminal to confirm it: expected --yes" in unasked.stderr
    assert file.read_bytes() == b"mine" * (MIB // 4)
    done = hotband(*write, "--erase", str(file), "--yes")
    assert done.returncode == 0, done.stderr
    assert "about 1,600 KiB is written" in done.stderr
    assert file.stat().st_size == MIB
    assert file.read_bytes() != b"mine" * (MIB // 4)


def test_a_file_of_holes_is_said_to_be_one(tmp_path: Path) -> None:
    place = tmp_path / "hollow"
    with place.open("wb") as file:
        file.truncate(8 * MIB)
    record = hb.run(workload(), on=f"real:{place}", expect="none")
    assert "100 % of the file are holes: reads of them never reach a drive" in record.document["notes"]


def test_a_loop_device_is_filled_and_measured(loop: tuple[Path, Path]) -> None:
    device, image = loop
    with pytest.raises(hb.UserError, match="expected erase"):
        hb.run(workload(read_pct=0), on=f"real:{device}", expect="none")
    record = hb.run(workload(), on=f"real:{device}", state="filled", erase=str(image), expect="none").document
    assert record["state_kept"]["state"] == "filled"
    assert record["state_kept"]["written_bytes"] >= 2 * 16 * MIB
    assert state_words(record).startswith("write cache on (volatile), filled; filled in ")
    assert record["context"]["device"]["kind"] == "loop"
    held = image.read_bytes()
    assert all(any(held[at : at + 4096]) for at in range(0, len(held), MIB)), "every MiB was written"


def test_an_emulated_drive_is_asked_for_the_same_by_both_names(tmp_path: Path) -> None:
    serve = ServeSpec("exos-15e900-512n", socket=tmp_path / "s", anyway=True)
    with Served(serve) as served:
        uri = served.volumes["d0"].uri
        place = real_target_of(f"real:{uri}")
        assert (place.kind, place.size_bytes, place.block_bytes) == ("nbd", served.volumes["d0"].size, 512)
        asked = fio_run_of(spec(place.text, load=BUSY))
        assert job_at(asked, place) == job_on(asked, NBD, on_volumes(served.volumes))
        record = hb.run(workload(BUSY), on=f"real:{uri}", expect="none").document
        counted = served.serving()
    # Both saw the same I/Os, and a 15K disk: nothing between them.
    [reads] = counted.kinds
    assert reads.count == record["summary"]["read"]["count"] + record["concurrency"] - 2
    assert 3e6 < record["summary"]["read"]["latency_mean_ns"] < 60e6


def test_what_is_finished_is_kept_and_the_rest_is_run_by_the_same_command(tmp_path: Path) -> None:
    points = [Point(spec(f"real:{tmp_path}", name)) for name in ("a", "b", "c")]
    setup = Setup(size_bytes=4 * MIB, product="none")
    executor = executor_of(f"real:{tmp_path}", writes=False, setup=setup)
    assert executor is not None
    seen: list[str] = []

    def tick(told: hb.experiment.Progress) -> None:
        if told.done == 1 and told.phase == "measuring":
            executor.cancel()

    experiment = Experiment(points)
    with pytest.raises(RunsInterrupted) as stopped:
        experiment.run(out=tmp_path / "out", executor=executor, progress=tick)
    assert [one.spec.id for one in stopped.value.finished] == ["a"]
    assert not (tmp_path / OWN_FILE).exists()

    class Counting:
        """Runs what is missing as hardware would."""

        def execute(self, points, done, tick) -> None:
            seen.extend(point.id for point in points)
            executor.execute(points, done, lambda _: None)

        def cancel(self) -> None:
            raise AssertionError

    outcome = experiment.run(out=tmp_path / "out", executor=Counting())
    assert (seen, outcome.kept) == (["b", "c"], 1)
    assert [one.spec.id for one in outcome.finished] == ["a", "b", "c"]


def test_what_a_run_finds_is_what_the_one_before_it_left(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(MIB))
    executor = executor_of(
        f"real:{tmp_path}/data", writes=True, erase=f"{tmp_path}/data", setup=Setup(product="none", probe_s=0)
    )
    assert executor is not None
    held: list[str] = []

    def done(_: Point, finished: Finished) -> None:
        held.append(state_words(finished.record).rpartition(", ")[2])

    points = [Point(spec(f"real:{tmp_path}/data", f"{place}", read_pct=share)) for place, share in enumerate((0, 100))]
    executor.execute(points, done, lambda _: None)
    assert held == ["as found", "as left"]


def test_no_is_no(tmp_path: Path) -> None:
    executor = executor_of(f"real:{tmp_path}", writes=True, setup=Setup(size_bytes=MIB), confirm=lambda _: False)
    assert executor is not None

    def done(point: Point, finished: Finished) -> None:
        raise AssertionError(point, finished)

    with pytest.raises(Cancelled):
        executor.execute([Point(spec(f"real:{tmp_path}", read_pct=0))], done, lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_left_is_used_again_and_one_in_use_is_not(tmp_path: Path) -> None:
    place = real_target_of(f"real:{tmp_path}")
    (tmp_path / OWN_FILE).write_bytes(b"left")
    with pytest.raises(hb.UserError, match="was not marked by Hotband"), laid_out(place, MIB, 1, True, lambda _: None):
        pass
    assert (tmp_path / OWN_FILE).read_bytes() == b"left"
    os.setxattr(tmp_path / OWN_FILE, MARK, b"1")
    with laid_out(place, MIB, 1, True, lambda _: None) as (made, _):
        assert made.size_bytes == (tmp_path / OWN_FILE).stat().st_size == MIB
        content = (tmp_path / OWN_FILE).read_bytes()
        assert len({content[at : at + 4096] for at in range(0, MIB, 4096)}) == MIB // 4096, "no block is a copy"
        with (
            pytest.raises(hb.UserError, match="another hotband measures in it"),
            laid_out(place, MIB, 1, False, lambda _: None),
        ):
            pass
    assert (tmp_path / OWN_FILE).exists()


def test_a_sweep_has_models_and_hardware_in_one_frame_and_goes_on(tmp_path: Path) -> None:
    on = ["ent-10k", f"real:{tmp_path}"]

    def swept() -> hb.Sweep:
        return hb.sweep(workload(BUSY), on=on, depth=[1, 2], duration="300 ms", size="4 MiB", out=tmp_path / "out")

    first = swept()
    assert first.frame["target"].to_list() == [on[0]] * 2 + [on[1]] * 2
    assert not first.missing
    iops = first.frame.filter(first.frame["target"] == on[1])["iops"].to_list()
    # Nothing is measured again.
    again = swept().frame
    assert again.filter(again["target"] == on[1])["iops"].to_list() == iops
    with pytest.raises(hb.UserError, match="applies to predictions"):
        hb.sweep(workload(BUSY), on=on, depth=[1], interval=90)


def test_steps_and_streams_are_those_of_the_workload(tmp_path: Path) -> None:
    streams = "".join(
        f'[[streams]]\nname = "{name}"\nread_pct = {share}\nrandom_pct = 100\nsize = "4 KiB"\n'
        for name, share in (("asks", 100), ("tells", 0))
    )
    steps = (("first", "asks"), ("then", "tells"), ("again", "asks"))
    phases = "".join(
        f'[[phases]]\nname = "{name}"\nios = {place + 1}00\nstreams = ["{stream}"]\nmeasure = true\n'
        for place, (name, stream) in enumerate(steps)
    )
    text = f"[load]\nclosed = {{ threads = 1, depth = 1 }}\n{streams}{phases}"
    model = hb.run(text, on="ent-10k").document
    real = hb.run(text, on=f"real:{tmp_path}", size="4 MiB", expect="none").document
    for of in (model, real):
        assert [one["name"] for one in of["steps"]] == ["first", "then", "again"]
        assert [one["name"] for one in of["streams"]] == ["asks", "tells"]
    assert [one["summary"]["count"] for one in real["steps"]] == [100, 200, 300]
    assert [one["read"]["count"] + one["write"]["count"] for one in real["streams"]] == [400, 200]
    assert [one["begin_ns"] for one in real["steps"]] == [
        sum(one["duration_ns"] for one in real["steps"][:place]) for place in range(3)
    ]


def test_streams_side_by_side_and_threads_of_one_are_told_apart_and_added_up(tmp_path: Path) -> None:
    streams = "".join(
        f'[[streams]]\nname = "{name}"\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
        f"load = {{ closed = {{ threads = {threads}, depth = 1 }} }}\n"
        for name, threads in (("the one", 1), ("both", 2))
    )
    text = f'interval = "300 ms"\n{streams}[[phases]]\nduration = "1 s"\nmeasure = true\n'
    record = hb.run(text, on=f"real:{tmp_path}", size="4 MiB", expect="none")
    assert [one["name"] for one in record.document["streams"]] == ["the one", "both"]
    counts = [one["read"]["count"] for one in record.document["streams"]]
    assert all(counts)
    assert sum(counts) == record.document["summary"]["count"]
    assert record.document["concurrency"] == 3
    assert sum(count for _, count in record.document["streams"][1]["read"]["histogram"]["buckets"]) == counts[1]
    rows = record.series
    assert rows.select("time_ns", "stream").is_unique().all()
    whole = rows.filter(rows["iops"].is_not_null())
    depths = {name: whole.filter(whole["stream"] == name)["queue_depth"].mean() for name in ("the one", "both")}
    assert depths["both"] > 1.2 * depths["the one"]


def test_a_log_that_cannot_be_read_costs_the_series_not_the_run(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(MIB))
    asked = fio_run_of(spec(f"real:{tmp_path}/data"))
    run_fio(job_at(asked, real_target_of(f"real:{tmp_path}/data")), tmp_path)
    assert measured_in(asked, tmp_path).series is not None
    (tmp_path / "fio_clat_hist.1.log").write_text("1795443424669, 0, 4096, 0, 0, 0\n1795443424669, 0, 40\n")
    record, series = measured_in(asked, tmp_path)
    assert series is None
    assert record["summary"]["count"] > 0
    assert any(note.startswith("no series: fio_clat_hist.1.log") for note in record["notes"])


def test_a_pause_longer_than_the_run_does_not_prolong_it(tmp_path: Path) -> None:
    """The workload `idle` pauses for 1000 s between two I/Os."""
    (tmp_path / "data").write_bytes(bytes(MIB))
    record = hb.run("idle", on=f"real:{tmp_path}/data", duration="0.3 s", expect="none")
    assert record.read.count == 1
    assert record.to_dict()["duration_ns"] < 5e9
