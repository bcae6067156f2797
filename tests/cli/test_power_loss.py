"""Does `hotband run --power-loss` say what was lost, in a line and in the record?"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from hotband.views.text.tables import power_loss_lines

# With reads, because mirrors that only write do so in step: each has the other's commands, a turn later.
CALL = ("run", "iometer-fileserver", "--on", "raid1:2xent-15k", "--duration", "60 s", "--power-loss", "5 s")
VOLATILE = ("--set", "qd=4", "--set", "wce=on")
THROUGH = ("--set", "qd=4", "--set", "wce=off")


def test_the_record_has_the_loss_and_ends_at_the_cut(hotband) -> None:
    record = json.loads(hotband(*CALL, *VOLATILE, "--json").stdout)
    loss = record["power_loss"]
    assert set(loss) == {
        "at_ns", "acknowledged_writes", "lost_bytes", "lost_writes", "torn_sectors", "streams", "stale_copy_bytes",
    }  # fmt: skip
    assert loss["at_ns"] == record["duration_ns"] == 5_000_000_000
    assert loss["acknowledged_writes"] >= loss["lost_writes"] > 0
    assert loss["lost_bytes"] == sum(stream["lost_bytes"] for stream in loss["streams"]) > 0
    assert record["spec"]["power_loss"] == "5 s"


def test_the_terminal_says_it_in_a_line(hotband) -> None:
    lost = hotband(*CALL, *VOLATILE).stdout
    assert "Power cut at 5 s: " in lost
    assert "of acknowledged writes lost (" in lost
    assert "mirrors disagree on" in lost
    assert "Power cut at 5 s: nothing acknowledged was lost (" in hotband(*CALL, *THROUGH).stdout


def test_without_it_there_is_neither_line_nor_key(hotband) -> None:
    call = ("run", "fio-randwrite", "--on", "ent-15k", "--duration", "1 s")
    assert "Power" not in hotband(*call).stdout
    record = json.loads(hotband(*call, "--json").stdout)
    assert "power_loss" not in record
    assert "power_loss" not in record["spec"]


def test_the_log_and_the_series_end_at_the_cut(hotband, tmp_path: Path) -> None:
    out, log = tmp_path / "out", tmp_path / "log.parquet"
    assert hotband(*CALL, *VOLATILE, "--out", str(out), "--io-log", str(log)).returncode == 0
    assert pl.read_parquet(out / "series.parquet")["time_ns"].max() == 4_000_000_000
    rows = pl.read_parquet(log)
    record = json.loads((out / "record.json").read_text())
    assert rows.filter(pl.col("measured")).shape[0] == record["summary"]["count"]
    writes = rows.filter(pl.col("direction") == "write")
    assert writes.shape[0] == record["power_loss"]["acknowledged_writes"]


def test_a_workload_file_may_ask_for_it(hotband, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(
        "[load]\nclosed = { threads = 1 }\n[[streams]]\nread_pct = 0\nrandom_pct = 100\n"
        'size = "4 KiB"\n[[phases]]\nduration = "2 s"\nmeasure = true\n[power_loss]\nat = "1.5 s"\n'
    )
    assert "Power cut at 1.5 s: " in hotband("run", "w.toml", "--on", "ent-15k").stdout


def test_the_line_counts_in_words() -> None:
    streams = [{"name": "a", "lost_bytes": 1_258_291, "lost_writes": 310}, {"name": "b", "lost_writes": 0}]
    loss = {"at_ns": 30_000_000_000, "lost_bytes": 1_258_291, "lost_writes": 310, "streams": streams}
    record = {"power_loss": loss | {"acknowledged_writes": 9_000, "stale_copy_bytes": 0}}
    lost = "Power cut at 30 s: 1.26 MB of acknowledged writes lost (310 writes of 1 stream)"
    assert power_loss_lines(record) == [lost]
    kept = {"at_ns": 500_000, "lost_bytes": 0, "streams": [], "acknowledged_writes": 1, "stale_copy_bytes": 512}
    assert power_loss_lines({"power_loss": kept}) == [
        "Power cut at 500 µs: nothing acknowledged was lost (1 write)",
        "  mirrors disagree on 512 B: one copy is good, another old",
    ]
