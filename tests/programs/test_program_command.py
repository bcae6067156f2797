"""Does the command say what there is, and is every mistake one line, before anything is started?"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hotband as hb
from hotband.execution.programs import PROGRAMS, all_programs, boot_storm, find_program, needs, work
from hotband.execution.programs.devices import Devices
from hotband.execution.programs.settings import value_of, values_of

ROOT = Path(__file__).parents[2]


def test_the_list_says_what_each_needs_and_whether_it_is_there(hotband) -> None:
    listed = json.loads(hotband("program", "--json").stdout)
    assert [one["name"] for one in listed] == list(PROGRAMS)
    assert all(one["needs"] and one["asks"] and one["settings"] for one in listed)
    for one in listed:
        absent = [need["command"] for need in one["needs"] if needs.found(need["command"]) is None]
        assert one["missing"] == absent
    assert hb.programs()["name"].to_list() == list(PROGRAMS)


def test_a_program_says_its_settings(hotband) -> None:
    done = hotband("program", "sysb", "--format", "csv")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "key,current,allowed,meaning"
    assert "total,1 GiB,1 MiB to 100 TiB," in done.stdout
    assert "Load on the disk" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pgbnech"], "NAME = 'pgbnech': did you mean \"pgbench\"? expected one of pgbench, oltp"),
        (["pgbench", "--on"], "--on: expected a value after it"),
        (["--on", "real:."], "NAME: missing: expected one of pgbench"),
        (["pgbench", "--set", "clients=8"], "--on: missing: a machine, or real:DIR"),
        (["pgbench", "--on", "real:"], "--on = 'real:': expected a folder after real:"),
        (["pgbench", "--on", "real:nowhere"], "--on = 'real:nowhere': No such file or directory"),
        (["pgbench", "--on", "real:file"], "--on = 'real:file': is not a folder"),
        (["pgbench", "--on", "real:/dev/null"], "--on = 'real:/dev/null': is not a folder"),
        (["pgbench", "--on", "real:/proc/self"], "--on = 'real:/proc/self': cannot be written"),
        (["pgbench", "--on", "real:/proc"], "--on = '/proc': cannot be written: No such file"),
        (["pgbench", "--on", "ent-15l"], "--on = 'ent-15l': did you mean \"ent-15k\"?"),
        (["pgbench", "--on", "ent-15k", "--set", "wcx=on"], "wcx = 'on': pgbench has no such setting"),
        (["pgbench", "--on", "ent-15k", "--set", "qd=4"], "qd = '4': pgbench has no such setting"),
        (["pgbench", "--on", "real:.", "--set", "wce=on"], "wce = 'on': pgbench has no such setting"),
        (["pgbench", "--on", "real:.", "--set", "clients=0"], "--set: clients = '0': expected a whole number from 1"),
        (["pgbench", "--on", "real:.", "--set", "clients=-1"], "clients = '-1': expected a whole number from 1"),
        (["pgbench", "--on", "real:.", "--set", "clients=many"], "clients = 'many': expected a whole number from 1"),
        (["pgbench", "--on", "real:.", "--set", "clients=²"], "clients = '²': expected a whole number from 1"),
        (["pgbench", "--on", "real:.", "--set", "seconds=1e9"], "seconds = '1e9': expected a whole number from 1"),
        (["pgbench", "--on", "real:.", "--set", "clients"], "--set = 'clients': expected KEY=VALUE"),
        (["pgbench", "--on", "real:.", "--set", "client=8"], "client = '8': pgbench has no such setting; did you mean"),
        (["pgbench", "--on", "real:.", "--set", "scale=1", "--set", "scale=2"], "scale = '2': is given twice"),
        (
            ["pgbench", "--on", "real:.", "--set", "mix=reads"],
            "mix = 'reads': did you mean \"read\"? expected one of tpcb",
        ),
        (["pgbench", "--on", "real:.", "--set", "buffers=64"], "buffers = '64': expected a size with its unit"),
        (["pgbench", "--on", "real:.", "--set", "buffers=1 KiB"], "buffers = '1 KiB': expected a size from 1 MiB to"),
        (["pgbench", "--on", "real:.", "--set", "fs=xfs"], "fs = 'xfs': applies to a machine"),
        (["pgbench", "--on", "real:.", "--set", "fs=zfs"], "fs = 'zfs': did you mean"),
        (["pgbench", "--on", "real:.", "--out", "file"], "--out = 'file': the folder cannot be written: File exists"),
        (["pgbench", "--on", "real:.", "--on", "real:."], "--on: is given twice"),
        (["pgbench", "sysbench", "--on", "real:."], "got unexpected extra argument"),
    ],
)
def test_a_mistake_is_one_line(hotband, tmp_path: Path, monkeypatch, arguments: list[str], words: str) -> None:
    monkeypatch.setattr("hotband.execution.programs.run.expect_needs", lambda _: None)
    (tmp_path / "file").touch()
    done = hotband("program", *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_missing_is_named_with_how_to_install_it(hotband, monkeypatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(needs, "APART", ())
    monkeypatch.setenv("HOTBAND_PROGRAMS", str(tmp_path))
    done = hotband("program", name, "--on", "real:.")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    program = find_program(name)
    assert f"NAME = '{name}': needs {program.needs[0].command}" in done.stderr
    assert ("apt-get install" in done.stderr) or ("make programs" in done.stderr)


def test_a_folder_that_is_closed_to_the_server_is_refused(hotband, tmp_path: Path) -> None:
    if os.geteuid() != 0 or needs.missing(find_program("pgbench")):
        pytest.skip("root runs the server as another user, where PostgreSQL is there")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    done = hotband("program", "pgbench", "--on", f"real:{closed}")
    assert done.returncode == 2
    assert "is not accessible to user postgres" in done.stderr.splitlines()[-1]
    assert list(closed.iterdir()) == []


def test_python_names_its_own_arguments(tmp_path: Path) -> None:
    with pytest.raises(hb.UserError) as error:
        hb.program("pgbench", on=f"real:{tmp_path}", clients=0)
    assert (error.value.file, error.value.key, error.value.value) == ("settings", "clients", "0")
    with pytest.raises(hb.UserError) as error:
        hb.program("pgbnech", on=f"real:{tmp_path}")
    assert error.value.file == "name"
    with pytest.raises(hb.UserError) as error:
        hb.program("pgbench", on="real:/nowhere")
    assert error.value.file == "on"


def test_every_setting_takes_its_own_value() -> None:
    for program in all_programs():
        assert values_of(program, {}).keys() == program.settings.keys()
        assert all(value_of(key, one, str(one.default)) is not None for key, one in program.settings.items())


@pytest.mark.parametrize(
    ("volumes", "data", "log"),
    [
        (["data", "log"], "data", "log"),
        (["log", "db1", "db2"], "db1", "log"),
        (["db1", "db2"], "db1", "db1"),
        (["log"], "log", "log"),
    ],
)
def test_data_and_log_go_where_their_names_say(volumes: list[str], data: str, log: str) -> None:
    devices = Devices(dict.fromkeys(volumes, Path("/")))
    assert (devices.volume("data"), devices.volume("log")) == (data, log)


def test_only_served_devices_are_formatted(tmp_path: Path) -> None:
    block = Path("/dev/loop0")
    if not block.is_block_device():
        pytest.skip("there is no block device to refuse")
    settings = values_of(find_program("sysbench"), {})
    with (
        work.Work("sysbench", Devices({"data": block}), settings, print) as one,
        pytest.raises(AssertionError, match="a device of the host is never formatted"),
    ):
        one.folder("data")


def test_large_volumes_get_tables_that_are_soon_written() -> None:
    for size, inodes in ((1 << 30, "65536"), (1 << 40, "262144")):
        command = work.make_file_system("ext4", Path("device"), size)
        assert command[command.index("-N") + 1] == inodes


def test_make_installs_what_programs_need() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = (one for one in makefile.splitlines() if one.startswith("PROGRAM_PACKAGES :="))
    packages = {need.package for program in all_programs() for need in program.needs if need.package}
    assert set(line.partition(":=")[2].split()) == packages | {"xfsprogs"}


REGISTERS = """
import ctypes, os, signal
from pathlib import Path
libc = ctypes.CDLL(None, use_errno=True)
def ptrace(request, pid, address, data):
    return libc.ptrace(ctypes.c_int(request), ctypes.c_int(pid), ctypes.c_void_p(address), data)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
