"""One small sweep by the command, shared by the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest
from small_sweep import ASKED, Swept


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory, call: Callable[..., CompletedProcess[str]]) -> Swept:
    """Two seeds a point, twelve runs."""
    folder = tmp_path_factory.mktemp("swept")
    more = ["--repeat", "2", "--out", "out", "-o", "page.html", "--json"]
    done = call("sweep", *ASKED, *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return Swept(folder / "out", (folder / "page.html").read_text(), json.loads(done.stdout), done.stderr)
