"""Mounts and loop devices of servers that were killed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hotband.base.child import run_child
from hotband.base.temporary import left_folders, mounts_below


def release_left() -> None:
    """Unmount what killed servers left below their temporary folders, and detach the loop devices on it. What the host
    refuses stays."""
    for folder in left_folders():
        for point in mounts_below(folder):
            _try(["umount", "--lazy", str(point)])
        for device in _loops_below(folder):
            _try(["losetup", "--detach", str(device)])


def _loops_below(folder: Path) -> list[Path]:
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    return [Path("/dev", file.parts[-3]) for file in files if _is_below(file, folder)]


def _is_below(file: Path, folder: Path) -> bool:
    with suppress(OSError):
        return file.read_text(errors="replace").startswith(f"{folder}/")
    return False


def _try(command: list[str]) -> None:
    with suppress(OSError):
        run_child(command)
