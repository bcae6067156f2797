"""Folders that servers of other users may enter, and a stand-in for emulated drives that is quick: a loop device."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hotband.execution.programs import devices, find_program
from hotband.execution.programs.needs import how_to_get, missing


def skip_without(name: str) -> None:
    """Skips the test where what a program needs is not there."""
    lacking = missing(find_program(name))
    if lacking:
        pytest.skip(f"{name} needs {', '.join(one.command for one in lacking)}: {how_to_get(lacking)}")


@pytest.fixture
def needs() -> Callable[[str], None]:
    """Skips a test where what a program needs is not there."""
    return skip_without


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder that every user may enter; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="hb-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    # A program whose run was killed may write into it until its last process has ended.
    until = time.monotonic() + 30
    while folder.exists():
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
        assert time.monotonic() < until, list(folder.iterdir())


@contextlib.contextmanager
def loop_devices(
    on: str, _out: Path | None, _values: devices.Values, *, anyway: bool = False
) -> Iterator[devices.Devices]:
    """Loop devices on sparse files, as the server will give them: `loop:data=1G,log=1G`."""
    volumes: dict[str, Path] = {}
    with tempfile.TemporaryDirectory(prefix="hb-", dir="/var/tmp") as folder:
        try:
            for one in on.removeprefix("loop:").split(","):
                name, _, size = one.partition("=")
                file = Path(folder, name)
                subprocess.run(["truncate", "-s", size, file], check=True)
                losetup = ["losetup", "--direct-io=on", "--show", "-f", file]
                done = subprocess.run(losetup, check=True, capture_output=True, text=True)
                volumes[name] = Path(done.stdout.strip())
            yield devices.Devices(volumes, served=True)
        finally:
            for device in volumes.values():
                subprocess.run(["losetup", "-d", device], check=True)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines named `loop:...` are served."""
    if os.geteuid() != 0 or shutil.which("losetup") is None or not Path("/dev/loop-control").exists():
        pytest.skip("loop devices need root, losetup and /dev/loop-control")
    monkeypatch.setattr(devices, "served", loop_devices)
