"""Is what commands print there from Python, where no other test of theirs asks?"""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

import hotband as hb

LOAD, DISK = "fio-randread", "ent-15k"


def test_steady_state_is_judged_as_the_command_does_it(hotband, disk: hb.Record, tmp_path: Path) -> None:
    disk.save(tmp_path / "run")
    done = hotband("audit", "--steady", str(tmp_path / "run"), "--round", "1 s", "--track", "latency", "--json")
    on_disk, in_memory = (hb.steady(one, round="1 s", track="latency") for one in (tmp_path / "run", disk))
    assert json.loads(json.dumps(on_disk.to_dict())) == json.loads(done.stdout)
    assert in_memory.to_dict() == on_disk.to_dict()
    row = on_disk.frame.row(0, named=True)
    assert (row["track"], row["rounds"], row["reached"]) == ("latency", 5, on_disk.reached)


def test_every_run_of_a_call_is_in_the_store_that_takes_it(tmp_path: Path) -> None:
    run = hb.run(LOAD, on=DISK, duration="0.1 s", interval=90, draws=8, into=tmp_path / "store", progress=False)
    hb.sequence([LOAD, LOAD], on=DISK, seed=7, duration="0.1 s", into=tmp_path / "store", progress=False)
    hb.sweep(LOAD, on=DISK, qd=[2, 4], duration="0.1 s", into=tmp_path / "store", records=False, progress=False)
    store = hb.store(tmp_path / "store")
    assert len(store) == 5
    kept = [store.record(key) for key in store.runs("qd is null and seed = '1'")["run"]]
    assert [one.to_dict() for one in kept] == [run.to_dict()], "with its intervals"


def test_a_sequence_in_a_folder_is_what_then_leaves_there(hotband, tmp_path: Path) -> None:
    asked = {"on": DISK, "duration": "0.1 s", "out": tmp_path / "python", "progress": False}
    first = hb.sequence([LOAD, "fio-randwrite"], **asked)
    words = (
        "run",
        LOAD,
        "--on",
        DISK,
        "--then",
        "fio-randwrite",
        "--duration",
        "0.1 s",
        "--out",
        str(tmp_path / "command"),
    )
    assert hotband(*words).returncode == 0
    for place in ("1", "2"):
        files = [tmp_path / whose / place / "record.json" for whose in ("python", "command")]
        assert files[0].read_bytes() == files[1].read_bytes()
    again = hb.sequence([LOAD, "fio-randwrite"], **asked)
    assert [one.to_dict() for one in again] == [one.to_dict() for one in first]


def test_a_store_is_compacted_and_checked(hotband, disk: hb.Record, tmp_path: Path) -> None:
    for shelf in ("a", "b"):
        with hb.store(tmp_path / "store") as store:
            store.append(hb.run(LOAD, on=DISK, qd=2 if shelf == "a" else 3, duration="0.1 s", progress=False))
    done = hb.store(tmp_path / "store").compact()
    assert (done.before, done.after) == (2, 1)
    found = hb.store(tmp_path / "store").check()
    assert (found.runs, found.damaged) == (2, [])
    told = json.loads(hotband("store", "check", str(tmp_path / "store"), "--json").stdout)
    assert told == {"schema": "hotband-store-check", "schema_version": 1, **vars(found)}


def test_events_are_those_of_the_command(hotband) -> None:
    assert hb.events().to_dicts() == json.loads(hotband("keys", "--events", "--json").stdout)


def test_a_daemon_has_its_values() -> None:
    name = hb.osds()["name"][0]
    assert hb.osd(name).values.height > 5


SHEET = {"capacity": "16 TB", "rpm": "7200 rpm", "interface": "sata", "bandwidth": "261 MB/s", "read_iops_qd1": 80}


