"""A few runs that all tests of stores share."""

from __future__ import annotations

import pytest

import hotband as hb
from hotband.data.record.record import Record


@pytest.fixture(scope="session")
def runs() -> list[Record]:
    """Six runs: two depths, three seeds; with tables over time, and reads and writes."""
    found = hb.sweep("iometer-database", on="ent-10k", qd=[1, 4], repeat=3, duration="2 s", progress=False)
    return list(found)
