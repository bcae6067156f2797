"""Where the tests of importers find documents: those of our own beside them, real ones outside the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "fio"):
    sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def real_samples() -> Path:
    folder = Path(os.environ.get("HOTBAND_SAMPLES", HERE.parents[1].parent / "shared" / "samples"))
    if not folder.is_dir():
        pytest.skip("the real results are not on this machine")
    return folder
