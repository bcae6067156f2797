"""Do the programs run, on a folder and on devices, do they leave figures, and does nothing else stay behind?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import hotband as hb
from hotband.execution.programs import all_programs, find_program

Needs = Callable[[str], None]

SHORT = {
    "pgbench": ({"scale": 1, "clients": 2}, "transactions"),
    "oltp": ({"customers": 100, "clients": 2, "buffers": "1 MiB"}, "transactions"),
    "web": ({"folders": 2, "connections": 4}, "requests"),
    "ycsb": ({"records": 500, "threads": 2}, "operations"),
    "sysbench": ({"total": "16 MiB", "threads": 2}, "reads"),
    "db_bench": ({"keys": 2000, "threads": 2}, "writes"),
    "jetstress": ({"databases": 2, "size": "4 MiB"}, "transactional I/O"),
    "specsfs": ({"files": 50}, "operations"),
    "boot-storm": ({"guests": 1, "stagger": 0, "read": "1 MiB"}, "guests"),
}
"""Settings of a run of a second, and a figure that must be above zero."""
MARKS = dict.fromkeys(("oltp", "pgbench"), pytest.mark.long)
"""Both run the database that `test_data_and_log_have_a_device_each` runs, the former for twice as long."""


def left(folder: Path) -> list[str]:
    """What of a run is still there: its files, mounts, loop devices and processes."""
    mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if "/hotband-program-" in line]
    command = ["ps", "-eo", "args"]
    running = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    names = [name.name for name in folder.iterdir()]
    return names + mounts + [line for line in running if str(folder) in line and "pytest" not in line]


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in SHORT])
def test_a_program_runs_in_a_folder_and_leaves_nothing(name: str, needs: Needs, open_folder: Path) -> None:
    needs(name)
    settings, rate = SHORT[name]
    seconds = {"seconds": 1} if "seconds" in find_program(name).settings else {}
    done = hb.program(name, on=f"real:{open_folder}", **seconds, **settings)
    assert done[rate] > 0
    assert done.frame["name"].n_unique() == len(done.figures)
    assert any(character.isdigit() for character in done.version)
    assert left(open_folder) == []


def test_data_and_log_have_a_device_each(needs: Needs, served: None, tmp_path: Path) -> None:
    needs("pgbench")
    lines: list[str] = []
    on, settings = "loop:data=512M,log=512M", SHORT["pgbench"][0]
    done = hb.program("pgbench", on=on, seconds=1, fs="xfs", out=tmp_path, progress=lines.append, **settings)
    made = [line.split()[3] for line in lines if line.startswith("making xfs on")]
    assert made == ["data", "log"]
    assert done["log written"] > 0
    kept = json.loads((tmp_path / "program.json").read_text())
    assert kept == {"target": on, "program": done.to_dict()}
    assert not [line for line in Path("/proc/mounts").read_text().splitlines() if "/hotband-program-" in line]


def test_a_program_runs_on_an_emulated_drive(needs: Needs, tmp_path: Path) -> None:
    needs("sysbench")
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists() or not Path("/dev/fuse").exists():
        pytest.skip("an emulated drive as a block device needs root, /dev/fuse and /dev/loop-control")
    asked = {"total": "4 MiB", "files": 1, "threads": 2, "mode": "rndrd", "seconds": 2, "fs": "xfs", "rcd": "on"}
    done = hb.program("sysbench", on="ent-15k", out=tmp_path, **asked)
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["program"] == done.to_dict()
    # Direct reads are all seen by the drive; a tenth less for reads under way when the time ends.
    assert record["streams"][0]["read"]["count"] >= 0.9 * done["reads"] * asked["seconds"] > 0
    assert (tmp_path / "io.parquet").exists()
    assert "rcd" in json.dumps(record["spec"]), "a value of the drive was changed"
    assert not [line for line in Path("/proc/mounts").read_text().splitlines() if "/hotband-program-" in line]


def test_a_record_of_something_else_is_left_as_it_is(needs: Needs, open_folder: Path, tmp_path: Path) -> None:
    needs("sysbench")
    (tmp_path / "record.json").write_text('{"name": "served"}')
    call = partial(hb.program, "sysbench", on=f"real:{open_folder}", out=tmp_path, seconds=1, **SHORT["sysbench"][0])
    with pytest.raises(hb.UserError, match="contains the record of another run"):
        call()
    done = call(fresh=True)
    assert json.loads((tmp_path / "record.json").read_text()) == {"name": "served"}
    assert json.loads((tmp_path / "program.json").read_text())["program"] == done.to_dict()


def test_an_interruption_undoes_everything(needs: Needs, open_folder: Path) -> None:
    needs("pgbench")
    arguments = ["program", "pgbench", "--on", f"real:{open_folder}", "--set", "scale=1", "--set", "seconds=600"]
    command = [sys.executable, "-m", "hotband", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        # Server and clients are there.
        for line in process.stderr:
            if line.endswith("clients for 600 s\n"):
                break
        process.send_signal(signal.SIGTERM)
        said, printed = process.stderr.read(), process.stdout.read() if process.stdout else ""
    assert (process.returncode, printed) == (143, ""), said
    assert said.splitlines()[-1] == "hotband: interrupted"
    assert left(open_folder) == []


def test_what_hotband_left_behind_when_it_was_killed_ends(needs: Needs, open_folder: Path) -> None:
    needs("pgbench")
    arguments = ["program", "pgbench", "--on", f"real:{open_folder}", "--set", "scale=1", "--set", "seconds=600"]
    command = [sys.executable, "-m", "hotband", *arguments]
    # What it cannot remove any more goes with the folder.
    environment = {**os.environ, "TMPDIR": str(open_folder)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.endswith("clients for 600 s\n"):
                break
        os.kill(process.pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while [line for line in left(open_folder) if "/cluster" in line or "pgbench " in line]:
        assert time.monotonic() < until, left(open_folder)
        time.sleep(0.1)


def test_a_program_that_fails_says_why(hotband, needs: Needs, served: None) -> None:
    needs("sysbench")
    done = hotband("program", "sysbench", "--on", "loop:data=64M", "--set", "fs=xfs", "--set", "total=1 MiB")
    assert (done.returncode, done.stdout) == (os.EX_IOERR, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("hotband: error: mkfs.xfs: ended with exit code 1: Filesystem must be larger than")


@pytest.mark.parametrize(("name", "key"), [("sysbench", "total"), ("pgbench", "scale"), ("web", "folders")])
def test_too_little_space_is_said_before_anything_is_written(
    hotband, needs: Needs, served: None, name: str, key: str
) -> None:
    needs(name)
    done = hotband("program", name, "--on", "loop:data=64M")
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"hotband: error: --set: {key} = ")
    assert f"{name} writes about" in last


def test_every_program_is_run_here() -> None:
    # A cluster takes half a minute: it is run by hand (docs/guides/serve.md).
    apart = {"ceph"}
    assert {one.name for one in all_programs()} - apart == set(SHORT)
