"""Does a workload take the data of files that were measured, and does the record hold what was taken?"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow.parquet as pq
import pytest

from hotband._core import Table
from hotband.data.record.files import frame_of, save_record
from hotband.views.text.wear import smart_lines


def entropy(**changes: Any) -> dict[str, Any]:
    """A document of `hotband measure entropy --json` with some of its keys changed."""
    chunks = [{"size": 4096, "compressor": "deflate", "mean": 0.5, "histogram": [3, 0, 0, 1]}]
    archive = {"deflate": {"entropy": 0.25, "interval": [0.24, 0.26]}}
    return {"schema": "hotband-entropy", "schema_version": 1, "archive": archive, "chunks": chunks} | changes


def test_the_record_holds_the_data_and_not_only_the_name_of_its_file(hotband, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(json.dumps(entropy()))
    done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--duration", "1 s", "--set", "data=e.json", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    (data,) = record["data"]
    assert (data["mean"], data["histogram"]) == (0.25, [3.0, 0.0, 0.0, 1.0])
    assert record["spec"]["set"] == {"data": "e.json"}
    again = f"data={{ mean = {data['mean']}, histogram = {data['histogram']} }}"
    done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--duration", "1 s", "--set", again, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"] == record["data"], "what the record says can be asked for again"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "e.json: not valid JSON"),
        ("[]", "e.json: schema: expected"),
        (json.dumps({"schema": "hotband-record"}), "e.json: schema = 'hotband-record': expected \"hotband-entropy\""),
        (json.dumps(entropy(schema_version=2)), "e.json: schema_version = '2': expected 1"),
        (json.dumps(entropy(archive={})), "e.json: archive.deflate.entropy: expected"),
        (json.dumps(entropy(chunks=[])), "e.json: chunks = 'an array': expected chunks of 4096 B"),
    ],
)
def test_another_document_is_refused_in_one_line(hotband, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "e.json").write_text(text)
    done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--set", "data=e.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


SMART: dict[str, list[Any]] = {
    "time_ns": [0, 0],
    "drive": ["d0", "d0"],
    "host_bytes": [0, 4096],
    "stored_bytes": [0, 2048],
    "flash_bytes": [0, 8192],
    "write_amplification": [None, 2.0],
    "write_amplification_total": [None, 2.0],
    "erases_mean": [0.0, 0.5],
    "erases_max": [0, 1],
    "percentage_used": [0.0, 0.01],
}


def test_a_table_comes_back_from_parquet_with_its_types_even_where_a_column_has_no_cells(tmp_path: Path) -> None:
    texts, reals = ("drive",), ("write_amplification", "write_amplification_total", "erases_mean", "percentage_used")
    kinds = {name: "text" if name in texts else "f64" if name in reals else "u64" for name in SMART}
    smart = cast(Table, SimpleNamespace(columns=SMART, kinds=kinds))
    none = cast(Table, SimpleNamespace(columns={name: [] for name in SMART}, kinds=kinds))
    save_record(tmp_path, "{}", {"smart": smart, "none": none})
    assert pq.read_table(tmp_path / "smart.parquet").to_pydict() == SMART
    assert pq.read_table(tmp_path / "none.parquet").schema == pq.read_table(tmp_path / "smart.parquet").schema
    assert frame_of(none).schema == frame_of(smart).schema


STEADY = """
smart_interval = "200 ms"
[load]
closed = { threads = 1, depth = 32 }
[[streams]]
read_pct = 0
trim_pct = 1
random_pct = 100
size = "4 KiB"
[[phases]]
duration = "500 ms"
[[phases]]
duration = "500 ms"
measure = true
"""


def test_a_solid_state_drive_is_preconditioned_and_its_wear_is_read(hotband, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(STEADY)

    def wear(name: str, *settings: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        sets = [word for setting in ("scale=256", *settings) for word in ("--set", setting)]
        out = tmp_path / name
        done = hotband("run", "w.toml", "--on", "s4500-960", "--out", str(out), "--details", *sets)
        assert done.returncode == 0, done.stderr
        assert "d0: write amplification" in done.stdout
        record = json.loads((out / "record.json").read_text())
        return record["smart"][0], pq.read_table(out / record["series"]["smart_file"]).to_pydict()

    capacity = 960_197_124_096 // 256
    fresh, _ = wear("fob", "state=fob")
    worn, series = wear("worn", "state=preconditioned")
    trimmed, _ = wear("trimmed", "state=trimmed")
    assert series["time_ns"] == [0, 0, *(n * 200_000_000 for n in range(1, 6))]
    assert series["host_bytes"][1] == pytest.approx(3 * capacity, rel=0.001)
    assert worn["at_end"]["trimmed_bytes"] > 0
    assert worn["endurance_bytes"] is not None
    amplification = [one["write_amplification"] for one in (fresh, trimmed, worn)]
    assert max(amplification[:2]) < 1.2
    assert amplification[2] > 2


def wearing(name: str = "d0", amplification: float | None = 2.5, **keys: Any) -> dict[str, Any]:
    """What a record says of the wear of a drive."""
    drive = {
        "drive": name,
        "at_end": {"percentage_used": 0.0123},
        "write_amplification": amplification,
        "write_amplification_total": None,
        "endurance_bytes": 3_500_000_000_000_000,
    }
    return drive | keys


def test_the_summary_says_what_wore() -> None:
    said = "d0: write amplification 2.5 (– since new), 0.0123 % used, projected endurance 3.5 PB written by the host"
    assert smart_lines({"smart": [wearing()]}) == [said]
    assert smart_lines({"smart": [wearing(endurance_bytes=None)]})[0].endswith("% used")
    assert smart_lines({"smart": [wearing(amplification=None)]}) == [
        "d0: write amplification – (– since new), 0.0123 % used"
    ], "what the preparation wrote projects nothing"
    assert smart_lines({}) == []


def test_projected_endurance_says_that_it_is_of_a_drive_of_which_a_part_was_simulated() -> None:
    (line,) = smart_lines({"smart": [wearing(scale=256)]})
    assert line.endswith(", projected endurance of the whole drive (scale 256) 3.5 PB written by the host")


def test_drives_that_wear_alike_have_one_line_with_the_least_and_the_most() -> None:
    members = [wearing(f"d{n}", 4.0 + n / 100, endurance_bytes=(800 - n) * 10**12) for n in range(16)]
    (line,) = smart_lines({"smart": members})
    assert line == (
        "d0 to d15: write amplification 4 to 4.15 (– since new), 0.0123 % used, "
        "projected endurance 785 to 800 TB written by the host to each"
    )
    (line,) = smart_lines({"smart": [wearing("d0"), wearing("d1", endurance_bytes=3_580_000_000_000_000)]})
    assert line.startswith("d0 and d1: write amplification 2.5 (")
    assert line.endswith("projected endurance 3.5 to 3.58 PB written by the host to each")
    (line,) = smart_lines({"smart": [wearing(endurance_bytes=990 * 10**9), wearing("d1", endurance_bytes=10**12)]})
    assert "projected endurance 990 GB to 1 TB written" in line


@pytest.mark.parametrize(
    "other",
    [
        wearing("d2", 2.63),
        wearing("d2", None),
        wearing("d2", at_end={"percentage_used": 0.0}),
        wearing("d2", endurance_bytes=None),
        wearing("d2", scale=2),
    ],
    ids=["amplification", "wrote nothing", "wear", "no endurance", "scale"],
)
def test_a_drive_that_wears_otherwise_has_its_own_line(other: dict[str, Any]) -> None:
    lines = smart_lines({"smart": [wearing("d0"), wearing("d1"), other, wearing("d3")]})
    assert [line.partition(":")[0] for line in lines] == ["d0 and d1", "d2", "d3"]
