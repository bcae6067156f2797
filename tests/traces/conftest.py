"""Samples and traces of others, no part of the repository: tests skip where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("HOTBAND_SAMPLES", Path(__file__).parents[3] / "shared" / "samples"))


def folder(path: Path) -> Path:
    if not path.is_dir():
        pytest.skip(f"no {path}")
    return path


@pytest.fixture
def samples() -> Path:
    """Samples of other tools."""
    return folder(SHARED)


@pytest.fixture
def real_disks() -> Path:
    """Traces of real disks, with measured response times."""
    return folder(SHARED.parent / "traces" / "real-disks")