def test_a_drive_of_ones_own_is_the_file_that_the_command_writes(
    hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [word for key, value in SHEET.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    assert hotband("drives", "new", "typed", "--kind", "hdd", "--title", "X16", *lines).returncode == 0
    made = hb.new_drive("made", kind="hdd", title="X16", **SHEET)
    assert Path("made.toml").read_bytes() == Path("typed.toml").read_bytes()
    assert (made.title, made.values.height) == ("X16", hb.drive("./typed.toml").values.height)
    assert hb.run(LOAD, on="./made.toml", duration="0.1 s", progress=False).iops > 0
    assert made.name == "./made.toml"
    assert hb.run(LOAD, on=made, duration="0.1 s") == hb.run(LOAD, on=made.name, duration="0.1 s")
    assert Path(made).is_file()
    assert Path(hb.drive(DISK)).stem == DISK
    assert hb.run(LOAD, on=hb.drive(DISK), duration="0.1 s") == hb.run(LOAD, on=DISK, duration="0.1 s")
    flash = {"capacity": "960 GB", "interface": "sata", "read_bandwidth": "550 MB/s", "write_bandwidth": "520 MB/s"}
    made = hb.new_drive(tmp_path / "flash", kind="ssd", read_iops=98_000, power_loss_protection=True, **flash)
    assert (made.kind, made.name) == ("ssd", str(tmp_path / "flash.toml"))
    assert (tmp_path / "flash.toml").is_file()


# The plan of a disk tries every value at every load: 22 s of the processor, twice.
@pytest.mark.parametrize("like", ["black-box", pytest.param(DISK, marks=pytest.mark.long)])
def test_a_plan_of_a_calibration_is_what_the_command_shows(hotband, like: str) -> None:
    plan = hb.calibration_plan(f"emulated:{DISK}", like=like, duration="8 min", progress=False)
    shown = hotband(
        "measure", "calibrate", f"emulated:{DISK}", "--like", like, "--for", "8 min", "--plan", "--details"
    ).stdout
    lines = [" ".join(line.replace("│", " ").split()) for line in shown.splitlines()]
    for load, times, seconds, use in plan.rows():
        assert f"{load} {times} {seconds:.0f} {use}" in lines
    assert set(plan["use"]) == {"fit", "validation"}


def test_a_machine_is_served_over_tcp(tmp_path: Path) -> None:
    with (
        hb.serve(DISK, socket=tmp_path / "s", tcp="127.0.0.1:0", insecure_loopback=True, anyway=True) as served,
        socket.create_connection(("127.0.0.1", served.port), timeout=60) as client,
    ):
        assert client.recv(8) == b"NBDMAGIC"


@pytest.mark.parametrize(
    ("call", "file", "value"),
    [
        (lambda disk: hb.new_drive("a b", kind="hdd", **SHEET), "name", "a b"),
        (lambda disk: hb.new_drive(DISK, kind="hdd", **SHEET), "name", DISK),
        (lambda disk: hb.new_drive("x", kind="tape", **SHEET), "kind", "tape"),
        (lambda disk: hb.new_drive("x", kind="hdd", read_bandwidth="1 GB/s", **SHEET), "read_bandwidth", ""),
        (lambda disk: hb.new_drive("x", kind="hdd", **{**SHEET, "rpm": "fast"}), "rpm", "fast"),
        (lambda disk: hb.new_drive("x", kind="cloud", iops=100), "throughput", ""),
        (lambda disk: hb.new_drive("x", kind="hdd", class_="fast"), "class_", "fast"),
        (lambda disk: hb.calibration_plan(DISK, like="nothing"), "like", "nothing"),
        (lambda disk: hb.calibration_plan(DISK, like=DISK, duration="soon"), "duration", "soon"),
        (lambda disk: hb.serve(DISK, tcp="here", anyway=True).__enter__(), "tcp", "here"),
        (lambda disk: hb.serve(DISK, tcp="127.0.0.1:0", anyway=True).__enter__(), "tcp", "127.0.0.1:0"),
        (lambda disk: hb.convert_trace(__file__, "a.xyz"), "output", "a.xyz"),
        (lambda disk: hb.load(__file__, unit="us"), "unit", "us"),
        (lambda disk: hb.steady([]), "records", "[]"),
        (lambda disk: hb.steady(disk, round="5"), "round", "5"),
        (lambda disk: hb.steady(disk, track="speed"), "track", "speed"),
        (lambda disk: hb.steady("/nowhere"), "/nowhere", ""),
        (lambda disk: hb.run(LOAD, on=DISK, duration="1 s", keep=True), "keep", "True"),
        (lambda disk: hb.run(LOAD, on=DISK, duration="1 s", executor="cloud"), "executor", "cloud"),
        (lambda disk: hb.run(LOAD, on=DISK, duration="1 s", into=""), "into", ""),
        (lambda disk: hb.find("IOPS at mean < 10 ms", LOAD, on=DISK, into=""), "into", ""),
        (lambda disk: hb.sequence([LOAD], on=DISK, duration="1 s", fresh=True), "fresh", ""),
        (lambda disk: hb.osd("nothing"), "name", "nothing"),
    ],
)
def test_a_mistake_names_the_argument(call, file: str, value: str, disk: hb.Record) -> None:
    with pytest.raises(hb.UserError) as caught:
        call(disk)
    assert (caught.value.file, caught.value.value) == (file, value)
    assert "--" not in str(caught.value)


def test_a_report_takes_paths_and_says_what_the_auditor_finds(disk: hb.Record, tmp_path: Path) -> None:
    disk.save(tmp_path / "run")
    of_path, of_record = (hb.report(one, audit=True, media="hdd") for one in (tmp_path / "run", disk))
    assert any(section.id == "audit" for section in of_path.page.every_section)
    assert list(of_path.charts) == list(of_record.charts)
