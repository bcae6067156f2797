"""Is what was checked what fio writes, whatever has its name by then, and is a fio with something else open ended?"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.devices import held as holds
from hotband.execution.devices.contents import MARK
from hotband.execution.devices.held import Held, held
from hotband.execution.devices.nodes import Node
from hotband.execution.devices.safety import permission
from hotband.execution.devices.users import Opened
from hotband.execution.experiment import Point, Progress
from hotband.execution.targets import fio_child, fio_client
from hotband.execution.targets.fio_child import Status, run_fio
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_job import job_at
from hotband.execution.targets.on_device import Setup
from hotband.execution.targets.own_file import laid_out
from hotband.execution.targets.real_target import OWN_FILE, real_target_of
from hotband.execution.targets.target import executor_of

MIB = 1 << 20
SILENT = subprocess.DEVNULL
VERSION = 'case "$1" in --version) echo fio-3.33; exit;; esac'
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("losetup") is None, reason="a loop device needs root and losetup"
)


def spec(on: Path, read_pct: int = 0) -> RunSpec:
    """A run of 64 random I/Os of 4 KiB, without a warm-up."""
    stream = f'[[streams]]\nread_pct = {read_pct}\nrandom_pct = 100\nsize = "4 KiB"\n'
    phase = '[[phases]]\nname = "measure"\nios = 64\nmeasure = true\n'
    text = f"[load]\nclosed = {{ threads = 1, depth = 1 }}\n{stream}{phase}"
    return RunSpec("run", f"real:{on}", "own", seed=7, workload_text=text)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of ones that may be written."""
    made = tmp_path / "data"
    made.write_bytes(b"\xff" * MIB)
    return made


@pytest.fixture
def holding(file: Path) -> Iterator[Held]:
    """The file, held for writing."""
    with held(permission(file, writes=True, erase=str(file))) as made:
        yield made


