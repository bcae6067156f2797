"""Is what a killed server left released, and nothing that is in use?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.temporary import TemporaryFolder, left_folders
from hotband.execution.serve.released import release_left, release_mount

LEFT = "hotband-left"


def called(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that a killed process left, whose temporary files are reached by a symbolic link and have a blank in
    their path; unmounted at the end."""
    folder = tmp_path / "temporary files" / LEFT
    (folder / "volumes").mkdir(parents=True)
    folder.with_name(f"{LEFT}.lock").touch()
    (tmp_path / "link").symlink_to(folder.parent)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "link"))
    yield folder
    subprocess.run(["umount", "--lazy", folder / "volumes"], check=False, stderr=subprocess.DEVNULL)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("losetup") is None, reason="needs root and losetup")
def test_mounts_and_loop_devices_are_released_and_as_they_were(left: Path, tmp_path: Path) -> None:
    volume = left / "volumes" / "d0"
    called("mount", "-t", "tmpfs", "none", volume.parent)
    volume.write_bytes(bytes(1 << 20))
    device = called("losetup", "--find", "--show", volume)
    write_cache = Path("/sys/block", Path(device).name, "queue", "write_cache")
    write_cache.write_text("write through")
    try:
        with TemporaryFolder():
            assert volume.parent.is_mount()
            release_left()
        assert not left.exists()
        assert not write_cache.parents[1].joinpath("loop").exists()
        # Of a device without a file the kernel does not show it.
        other = tmp_path / "file"
        other.write_bytes(bytes(1 << 20))
        called("losetup", device, other)
        assert write_cache.read_text() == "write back\n"
    finally:
        subprocess.run(["losetup", "--detach", device], check=False, stderr=subprocess.DEVNULL)


def test_a_process_looks_for_left_folders_once(left: Path) -> None:
    with TemporaryFolder():
        assert not left.exists()
        left.mkdir()
        left.with_name(f"{LEFT}.lock").touch()
        with TemporaryFolder():
            assert left.exists()
        assert [folder.name for folder in left_folders()] == [LEFT]


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("losetup") is None, reason="needs root and losetup")
@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="needs FUSE")
@pytest.mark.parametrize("again", [True, False], ids=["the same folder is served again", "another machine is served"])
def test_the_loop_device_of_a_killed_server_in_a_folder_of_the_user_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    folder, temporary_files = tmp_path / "mounted", tmp_path / "temporary"
    folder.mkdir()
    temporary_files.mkdir()
    words = [sys.executable, "-m", "hotband", "serve", "ent-10k", "--anyway", "--fuse", str(folder), "--loop"]
    # If the test is killed, the server ends by itself.
    words += ["--duration", "60 s"]
    environment = {**os.environ, "TMPDIR": str(temporary_files)}
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stderr is not None
        device = Path(server.stderr.readline().rpartition(" at ")[2].strip())
        if not device.is_block_device():
            pytest.skip("this host attaches no loop devices")
        attached = Path("/sys/block", device.name, "loop/backing_file")
        assert attached.read_text().strip() == str(folder / "d0")
        release_mount(folder)
        assert attached.exists(), "its server lives"
        server.kill()
        server.wait()
        monkeypatch.setattr("tempfile.tempdir", str(temporary_files))
        with hb.serve("ent-10k", fuse=folder if again else None, anyway=True):
            assert not attached.exists()
            assert folder.is_mount() == again
        assert not folder.is_mount()
    finally:
        server.kill()
        server.wait()
        release_mount(folder)
