"""Is the wheel of `make wheel` complete, and for every Python from 3.11 on?"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make wheel` does, of the extension that `make setup` has compiled."""
    maturin = Path(sys.executable).with_name("maturin")
    if not maturin.exists():
        pytest.skip("maturin is not installed beside this Python: run make setup")
    folder = tmp_path_factory.mktemp("wheel")
    command = [maturin, "build", "--release", "--locked", "--quiet", "--out", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_it_is_for_every_python_and_most_linuxes(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    assert "manylinux" in wheel.name or sys.platform != "linux"


def test_it_holds_the_catalog_the_types_and_what_pages_are_made_of(wheel: Path) -> None:
    files = set(zipfile.ZipFile(wheel).namelist())
    data = {
        str(path.relative_to(ROOT / "python"))
        for path in (ROOT / "python" / "hotband").rglob("*")
        if path.is_file() and path.suffix not in (".so", ".pyc")
    }
    assert sorted(data - files) == []
    assert any(name.startswith("hotband/_core") and name.endswith(".so") for name in files)


def test_it_runs_where_nothing_of_the_repository_is(wheel: Path, tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", "site", wheel]
    subprocess.run(install, cwd=tmp_path, check=True, capture_output=True)
    command = [sys.executable, "-m", "hotband", "run", "fio-randread", "--on", "ent-10k", "--duration", "1 s"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "read" in done.stdout
