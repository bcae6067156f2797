"""The recovery of a pool and the rebuild of a drive are printed with their bytes and their time."""

from __future__ import annotations

import re

import pytest

import hotband as hb
from hotband.base.text.quantities import size_bytes
from hotband.data.record.repair import left_ns, recovery_lines, repair_lines
from hotband.data.record.unmodelled import other_notes

POOL = """
[drives.d]
product = "mg06sca-10tb"
count = 4

[layouts.pool]
replicated = { members = "d*", hosts = 4, replicas = 2, image = "SIZE", osd_set = { recovery_sleep = "0 s" } }
"""
OUT = ["at 1 s: osd-out pool.1"]


def lines_of(image: str, events: list[str]) -> list[str]:
    record = hb.run("fio-randread", on=POOL.replace("SIZE", image), duration="4 s", events=events)
    return recovery_lines(record.document)


def test_what_has_moved_and_the_time_left_are_printed() -> None:
    (line,) = lines_of("200 GB", OUT)
    found = re.fullmatch(r"Recovery of pool: (.+) of (.+) moved, (.+)/s: (.+) more at this mean rate", line)
    assert found is not None, line
    moved, whole, speed = (size_bytes(found[n]) for n in (1, 2, 3))
    # Two copies of 200 GB lie on four daemons, each with about a quarter.
    assert 60e9 < whole < 140e9
    assert abs(moved / 3 / speed - 1) < 0.02


def test_a_recovery_that_ends_prints_its_time() -> None:
    (line,) = lines_of("400 MB", OUT)
    assert re.fullmatch(r"Recovery of pool: .+ moved, in [\d.]+ m?s", line)


def test_a_pool_without_a_failure_prints_nothing() -> None:
    assert lines_of("400 MB", []) == []


@pytest.mark.parametrize("limit", [None, "100 MB/s", "200 MB/s"])
def test_the_time_left_of_a_rebuild_counts_the_inner_tracks(limit: str | None) -> None:
    machine = "raid1:2xexos-x18-18tb"
    record = hb.run("idle", on=machine, fail=["d1@1 s"], spares=1, rebuild_rate=limit, duration="4 s").document
    (rebuild,) = record["repair"]["rebuilds"]
    left, by_zones = left_ns(record, rebuild)
    whole = hb.reliability(machine, rebuild_rate=limit, arrays=1000).to_dict()["given"]["rebuild_hours"]
    assert left / 3.6e12 == pytest.approx(whole, rel=0.01)
    assert by_zones is (limit != "100 MB/s")
    assert " more" in " ".join(map(str, repair_lines(record)))
    assert any("s more at its mean rate" in note for note in record["notes"])
    assert not any("s more at its mean rate" in note for note in other_notes(record))
