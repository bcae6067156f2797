"""What is around a run on hardware: device, host, others, counters over time, power."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from trees import Tree

from hotband.base.errors import UserError
from hotband.execution.devices.background import Background, between, look
from hotband.execution.devices.context import context_of, ended
from hotband.execution.devices.counters import Counters
from hotband.execution.devices.device import ID_NS, SMARTCTL, device_of
from hotband.execution.devices.host import Host
from hotband.execution.devices.power import Energy, sources
from hotband.execution.devices.remarks import of_run
from hotband.execution.targets.found import found, listed

RECORDED = Path(__file__).parent / "recorded"
OCP = "nvme ocp smart-add-log /dev/nvme0n1 -o json"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.json").read_text()


def nvme(tree: Tree) -> str:
    """An NVMe drive whose tools were recorded."""
    path = tree.disk("nvme0n1", "259:0", serial="S64FNE0R")
    tree.put("/sys/block/nvme0n1/device/model", "MADE UP 3.84TB   ")
    tree.put("/sys/block/nvme0n1/device/firmware_rev", "GDC5602Q")
    for key, value in {"current_link_speed": "8.0 GT/s PCIe", "max_link_speed": "16.0 GT/s PCIe"}.items():
        tree.put(f"/sys/block/nvme0n1/device/device/{key}", value)
    for key in ("current_link_width", "max_link_width"):
        tree.put(f"/sys/block/nvme0n1/device/device/{key}", "4")
    tree.put("/sys/block/nvme0n1/device/device/numa_node", "1")
    tree.put("/sys/block/nvme0n1/queue/nr_requests", "1023")
    tree.put("/sys/block/nvme0n1/queue/write_cache", "write through")
    tree.recorded(f"nvme smart-log -o json {path}", recorded("nvme-smart-log"))
    tree.recorded(OCP, recorded("nvme-ocp"))
    tree.recorded(" ".join([*ID_NS, path]), recorded("nvme-id-ns"))
    tree.recorded(f"nvme id-ctrl -o json {path}", recorded("nvme-id-ctrl"))
    return path


def test_a_device_is_described_by_whoever_tells_it(tree: Tree) -> None:
    device = device_of(nvme(tree), tree.host)
    assert (device.model, device.serial, device.firmware) == ("MADE UP 3.84TB", "S64FNE0R", "GDC5602Q")
    assert (device.kind, device.transport, device.numa_node) == ("disk", "nvme", 1)
    assert (device.link, device.link_max) == ("8.0 GT/s PCIe x4", "16.0 GT/s PCIe x4")
    assert [(one["data_bytes"], one["in_use"]) for one in device.formats] == [(512, True), (4096, False)]
    assert device.queue is not None
    assert (device.queue["scheduler"], device.queue["requests"]) == ("mq-deadline", 1023)
    assert device.absent == ("lsblk", "smartctl")


def test_a_sata_drive_is_described_by_smartctl_and_its_page_80(tree: Tree) -> None:
    path = tree.disk("sdb", "8:16")
    tree.put("/sys/block/sdb/device/model", "MADE UP SATA SSD")
    tree.put("/sys/block/sdb/device/vpd_pg80", b"\0\x80\0\x08S3Z8NB0K")
    tree.recorded(" ".join([*SMARTCTL, path]), recorded("ata-ssd"))
    device = device_of(path, tree.host)
    assert (device.serial, device.firmware) == ("S3Z8NB0K", "1.02")
    assert (device.link, device.link_max) == ("3.0 Gb/s", "6.0 Gb/s")


def test_what_changes_the_measurement_is_remarked(tree: Tree) -> None:
    path = nvme(tree)
    tree.put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
    tree.put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Made up\nflags\t\t: fpu hypervisor\n")
    said = " ".join(found(path, tree.host).remarks)
    for part in (
        "2 media errors",
        "8.0 GT/s PCIe x4, but supports",
        "mq-deadline",
        "larger ones",
        "powersave",
        "virtual",
    ):
        assert part in said


def test_the_list_has_partitions_and_says_why(tree: Tree) -> None:
    nvme(tree)
    rows = {one.device.path: one for one in listed(tree.host)}
    assert list(rows) == ["/dev/nvme0n1", "/dev/sda", "/dev/sda1"]
    assert rows["/dev/nvme0n1"].refused == ()
    assert rows["/dev/nvme0n1"].erase == "S64FNE0R"
    assert any("the root device" in one for one in rows["/dev/sda1"].refused)


def test_the_context_of_a_file_has_its_file_system(tree: Tree) -> None:
    path = nvme(tree)
    tree.mount(path, "/data", "259:0", "xfs", options="rw,noatime")
    tree.put("/data/file", b"x" * 4096)
    tree.put("/proc/meminfo", "MemTotal:       16384 kB\n")
    tree.put("/proc/sys/kernel/osrelease", "6.1.0-13")
    context = context_of("/data/file", tree.host)
    assert context["file_system"] == {"kind": "xfs", "source": "/dev/nvme0n1", "options": ["rw", "noatime"]}
    assert (context["kernel"], context["memory_bytes"]) == ("6.1.0-13", 16 << 20)
    assert context["device"]["kind"] == "file"
    assert (context["device"]["model"], context["device"]["size_bytes"]) == ("MADE UP 3.84TB", 4096)
    assert context["temperature_before_c"] == 46.0
    json.dumps(context)


def stat_line(name: str, parent: int, own: int, children: int, began: int = 5) -> str:
    return f"1 ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {children} 0 20 0 1 0 {began} 0 0\n"


def process(tree: Tree, number: int, line: str, read: int = 0, written: int = 0) -> None:
    tree.put(f"/proc/{number}/stat", line)
    tree.put(f"/proc/{number}/io", f"rchar: 1\nread_bytes: {read}\nwrite_bytes: {written}\n")


def test_the_time_of_others_is_told_from_ours_and_the_kernels(tree: Tree) -> None:
    """Of 1000 ticks: 300 ours (a child of ours that ended, and one that runs), 100 of the kernel, 200 of others."""
    tree.put("/sys/block/sda/stat", "1 0 100 0 1 0 200 0 0 0 0 0 0 8 0")
    tree.put("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n")
    process(tree, 50, stat_line("hotband", 1, 100, 0))
    process(tree, 70, stat_line("a (b) c", 1, 1000, 0), read=0)
    process(tree, 2, stat_line("kthreadd", 0, 0, 0))
    process(tree, 3, stat_line("kworker/0:1", 2, 10, 0))
    begin = look(tree.host, "/sys/block/sda")
    tree.put("/sys/block/sda/stat", "1 0 300 0 1 0 1200 0 0 0 0 0 0 16 0")
    tree.put("/proc/stat", "cpu  400 0 140 400 30 5 5 20 0 0\n")
    process(tree, 50, stat_line("hotband", 1, 150, 200))
    process(tree, 51, stat_line("fio", 50, 50, 0))
    process(tree, 3, stat_line("kworker/0:1", 2, 100, 0))
    process(tree, 70, stat_line("a (b) c", 1, 1150, 0), read=5 << 20)
    # Number 80 is taken by another process than before: all that it did is new.
    process(tree, 80, stat_line("new", 1, 0, 0, began=99), written=2 << 20)
    found = between(begin, look(tree.host, "/sys/block/sda"), 50)
    assert found["cpu_ours"] == pytest.approx(0.3)
    assert found["cpu_kernel"] == pytest.approx(0.1)
    assert found["cpu_others"] == pytest.approx(0.15)
    assert (found["cpu_waiting"], found["cpu_stolen"]) == (pytest.approx(0.03), pytest.approx(0.02))
    assert (found["device_read_bytes"], found["device_written_bytes"]) == (200 * 512, 1000 * 512)
    assert found["device_discarded_bytes"] == 8 * 512
    assert [one["name"] for one in found["processes"]] == ["a (b) c", "new"]
    assert found["processes"][0]["read_bytes"] == 5 << 20


def test_a_child_of_ours_is_not_another_process() -> None:
    """On this machine: what a child takes is ours, what somebody else takes is not."""
    code = "sum(i * i for i in range(3_000_000))"
    with Background(__file__, Host()) as watched:
        subprocess.run([sys.executable, "-c", code], check=True)
    assert watched.found is not None
    assert watched.found["cpu_ours"] > 0
    assert 0 <= watched.found["cpu_others"] <= 1
    after = ended(context_of(__file__), __file__, watched)
    assert after["background"] == watched.found


def test_counters_leave_the_columns_of_models(tree: Tree) -> None:
    path = nvme(tree)
    with Counters(path, tree.host, every_s=3600) as counters:
        counters.measured()
        log = json.loads(recorded("nvme-smart-log"))
        log["data_units_written"] += 1000
        tree.recorded(f"nvme smart-log -o json {path}", json.dumps(log))
        ocp = json.loads(recorded("nvme-ocp"))
        ocp["Physical media units written"]["lo"] += 3 * 512_000_000
        tree.recorded(OCP, json.dumps(ocp))
    tables = counters.tables
    assert sorted(tables) == ["health", "smart"]
    assert tables["smart"].columns["drive"] == ["nvme0n1", "nvme0n1"]
    assert tables["smart"].columns["write_amplification"] == [None, 3.0]
    assert tables["smart"].columns["stored_bytes"] == [None, None]
    assert tables["health"].columns["temperature_c"] == [46.0, 46.0]
    section = counters.section
    assert section is not None
    assert (section["write_amplification"], section["endurance_from"]) == (3.0, "device")
    assert section["at_begin"]["host_bytes"] == 512_000_000_000
    for table in tables.values():
        assert {len(cells) for cells in table.columns.values()} == {2}
        assert table.columns.keys() == table.kinds.keys()


def test_the_columns_are_those_of_the_engine() -> None:
    """Read from the probes' sources: a column that is added there is missed here."""
    import re

    from hotband.execution.devices.counters import POWER_KINDS, SMART_KINDS

    folder = Path(__file__).parents[2] / "crates" / "engine" / "src" / "probes"
    kinds = {"u64": "u64", "Option<u64>": "u64", "f64": "f64", "Option<f64>": "f64", "Text": "text"}
    for name, own in (("smart", SMART_KINDS), ("power", POWER_KINDS)):
        body = (folder / f"{name}.rs").read_text().split(f'rows! {{ "{name}":', 1)[1].split("\n}\n", 1)[0]
        rows = dict(re.findall(r"^\s+(\w+): ([\w<>]+),$", body, re.MULTILINE))
        assert {column: kinds[kind] for column, kind in rows.items()} == own


