"""Are the counters of drives read as the tools and their standards mean them?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import Tree

from hotband.data.documents.counters import ReadingDoc
from hotband.execution.devices.counters import amplification, endurance_of
from hotband.execution.devices.device import SMARTCTL
from hotband.execution.devices.readings import NOTHING, of_ata, of_nvme, of_scsi, of_smartctl, reading_of, with_ocp

RECORDED = Path(__file__).parent / "recorded"
SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "smart"
GIB = 1 << 30


def recorded(name: str) -> dict[str, object]:
    return json.loads((RECORDED / f"{name}.json").read_text())  # type: ignore[no-any-return]


def sample(name: str) -> dict[str, object]:
    file = SAMPLES / name
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    return json.loads(file.read_text())  # type: ignore[no-any-return]


def told(reading: ReadingDoc) -> dict[str, object]:
    """What is known of it."""
    return {key: value for key, value in reading.items() if value is not None}


def test_nvme_counts_thousands_of_512_bytes_and_kelvin() -> None:
    assert told(of_nvme(recorded("nvme-smart-log"))) == {
        "host_bytes": 512_000_000_000,
        "host_read_bytes": 1_024_000_000_000,
        "percentage_used": 4.0,
        "available_spare_pct": 100.0,
        "media_errors": 2,
        "temperature_c": 46.0,
        "throttled_s": 67,
        "throttle_events": 6,
        "power_on_hours": 4321,
        "unsafe_shutdowns": 3,
        "passed": True,
    }


@pytest.mark.parametrize("name", ["nvme-ocp", "nvme-ocp-newer"])
def test_the_log_of_the_open_compute_project_tells_flash(name: str) -> None:
    found = with_ocp(of_nvme(recorded("nvme-smart-log")), recorded(name))
    assert (found["flash_bytes"], found["erases_max"], found["throttle_events"]) == (1_280_000_000_000, 30, 9)
    assert found["endurance_bytes"] == 7 * 10**15
    assert amplification(None, found) == 2.5


def test_a_wide_number_of_two_halves() -> None:
    log = {"Physical media units written": {"hi": 1, "lo": 5}}
    assert with_ocp({**NOTHING}, log)["flash_bytes"] == 2**64 + 5


def test_ata_attributes_by_the_units_in_their_names() -> None:
    found = of_smartctl(recorded("ata-ssd"))
    assert told(found) == {
        "host_bytes": 1000 * GIB,
        "flash_bytes": 1500 * GIB,
        "erases_mean": 22.0,
        "percentage_used": 3.0,
        "media_errors": 1,
        "temperature_c": 41.0,
        "power_on_hours": 100,
        "passed": False,
    }


def test_device_statistics_go_before_attributes_and_only_where_they_are_valid() -> None:
    found = of_ata(recorded("ata-devstat"))
    assert (found["host_bytes"], found["percentage_used"], found["host_read_bytes"]) == (4_096_000, 13.0, None)


def test_pages_programmed_by_host_and_drive_tell_the_amplification() -> None:
    found = of_ata(recorded("ata-micron"))
    assert amplification(None, found) == pytest.approx(1.25, rel=1e-9)
    assert found["percentage_used"] == 9.0


@pytest.mark.parametrize(
    ("status", "warning", "passed"), [(True, 0, True), (True, 4, False), (False, 0, False), (None, 4, False)]
)
def test_a_warning_counts_whatever_the_status_says(status: bool | None, warning: int, passed: bool) -> None:
    document = {"smart_status": {"passed": status}, "nvme_smart_health_information_log": {"critical_warning": warning}}
    assert of_smartctl(document)["passed"] is passed


def test_scsi_counts_gigabytes() -> None:
    found = of_scsi(recorded("scsi-ssd"))
    assert (found["host_bytes"], found["host_read_bytes"], found["media_errors"]) == (
        2_000_250_000_000,
        1_500_000_000,
        3,
    )
    assert found["percentage_used"] == 11.0


def test_a_real_nvme_drive() -> None:
    found = of_smartctl(sample("smart-nvme.json"))
    assert found["host_bytes"] == 7_773_431 * 512_000
    assert (found["temperature_c"], found["percentage_used"], found["power_on_hours"]) == (36.0, 0.0, 2401)
    assert found["passed"] is True


def test_a_real_sata_disk() -> None:
    found = told(of_smartctl(sample("smart-ata.json")))
    # A helium disk that counts no bytes; its temperature has the least and the most packed into the raw value.
    assert found == {"temperature_c": 32.0, "power_on_hours": 1730, "unsafe_shutdowns": 329, "passed": True}


def test_a_real_sas_disk() -> None:
    found = of_smartctl(sample("smart-scsi.json"))
    assert found["host_bytes"] == 86_472_611_000_000
    assert (found["media_errors"], found["temperature_c"]) == (0, 34.0)


@pytest.mark.parametrize("broken", [{}, {"ata_smart_attributes": None}, {"nvme_smart_health_information_log": {}}])
def test_what_a_tool_could_not_tell_is_none(broken: dict[str, object]) -> None:
    assert told(of_smartctl(broken)) == {}


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", '{"temperature": {"current": "warm"}}', "{" * 5000])
def test_output_that_is_none_of_a_tool_is_no_reading(tree: Tree, text: str) -> None:
    path = tree.disk("sdb", "8:16", serial="A1")
    tree.recorded(" ".join([*SMARTCTL, path]), text)
    assert told(reading_of(path, tree.host)) == {}


def test_a_partition_a_loop_device_and_a_file_are_counted_by_their_disk(tree: Tree) -> None:
    tree.disk("sdb", "8:16", serial="A1")
    part = tree.partition("sdb", 1, "8:17", 2048, 2048)
    tree.mount(part, "/data", "8:17", "ext4")
    tree.put("/data/disk.img", b"x")
    loop = tree.loop("loop0", "7:0", "/data/disk.img")
    tree.recorded(" ".join([*SMARTCTL, "/dev/sdb"]), json.dumps(recorded("ata-ssd")))
    for path in (part, "/data/disk.img", loop):
        assert reading_of(path, tree.host)["temperature_c"] == 41.0


def test_a_sensor_of_the_kernel_tells_where_no_tool_does(tree: Tree) -> None:
    path = tree.disk("sdb", "8:16", serial="A1")
    tree.put("/sys/block/sdb/device/hwmon/hwmon3/temp1_input", "38850")
    absent: list[str] = []
    assert reading_of(path, tree.host, absent)["temperature_c"] == 38.85
    assert absent == ["smartctl"]


def reading(**values: object) -> ReadingDoc:
    return {**NOTHING, **values}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        # 10 TB for 5 %, 40 % left.
        (
            reading(host_bytes=0, percentage_used=55),
            reading(host_bytes=10**13, percentage_used=60),
            (8 * 10**13, "measured"),
        ),
        # One percent is counted too coarsely: 60 TB for 60 % since it was new.
        (
            reading(host_bytes=59 * 10**12, percentage_used=59),
            reading(host_bytes=60 * 10**12, percentage_used=60),
            (40 * 10**12, "life"),
        ),
        (reading(), reading(host_bytes=10**12, percentage_used=0, endurance_bytes=7 * 10**12), (6 * 10**12, "device")),
        (reading(), reading(host_bytes=10**12, percentage_used=0), (None, None)),
        (reading(), reading(host_bytes=10**12, percentage_used=130), (0, "life")),
        (reading(), reading(), (None, None)),
    ],
)
def test_endurance_that_is_left(begin: ReadingDoc, end: ReadingDoc, expected: tuple[int | None, str | None]) -> None:
    assert endurance_of(begin, end) == expected


def test_no_amplification_of_what_was_not_counted() -> None:
    begin = reading(host_bytes=GIB, flash_bytes=2 * GIB)
    assert amplification(begin, begin) is None
    assert amplification(begin, reading(host_bytes=2 * GIB, flash_bytes=2 * GIB)) is None
    assert amplification(begin, reading(host_bytes=2 * GIB, flash_bytes=5 * GIB)) == 3.0
