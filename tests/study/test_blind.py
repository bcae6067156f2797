"""Are the errors of blind predictions those of the table, and is each the published value's?"""

from __future__ import annotations

import csv

import pytest

from hotband.study.blind import ALL, TABLE, blind_errors, blind_rates


def test_every_error_is_that_of_its_prediction() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["unit"] == "IOPS" and row["blind_error_pct"]]
    assert rows
    for row in rows:
        error = 100 * (float(row["blind"]) / float(row["value"]) - 1)
        assert float(row["blind_error_pct"]) == pytest.approx(error, abs=0.06), row["id"]


def test_random_loads_are_summed_over_all_studies() -> None:
    [whole] = [errors for errors in blind_errors() if errors.study == ALL]
    sizes = sorted(abs(rate.error_pct) for rate in blind_rates() if rate.is_random)
    assert whole.figures == len(sizes)
    assert whole.median_pct == pytest.approx((sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2)
    assert sizes[0] < whole.median_pct < whole.p90_pct < sizes[-1]
