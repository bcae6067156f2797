"""No file of the project is larger than what a page or a study needs: everybody who clones it has all of them."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST = 1 << 20


def test_no_file_is_large() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert [path.name for path in files if path.is_file() and path.stat().st_size > LARGEST] == []
