"""Is a served machine reached and counted, what does it leave, and is every mistake one line?"""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import stat
import struct
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

import hotband as hb
from hotband.data.documents.run import RunSpec
from hotband.data.documents.serving import Kind, Serving, ServingDoc
from hotband.execution.experiment.experiment import execute
from hotband.execution.serve.lateness import lateness_lines
from hotband.execution.serve.served import Served, address_of, tcp_uri
from hotband.execution.serve.speed import Speed, expect_servable
from hotband.execution.targets import emulated
from hotband.execution.targets.emulated import Emulated

DRIVE = "exos-15e900-512n"
fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")


CUT = """
[drives.d]
product = "ent-15k"
set = { wce = "on" }
[[events]]
at = "1 s"
power-off = true
"""


def read_once(path: Path, offset: int, size: int) -> bytes:
    """One read of the first export by a client of its own."""
    return ask_once(path, 0, offset, size)


def write_once(path: Path, offset: int, data: bytes) -> None:
    """One write to the first export by a client of its own."""
    ask_once(path, 1, offset, len(data), data)


def ask_once(path: Path, command: int, offset: int, size: int, data: bytes = b"") -> bytes:
    """One request over the simplest handshake of the NBD protocol; what a read (command 0) gives."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(path))
        stream = client.makefile("rwb")
        assert stream.read(16) == b"NBDMAGICIHAVEOPT"
        stream.read(2)
        stream.write(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
        stream.flush()
        stream.read(10)
        stream.write(struct.pack(">IHHQQI", 0x25609513, 0, command, 7, offset, size) + data)
        stream.flush()
        magic, error, cookie = struct.unpack(">IIQ", stream.read(16))
        assert (magic, error, cookie) == (0x67446698, 0, 7)
        return stream.read(size) if command == 0 else b""


def test_a_served_machine_answers_in_its_time_and_leaves_a_record(tmp_path: Path) -> None:
    with hb.serve(DRIVE, socket=tmp_path / "s", out=tmp_path / "out", anyway=True) as served:
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
        volume = served.volumes["d0"]
        assert (volume.size, volume.block, volume.device) == (900185481216, 512, None)
        for block in range(20):
            assert read_once(tmp_path / "s", block * 10_000_000_512 // 512 * 512, 4096) == bytes(4096)
        # An answer is counted after it was sent.
        until = time.monotonic() + 10
        while (counted := served.serving()).kinds[0].count < 20 and time.monotonic() < until:
            time.sleep(0.01)
    assert not (tmp_path / "s").exists()
    record = served.record
    [kind] = counted.kinds
    assert (kind.kind, kind.count, record.read.count) == ("read", 20, 20)
    document = json.loads((tmp_path / "out/record.json").read_text())
    assert document["target"] == {"kind": "emulated", "machine": DRIVE}
    told = Serving.of(document["serving"])
    assert told.lateness is not None
    # Seeks and rotation of a 15K disk, as the model meant them; clients never got less.
    [reads] = told.kinds
    assert reads.model is not None
    assert reads.client is not None
    assert 2e6 < reads.model.mean_ns < 9e6
    assert reads.client.mean_ns >= reads.model.mean_ns


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "exos-1"], "MACHINE = 'exos-1'"),
        (["serve", "nothing"], "MACHINE = 'nothing': expected one of"),
        (["serve", DRIVE, "--set", "wce=maybe"], "set: wce = 'maybe': expected"),
        (["serve", DRIVE, "--set", "qd=8"], "qd = '8': belongs to a workload, but clients set the load here"),
        (["serve", DRIVE, "--spin", "60"], "--spin = '60': expected a time with its unit"),
        (["serve", DRIVE, "--spin", "1 s"], "--spin = '1 s': expected a time with its unit, such as"),
        (["serve", DRIVE, "--duration", "soon"], "--duration = 'soon': expected a time"),
        (["serve", DRIVE, "--anyway", "--nbd", "nowhere/s", "--duration", "1 s"], "--nbd = "),
        (["serve", DRIVE, "--anyway", "--nbd", "nowhere/s", "--io-log", "l.parquet", "--duration", "1 s"], "--nbd = "),
        (["serve", DRIVE, "--anyway", "--nbd", "file", "--duration", "1 s"], "--nbd = "),
        (["serve", DRIVE, "--anyway", "--nbd", "x" * 200, "--duration", "1 s"], "is too long for a socket"),
        (["serve", DRIVE, "--anyway", "--tcp", "here"], "--tcp = 'here': expected ADDRESS:PORT"),
        (["serve", DRIVE, "--anyway", "--tcp", "127.0.0.1:0"], "expected certificates (--tls DIR)"),
        (["serve", DRIVE, "--anyway", "--tcp", "0.0.0.0:0", "--insecure-loopback"], "expected certificates"),
        (["serve", DRIVE, "--anyway", "--tcp", "127.0.0.1:0", "--tls", "nowhere"], "--tls = "),
        (["serve", DRIVE, "--anyway", "--store", "/dev/null/s"], "--store = "),
        (["serve", DRIVE, "--anyway", "--base", "nowhere.img"], "--base = 'nowhere.img': No such file"),
        (["serve", DRIVE, "--anyway", "--base", "."], "--base = '.': expected a file"),
        (["serve", DRIVE, "--anyway", "--record", "file"], "--record = 'file': the folder cannot be written"),
        (["serve", DRIVE, "--event", "at noon: power-off"], "at noon: power-off"),
        (["serve", DRIVE, "--tls", "."], "--tls = '.': is for NBD on TCP: expected --tcp HOST:PORT with it"),
        (["serve", DRIVE, "--insecure-loopback"], "--insecure-loopback: is for NBD on TCP: expected --tcp HOST:PORT"),
        (["serve", DRIVE, "--tcp", "127.0.0.1:0", "--tls", ".", "--insecure-loopback"], "remove it, or --tls"),
        (["serve", DRIVE, "--anyway", "--tcp", "127.0.0.1:0", "--tls", "."], "--tls = '.': server-key.pem: "),
        (["serve", DRIVE, "--run", "true", "--duration", "1 s"], "--duration = '1 s': is for serving without"),
        (["serve", DRIVE, "--event", "at 5 s: power-off"], "--event = 'at 5 s: power-off': is not before the end"),
        (["serve", DRIVE, "--fresh"], "--fresh: is for a folder: expected --record DIR with it"),
        (["serve", DRIVE, "--mount", "nowhere", "--anyway"], "--mount = "),
        (["run", "fio-randread", "--on", "emulated:"], "--on = 'emulated:': expected emulated:MACHINE"),
        (["run", "fio-randread", "--on", "emulated:nothing"], "expected one of"),
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}", "--rebuild-rate=1 MB/s"], "'1 MB/s': is for runs in"),
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}", "--rebuild-after=1 s"], "'1 s': is for runs in"),
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}", "--expect", "none"], "--expect = 'none': is for"),
        (["run", "oltp", "--on", f"emulated:{DRIVE}"], "a job cannot express a script"),
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}", "--set", "qd=abc"], "qd = 'abc'"),
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}", "--set", "warm_up=soon"], "warm_up = 'soon'"),
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}", "--set", "read_pct=x"], "read_pct = 'x'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(hotband, tmp_path: Path, monkeypatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("not a socket")
    done = hotband(*arguments, *([] if "--on" in arguments or "--duration" in arguments else ["--duration", "1 s"]))
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert words in done.stderr


@pytest.mark.parametrize("options", [[], ["--anyway"], ["--anyway", "--nbd", "s"]])
def test_a_temporary_folder_too_deep_for_a_socket_is_refused(
    hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    done = hotband("serve", DRIVE, "--duration", "1 s", *options)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert done.stderr.startswith("hotband: error: TMPDIR = ")
    # unix(7): 108 bytes with the one that ends it, of which a folder and a socket in it take some.
    assert "is too long for a socket: expected a path of at most 79 bytes" in done.stderr


def test_a_machine_that_is_faster_than_its_host_is_refused_with_how_fast_that_is() -> None:
    host = Speed(20_000.0, 100_000.0)
    expect_servable("disk", Speed(5e6, 200.0), host)
    for fast in (Speed(9_000.0, 40_000.0), Speed(90_000.0, 60_000.0)):
        with pytest.raises(hb.UserError, match="this host serves a 4 KiB read in 20 µs, 50,000 a second"):
            expect_servable("fast", fast, host)


def test_a_command_is_run_beside_it_and_its_exit_code_is_kept(hotband) -> None:
    done = hotband("serve", DRIVE, "--anyway", "--json", "--run", "echo $uri >&2; exit 7")
    assert done.returncode == 7
    assert "nbd+unix:///d0?socket=" in done.stderr
    assert json.loads(done.stdout)["serving"]["kinds"] == []


def test_a_command_that_a_signal_ended_has_the_exit_code_that_shells_give_it(hotband) -> None:
    assert hotband("serve", DRIVE, "--anyway", "--json", "--run", "kill -TERM $$").returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("mkfs.ext4 $device", "names $device, which is not set: expected --loop with it"),
        ("mkfs.ext4 ${device}", "names $device, which is not set: expected --loop with it"),
        ('cat "$file"', "names $file, which is not set: expected --fuse DIR or --loop with it"),
    ],
)
def test_a_command_that_names_a_place_which_is_not_served_is_refused(hotband, command: str, words: str) -> None:
    done = hotband("serve", DRIVE, "--anyway", "--run", command)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert words in done.stderr


def test_who_still_used_a_device_when_it_ended_is_told(hotband, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Served._end

    def busy(served: Served) -> None:
        end(served)
        served.busy = ["/dev/loop0 is in use: mounted at /mnt"]

    monkeypatch.setattr(Served, "_end", busy)
    done = hotband("serve", DRIVE, "--anyway", "--run", "true")
    assert done.returncode == 0
    assert "/dev/loop0 is in use: mounted at /mnt: data not yet written is lost" in done.stderr


def test_answers_that_were_all_errors_were_asked_for() -> None:
    failed = Serving(None, None, (Kind("read", 0, 3, 0, None, None),))
    assert list(lateness_lines(failed)) == ["All replies were errors: 3."]
    assert list(lateness_lines(replace(failed, kinds=()))) == ["No client connected."]


def test_a_base_is_no_store(hotband, tmp_path: Path) -> None:
    base, link = tmp_path / "base.img", tmp_path / "link.img"
    base.write_bytes(bytes(512))
    link.symlink_to(base)
    done = hotband("serve", DRIVE, "--anyway", "--base", str(base), "--store", str(link), "--run", "true")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "is the base, which must not change: expected another" in done.stderr


def test_a_folder_that_is_not_there_is_refused_before_a_store_is_made(hotband, tmp_path: Path) -> None:
    store = str(tmp_path / "store.img")
    done = hotband("serve", DRIVE, "--mount", str(tmp_path / "nowhere"), "--anyway", "--store", store, "--run", "true")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, []), done.stderr
    assert "--mount = " in done.stderr


def test_a_command_finds_no_place_of_the_users_own_environment(
    hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("device", "/dev/mine")
    monkeypatch.setenv("file", "/mine")
    found = tmp_path / "environment"
    assert hotband("serve", DRIVE, "--anyway", "--run", f"env > {found}").returncode == 0
    names = [line.partition("=")[0] for line in found.read_text().splitlines()]
    assert "uri" in names
    assert not {"device", "file"} & set(names)


def test_a_command_gets_the_address_of_tcp_where_that_is_served(hotband, tmp_path: Path) -> None:
    found = tmp_path / "environment"
    tcp = ["--tcp", "127.0.0.1:0", "--insecure-loopback"]
    assert hotband("serve", DRIVE, "--anyway", *tcp, "--run", f"env > {found}").returncode == 0
    uri = next(line for line in found.read_text().splitlines() if line.startswith("uri="))
    assert re.fullmatch(r"uri=nbd://127\.0\.0\.1:\d+/d0", uri)


@pytest.mark.parametrize(
    ("tcp", "tls", "uri"),
    [
        ("0.0.0.0:7", Path("/c e"), "nbds://127.0.0.1:7/a%2Fb?tls-certificates=/c%20e"),
        ("[::]:7", None, "nbd://[::1]:7/a%2Fb"),
        ("10.0.0.2:7", None, "nbd://10.0.0.2:7/a%2Fb"),
    ],
)
def test_an_address_of_tcp_is_that_of_a_client_on_this_host(tcp: str, tls: Path | None, uri: str) -> None:
    address, port = address_of(tcp)
    assert tcp_uri(address, port, "a/b", tls) == uri


def test_an_image_larger_than_the_drive_is_refused(hotband, tmp_path: Path) -> None:
    base = tmp_path / "base.img"
    with base.open("wb") as file:
        file.truncate(900185481216 + 1)
    done = hotband("serve", DRIVE, "--anyway", "--base", str(base), "--run", "true")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "has 900,185,481,217 bytes, and the drive 900,185,481,216: expected an image of at most" in done.stderr


def test_a_record_that_is_there_is_written_over_only_where_that_is_asked_for(hotband, tmp_path: Path) -> None:
    record = tmp_path / "run/record.json"
    assert hotband("run", "fio-randread", "--on", DRIVE, "--duration", "0.1 s", "--out", "run").returncode == 0
    before = record.read_bytes()
    serve = ["serve", DRIVE, "--anyway", "--duration", "0.1 s", "--record", "run"]
    done = hotband(*serve)
    assert (done.returncode, record.read_bytes()) == (2, before)
    assert "--record = 'run': contains the record of another run: expected another folder, or --fresh" in done.stderr
    assert hotband(*serve, "--fresh").returncode == 0
    assert json.loads(record.read_text())["name"] == f"served on {DRIVE}"
    # Even a record of the same machine is not overwritten: programs' I/Os cannot be repeated.
    assert hotband(*serve).returncode == 2


def test_power_goes_off_where_the_machine_itself_says_so(tmp_path: Path) -> None:
    (tmp_path / "cut.toml").write_text(CUT)
    with hb.serve(tmp_path / "cut.toml", socket=tmp_path / "s", anyway=True) as served:
        deadline = time.monotonic() + 20
        while not served.is_stopped() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert served.is_stopped()


def test_flash_of_a_served_drive_is_worn_in_by_random_writes(tmp_path: Path) -> None:
    with hb.serve("s4500-960", state="preconditioned", scale=256, socket=tmp_path / "s", anyway=True) as served:
        pass
    [drive] = served.record.to_dict()["parts"]
    # Written in order twice, each block was erased once; random writes then erase blocks that hold valid pages, too.
    assert drive["at_end"]["erases_mean"] >= 2


def test_what_was_read_as_zeros_of_a_store_that_keeps_nothing_is_noted(tmp_path: Path) -> None:
    with hb.serve(DRIVE, socket=tmp_path / "s", store="none", anyway=True) as served:
        write_once(tmp_path / "s", 0, b"x" * 4096)
        assert read_once(tmp_path / "s", 0, 4096) == bytes(4096)
    assert any(note.startswith("1 blocks of 4 KiB were read as zeros") for note in served.record.notes)


@fio
def test_the_same_workload_both_ways_leaves_records_beside_each_other(tmp_path: Path) -> None:
    both = hb.emulate("fio-randread", on=DRIVE, duration="2 s", warm_up="0 s", qd=8, out=tmp_path / "both", anyway=True)
    figures = {(row["direction"], row["figure"]): row for row in both.frame.iter_rows(named=True)}
    # Half is what a host that is busy with other tests leaves; scripts/emulated_fidelity.py measures the difference.
    assert abs(figures["read", "IOPS"]["error_pct"]) < 50
    assert both.emulated.to_dict()["target"] == {"kind": "emulated", "machine": DRIVE}
    assert both.emulated.to_dict()["serving"]["kinds"][0]["count"] >= both.emulated.read.count
    assert {path.parent.name for path in tmp_path.rglob("record.json")} >= {"model", "served"}


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a comparison whose measuring is left out: its three records are those of runs of the model."""

    def emulate(spec: RunSpec, **_: object) -> Emulated:
        assert spec.out is not None
        model, measured, served = (
            execute([replace(spec, out=spec.out / part)])[0] for part in ("model", "emulated", "served")
        )
        nothing: ServingDoc = {"lateness": None, "late": None, "way_ns": 0, "cores_awake": False, "kinds": []}
        measured.record["serving"] = nothing
        return Emulated(model, measured, served, "", ())

    monkeypatch.setattr(emulated, "emulate", emulate)
    return tmp_path / "both"


