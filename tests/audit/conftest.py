"""Where the tests of the auditor find the results they make, and the real ones outside the repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # tests/audit/made_up.py, whatever import mode pytest runs in


@pytest.fixture(scope="session")
def croit() -> list[Path]:
    """The 14 raw fio results of the Toshiba pool of croit's MACH.2 study."""
    for folder in (HERE.parents[1].parent / "shared" / "samples", Path("/work/shared/samples")):
        files = sorted((folder / "croit-normal").glob("*.json"))
        if files:
            return files
    pytest.skip("the real fio results are not on this machine")


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of results and cases outside the repository."""
    for folder in (HERE.parents[1].parent / "shared" / "samples", Path("/work/shared/samples")):
        if (folder / "wild").is_dir():
            return folder
    pytest.skip("the cases are not on this machine")
