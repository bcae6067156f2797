"""A folder with a record of another run is not written over; what is said twice is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hotband as hb

JOURNALED = """
[drives.d]
product = "savvio-10k1"
count = 5
[layouts.raid]
raid5 = { members = "d0..d3" }
[layouts.md]
md = { members = "raid, d4", journal = "write-back" }
[layouts.data]
controller = { members = "md", cache = "16 MiB" }
"""


def test_a_record_of_another_run_stays(hotband: Any, tmp_path: Path) -> None:
    first = ["run", "fio-randread", "--on", "ent-10k", "--duration", "1 s", "--out", "kept"]
    assert hotband(*first).returncode == 0
    held = (tmp_path / "kept/record.json").read_bytes()
    for other in (["--set", "qd=4"], ["--seed", "2"]):
        done = hotband(*first, *other)
        assert done.returncode == 2
        assert "holds the record of another run, fio-randread on ent-10k" in done.stderr
        assert "expected another folder, or --fresh" in done.stderr
    assert hotband("run", "idle", *first[2:]).returncode == 2
    assert (tmp_path / "kept/record.json").read_bytes() == held
    assert hotband(*first).returncode == 0, "the same run takes its own place"
    assert hotband(*first, "--set", "qd=4", "--fresh").returncode == 0
    assert json.loads((tmp_path / "kept/record.json").read_text())["spec"]["set"] == {"qd": "4"}


def test_a_link_to_nothing_is_told_as_that(hotband: Any, tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    done = hotband("run", "fio-randread", "--on", "ent-10k", "--duration", "10 ms", "--out", "dangling")
    assert done.returncode == 2
    assert "--out = 'dangling': is a link to nowhere, which does not exist: expected a folder" in done.stderr


def test_a_drive_in_use_is_the_same_run_again(hotband: Any) -> None:
    line = ["run", "fio-randread", "--on", "s4500-960", "--duration", "5 ms", "--set", "qd=2", "--out", "kept"]
    assert [hotband(*line).returncode for _ in range(2)] == [0, 0]


def test_one_depth_is_asked_for(hotband: Any) -> None:
    done = hotband("run", "fio-randread", "--on", "ent-10k", "--set", "qd=4", "--set", "depth=8")
    assert done.returncode == 2
    assert "depth = '8': is what each thread has outstanding, and qd what all have: expected one" in done.stderr
    with pytest.raises(hb.UserError, match="qd = '8': is given twice, as qd=4, too"):
        hb.run("fio-randread", on="ent-10k", set={"qd": 4}, qd=8)
    outstanding = [
        hb.run("fio-randread", on="ent-10k", duration="1 s", set=values).document["summary"]["queue_depth_mean"]
        for values in ({"qd": 8, "threads": 2}, {"threads": 2, "qd": 8})
    ]
    assert outstanding == pytest.approx([8, 8])


@pytest.mark.parametrize("spares", [-1, 2**40, 1.5, True])
def test_spares_that_are_no_count_are_refused(spares: Any) -> None:
    with pytest.raises(hb.UserError, match=r"spares = .*: expected a whole number"):
        hb.run("fio-randread", on="raid5:4xent-10k", duration="1 s", spares=spares)


def test_what_a_controller_cannot_write_back_is_lost(tmp_path: Path) -> None:
    machine = tmp_path / "journaled.toml"
    machine.write_text(JOURNALED)
    record = hb.run("fio-randwrite", on=machine, duration="4 s", warm_up="1 s", fail="d4@1 s").document
    cache = next(part for part in record["parts"] if part["id"] == "data.cache")
    assert cache["counters"]["destage_faults"] > 0
    lost = record["repair"]["bytes_lost"]
    assert lost % 4096 == 0
    assert lost >= 4096 * cache["counters"]["destage_faults"], "a fault is of a part of a stripe"
    assert [service["phase"] for service in record["repair"]["service"]] == ["before", "degraded"]


def test_a_failed_drive_draws_nothing_at_rest() -> None:
    energy = hb.run("idle", on="raid1:2xsavvio-10k1", duration="10 s", fail="d1@5 s").document["energy"]
    assert energy["idle_w"] == pytest.approx(7.5)
    assert energy["energy_j"] == pytest.approx(75)
