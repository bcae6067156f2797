"""Do old outputs survive, whole, where the new ones cannot be written, whatever fails and when?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`faults.c`, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is among the prerequisites"
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    source = str(HERE / "faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", str(library), "-ldl"], check=True)
    return library


def test_every_output_is_old_or_new_and_nothing_else_stays(faults: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "failing_writes.py"), str(faults), str(tmp_path)]
    environment = os.environ | {"LD_PRELOAD": str(faults)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 8
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