COMPARE = ["--duration", "0.1 s", "--out", "both"]


def test_another_comparison_is_written_over_only_where_that_is_asked_for(hotband, compared: Path) -> None:
    assert hotband("run", "fio-randread", "--on", f"emulated:{DRIVE}", *COMPARE).returncode == 0
    before = {path: path.read_bytes() for path in compared.rglob("record.json")}
    assert len(before) == 3
    other = ["run", "fio-randwrite", "--on", f"emulated:{DRIVE}", *COMPARE]
    done = hotband(*other)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "both/model': contains the record of another run, fio-randread on" in done.stderr
    assert {path: path.read_bytes() for path in before} == before
    assert hotband("run", "fio-randread", "--on", f"emulated:{DRIVE}", *COMPARE).returncode == 0
    assert hotband(*other, "--fresh").returncode == 0
    assert all(path.read_bytes() != text for path, text in before.items())


def test_the_page_of_a_comparison_has_its_two_records_alone(hotband, compared: Path) -> None:
    asked = ["run", "fio-randread", "--on", f"emulated:{DRIVE}", *COMPARE]
    assert hotband(*asked).returncode == 0
    page = (compared / "report.html").read_text()
    run = ["run", "fio-randwrite", "--on", "ent-10k", "--duration", "0.1 s", "--out"]
    assert hotband(*run, "both/mine").returncode == 0
    assert hotband(*asked).returncode == 0
    assert (compared / "report.html").read_text() == page
    # In the folder of a run nothing is measured first.
    assert hotband(*run, "one").returncode == 0
    done = hotband(*asked[:-1], "one")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "--out = 'one': contains the record of another run" in done.stderr
