"""Is a log that a run left replayed as it was, wherever a workload can be given, and is every other file refused?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hotband as hb
from hotband import _core

LOAD = """
[load]
open = { rate_iops = 150, arrival = "poisson" }
[[streams]]
read_pct = 60
random_pct = 100
size = "4 KiB"
flush_every = 10
fua = true
[[phases]]
name = "warm-up"
duration = "1 s"
[[phases]]
duration = "5 s"
measure = true
[[phases]]
name = "rest"
streams = []
until = "drained"
"""
DISK = "ent-15k"
ASKED = ["submit_ns", "direction", "offset_bytes", "size_bytes", "latency_ns", "fua", "stream", "volume", "number"]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a run on a disk; nobody writes to it."""
    path = tmp_path_factory.mktemp("traces") / "log.parquet"
    hb.run(LOAD, on=DISK, io_log=path)
    return path


def changed(log: Path, name: str, **columns: pa.Array | None) -> Path:
    """The log with other columns, or without those that are None."""
    table = pq.read_table(log)
    for column, values in columns.items():
        index = table.schema.get_field_index(column)
        table = table.remove_column(index) if values is None else table.set_column(index, column, values)
    path = log.parent / name
    pq.write_table(table, path)
    return path


def with_value(log: Path, column: str, row: int, value: object) -> Path:
    """The log with another value in one row, from 1."""
    values = pq.read_table(log)[column].combine_chunks()
    cells = values.to_pylist()
    cells[row - 1] = value
    return changed(log, "changed.parquet", **{column: pa.array(cells, values.type)})


def refused(hotband: Any, workload: Path | str, *more: str, on: str = DISK) -> str:
    done = hotband("run", str(workload), "--on", on, *more)
    assert done.returncode == 2, done.stderr
    said = done.stderr.strip().splitlines()
    assert len(said) == 1, said
    return str(said[0])


