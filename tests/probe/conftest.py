"""The harness, from the folder of scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shared import shared_folder

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is damaged and is not in the repository."""
    from probe.bases import make

    with shared_folder(tmp_path_factory, "probe") as folder:
        make(folder / "made")
    return folder / "made"
