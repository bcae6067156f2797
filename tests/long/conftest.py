"""Tests of minutes: collected where their folder is named (`pytest tests/long`), not with all others."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_named = any("long" in Path(argument.split("::")[0]).parts for argument in config.args)
    return None if is_named or collection_path.name == "conftest.py" else True
