"""Terse output has no options, but a distribution of depths: IOPS times latency cannot exceed what jobs may have."""

from __future__ import annotations

import pytest
from result_documents import terse

from hotband.data.importers.fio.terse import read_terse
from hotband.inference.audit import Audited
from hotband.inference.audit.littles_law import check


def line(mean_us: str, iops: str, depths: tuple[str, ...]) -> str:
    fields = terse().strip().split(";")
    fields[7], fields[15], fields[39] = iops, mean_us, mean_us
    return ";".join([*fields, *depths]) + "\n"


ONE = ("100.0%", *["0.0%"] * 6)
DEEP = (*["0.0%"] * 6, "100.0%")


@pytest.mark.parametrize(
    ("mean_us", "iops", "depths", "is_wrong"),
    [
        ("10000.0", "1600000", ONE, True),
        ("10.0", "1600000", ONE, False),
        ("10000.0", "1600000", DEEP, False),
        ("10000.0", "100000", ONE, False),
    ],
)
def test_outstanding_ios_are_within_those_of_all_jobs(
    mean_us: str, iops: str, depths: tuple[str, ...], is_wrong: bool
) -> None:
    (record,) = read_terse(line(mean_us, iops, depths), "a.txt")
    assert [finding.severity for finding in check([Audited("a", record)])] == ["severe"] * is_wrong