def test_drives_of_ata_are_read_at_most_once_a_minute(tree: Tree) -> None:
    assert Counters(tree.disk("sdb", "8:16", serial="A1"), tree.host, 1.0).every_s == 60
    assert Counters(nvme(tree), tree.host, 1.0).every_s == 1


def test_readings_go_on_in_a_thread_while_the_run_does(tree: Tree) -> None:
    path = nvme(tree)
    enough = threading.Event()
    counters = Counters(path, tree.host, every_s=0.01)
    read = counters._read

    def counted() -> None:
        read()
        if len(counters._readings) >= 5:
            enough.set()

    counters._read = counted  # type: ignore[method-assign]
    with counters:
        assert enough.wait(20), "five readings"
    times = counters.tables["smart"].columns["time_ns"]
    assert times == sorted(times, key=lambda one: int(one or 0))
    assert len(times) >= 5


def test_what_disturbed_a_run_is_said(tree: Tree) -> None:
    path = nvme(tree)
    quiet = context_of(path, tree.host)
    with Counters(path, tree.host, every_s=3600) as counters:
        log = json.loads(recorded("nvme-smart-log"))
        log["thm_temp1_total_time"] += 12
        tree.recorded(f"nvme smart-log -o json {path}", json.dumps({**log, "media_errors": 3, "critical_warning": 2}))
    said = of_run(quiet, counters.section)
    assert said == [
        "the drive slowed down to cool for 12 s: the figures are those of a hot drive",
        "1 media errors in the run",
        "SMART has reported failure or a warning since this run",
    ]
    with Background(path, tree.host, root=1) as watched:
        pass
    assert watched.found is not None
    calm = {**watched.found, "cpu_ours": 0.3, "cpu_others": 0.02, "cpu_stolen": 0.001}
    busy = {**watched.found, "cpu_others": 0.4, "cpu_stolen": 0.05}
    busy["processes"] = [{"name": "make", "cpu_ns": 1, "read_bytes": None, "written_bytes": None}]
    assert of_run({**quiet, "background": calm}, None) == []  # type: ignore[typeddict-item]
    words = " ".join(of_run({**quiet, "background": busy}, None))  # type: ignore[typeddict-item]
    assert "40 % of the processors' time (make)" in words
    assert "took 5 % of its time" in words