@pytest.fixture
def loop(file: Path) -> Iterator[Path]:
    """A loop device on the file."""
    made = subprocess.run(["losetup", "-f", "--show", str(file)], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    yield Path(made.stdout.strip())
    subprocess.run(["losetup", "-d", made.stdout.strip()], check=True)


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A command that is called fio and does what `script` says."""
    (folder / "fio").write_text(f"#!/bin/sh\n{VERSION}\n{script}\n")
    (folder / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@needs_fio
@pytest.mark.parametrize("setup", ["another file", "a symbolic link", "nothing"])
def test_fio_writes_what_is_held_and_not_what_took_its_name(
    tmp_path: Path, file: Path, holding: Held, setup: str
) -> None:
    asked, place = fio_run_of(spec(file)), real_target_of(f"real:{file}")
    (tmp_path / "precious").write_bytes(b"precious" * (MIB // 8))
    file.rename(tmp_path / "moved")
    if setup == "another file":
        (tmp_path / "precious").rename(file)
    elif setup == "a symbolic link":
        file.symlink_to("precious")
    run_fio(job_at(asked, place, opened=holding.name), tmp_path, held=holding)
    assert (tmp_path / "moved").read_bytes() != b"\xff" * MIB
    untouched = file if setup == "another file" else tmp_path / "precious"
    assert untouched.read_bytes() == b"precious" * (MIB // 8)


@pytest.mark.parametrize("opens", ["exec 7<>{other}", "exec 7>>{other}"])
def test_a_fio_that_writes_something_else_is_killed(
    tmp_path: Path, holding: Held, monkeypatch: pytest.MonkeyPatch, opens: str
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "other").write_bytes(b"precious")
    pretend(tmp_path, monkeypatch, f'trap "" TERM\n{opens.format(other=tmp_path / "other")}\nexec sleep 60')
    with pytest.raises(UserError, match=r"has .*/other open, which was not permitted; it was killed"):
        run_fio("[job]\n", tmp_path / "work", held=holding)
    assert (tmp_path / "other").read_bytes() == b"precious"


@needs_root
def test_a_fio_that_reads_another_device_is_killed(tmp_path: Path, loop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").write_bytes(bytes(MIB))
    (tmp_path / "work").mkdir()
    pretend(tmp_path, monkeypatch, f"exec 7<{loop}\nexec sleep 60")
    with (
        held(permission(tmp_path / "mine", writes=True, erase=str(tmp_path / "mine"))) as holding,
        pytest.raises(UserError, match=f"has {loop} open"),
    ):
        run_fio("[job]\n", tmp_path / "work", held=holding)


def test_what_was_given_is_compared_until_fio_ends(
    tmp_path: Path, holding: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens what it was given, and results of its own; then, much later, something else."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "other").touch()
    go = tmp_path / "go"
    waits = f"while [ ! -e {go} ]; do sleep 0.01; done"
    pretend(tmp_path, monkeypatch, f"exec 7<>{holding.name} 8>log\n{waits}\nexec 9>{tmp_path / 'other'}\nexec sleep 60")
    monkeypatch.setattr(fio_child, "LOOK_EVERY_S", 0.02)

    def look(_: Status) -> None:
        go.touch()

    with pytest.raises(UserError, match="/other open"):
        run_fio("[job]\n", work, look, held=holding)


def test_another_file_by_the_number_of_the_descriptor_is_seen(tmp_path: Path, holding: Held) -> None:
    (tmp_path / "other").write_bytes(b"precious")
    with (
        (tmp_path / "other").open("rb") as other,
        subprocess.Popen(["sleep", "60"], pass_fds=(other.fileno(),), stdout=SILENT, stderr=SILENT) as child,
    ):
        try:
            swapped = Held(holding.permission, other.fileno(), holding.node)
            with pytest.raises(UserError, match="/other open"):
                swapped.expect_opened(child.pid, tmp_path)
        finally:
            child.kill()


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_closed_while_it_is_looked_at_is_nothing_else(
    tmp_path: Path, file: Path, holding: Held, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A library that fio loads may be there without its flags, which are then taken to be those of a writer."""
    rows = [Opened("1", 3, "/usr/lib/libc.so", Node("file", "1:2"), True)]
    looks = iter([rows] * times + [[]] * 2)
    monkeypatch.setattr(holds, "opened_by", lambda *_: iter(next(looks)))
    if times == 1:
        assert not holding.expect_opened(1, tmp_path)
    else:
        with pytest.raises(UserError, match=r"/usr/lib/libc\.so open"):
            holding.expect_opened(1, tmp_path)


@needs_fio
@needs_root
def test_a_device_is_given_open_and_claimed_as_long_as_it_is_measured(
    file: Path, loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[str] = []
    whole = fio_client.run_fio

    def seen(job: str, *rest: object, **named: object) -> Path:
        jobs.append(job)
        with pytest.raises(OSError, match="busy"):
            os.open(loop, os.O_RDONLY | os.O_EXCL)
        return whole(job, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(fio_client, "run_fio", seen)
    setup = Setup(product="none", probe_s=0)
    executor = executor_of(f"real:{loop}", writes=True, erase=str(file), setup=setup)
    assert executor is not None
    runs: list[Finished] = []
    executor.execute([Point(spec(loop))], lambda _, finished: runs.append(finished), lambda _: None)
    [job], [run] = jobs, runs
    assert "filename=/dev/fd/" in job
    # A record is of the device, not of a number that meant it once.
    assert f"filename={loop}\n" in str(run.record["job"])
    assert run.record["summary"]["write"]["count"] == 64
    assert file.read_bytes() != b"\xff" * MIB
    os.close(os.open(loop, os.O_RDONLY | os.O_EXCL))


@needs_fio
def test_a_folder_gets_a_file_that_fio_is_given_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By way of a symbolic link to the folder, too."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    executor = executor_of(f"real:{tmp_path / 'link'}", writes=True, setup=Setup(size_bytes=MIB, product="none"))
    assert executor is not None
    runs: list[Finished] = []
    phases: list[str] = []

    def tick(progress: Progress) -> None:
        phases.append(progress.phase)

    executor.execute([Point(spec(tmp_path / "link"))], lambda _, finished: runs.append(finished), tick)
    assert runs[0].record["summary"]["write"]["count"] == 64
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("kind", ["a hard link", "a symbolic link", "a pipe"])
def test_a_name_of_ours_that_leads_to_a_file_of_others_is_refused(tmp_path: Path, file: Path, kind: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if kind == "a hard link":
        (folder / OWN_FILE).hardlink_to(file)
    elif kind == "a symbolic link":
        (folder / OWN_FILE).symlink_to(file)
    else:
        os.mkfifo(folder / OWN_FILE)
    with (
        pytest.raises(UserError, match=r"so Hotband did not make it|cannot be made in it"),
        laid_out(real_target_of(f"real:{folder}"), MIB, 1, False, lambda _: None),
    ):
        pass
    assert file.read_bytes() == b"\xff" * MIB
    assert [path.name for path in folder.iterdir()] == [OWN_FILE]


def test_a_file_of_ours_that_another_process_writes_is_refused(tmp_path: Path) -> None:
    (tmp_path / OWN_FILE).write_bytes(b"theirs")
    os.setxattr(tmp_path / OWN_FILE, MARK, b"1")
    with (tmp_path / OWN_FILE).open("r+b") as writing, subprocess.Popen(["sleep", "60"], stdin=writing) as other:
        try:
            with (
                pytest.raises(UserError, match="is not written: is open for writing by sleep"),
                laid_out(real_target_of(f"real:{tmp_path}"), MIB, 1, False, lambda _: None),
            ):
                pass
        finally:
            other.kill()
    assert (tmp_path / OWN_FILE).read_bytes() == b"theirs"


def test_what_took_the_name_of_our_file_is_not_removed(tmp_path: Path) -> None:
    with laid_out(real_target_of(f"real:{tmp_path}"), MIB, 1, False, lambda _: None):
        (tmp_path / OWN_FILE).rename(tmp_path / "moved")
        (tmp_path / OWN_FILE).write_bytes(b"theirs")
    assert (tmp_path / OWN_FILE).read_bytes() == b"theirs"


@needs_root
def test_the_command_refuses_the_link_of_a_file_in_use_in_one_line(
    hotband, tmp_path: Path, file: Path, loop: Path
) -> None:
    (tmp_path / "link").hardlink_to(file)
    words = ("--erase", "link", "--yes", "--duration", "100 ms", "--expect", "none")
    done = hotband("run", "fio-randwrite", "--on", f"real:{tmp_path / 'link'}", *words)
    assert done.returncode == 2
    [line] = done.stderr.strip().splitlines()
    assert f"is not written: backs the loop device {loop.name}" in line
    assert file.read_bytes() == b"\xff" * MIB
