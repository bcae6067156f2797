"""One short run, shared by the tests of the Python API."""

from __future__ import annotations

import pytest

import hotband as hb
from hotband.data.record.record import Record


@pytest.fixture(scope="session")
def disk() -> Record:
    """Reads and writes on a disk with a write cache and flash."""
    return hb.run("iometer-database", on="exos-15e900-512e", qd=8, duration="5 s", progress=False)
