"""Does a result say first that something that moves its figures is not modelled, and has it no interval then?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError

FLASH = {"state": "fob", "scale": "256", "warm_up": "0 s"}
Call = Callable[..., "subprocess.CompletedProcess[str]"]
POOL = (
    '[drives.d]\nproduct = "s4500-960"\ncount = 3\n'
    '[layouts.data]\n{kind} = {{ members = "d*", {options}placement_groups = 8, image = "1 GiB" }}\n'
)
HYBRID = (
    '[drives.f]\nproduct = "s4500-960"\ncount = 2\n[drives.h]\nproduct = "mg06sca-10tb"\ncount = 2\n'
    '[layouts.data]\nreplicated = { members = "f0, f1, h0, h1", class = "CLASS", '
    'classes = ["ssd", "ssd", "hdd", "hdd"], replicas = 2, placement_groups = 8, image = "1 GiB" }\n'
)


def whats(record: hb.Record) -> list[tuple[str, str]]:
    """What is not modelled, and the part that it is about."""
    return [(one["what"], one["part"]) for one in record.to_dict().get("unmodelled", [])]


def machine(folder: Path, text: str) -> str:
    """A file with a machine."""
    path = folder / "machine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def raid6() -> hb.Record:
    """More writes to a RAID 6 of NVMe drives than one thread of md does."""
    return hb.run("fio-randwrite", on="raid6:4x7450-pro-3840", qd=256, duration="3 ms", set=FLASH)


def test_writes_beyond_one_thread_of_md_are_named_first(raid6: hb.Record) -> None:
    assert (raid6.iops or 0.0) > 100_000
    assert whats(raid6) == [("md-thread", "data")]
    assert raid6.notes[0].startswith(f'"data" (raid6): {round(raid6.iops or 0.0):,} writes/s (')
    assert "raid5d" in raid6.notes[0]
    assert "not modelled" in raid6.notes[0]


@pytest.mark.parametrize(
    ("workload", "on", "qd"),
    [
        ("fio-randread", "raid6:4x7450-pro-3840", 256),  # reads do not wait for the thread
        ("fio-randwrite", "raid6:4x7450-pro-3840", 1),
        ("fio-randwrite", "raid10:4x7450-pro-3840", 256),
        ("fio-randwrite", "raid6:8xent-10k", 256),
    ],
)
def test_what_a_thread_does_or_does_not_do_is_not_named(workload: str, on: str, qd: int) -> None:
    settings = FLASH if "7450" in on else {"warm_up": "0 s"}
    assert whats(hb.run(workload, on=on, qd=qd, duration="3 ms", set=settings)) == []


def test_large_writes_are_counted_by_rows() -> None:
    """A row is 4 KiB of each member: 50,000 of them are 410 MB/s on two members with data."""
    record = hb.run("fio-write", on="raid6:4x7450-pro-3840", qd=32, duration="3 ms", set={**FLASH, "size": "512 KiB"})
    assert (record.bandwidth or 0.0) > 0.5e9
    assert whats(record) == [("md-thread", "data")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (POOL.format(kind="replicated", options=""), "flash-pool"),
        (POOL.format(kind="erasure", options="k = 2, m = 1, "), "flash-pool"),
        (HYBRID.replace("CLASS", "ssd"), "flash-pool"),
        ('[drives.d]\nproduct = "s4500-960"\ncount = 3\n[layouts.data]\nraidz1 = { members = "d*" }\n', "flash-raidz"),
    ],
)
def test_pools_and_raidz_on_flash_are_named(text: str, what: str, tmp_path: Path) -> None:
    record = hb.run("fio-randread", on=machine(tmp_path, text), duration="10 ms", set=FLASH)
    assert whats(record) == [(what, "data")]
    assert record.notes[0].startswith('"data" (')
    assert "solid-state" in record.notes[0]


def test_a_pool_of_the_disks_beside_solid_state_drives_is_modelled(tmp_path: Path) -> None:
    on = machine(tmp_path, HYBRID.replace("CLASS", "hdd"))
    assert whats(hb.run("fio-randread", on=on, duration="100 ms", set={"warm_up": "0 s"})) == []


def test_a_rebuild_onto_a_shingled_disk_says_that_real_ones_stall() -> None:
    for product, expected in (("st8000as0002", [("smr-rebuild", "spare1")]), ("ent-10k", [])):
        record = hb.run(
            "fio-randread", on=f"raid1:2x{product}", duration="1 s", fail="d1@0 s", spares=1, set={"warm_up": "0 s"}
        )
        assert whats(record) == expected
    assert not any("SMR" in note for note in record.notes)


def test_no_interval_is_made_of_it(tmp_path: Path) -> None:
    on = machine(tmp_path, POOL.format(kind="replicated", options=""))
    record = hb.run("fio-randread", on=on, duration="10 ms", interval=90, set=FLASH)
    assert record.intervals is not None
    assert not record.intervals
    assert record.intervals.draws == 0, "nothing is drawn in vain"
    with pytest.raises(KeyError, match="no interval: the model leaves out Ceph's daemons on solid-state drives"):
        record.intervals["iops"]
    with pytest.raises(UserError, match=r"no interval: .*: \"data\" \(replicated\) has daemons on solid-state drives"):
        hb.explain("fio-randread", on=on, duration="10 ms", set=FLASH)


def test_the_terminal_and_json_say_it_first(call: Call, tmp_path: Path) -> None:
    on = machine(tmp_path, POOL.format(kind="replicated", options=""))
    settings = [word for key, value in FLASH.items() for word in ("--set", f"{key}={value}")]
    asked = ("run", "fio-randread", "--on", on, "--duration", "10 ms", "--interval", "90", *settings)
    done = call(*asked, cwd=tmp_path)
    remarks = [line for line in done.stdout.splitlines() if line.startswith("! ")]
    assert remarks[0].startswith('! "data" (replicated) has daemons on solid-state drives.'), done.stdout + done.stderr
    assert done.stdout.count("has daemons on solid-state") == 1
    assert "No interval: the model leaves out Ceph's daemons on solid-state drives" in " ".join(done.stdout.split())
    assert "90 %" not in done.stdout
    document = json.loads(call(*asked, "--json", cwd=tmp_path).stdout)
    assert document["notes"][0] == document["unmodelled"][0]["note"]
    assert document["intervals"]["figures"] == []
