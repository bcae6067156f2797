"""Does a trace on an emulated machine and on hardware leave what its replay on a model leaves?"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hotband as hb
import hotband._core as _core
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.run import RunSpec
from hotband.execution.replay import loop
from hotband.execution.replay.loop import NEVER, Io, Times, issue
from hotband.execution.replay.ports import FLUSH, READ, WRITE, NbdPort, aio_port, random_data
from hotband.execution.replay.schedule import AfterCompletion, Fast, Recorded, Schedule
from hotband.execution.serve.served import nbd_uri
from hotband.execution.targets import emulated, fio_client, on_device
from hotband.execution.targets.outlook import outlook_of
from hotband.execution.targets.real_target import RealTarget
from hotband.execution.targets.remote import connected
from hotband.execution.targets.replay_record import Recording, imported_of_replay, replayed_of, sections_of
from hotband.execution.targets.replay_run import Volume, placed, replay_run_of

MIB = 1 << 20
MS = 1_000_000
DRIVE = "ent-10k"
KINDS = ("read", "write", "flush")


def trace(path: Path, ios: list[tuple[int, str, int, int]]) -> Path:
    """Write a trace in fio's format: milliseconds, operation, offset and size of each I/O."""
    lines = ["fio version 3 iolog", "0 data add", "0 data open"]
    lines += [f"{1000 * at} data {op} {offset} {size}" for at, op, offset, size in ios]
    path.write_text("\n".join(lines) + "\n")
    return path


def mixed(path: Path) -> Path:
    """Write a trace of half a second: reads, writes, and flushes while other I/Os are outstanding."""
    rng = random.Random(1)
    kinds = ["read", "write", "read", "write", "sync"] * 16
    return trace(path, [(6 * at, kind, 4096 * rng.randrange(2000), 4096) for at, kind in enumerate(kinds)])


def after(path: Path, **keys: str) -> Path:
    """Write a workload that replays a trace in some way."""
    lines = [f'{key} = "{value}"' for key, value in {"file": str(path), **keys}.items()]
    workload = path.with_suffix(".toml")
    workload.write_text("\n".join(["[trace]", *lines]) + "\n")
    return workload


@contextmanager
def slow_drive(folder: Path, latency_ns: int) -> Iterator[str]:
    """Serve a drive of 64 MiB, and yield its URI."""
    socket = folder / "s"
    server = _core.FixedServer(socket, latency_ns)
    try:
        yield nbd_uri(socket, "drive")
    finally:
        server.stop()


def replayed_on(uri: str, ios: list[Io], schedule: Schedule) -> Times:
    with connected("x", uri) as (client, _):
        return issue(ios, schedule, [NbdPort(client, random_data(4096, 1))])


def test_an_emulated_machine_gets_the_ios_of_the_trace(tmp_path: Path) -> None:
    file = mixed(tmp_path / "a.iolog")
    model = hb.run(file, on=DRIVE, seed=3)
    emulated = hb.run(file, on=f"emulated:{DRIVE}", seed=3, anyway=True, io_log=tmp_path / "served.parquet")
    first, second = model.to_dict(), emulated.to_dict()
    for kind in KINDS:
        assert second["summary"][kind]["count"] == first["summary"][kind]["count"] > 0
    assert [stream["name"] for stream in second["streams"]] == [stream["name"] for stream in first["streams"]]
    assert second["streams"][0]["flush"]["histogram"]["buckets"]
    assert set(first["trace"]) <= set(second["trace"])
    assert second["trace"]["ios"] == first["trace"]["ios"]
    assert second["trace"]["issue_error"]["max_ns"] > 0
    served = pl.read_parquet(tmp_path / "served.parquet").sort("number")
    engine = pl.read_parquet(_log_of(tmp_path, file)).sort("number")
    columns = ["direction", "offset_bytes", "size_bytes"]
    assert served.select(columns).rows() == engine.select(columns).rows()


def _log_of(folder: Path, workload: Path, **settings: str) -> Path:
    log = folder / "model.parquet"
    hb.run(workload, on=DRIVE, seed=3, io_log=log, set=settings)
    return log


