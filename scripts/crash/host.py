"""Mounts, loop devices and commands of the host, none of which may hang a trial."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
COMMAND_S = 60.0
"""A command of the host that takes longer hangs: on a disk of 4 ms an I/O the slowest here ends in seconds."""


class HostError(Exception):
    """A command failed, or did not end."""


def call(*words: str | Path, seconds: float = COMMAND_S, user: int | None = None) -> str:
    """What a command prints on both its outputs; HostError where it fails. One that does not end is left behind: a
    process that waits for a device cannot be waited for."""
    with tempfile.TemporaryFile() as output:
        command = [str(word) for word in words]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            user=user,
            group=None if user is None else user_group(user),
            extra_groups=None if user is None else [],
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise HostError(f"{command[0]} did not end in {seconds:.0f} s") from None
        output.seek(0)
        told = output.read().decode(errors="replace").strip()
    if code != 0:
        raise HostError(f"{' '.join(command[:3])}: exit code {code}: {last_line(told)}")
    return told


def last_line(text: str) -> str:
    """The last line of what a command says, in which most say why they failed."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")[:200]


def user_group(user: int) -> int:
    """The group of a user."""
    import pwd

    return pwd.getpwuid(user).pw_gid


def until(done: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Waits until it is so."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise HostError(f"{what}: not in {seconds:.0f} s")
        time.sleep(0.02)


def mounts_in(folder: Path) -> list[Path]:
    """What is mounted in a folder, the last first. The kernel writes a space in a name as \\040."""
    points = [Path(line.split()[1].replace("\\040", " ")) for line in MOUNTS.read_text().splitlines()]
    return [point for point in reversed(points) if folder in point.parents]


def loops_in(folder: Path) -> list[Path]:
    """Loop devices on files of a folder."""
    found = []
    for told in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            file = Path(told.read_text().strip().removesuffix(" (deleted)"))
        except OSError:
            continue
        if folder in file.parents:
            found.append(Path("/dev", told.parts[3]))
    return found


def write_cache(device: Path, kind: str) -> None:
    """What the kernel takes a device's write cache for: "write back", or "write through", above which it sends no
    flushes. It stays with the device when another file is put on it."""
    told = Path("/sys/block", device.name, "queue/write_cache")
    told.write_text(kind)
    if told.read_text().strip() != kind:
        raise HostError(f"{device}: its write cache cannot be set to {kind}")


def unmount(folder: Path) -> None:
    """Unmounts it: at once where that is possible, otherwise as soon as nobody uses it."""
    try:
        call("umount", folder, seconds=20)
    except HostError:
        call("umount", "--lazy", folder, seconds=20)


def end_programs(folder: Path) -> None:
    """Kills the programs that work in a folder: of a trial that hangs. A backend of PostgreSQL that waits for another
    outlives its server, and keeps the file system."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder in (process / "cwd").readlink().parents:
                os.kill(int(process.name), signal.SIGKILL)


def clear(folder: Path) -> None:
    """Takes away all that is mounted in a folder, and the loop devices on its files, whoever left them."""
    volumes = folder / "volumes"
    for point in mounts_in(folder):
        if point != volumes:
            unmount(point)
    for device in loops_in(folder):
        write_cache(device, "write back")
        call("losetup", "--detach", device, seconds=20)
    until(lambda: not loops_in(folder), f"loop devices on {folder} go away")
    for point in mounts_in(folder):
        unmount(point)


def missing(*programs: str) -> str | None:
    """Why nothing can be served as a block device here; None where it can."""
    if os.geteuid() != 0:
        return "only root mounts file systems"
    for file in ("/dev/fuse", "/dev/loop-control"):
        if not os.access(file, os.W_OK):
            return f"{file} is not there"
    lacking = [name for name in (*programs, "losetup", "mount", "umount") if shutil.which(name) is None]
    return f"{', '.join(lacking)}: not installed" if lacking else None
