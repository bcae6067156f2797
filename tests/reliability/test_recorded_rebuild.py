"""What `--record` takes from the record of a run, and what it does with one of something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.data.inputs.specify import Named
from hotband.inference.reliability.asked import ReliabilityQuestion
from hotband.inference.reliability.assess import assess

HOUR = 3_600_000_000_000
MACHINE = "raid5:5xsavvio-10k1"
MEMBER = 73_407_820_800
TOML = """
[drives.d]
product = "savvio-10k1"
count = 5
[layouts.data]
raid5 = { members = "d0..d4" }
"""


def part(end: int, **changes: Any) -> dict[str, Any]:
    """A rebuild of d1 that began after an hour and ended after `end` of them."""
    done = {"drive": "d1", "spare": "spare1", "layout": "data", "state": "done", "of_bytes": MEMBER}
    return {**done, "began_ns": HOUR, "ended_ns": end * HOUR, **changes}


def saved(folder: Path, *rebuilds: dict[str, Any], toml: str = TOML, **sets: str) -> Path:
    """A folder with a record of these rebuilds."""
    spec = {"machine": toml, "set": {"qd": "8", **sets}}
    record = {"target": {"machine": MACHINE}, "spec": spec, "repair": {"rebuilds": list(rebuilds)}}
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def given(record: Path, machine: str = MACHINE, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = assess(ReliabilityQuestion(on=Named(machine), record=record, arrays=1000, **options))[
        "given"
    ]
    return found


def test_the_mean_of_the_drives_that_were_rebuilt(tmp_path: Path) -> None:
    other = {"drive": "d2", "spare": "spare2"}
    running = part(9, drive="d3", spare="spare3", state="running", ended_ns=None)
    record = saved(tmp_path, part(2), part(4, **other), running)
    found = given(record)
    assert found["rebuild_hours"] == pytest.approx(2.0, rel=1e-3)
    assert found["sources"]["rebuild"] == str(tmp_path), "nothing differs, so nothing is said"


def test_a_rebuild_that_began_in_a_run_before_takes_all_of_its_time(tmp_path: Path) -> None:
    """In the record of the run in which it ended it begins with that run; one that ended before has no time there."""
    rate = MEMBER / (5 * HOUR / 1e9)
    for end in (0, 1):
        here = part(end, began_ns=0, bytes=MEMBER, mean_bytes_per_s=rate)
        assert given(saved(tmp_path, here))["rebuild_hours"] == pytest.approx(5.0, rel=1e-3)


def test_fewer_bytes_take_less_time_and_a_note(tmp_path: Path) -> None:
    found = given(saved(tmp_path, part(2, of_bytes=MEMBER // 64), scale="64"))
    assert found["rebuild_hours"] == pytest.approx(64.0, rel=1e-3)
    assert found["sources"]["rebuild"].endswith("; scaled from 1.15 GB to 73.4 GB")


def test_another_machine_and_other_values_are_said(tmp_path: Path) -> None:
    record = saved(tmp_path, part(2), rpm="5400 rpm")
    source = given(record, "raid6:6xsavvio-10k1")["sources"]["rebuild"]
    assert source.endswith(f"; of {MACHINE}; with rpm = 5400 rpm, here as in the catalog")
    assert "qd" not in source


def test_another_product_is_refused(tmp_path: Path) -> None:
    record = saved(tmp_path, part(2), toml=TOML.replace("savvio-10k1", "xmg06sca-10tb"))
    with pytest.raises(UserError, match=r"'xmg06sca-10tb': another product than is rebuilt here; .* of savvio-10k1"):
        given(record)


def test_parts_of_a_drive_in_several_layouts_add_up(tmp_path: Path) -> None:
    log = part(2, layout="log", of_bytes=MEMBER // 10)
    found = given(saved(tmp_path, log, part(4)))
    assert found["rebuild_hours"] == pytest.approx(1.0 + 3.0, rel=1e-3)
    assert found["sources"]["rebuild"].endswith("; with the part of the drive in log")
    with pytest.raises(UserError, match="expected a rebuild of data: the record has those of log, other"):
        given(saved(tmp_path, log, part(4, layout="other")))


@pytest.mark.parametrize(
    "rebuilds",
    [[], [part(2, state="running")], [part(2, of_bytes=0)], [part(1)], [part(2, drive="x9")], [part(2, ended_ns=None)]],
)
def test_a_record_without_a_finished_rebuild_is_refused(tmp_path: Path, rebuilds: list[dict[str, Any]]) -> None:
    with pytest.raises(UserError, match="a rebuild was finished"):
        given(saved(tmp_path, *rebuilds))


def test_a_rebuild_of_a_small_drive_stands_for_a_large_one(hotband, tmp_path: Path) -> None:
    machine = "raid1:2xs4500-960"
    call = ("run", "idle", "--on", machine, "--set", "scale=64", "--fail", "d1@1 s", "--spares", "1")
    done = hotband(*call, "--duration", "100 s", "--out", "out")
    assert done.returncode == 0, done.stderr
    found = given(tmp_path / "out", machine)
    # 960.2 GB at the 490 MB/s of the data sheet.
    assert found["rebuild_hours"] == pytest.approx(960.2e9 / 490e6 / 3600, rel=0.02)
    done = hotband("reliability", "raid1:2xsavvio-10k1", "--record", "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "another product" in done.stderr


def test_members_on_one_drive_are_refused(tmp_path: Path) -> None:
    machine = tmp_path / "units.toml"
    drives = '[drives.d]\nproduct = "st14000nm0001"\ncount = 2\n'
    machine.write_text(drives + '[layouts.data]\nraid10 = { members = "d0.lun0..d1.lun1" }\n')
    with pytest.raises(UserError, match="'d0': is a member more than once"):
        assess(ReliabilityQuestion(on=Named(str(machine))))