def test_a_file_gets_the_ios_of_the_trace_and_is_compared_with_the_recording(tmp_path: Path) -> None:
    log = _log_of(tmp_path, mixed(tmp_path / "a.iolog"))
    folder = tmp_path / "disk"
    folder.mkdir()
    record = hb.run(log, on=f"real:{folder}", size="16 MiB", set={"issue": "after-completion"}).to_dict()
    assert {kind: record["summary"][kind]["count"] for kind in KINDS} == {"read": 32, "write": 32, "flush": 16}
    assert record["trace"]["issue"] == "after-completion"
    assert record["comparison"]["ios"] == record["trace"]["ios"] == 80
    assert record["comparison"]["rms_ns"] > 0
    assert sum(record["trace"][kind]["count"] for kind in KINDS) == 80
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "least"), [({}, 32), ({"duration": "40 ms"}, 16), ({"set": {"issue": "after-completion"}}, 32)]
)
def test_a_replay_on_hardware_has_the_prediction_of_a_drive_next_to_it(
    tmp_path: Path, options: dict[str, Any], least: int
) -> None:
    ios = [(2 * at, "read", 8192 * (37 * at % 128), 4096) for at in range(32)]
    log = _log_of(tmp_path, trace(tmp_path / "a.iolog", ios))
    (tmp_path / "disk").write_bytes(bytes(2 * MIB))
    record = hb.run(log, on=f"real:{tmp_path / 'disk'}", expect=DRIVE, **options).to_dict()
    assert record["summary"]["read"]["count"] >= least
    [row] = record["expected"]["rows"]
    [mean] = [one for one in row["figures"] if one["figure"] == "latency_mean_ns"]
    # The model replays the same I/Os on the drive: as `hb.run` of the trace on it does.
    assert mean["predicted"] == pytest.approx(hb.run(log, on=DRIVE, **options).document["summary"]["latency_mean_ns"])
    assert mean["measured"] == pytest.approx(record["summary"]["latency_mean_ns"])


def test_the_screen_of_a_run_on_hardware_shows_its_prediction(tmp_path: Path, hotband: Any) -> None:
    ios = [(2 * at, "read", 8192 * (37 * at % 128), 4096) for at in range(32)]
    log = _log_of(tmp_path, trace(tmp_path / "a.iolog", ios))
    (tmp_path / "disk").write_bytes(bytes(2 * MIB))
    done = hotband("run", str(log), "--on", f"real:{tmp_path / 'disk'}", "--expect", DRIVE)
    assert f"Expected of {DRIVE} (as you named it): " in done.stdout
    assert re.search(r"  mean \S+ [mµ]s measured, \S+ [mµ]s predicted", done.stdout), done.stdout


def test_as_fast_as_possible_ignores_the_recorded_times(tmp_path: Path) -> None:
    reads = [(1000 * at, "read", 4096 * at, 4096) for at in range(200)]
    file = trace(tmp_path / "slow.iolog", reads)
    (tmp_path / "disk").write_bytes(bytes(2 * MIB))
    settings = {"issue": "as-fast-as-possible", "depth": 8}
    record = hb.run(file, on=f"real:{tmp_path / 'disk'}", set=settings, expect="none")
    assert record.read.count == 200
    assert record.to_dict()["trace"]["issue_error"] is None
    assert record.to_dict()["duration_ns"] < 100e9


def test_a_duration_ends_a_replay(tmp_path: Path) -> None:
    (tmp_path / "disk").write_bytes(bytes(2 * MIB))
    file = trace(tmp_path / "a.iolog", [(10 * at, "read", 4096 * at, 4096) for at in range(200)])
    record = hb.run(file, on=f"real:{tmp_path / 'disk'}", duration="0.3 s", expect="none")
    assert record.to_dict()["duration_ns"] == 300 * MS
    assert 15 < record.read.count <= 30


def test_ios_wait_for_their_time_and_not_for_other_ios(tmp_path: Path) -> None:
    """Of a drive that takes 50 ms, an I/O every 5 ms: a client that waits for completions is ten times as slow, as
    fio's engine for NBD is."""
    ios = [Io(0, READ, 4096 * at, 4096, False) for at in range(40)]
    with slow_drive(tmp_path, 50 * MS) as uri:
        timed = replayed_on(uri, ios, Recorded([5 * MS * at for at in range(40)]))
        serial = replayed_on(uri, ios, Fast(40, 1))
    assert (timed.completed - timed.issued).min() >= 50 * MS
    assert (timed.issued >= timed.due).all()
    assert timed.due.tolist() == [5 * MS * at for at in range(40)]
    assert timed.issued[39] < serial.issued[39] / 3


