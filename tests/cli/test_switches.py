"""Do the switches and caches of the Exos drives do from the command line what the guides say?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hotband.views.text.tables import caches_line

CACHED = "exos-15e900-512e"


def record_of(hotband, *arguments: str) -> dict[str, Any]:
    done = hotband("run", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lost(hotband, *switches: str) -> int:
    """Bytes of random writes that a loss of power costs."""
    sets = [part for switch in switches for part in ("--set", switch)]
    call = ("fio-randwrite", "--on", CACHED, "--set", "qd=8", "--duration", "5 s", "--power-loss", "5 s", *sets)
    return record_of(hotband, *call)["power_loss"]["lost_bytes"]


def test_awc_goes_before_wce_and_only_the_volatile_cache_loses_data(hotband) -> None:
    assert lost(hotband, "awc=on", "wce=on") == 0
    assert lost(hotband, "awc=off", "wce=on") > 0
    assert lost(hotband, "awc=off", "wce=off") == 0


def test_rcd_stops_what_was_read_before_but_not_the_flash(hotband) -> None:
    # Without look-ahead memory holds only what a host was given before.
    again = ("--set", "span=256 KiB", "--set", "look_ahead=0 B")
    call = ("fio-randread", "--on", CACHED, "--duration", "2 s", *again)
    hits = lambda record: record["parts"][0]["counters"]["cache_hits"]  # noqa: E731
    assert hits(record_of(hotband, *call)) > 0
    without = record_of(hotband, *call, "--set", "rcd=on")
    assert hits(without) == 0
    assert "caches" in without


def test_turboboost_off_leaves_nothing_of_the_flash_in_the_record(hotband) -> None:
    call = ("fio-randread", "--on", CACHED, "--duration", "2 s")
    assert record_of(hotband, *call)["caches"]["state_begin"] == "cold"
    assert "caches" not in record_of(hotband, *call, "--set", "turboboost=off")


def test_fast_format_makes_a_misaligned_workload_an_error_and_spares_a_second_turn(hotband) -> None:
    call = ("fio-randwrite", "--on", CACHED, "--duration", "5 s", "--set", "awc=off", "--set", "wce=off")
    small = record_of(hotband, *call, "--set", "bs=512B")
    assert small["parts"][0]["counters"]["read_modify_writes"] > 0
    done = hotband("run", *call, "--set", "bs=512B", "--set", "sector_format=4Kn")
    assert done.returncode == 2
    assert "misaligned" in done.stderr
    whole = record_of(hotband, *call, "--set", "sector_format=4Kn")
    assert whole["parts"][0]["counters"]["read_modify_writes"] == 0


def test_a_controller_that_forces_writes_defeats_a_volatile_cache_alone(hotband, tmp_path: Path) -> None:
    text = '[drives.d]\nproduct = "exos-15e900-512e"\ncount = 2\n[layouts.a]\nraid1 = { members = "d*"FORCE }\n'
    (tmp_path / "plain.toml").write_text(text.replace("FORCE", ""))
    (tmp_path / "forced.toml").write_text(text.replace("FORCE", ", force_writes = true"))

    def cached(machine: str, switch: str) -> int:
        call = ("fio-randwrite", "--on", machine, "--duration", "2 s", "--set", f"awc={switch}", "--set", "wce=on")
        return sum(part["counters"]["cached_writes"] for part in record_of(hotband, *call)["parts"])

    assert cached("plain.toml", "off") > 0
    assert cached("forced.toml", "off") == 0
    assert cached("forced.toml", "on") > 0


@pytest.fixture(scope="module")
def warming() -> tuple[str, ...]:
    """A band that warms within two minutes, because the ration is large."""
    return (
        "fio-randread", "--on", CACHED, "--set", "qd=16", "--set", "span=1 GB", "--set", "flash_ranking=30 s",
        "--set", "flash_promotion_rate=100 MB/s", "--duration", "4 min",
    )  # fmt: skip


def test_warming_is_in_the_series_the_record_and_a_line(hotband, tmp_path: Path, warming: tuple[str, ...]) -> None:
    record = record_of(hotband, *warming, "--out", str(tmp_path / "out"))
    caches = record["caches"]
    assert (caches["state_begin"], caches["state_end"]) == ("cold", "warm")
    table = pl.read_parquet(tmp_path / "out" / record["series"]["caches_file"])
    assert table.shape[0] == 240
    assert table["flash_used_bytes"].is_sorted()
    assert table["flash_used_bytes"][-1] == record["parts"][0]["at_end"]["flash_used_bytes"]
    first_warm = table.filter(pl.col("state") == "warm")["time_ns"][0]
    assert first_warm == caches["warm_after_ns"]
    counters = record["parts"][0]["counters"]
    assert table["flash_hits"].sum() == counters["flash_hits"]
    answered = counters["flash_hits"] / (counters["flash_hits"] + counters["flash_misses"])
    assert caches["flash_hit_ratio"] == pytest.approx(answered)
    line = f"Flash read cache: cold at first, warm from {first_warm / 1e9:,.0f} s on; served "
    assert line in hotband("run", *warming).stdout


def test_the_parts_of_a_mean_latency_add_up(hotband, warming: tuple[str, ...]) -> None:
    summary = record_of(hotband, *warming)["summary"]
    assert set(summary["times_mean_ns"]) == {"queue", "overhead", "seek", "rotation", "transfer", "flash", "link"}
    assert summary["times_mean_ns"]["flash"] > 0
    for figures in (summary, summary["read"]):
        assert sum(figures["times_mean_ns"].values()) == pytest.approx(figures["latency_mean_ns"])
    assert summary["write"]["times_mean_ns"] is None


def test_the_line_of_caches_in_words() -> None:
    caches = {"state_begin": "cold", "state_end": "cold", "flash_hit_ratio": None, "warm_after_ns": None}
    assert caches_line({"caches": caches}) == "Flash read cache: cold throughout; received no reads"
    caches |= {"state_end": "warming", "flash_hit_ratio": 0.0}
    assert caches_line({"caches": caches}) == (
        "Flash read cache: cold at first, warming at the end; served 0 % of random reads"
    )
    caches = {"state_begin": "warm", "state_end": "warm", "flash_hit_ratio": 0.5, "warm_after_ns": 0}
    assert caches_line({"caches": caches}) == "Flash read cache: warm throughout; served 50 % of random reads"
    assert caches_line({}) is None