def test_a_log_is_replayed_bit_for_bit(hotband: Any, log: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.parquet"
    done = hotband("run", str(log), "--on", DISK, "--io-log", str(again), "--json")
    assert done.returncode == 0, done.stderr
    was, now = pq.read_table(log), pq.read_table(again)
    assert now.select(ASKED).equals(was.select(ASKED))
    assert set(was["direction"].to_pylist()) == {"read", "write", "flush"}
    assert set(was.filter(pa.compute.equal(was["direction"], "write"))["fua"].to_pylist()) == {True}
    assert set(was["volume"].to_pylist()) == {"d0"}
    trace = json.loads(done.stdout)["trace"]
    assert trace["issue_error"] == {"mean_ns": 0.0, "p50_ns": 0, "p99_ns": 0, "max_ns": 0}
    assert trace["read"]["recorded"] == trace["read"]["replayed"]
    assert trace["ios"] == len(was) - was["measured"].to_pylist().index(True)


def test_what_is_printed_has_the_recording_beside_the_replay(hotband: Any, log: Path) -> None:
    done = hotband("run", str(log), "--on", DISK, "--set", "speed=2", "--details")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for part in ("recorded, times divided by 2; issue delay 0 ns (p99)", "recorded in 5.", "replayed in 2."):
        assert part in said


def test_every_way_to_name_a_log_is_the_same_run(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "renamed").write_bytes(log.read_bytes())
    (tmp_path / "here" / "w.toml").write_text('[trace]\nfile = "renamed"\nspeed = 2.0\n', encoding="utf-8")
    monkeypatch.chdir(log.parent)
    runs = [
        hb.run("log.parquet", on=DISK, speed=2),
        hb.run(log, on=DISK, speed=2),
        hb.run(str(tmp_path / "here" / "renamed"), on=DISK, speed=2),
        hb.run(tmp_path / "here" / "w.toml", on=DISK),
        hb.run({"trace": {"file": "log.parquet"}}, on=DISK, speed=2),
        hb.run('[trace]\nfile = "log.parquet"\nspeed = 2.0\n', on=DISK),
    ]
    traces = [run.trace for run in runs]
    assert all(trace is not None and trace.pop("file") for trace in traces)
    assert all(trace == traces[0] for trace in traces)


def test_rows_in_order_of_submission_and_logs_of_old_are_read(log: Path) -> None:
    table = pq.read_table(log)
    sorted_log = log.parent / "sorted.parquet"
    pq.write_table(table.sort_by([("submit_ns", "ascending"), ("number", "ascending")]), sorted_log)
    old = changed(log, "old.parquet", fua=None, volume=None, number=None)
    new = hb.run(log, on=DISK).trace
    in_order, of_old = hb.run(sorted_log, on=DISK).trace, hb.run(old, on=DISK).trace
    assert new is not None
    assert in_order is not None
    assert of_old is not None
    assert in_order["replayed_ns"] == new["replayed_ns"]
    assert in_order["read"] == new["read"]
    # Without FUA its writes are answered by the cache.
    assert of_old["ios"] == new["ios"]
    assert of_old["write"]["replayed"]["p50_ns"] < new["write"]["replayed"]["p50_ns"]


def test_a_log_in_many_pieces_is_the_same_log(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.data.traces import io_log

    (whole, pieces) = (log.parent / "whole.rows", log.parent / "pieces.rows")
    (asked,) = _core.traces_of('[trace]\nfile = "log"\n', "w")
    io_log.write_log_rows(log, "log", whole, asked)
    monkeypatch.setattr(io_log, "AT_ONCE", 7)
    io_log.write_log_rows(log, "log", pieces, asked)
    assert pieces.read_bytes() == whole.read_bytes()


def test_another_file_under_the_same_name_is_another_run(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / "log.parquet"
    copy.write_bytes(log.read_bytes())
    settings: dict[str, Any] = {"on": DISK, "set": {"speed": [1, 2]}, "out": tmp_path / "out"}
    first = hb.sweep(str(copy), **settings)
    copy.touch()
    assert hb.sweep(str(copy), **settings).frame.equals(first.frame)
    pq.write_table(pq.read_table(log).slice(0, 300), copy)
    with pytest.raises(hb.UserError, match="another sweep"):
        hb.sweep(str(copy), **settings)


def test_keys_of_a_replay_are_listed(hotband: Any, log: Path) -> None:
    done = hotband("keys", str(log), "--on", DISK, "--json")
    today = {one["key"]: one["value"] for one in json.loads(done.stdout) if one["part"] == "workload"}
    assert today["issue"] == "recorded"
    assert today["speed"] == "1"
    assert "depth" not in today
    assert "qd" not in today


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("offset_bytes", 1 << 50, ["row 17", "1125899906842624", "ends beyond volume"]),
        ("offset_bytes", 1 << 63, ["row 17", "offset_bytes", "2^62"]),
        ("offset_bytes", None, ["row 17", "no offset_bytes"]),
        ("offset_bytes", 100, ["row 17", "512 B blocks"]),
        ("submit_ns", 5, ["row 17", "order of completion, or of submission"]),
        ("direction", "wirte", ["row 17", "'wirte'", "read, write, flush, trim"]),
    ],
)
def test_a_row_that_is_wrong_is_named(hotband: Any, log: Path, column: str, value: object, says: list[str]) -> None:
    said = refused(hotband, with_value(log, column, 17, value))
    assert all(part in said for part in ["changed.parquet", *says]), said


def test_what_is_no_log_is_refused(hotband: Any, log: Path, tmp_path: Path) -> None:
    whole = log.read_bytes()
    other = pa.table({"time_ns": [1], "iops": [2.0]})
    pq.write_table(other, tmp_path / "series.parquet")
    pq.write_table(pq.read_table(log).slice(0, 0), tmp_path / "none.parquet")
    files = {"empty.parquet": b"", "cut.parquet": whole[: len(whole) // 2], "rubbish.parquet": bytes(range(256)) * 9}
    for name, data in {
        **files,
        "magic.parquet": b"PAR1",
        "torn.parquet": whole[:9000] + bytes(50) + whole[9050:],
    }.items():
        (tmp_path / name).write_bytes(data)
    expected = {
        "gone.parquet": "No such file",
        "empty.parquet": "is empty",
        "cut.parquet": "damaged",
        "rubbish.parquet": "expected an I/O log",
        "magic.parquet": "damaged",
        "torn.parquet": "damaged",
        "series.parquet": "no column submit_ns",
        "none.parquet": "without a single I/O",
    }
    for name, part in expected.items():
        said = refused(hotband, tmp_path / name)
        assert all(one in said for one in (name, part)), said


def test_a_trace_key_that_names_nothing_is_refused(hotband: Any, log: Path, tmp_path: Path) -> None:
    text = tmp_path / "w.toml"
    for file, part in {
        "gone.parquet": "No such file",
        "w.toml": "is not a trace",
        ".": "is a folder",
        "": "missing",
    }.items():
        text.write_text(f'[trace]\nfile = "{file}"\n', encoding="utf-8")
        said = refused(hotband, text)
        assert all(one in said for one in ("w.toml", "trace.file", part)), said
    for pair, part in {"issue=fast": "after-completion", "depth=4": "as-fast-as-possible", "speed=0": "0.001"}.items():
        assert part in refused(hotband, log, "--set", pair)


def test_what_a_trace_cannot_be_is_said(hotband: Any, log: Path) -> None:
    for call, part in (
        (("find", "IOPS at p99 < 10 ms", "-w", str(log), "--on", DISK), "needs a loop of streams"),
        (("workloads", "convert", str(log), "-o", str(log.parent / "x.fio")), "a job cannot express a trace"),
    ):
        done = hotband(*call)
        assert (done.returncode, part in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr


def test_the_example_of_the_guide_runs(hotband: Any, log: Path, tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "traces.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "oltp.parquet").write_bytes(log.read_bytes())
    (tmp_path / "w.toml").write_text(text, encoding="utf-8")
    done = hotband("run", "w.toml", "--on", DISK, "--json")
    assert done.returncode == 0, done.stderr
    trace = json.loads(done.stdout)["trace"]
    assert trace["recorded_ns"] == trace["replayed_ns"]


def test_a_replay_is_compared_with_what_was_measured(log: Path, hotband: Any) -> None:
    same = hb.run(log, on=DISK).comparison
    assert same is not None
    assert (same["demerit_pct"], same["mean_error_pct"], same["rms_ns"]) == (0.0, 0.0, 0.0)
    directions = {one["direction"] for one in same["classes"]}
    assert directions == {"read", "write"}
    assert sum(one["ios"] for one in same["classes"]) <= same["ios"]
    other = hb.run(log, on="ent-10k").comparison
    assert other is not None
    assert other["mean_error_pct"] is not None
    assert other["mean_error_pct"] > 5
    assert other["demerit_ns"] <= other["rms_ns"]
    assert other["mean_measured_ns"] == same["mean_measured_ns"]
    said = hotband("run", str(log), "--on", "ent-10k").stdout
    assert "difference between the recorded drive and this one: mean +" in said
    assert "an error of the model only if both are the same drive" in " ".join(said.split())