def test_large_reads_arrive_in_several_pieces(tmp_path: Path) -> None:
    """Larger than what is received at once, so that a reply begins within a piece."""
    ios = [Io(0, READ, 0, size, False) for size in (4096, 3 * MIB, 512, 2 * MIB)]
    with slow_drive(tmp_path, MS) as uri:
        times = replayed_on(uri, ios, Recorded([0] * 4))
    assert not times.failed.any()
    assert (times.completed > times.issued).all()


def test_a_device_gets_writes_where_they_belong(tmp_path: Path) -> None:
    file = tmp_path / "disk"
    file.write_bytes(bytes(MIB))
    ios = [Io(0, WRITE, 8192, 4096, True), Io(0, FLUSH, 0, 0, False), Io(0, READ, 0, 4096, False)]
    data = random_data(4096, 1)
    with aio_port(file, data, writes=True) as port:
        times = issue([*ios, Io(0, READ, 1, 4096, False)], Recorded([0, 0, 0, 0]), [port])
    assert times.failed.tolist() == [False, False, False, True]
    assert file.read_bytes() == bytes(8192) + data.memory[:4096] + bytes(MIB - 12288)


def test_an_io_waits_for_the_one_that_completed_last_before_it() -> None:
    """Two I/Os at first; the third was issued 2 ms after the second had completed, the fourth 1 ms after the first."""
    schedule = AfterCompletion([0, 0, 7, 11], [10, 5, 100, 1], 1.0)
    assert [schedule.next_time(), schedule.take(), schedule.take()] == [0, 0, 1]
    assert schedule.next_time() is None
    schedule.completed(0, 40)
    assert (schedule.next_time(), schedule.take()) == (41, 3)
    schedule.completed(1, 60)
    assert (schedule.next_time(), schedule.take()) == (62, 2)


@pytest.mark.parametrize("how", ["wrap", "scale"])
def test_addresses_beyond_a_target_are_those_of_a_model(tmp_path: Path, how: str) -> None:
    [(name, size)] = _core.machine_offer(CATALOG_DIR, DRIVE, None, [])["volumes"]
    rng = random.Random(2)
    blocks = 2 * size // 4096
    ios = [(at, "read", 4096 * rng.randrange(blocks), 4096) for at in range(50)]
    workload = after(trace(tmp_path / "a.iolog", ios), beyond=how)
    offsets = pl.read_parquet(_log_of(tmp_path, workload)).sort("number")["offset_bytes"].to_list()
    end = max(offset + length for _, _, offset, length in ios)
    place = Volume(name, size, 512)
    assert [placed(how, offset, length, place, end) for _, _, offset, length in ios] == offsets
    assert offsets != [offset for _, _, offset, _ in ios]


