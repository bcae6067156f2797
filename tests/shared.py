"""What several processes of one run of the tests read and one of them makes."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def shared_folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """Hold a folder that the processes of one run of the tests share: the first fills it, the others wait for it.
    `HOTBAND_TEST_RUNS` names the folder where all lanes of scripts/python_tests.py share it."""
    base = factory.getbasetemp()
    shared = os.environ.get("HOTBAND_TEST_RUNS") or (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base)
    folder = Path(shared) / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
