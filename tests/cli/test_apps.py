"""Do apps run from the command line, and is the terminal told what their operations did?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_guides import example

from hotband.base.text.numbers import number

YCSB = {
    "ycsb-a": ["read", "update"], "ycsb-b": ["read", "update"], "ycsb-c": ["read"], "ycsb-d": ["read", "insert"],
    "ycsb-e": ["insert", "scan"], "ycsb-f": ["read", "read_modify_write"],
}  # fmt: skip
SMALL = ("--set", "app.records=1000000", "--set", "app.cache=256 MB", "--duration", "10 s")


def record_of(hotband, *arguments: str) -> dict[str, Any]:
    done = hotband("run", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", YCSB)
def test_every_core_workload_runs_on_a_disk_and_names_its_source(hotband, name: str) -> None:
    record = record_of(hotband, name, "--on", "exos-15e900-512n", *SMALL)
    assert [operation["name"] for operation in record["app"]["operations"]] == YCSB[name]
    assert all(operation["count"] > 0 for operation in record["app"]["operations"])
    workload = json.loads(hotband("workloads", name, "--json").stdout)
    assert "brianfrankcooper/YCSB" in workload["source"]


def test_ycsb_a_runs_as_it_is_on_a_disk(hotband) -> None:
    record = record_of(hotband, "ycsb-a", "--on", "exos-15e900-512n", "--duration", "10 s")
    read, update = record["app"]["operations"]
    # Shares of 50 % each, of some thousand: within 5 standard errors.
    total = read["count"] + update["count"]
    assert read["count"] == pytest.approx(total / 2, abs=5 * (total / 4) ** 0.5 + 64)
    assert record["data"][0] == {"stream": "data", "mean": 0.73}


def test_the_published_run_ends_after_its_operations(hotband, tmp_path: Path) -> None:
    text = hotband("workloads", "ycsb-a-large").stdout
    for old, new in {"= 500_000": "= 5_000", "= 1_000_000": "= 2_000", '"33.8 GB"': '"1 GB"'}.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "large.toml").write_text(text)
    record = record_of(hotband, "large.toml", "--on", "exos-15e900-512n")
    count = sum(operation["count"] for operation in record["app"]["operations"])
    assert 2000 <= count < 2000 + 16
    # A record of 1 MB is 245 blocks of 4 KiB, read in two pieces.
    data = next(stream for stream in record["streams"] if stream["name"] == "data")
    misses = record["app"]["counters"]["cache_misses"]
    assert data["read"]["count"] == pytest.approx(2 * misses, rel=0.02)


def test_the_terminal_shows_a_line_for_each_operation(hotband, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = hotband("run", "ycsb-b", "--on", "raid0:2xexos-15e900-512n", *SMALL, "--out", str(out), "--details").stdout
    record = json.loads((out / "record.json").read_text())
    table = shown[shown.index("Operations (btree)") :]
    for operation in record["app"]["operations"]:
        (line,) = (line for line in table.splitlines() if line.startswith(f"│ {operation['name']} "))
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        assert cells[1:3] == [number(operation["ops_per_s"]), f"{operation['count']:,}"]
    series = pl.read_parquet(out / "operations.parquet")
    assert series["operation"].unique().sort().to_list() == ["read", "update"]
    assert series["ops_per_s"].sum() == pytest.approx(sum(one["count"] for one in record["app"]["operations"]))
    assert record["series"]["operations_file"] == "operations.parquet"


def test_the_app_of_the_guide_runs_and_takes_what_the_guide_sets(hotband, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(example("workloads", "[app]"))
    changes = ("--set", "app.cache=4 GB", "--set", "app.operations.scan=5", "--set", "clients=4", "--set", "data=0.5")
    record = record_of(hotband, "app.toml", "--on", "exos-15e900-512n", "--duration", "5 s", *changes)
    assert [operation["name"] for operation in record["app"]["operations"]] == ["read", "update", "scan"]
    assert record["data"][0]["mean"] == 0.5


def test_a_mistake_in_an_app_is_one_line(hotband) -> None:
    done = hotband("run", "ycsb-a", "--on", "savvio-10k1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "app.records" in done.stderr
    assert "they need" in done.stderr