REFUSED = {
    "phases": ('[trace]\nfile = "FILE"\n[[phases]]\nname = "a"\nduration = "1 s"\nmeasure = true\n',
               "a trace is replayed alone on the wall clock"),
    "volume": ('[trace]\nfile = "FILE"\nvolume = "d0"\n', "names a volume, which hardware does not have"),
    "latencies": ('[trace]\nfile = "FILE"\nissue = "after-completion"\n', "the trace has no latency here"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_replayed_is_refused(tmp_path: Path, case: str) -> None:
    text, words = REFUSED[case]
    (tmp_path / "disk").write_bytes(bytes(8 * MIB))
    file = trace(tmp_path / "a.iolog", [(at, "read", 4096 * at, 4096) for at in range(3)])
    (tmp_path / "w.toml").write_text(text.replace("FILE", str(file)))
    with pytest.raises(UserError, match=words):
        hb.run(tmp_path / "w.toml", on=f"real:{tmp_path / 'disk'}", expect="none")


def test_a_trace_that_writes_needs_the_same_consent_as_a_load(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(16 * MIB))
    with pytest.raises(UserError, match="would be overwritten"):
        hb.run(mixed(tmp_path / "a.iolog"), on=f"real:{disk}", expect="none")
    assert disk.read_bytes() == bytes(16 * MIB)


def test_a_device_that_is_no_volume_is_refused_as_by_a_model(tmp_path: Path) -> None:
    machine = tmp_path / "two.toml"
    machine.write_text(
        f'[drives.d]\nproduct = "{DRIVE}"\ncount = 2\n[volumes]\na = {{ on = "d0" }}\nb = {{ on = "d1" }}\n'
    )
    file = mixed(tmp_path / "a.iolog")
    words = []
    for on in (str(machine), f"emulated:{machine}"):
        with pytest.raises(UserError) as refused:
            hb.run(file, on=on)
        words.append(refused.value.accepted)
    assert words[0] == words[1]
    assert "is a device of the trace, but not a volume" in words[0]


def test_the_writes_of_a_trace_are_known_before_it_runs(tmp_path: Path) -> None:
    run = replay_run_of(RunSpec("run", f"real:{tmp_path}", str(mixed(tmp_path / "a.iolog"))))
    assert run.amounts(lambda _: (None, "")) == (pytest.approx(0.474), 32 * 4096, "sum of the trace's writes")
    assert run.writes
    assert (run.smallest_bytes, run.largest_bytes) == (4096, 4096)


def test_trims_are_no_reads_before_a_run(tmp_path: Path) -> None:
    file = trace(tmp_path / "a.iolog", [(0, "read", 0, 4096), (1, "trim", 0, 32 * MIB)])
    target = RealTarget("real:nbd://x", "nbd", None, "nbd://x", 64 * MIB, 512)
    run = replay_run_of(RunSpec("run", target.text, str(file)))
    found = outlook_of(target, [run], lambda _: (None, ""))
    assert found.writes
    assert found.lines() == [
        "1 run on real:nbd://x: about 1 s, about 32 MiB is written (sum of the trace's writes and trims)"
    ]


def test_a_purge_alone_loses_data_too(tmp_path: Path) -> None:
    file = trace(tmp_path / "a.iolog", [(0, "read", 0, 4096)])
    target = RealTarget("real:/dev/sdz", "block", Path("/dev/sdz"), None, 64 * MIB, 512)
    run = replay_run_of(RunSpec("run", target.text, str(file), set=(("state", "purged"),)))
    found = outlook_of(target, [run], lambda _: (None, ""))
    assert found.writes
    assert "purged: its data is lost" in found.lines()[-1]


def recording(unmeasured: int, ios: int) -> Recording:
    """Return reads of 4 KiB, one per second."""
    rows = [(at * 1_000_000_000, 5 * MS, READ, 4096 * at, 4096, at) for at in range(ios)]
    return Recording(np.array(rows, "u8"), ("a",), (None,), unmeasured, "")


def times_of(issued: list[int], latency_ns: int) -> Times:
    begun = np.array(issued, "i8")
    completed = np.where(begun == NEVER, NEVER, begun + latency_ns)
    return Times(begun, begun, completed, np.zeros(len(begun), np.bool_), 1000.0)


def test_the_warm_up_of_a_recording_is_no_measured_time() -> None:
    second = 1_000_000_000
    times = times_of([0, second, 2 * second, 3 * second], 5 * MS)
    replayed = replayed_of(recording(2, 4), times, None)
    assert (replayed.begin_ns, replayed.duration_ns) == (2 * second, second + 5 * MS)
    assert replayed.indices.tolist() == [2, 3]
    source = imported_of_replay(replayed, "real:x", second).record["source"]
    assert (source["began"], source["ended"]) == ("1970-01-01T00:16:42Z", "1970-01-01T00:16:43Z")
    short = replayed_of(recording(2, 4), times, second // 2)
    assert short.indices.tolist() == [2]
    assert short.duration_ns == second // 2


def test_a_replay_without_a_measured_io_took_no_time() -> None:
    replayed = replayed_of(recording(2, 4), times_of([0, 10, NEVER, NEVER], 5), 100)
    assert sections_of(replayed, {}, has_times=True)["trace"] == {
        "ios": 0, "recorded_ns": None, "replayed_ns": 0, "issue_error": None,
    }  # fmt: skip


@pytest.mark.parametrize("depth", [1, 4])
def test_a_duration_begins_with_the_first_measured_io(tmp_path: Path, depth: int) -> None:
    """Eight I/Os before the measured time take longer than the duration."""
    ios = [Io(0, READ, 0, 4096, False)] * 40
    with slow_drive(tmp_path, 20 * MS) as uri, connected("x", uri) as (client, _):
        port = NbdPort(client, random_data(4096, 1))
        times = issue(ios, Fast(40, depth), [port], duration_ns=30 * MS, unmeasured=8)
    measured = times.issued[8:][times.issued[8:] != NEVER]
    assert len(measured) >= 1
    assert measured.max() - measured.min() < 30 * MS
    assert times.issued[39] == NEVER


UNFIT: dict[str, tuple[list[tuple[int, str, int, int]], dict[str, Any], str]] = {
    "trims": ([(0, "write", 0, 4096), (1, "trim", 0, 4096)], {}, "has trims"),
    "blocks": ([(0, "write", 0, 4096), (1, "read", 4096, 6144)], {}, "expected multiples of the 4096 B blocks"),
    "hosts": ([(0, "write", 0, 4096)], {"hosts": "localhost"}, "run on this computer alone"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNFIT)
def test_what_a_target_cannot_take_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    def laid_out(*_: object, **__: object) -> None:
        raise AssertionError("the file is laid out")

    ios, options, words = UNFIT[case]
    monkeypatch.setattr(on_device, "laid_out", laid_out)
    folder = tmp_path / "disk"
    folder.mkdir()
    with pytest.raises(UserError, match=words):
        hb.run(trace(tmp_path / "a.iolog", ios), on=f"real:{folder}", size="16 MiB", expect="none", **options)


def test_a_replay_may_take_longer_than_its_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One I/O at once of 40 ms each, of a recording of 20 ms."""
    monkeypatch.setattr(loop, "MOST_OUTSTANDING", 1)
    monkeypatch.setattr(fio_client, "GRACE_S", 0.01)
    file = trace(tmp_path / "a.iolog", [(at, "read", 4096 * at, 4096) for at in range(20)])
    with slow_drive(tmp_path, 40 * MS) as uri:
        assert hb.run(file, on=f"real:{uri}", expect="none").read.count == 20


@pytest.mark.parametrize("how", ["recorded", "as-fast-as-possible"])
def test_a_target_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(loop, "MOST_SILENCE_NS", 50 * MS)
    file = trace(tmp_path / "a.iolog", [(at, "read", 4096 * at, 4096) for at in range(3)])
    with slow_drive(tmp_path, 2000 * MS) as uri, pytest.raises(UserError, match="no I/O completed for 0 s") as refused:
        hb.run(file, on=f"real:{uri}", set={"issue": how}, expect="none")
    assert refused.value.where == f"real:{uri}"


def test_a_replay_needs_no_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise UserError("fio", "", "", "is not installed")

    for module in (on_device, emulated):
        monkeypatch.setattr(module, "find_fio", missing)
    (tmp_path / "disk").write_bytes(bytes(MIB))
    file = trace(tmp_path / "a.iolog", [(at, "read", 4096 * at, 4096) for at in range(3)])
    places: dict[str, dict[str, Any]] = {
        f"real:{tmp_path / 'disk'}": {"expect": "none"},
        f"emulated:{DRIVE}": {"anyway": True},
    }
    for on, options in places.items():
        assert hb.run(file, on=on, **options).read.count == 3
        with pytest.raises(UserError, match="is not installed"):
            hb.run("fio-randread", on=on, duration="1 s", **options)


def test_power_that_goes_off_during_a_replay_is_named(tmp_path: Path) -> None:
    file = trace(tmp_path / "a.iolog", [(10 * at, "read", 4096 * at, 4096) for at in range(100)])
    with pytest.raises(UserError, match="power went off before the run ended"):
        hb.run(file, on=f"emulated:{DRIVE}", anyway=True, events=["at 300 ms: power-off"])


def test_runs_of_a_sweep_share_the_rows_of_their_trace(tmp_path: Path) -> None:
    file = str(mixed(tmp_path / "a.iolog"))
    first, second = (replay_run_of(RunSpec("run", "real:x", file, seed=seed)).recording for seed in (1, 2))
    assert np.shares_memory(first.rows, second.rows)
    assert list(first.each()) == first.rows.tolist()
