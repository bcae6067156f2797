"""Is JSON of smartctl and nvme shown as the drive it is about, and named as a machine?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.inputs.reports import report_of
from hotband.data.inputs.specify import named

Hotband = Callable[..., "CompletedProcess[str]"]
ID_CTRL = {"vid": 32902, "mn": "INTEL SSDPE2KX040T8   ", "sn": "X1  ", "fr": "VDV1", "tnvmcap": "4000787030016"}
SMARTCTL: dict[str, Any] = {
    "smartctl": {"version": [7, 4]},
    "device": {"name": "/dev/sda", "protocol": "ATA"},
    "model_name": "INTEL SSDSC2KB960G7",
    "serial_number": "S9",
    "firmware_version": "F1",
    "user_capacity": {"bytes": 960197124096},
    "logical_block_size": 512,
    "physical_block_size": 4096,
    "rotation_rate": 0,
    "temperature": {"current": 31},
    "power_on_time": {"hours": 1200},
}
LIST = {
    "Devices": [{"DevicePath": "/dev/nvme0n1", "ModelNumber": "INTEL SSDPE2KX040T8", "PhysicalSize": 4000787030016}]
}
NESTED = {
    "Devices": [
        {"Subsystems": [{"Controllers": [{"ModelNumber": "INTEL SSDPE2KX040T8", "Namespaces": [{"PhysicalSize": 7}]}]}]}
    ]
}
PATHS = {
    "Devices": [
        {"Subsystems": [{"Controllers": [{"ModelNumber": "INTEL SSDPE2KX040T8", "Namespaces": []}],
                         "Namespaces": [{"PhysicalSize": 9}]}]}
    ]
}  # fmt: skip
SMART_LOG = {"critical_warning": 0, "temperature": 304, "percent_used": 3, "data_units_written": 1000}


def written(folder: Path, document: object) -> Path:
    path = folder / "report.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("document", "kind", "size", "product"),
    [
        (ID_CTRL, "nvme", 4000787030016, "p4510-4tb"),
        (SMARTCTL, "ssd", 960197124096, "s4500-960"),
        (LIST, "nvme", 4000787030016, "p4510-4tb"),
        (NESTED, "nvme", 7, "p4510-4tb"),
        (PATHS, "nvme", 9, "p4510-4tb"),
    ],
)
def test_the_drive_of_a_report_is_known(tmp_path: Path, document: object, kind: str, size: int, product: str) -> None:
    path = written(tmp_path, document)
    report = report_of(path)
    assert report is not None
    assert (report.kind, report.size_bytes, report.product) == (kind, size, product)
    assert named(str(path), "on").name == named(path, "on").name == product


def test_utf16_of_powershell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(ID_CTRL), encoding="utf-16")
    assert named(str(path), "on").name == "p4510-4tb"


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("smartctl 7.2 2020-12-30 r5155\n\n=== START OF INFORMATION SECTION ===\n", "smartctl"),
        ("Node                  SN                   Model      Namespace Usage\n", "nvme"),
    ],
)
def test_text_about_a_drive_is_refused_by_name(tmp_path: Path, text: str, tool: str) -> None:
    path = tmp_path / "drive.txt"
    path.write_text(text)
    with pytest.raises(UserError, match=f"drive.txt: is the text of {tool}; expected the JSON of smartctl -j -a"):
        report_of(path)


@pytest.mark.parametrize(("document", "tool"), [(SMARTCTL, "smartctl"), (LIST, "nvme"), (SMART_LOG, "nvme")])
def test_json_about_a_drive_that_is_cut_off_is_refused(tmp_path: Path, document: object, tool: str) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(document)[:-2])
    with pytest.raises(UserError, match=f"cut.json: is JSON of {tool} that is cut off or damaged; expected the JSON"):
        report_of(path)


def test_other_json_is_no_report(tmp_path: Path) -> None:
    for document in ({"fio version": "fio-3.33"}, {"Devices": []}, [1], {"mn": "x"}):
        assert report_of(written(tmp_path, document)) is None


def test_what_names_no_drive_of_the_catalog_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="model = 'Other 1': its model number is of no drive in the catalog; expected"):
        named(str(written(tmp_path, {**ID_CTRL, "mn": "Other 1"})), "on")
    denied = {"smartctl": {"messages": [{"string": "Permission denied", "severity": "error"}]}}
    with pytest.raises(
        UserError, match=r"does not state the model of a drive \(Permission denied\); expected the JSON of"
    ):
        named(str(written(tmp_path, denied)), "on")
    two = {"Devices": [LIST["Devices"][0], {"ModelNumber": "Other 1"}]}
    with pytest.raises(UserError, match="several drives; expected the output about one, nvme id-ctrl"):
        report_of(written(tmp_path, two))


def test_a_report_is_shown_as_a_device(hotband: Hotband, tmp_path: Path) -> None:
    done = hotband("measure", "device", str(written(tmp_path, SMARTCTL)))
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "ssd, 960 GB, INTEL SSDSC2KB960G7, serial S9, firmware F1" in text
    assert "sectors: 512 B, physical 4096 B counters: 31 degrees Celsius, 1,200 h powered on" in text
    assert "The catalog has it as s4500-960." in text
    done = hotband("measure", "device", str(written(tmp_path, SMART_LOG)))
    assert "counters: 512 MB written by hosts, 3 % used, 31 degrees Celsius" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"smart_status": {"passed": False}}, "note: SMART reports failure"),
        ({"nvme_smart_health_information_log": {"available_spare": 0}}, "note: no spare blocks are left"),
        ({"nvme_smart_health_information_log": {"percentage_used": 130}}, "note: 130 % of its rated endurance is used"),
    ],
)
def test_a_report_of_a_failing_drive_says_so_first(hotband: Hotband, tmp_path: Path, more: Any, said: str) -> None:
    path = tmp_path / "smart.json"
    path.write_text(json.dumps(SMARTCTL | more))
    lines = hotband("measure", "device", str(path)).stdout.splitlines()
    assert any(said in line for line in lines[:3]), lines


def test_a_virtual_disk_whose_log_is_zeros_has_no_worn_spare_blocks(hotband: Hotband, tmp_path: Path) -> None:
    log = {"critical_warning": 0, "temperature": -273, "available_spare": 0, "available_spare_threshold": 0}
    cloud = SMARTCTL | {"nvme_smart_health_information_log": log}
    path = written(tmp_path, cloud)
    done = hotband("measure", "device", str(path))
    assert done.returncode == 0, done.stderr
    assert "spare" not in done.stdout
    assert "-273" not in done.stdout
    for warning, threshold in ((1, 0), (0, 10)):
        more = {"critical_warning": warning, "available_spare_threshold": threshold}
        path = written(tmp_path, cloud | {"nvme_smart_health_information_log": log | more})
        assert "no spare blocks are left" in hotband("measure", "device", str(path)).stdout


def test_a_new_drive_has_name_kind_and_capacity_of_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = {
        **SMARTCTL,
        "model_name": "Maker Quick-9",
        "rotation_rate": 7200,
        "user_capacity": {"bytes": 8 * 10**12},
    }
    drive = hb.new_drive(str(written(tmp_path, document)))
    assert (tmp_path / "maker-quick-9.toml").is_file()
    assert drive.title == "Maker Quick-9"
