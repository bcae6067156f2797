"""Does a table that a probe leaves reach the disk and come back without a word of Python about it?"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from hotband import _core
from hotband.data.catalog import CATALOG_DIR
from hotband.data.record.files import frame_of, load_tables, table_files

WORKLOAD = """
[record]
probes = ["waiting"]
[load]
closed = { threads = 1, depth = 8 }
[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"
[[phases]]
duration = "2 s"
measure = true
"""


def test_a_table_that_was_asked_for_is_beside_the_record_which_names_it(hotband, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(WORKLOAD)
    done = hotband("run", "./w.toml", "--on", "savvio-10k1", "--out", "run")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    assert record["series"]["waiting_file"] == "waiting.parquet"
    waiting = pq.read_table(tmp_path / "run" / "waiting.parquet").to_pydict()
    assert waiting == {"time_ns": [0, 10**9], "drive": ["d0", "d0"], "commands": [8, 8]}
    assert record["waiting"] == [{"drive": "d0", "commands_mean": 8.0, "commands_max": 8}]


def test_tables_read_from_disk_are_those_that_the_run_left(hotband, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(WORKLOAD)
    assert hotband("run", "./w.toml", "--on", "savvio-10k1", "--out", "run").returncode == 0
    left = _core.Run(CATALOG_DIR, "savvio-10k1", "w.toml", workload_text=WORKLOAD).execute()
    record = json.loads(left.record)
    assert set(table_files(record["series"])) == set(left.tables) >= {"series", "waiting"}
    read = load_tables(tmp_path / "run", record)
    for name, table in left.tables.items():
        assert (read[name].columns, read[name].kinds) == (table.columns, table.kinds), name
        assert frame_of(read[name]).equals(frame_of(table)), name


def test_checked_specs_are_data(tmp_path: Path) -> None:
    mirror = _core.machine(CATALOG_DIR, "raid1:2xsavvio-10k1")
    assert [drive["product"] for drive in mirror["drives"]] == ["savvio-10k1"] * 2
    assert [layout["kind"] for layout in mirror["layouts"]] == ["raid1"]
    assert _core.machine(CATALOG_DIR, "replicated:6xmg06sca-10tb")["is_replicated"]
    told = _core.workload(WORKLOAD, "w.toml")
    assert told["title"] == "w.toml"
    assert told["table"]["load"] == {"closed": {"threads": 1, "depth": 8}}