pid = os.fork()
if pid == 0:
    ptrace(0, 0, 0, None)  # PTRACE_TRACEME
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(7)
os.waitpid(pid, 0)
buffer = ctypes.create_string_buffer(24576)
vector = Vector(ctypes.addressof(buffer), 24576)
read = ptrace(0x4204, pid, 0x202, ctypes.byref(vector))  # PTRACE_GETREGSET, NT_X86_XSTATE
vector.length = 576  # x87, SSE and the header
written = ptrace(0x4205, pid, 0x202, ctypes.byref(vector))  # PTRACE_SETREGSET
ptrace(7, pid, 0, None)  # PTRACE_CONT
print(read, written, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.skipif(platform.machine() != "x86_64" or shutil.which("cc") is None, reason="needs cc on x86-64")
def test_the_shim_takes_a_short_register_state(tmp_path: Path) -> None:
    shim, source = tmp_path / "shim.so", ROOT / "scripts" / "uml_xstate.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", shim, source, "-ldl"], check=True)
    said = []
    for more in ({}, {"LD_PRELOAD": str(shim)}):
        command = [sys.executable, "-c", REGISTERS]
        done = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, check=True)
        said.append(done.stdout.split())
    if said[0][0] != "0":
        pytest.skip("this host lets nobody trace a process")
    assert said == [["0", "-1", "7"], ["0", "0", "7"]], "the kernel refuses it, the shim makes it whole"


def test_a_ramdisk_is_an_archive_that_cpio_reads() -> None:
    if shutil.which("cpio") is None:
        pytest.skip("needs cpio")
    archive = (
        boot_storm.cpio("bin", 0o40755)
        + boot_storm.cpio("bin/abc", 0o100755, b"hello")
        + boot_storm.cpio("TRAILER!!!", 0)
    )
    done = subprocess.run(["cpio", "-itv", "--quiet"], input=archive, capture_output=True, check=True)
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert [(line[0], line[-1]) for line in lines] == [("drwxr-xr-x", "bin"), ("-rwxr-xr-x", "bin/abc")]
    assert lines[1][4] == "5"


def test_more_copies_than_daemons_are_refused(hotband, monkeypatch) -> None:
    monkeypatch.setattr("hotband.execution.programs.run.expect_needs", lambda _: None)
    done = hotband("program", "ceph", "--on", "real:.", "--set", "copies=4")
    assert done.returncode == 2
    assert "--set: copies = '4': exceed the 3 daemons" in done.stderr
