"""Is what a killed server left released, and nothing that is in use?"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hotband.base import temporary
from hotband.base.temporary import TemporaryFolder, left_folders
from hotband.execution.serve.released import release_left

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
    monkeypatch.setattr(temporary, "YOUNGEST_S", 0.0)
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
