"""The synthetic records stand beside the tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hotband.views.report import page

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="module")
def checked() -> Iterator[None]:
    """Specs of charts are checked against Vega-Lite's schema here, and nowhere else."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "CHECKED", True)
        yield
