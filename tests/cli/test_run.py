"""Does `hotband run` print and leave what the record's contract says?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

SUMMARY = {
    "iops", "bandwidth_bytes_per_s", "latency_mean_ns", "latency_p50_ns", "latency_p99_ns", "latency_p999_ns",
    "latency_max_ns",
}  # fmt: skip


@pytest.fixture
def record(hotband) -> dict:
    done = hotband("run", "iometer-database", "--on", "raid1:2xsavvio-10k1", "--duration", "30 s", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_summary_has_every_named_key(record: dict) -> None:
    for part in (record["summary"], record["summary"]["read"], record["summary"]["write"]):
        assert set(part) >= SUMMARY


def test_the_record_says_what_ran(record: dict) -> None:
    assert record["schema"] == "hotband-record"
    assert record["seed"] == "1"
    assert "savvio-10k1" in record["spec"]["drives"]
    assert record["duration_ns"] == 30_000_000_000


def test_counts_and_histograms_add_up(record: dict) -> None:
    for side in ("read", "write"):
        stream = record["streams"][0][side]
        assert sum(count for _, count in stream["histogram"]["buckets"]) == stream["count"]
        assert stream["count"] == record["summary"][side]["count"]
        assert stream["bytes"] == stream["count"] * 8192
    share = record["summary"]["read"]["count"] / record["summary"]["count"]
    assert share == pytest.approx(0.67, abs=0.02)


def test_same_spec_and_seed_give_the_same_bytes(hotband, tmp_path: Path) -> None:
    call = (
        "run",
        "iometer-workstation",
        "--on",
        "raid5:5xent-10k",
        "--set",
        "qd=8",
        "--duration",
        "20 s",
        "--seed",
        "7",
    )
    for name in ("a", "b"):
        assert hotband(*call, "--out", str(tmp_path / name)).returncode == 0
    for file in ("record.json", "series.parquet"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_another_seed_gives_another_run(hotband) -> None:
    call = ("run", "fio-randread", "--on", "ent-15k", "--duration", "5 s", "--json", "--seed")
    assert hotband(*call, "1").stdout != hotband(*call, "2").stdout


def test_the_series_has_a_row_a_second_and_direction(hotband, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hotband("run", "iometer-database", "--on", "ent-15k", "--duration", "10 s", "--out", str(out))
    series = pl.read_parquet(out / "series.parquet")
    assert series.shape[0] == 20
    record = json.loads((out / "record.json").read_text())
    assert series.filter(direction="read")["iops"].mean() == pytest.approx(record["summary"]["read"]["iops"])


def test_every_io_is_logged_and_its_time_adds_up(hotband, tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    call = ("run", "iometer-database", "--on", "raid10:4xent-15k", "--set", "qd=16", "--duration", "10 s")
    done = hotband(*call, "--io-log", str(log), "--json")
    table = pl.read_parquet(log)
    assert table.filter(pl.col("measured")).shape[0] == json.loads(done.stdout)["summary"]["count"]
    parts = table.select(
        pl.sum_horizontal("queue_ns", "overhead_ns", "seek_ns", "rotation_ns", "transfer_ns", "link_ns")
    )
    assert (parts.to_series() == table["latency_ns"]).all()
    assert set(table["direction"].unique()) == {"read", "write"}
    assert list(tmp_path.iterdir()) == [log], "nothing half-written is left"


def test_set_changes_the_workload_and_the_drive(hotband) -> None:
    call = ("run", "fio-randwrite", "--on", "ent-15k", "--duration", "20 s", "--json")
    iops = lambda *sets: json.loads(hotband(*call, *sets).stdout)["summary"]["iops"]  # noqa: E731
    cached, through = iops(), iops("--set", "wce=off")
    assert cached > 1.5 * through
    assert iops("--set", "wce=off", "--set", "span=5 %") > 1.1 * through


def test_a_machine_file_with_volumes_layouts_and_a_link_runs(hotband, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        '[drives.d]\nproduct = "savvio-10k1"\ncount = 5\n'
        '[links.bus]\nrate = "230 MB/s"\nper_command = "50 us"\ncarries = "d*"\n'
        '[layouts.data]\nraid5 = { members = "d0..d2", chunk = "64 KiB" }\n'
        '[layouts.log]\nraid1 = { members = "d3, d4" }\n'
        '[volumes]\ndb = { on = "data", size = "100 GB" }\nlog = { on = "log", size = "10 GB" }\n'
    )
    (tmp_path / "w.toml").write_text(
        '[[streams]]\nname = "data"\nvolume = "db"\nread_pct = 90\nrandom_pct = 100\nsize = "8 KiB"\n'
        "load = { closed = { threads = 4, depth = 2 } }\n"
        '[[streams]]\nname = "log"\nvolume = "log"\nread_pct = 0\nrandom_pct = 0\nsize = "4 KiB"\n'
        'load = { open = { rate_iops = 50, arrival = "poisson" } }\n'
        '[[phases]]\nduration = "30 s"\nmeasure = true\n'
    )
    done = hotband("run", "w.toml", "--on", "m.toml", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    log = next(stream for stream in record["streams"] if stream["name"] == "log")
    assert log["write"]["count"] == pytest.approx(1500, abs=200)
    assert {part["id"] for part in record["parts"]} == {"d0", "d1", "d2", "d3", "d4", "bus"}
    assert next(part for part in record["parts"] if part["id"] == "bus")["counters"]["bytes"] > 0


def test_steps_are_shown_with_their_figures_and_a_report_takes_them(hotband, tmp_path: Path) -> None:
    phase = '[[phases]]\nname = "{0} threads"\nduration = "5 s"\nmeasure = true\nthreads = {0}\n'
    (tmp_path / "steps.toml").write_text(
        "[load]\nclosed = { threads = 1 }\n"
        '[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "8 KiB"\n' + phase.format(2) + phase.format(16)
    )
    arguments = ("run", "steps.toml", "--on", "exos-15e900-512n")
    steps = json.loads(hotband(*arguments, "--json").stdout)["steps"]
    assert [(step["threads"], step["begin_ns"]) for step in steps] == [(2, 0), (16, 5_000_000_000)]
    assert steps[1]["summary"]["iops"] > 1.2 * steps[0]["summary"]["iops"]
    shown = hotband(*arguments, "--out", "out").stdout
    assert "2 threads" in shown
    assert "16 threads" in shown
    assert hotband("report", "out", "--output", "report.html").returncode == 0


def test_an_interruption_stops_the_run_and_says_so(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "hotband.faces.cli",
        "run",
        "fio-randread",
        "--on",
        "ent-15k",
        "--duration",
        "2000 h",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    time.sleep(2)
    os.kill(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in error
    assert "Traceback" not in error


def test_without_json_a_table_is_printed(hotband, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    done = hotband("run", "fio-randread", "--on", "ent-15k", "--duration", "2 s")
    first, _, headings, row, *_ = done.stdout.splitlines()
    assert first == "202 IOPS, 0.829 MB/s. p99 8.37 ms."
    assert headings.split() == ["IOPS", "MB/s", "mean", "p50", "p99", "p99.9", "max"]
    assert row.split()[:5] == ["read", "202", "0.829", "4.94", "ms"]


def test_notes_and_energy_are_no_wider_than_the_tables(hotband, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    call = (
        "run",
        "fio-randread",
        "--on",
        "raid5:5xent-10k",
        "--fail",
        "d1@1 s",
        "--spares",
        "1",
        "--duration",
        "2 s",
        "--details",
    )
    lines = hotband(*call).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for begin in ("  rebuild of d1 ", "Energy of 6 drives: "):
        [place] = [number for number, line in enumerate(lines) if line.startswith(begin)]
        depth = len(begin) - len(begin.lstrip())
        assert lines[place + 1].startswith(" " * depth)