def test_a_device_that_is_gone_tells_nothing_and_breaks_nothing(tree: Tree) -> None:
    path = nvme(tree)
    with Counters(path, tree.host, every_s=3600) as counters:
        (tree.root / "dev/nvme0n1").unlink()
    assert counters.tables["smart"].columns["host_bytes"] == [512_000_000_000, None]
    with pytest.raises(UserError, match="does not exist"), Counters(path, tree.host):
        pass


def test_a_log_that_a_drive_does_not_have_is_asked_for_once(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time leaves an entry in the drive's log of errors."""
    path = nvme(tree)
    (tree.root / "commands" / OCP.replace("/", "%")).unlink()
    asked: list[tuple[str, ...]] = []
    run = Host.run
    monkeypatch.setattr(Host, "run", lambda self, *words, **more: asked.append(words) or run(self, *words, **more))
    with Counters(path, tree.host, every_s=3600) as counters:
        counters._read()
    assert len([words for words in asked if "ocp" in words]) == 1
    assert len([words for words in asked if "smart-log" in words]) == 3


def test_holes_of_a_file_are_remarked(tree: Tree) -> None:
    file = tree.put("/data/disk.img", b"")
    with file.open("r+b") as whole:
        whole.truncate(1 << 20)
    assert (
        "100 % of the file are holes: reads of them never reach a drive" in found("/data/disk.img", tree.host).remarks
    )


def test_energy_that_wraps_around(tree: Tree) -> None:
    now = [100.0]
    folder = "/sys/class/powercap/intel-rapl:0"
    tree.put(f"{folder}/max_energy_range_uj", "10000000")
    tree.put(f"{folder}/energy_uj", "9000000")
    energy = Energy(tree.host, folder, lambda: now[0])
    assert energy.watts() is None
    now[0], _ = 102.0, tree.put(f"{folder}/energy_uj", "1000000")
    assert energy.watts() == pytest.approx(1.0)


def test_power_is_of_zones_the_drives_sensor_and_a_command(tree: Tree) -> None:
    path = nvme(tree)
    for name, label in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core")):
        tree.put(f"/sys/class/powercap/{name}/name", label)
        tree.put(f"/sys/class/powercap/{name}/energy_uj", "1")
    tree.put("/sys/block/nvme0n1/device/hwmon4/power1_input", "8250000")
    told = {one.of + " by " + one.name: one.watts() for one in sources(path, tree.host, "echo 12.5 W")}
    assert told == {
        "rapl package-0 by RAPL": None,
        "nvme0n1 by the drive's own sensor": 8.25,
        "nvme0n1 by a command": 12.5,
    }


@pytest.mark.parametrize("command", ["echo none", "false", "/no/such/meter", "'", ""])
def test_a_command_that_prints_no_watts_is_refused_before_the_run(tree: Tree, command: str) -> None:
    with pytest.raises(UserError, match=r"question\.power"):
        Counters(nvme(tree), tree.host, power_command=command)


def test_power_rows_count_from_the_measured_time(tree: Tree) -> None:
    with Counters(nvme(tree), tree.host, every_s=3600, power_command="echo 7") as counters:
        counters.measured()
    power = counters.tables["power"].columns
    assert power["power_w"] == power["low_w"] == power["high_w"] == [7.0]
    assert power["time_ns"] == [0]


def test_this_machine_is_listed_without_writing() -> None:
    names = [one.device.name for one in listed()]
    assert names == sorted(names, key=names.index)
    if os.path.isdir("/sys/block/vda"):
        assert "vda" in names
