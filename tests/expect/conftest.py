"""Results for the tests of `expect`: documents of our own as importers' tests have them, real ones outside the
repository."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "import"):
    sys.path.insert(0, str(folder))
Fio = Callable[..., Path]


@pytest.fixture(scope="session")
def samples() -> Path:
    folder = Path(os.environ.get("HOTBAND_SAMPLES", HERE.parents[1].parent / "shared" / "samples"))
    if not folder.is_dir():
        pytest.skip("the real results are not on this machine")
    return folder


@pytest.fixture
def fio(tmp_path: Path) -> Fio:
    """Writes a result of fio with these jobs."""

    def written(*jobs: dict[str, Any], name: str = "run.json", **shared: str) -> Path:
        path = tmp_path / name
        options = {"ioengine": "libaio", "direct": "1", "bs": "4k", "filename": "/dev/sdb", **shared}
        path.write_text(json.dumps({"fio version": "fio-3.33", "global options": options, "jobs": list(jobs)}))
        return path

    return written
