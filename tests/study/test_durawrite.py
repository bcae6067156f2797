"""Does the DuraWrite study answer for three drives under five workloads, and stay within what it promises?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

Study = tuple[dict[str, Any], Path]
DRIVES = ("1x Seagate Nytro 1351 960GB", "1x Intel DC S4500 960GB", "1x Micron 5200 ECO 960GB")


def finding(result: dict[str, Any], name: str) -> dict[str, Any]:
    """A finding by id."""
    found: dict[str, Any] = next(one for one in result["findings"] if one["id"] == name)
    return found


@pytest.mark.long
def test_every_drive_is_predicted_under_every_workload(durawrite: Study) -> None:
    figures = [row for row in durawrite[0]["figures"] if row["config"] in DRIVES]
    cells = {(row["config"], row["group"]) for row in figures}
    assert len(cells) == 3 * 5
    assert all(row["predicted"] is not None for row in durawrite[0]["figures"])
    assert all(row["predicted"] > 0 for row in figures)
    assert sum(row["metric"] == "write amplification" for row in figures) == 3 * 5


@pytest.mark.long
def test_visible_figures_are_within_35_percent(durawrite: Study) -> None:
    # The promise of the second study (issue B), none above 35 %, for all six that were seen; gains by the ratio that
    # they stand for. Released without a prediction of its own: -011, which contradicts -010.
    known = [row for row in durawrite[0]["figures"] if row["error_pct"] is not None and row["blind"] is None]
    errors = {row["id"]: abs(row["error_pct"]) for row in known if row["id"] != "demartek_durawrite-011"}
    assert set(errors) == {f"demartek_durawrite-{n:03d}" for n in (1, 2, 3, 4, 5, 7)}
    assert max(errors.values()) <= 35
    assert max(errors[f"demartek_durawrite-{n:03d}"] for n in (4, 5)) <= 20


@pytest.mark.long
def test_withheld_figures_have_an_empty_published_column(durawrite: Study) -> None:
    ratios = [row for row in durawrite[0]["figures"] if row["metric"] == "write amplification ratio"]
    assert [row["published"] for row in ratios] == [None, 0.33, 0.111, 0.55, None]
    assert all(row["predicted"] < 1 for row in ratios)


@pytest.mark.long
def test_every_miss_is_explained_and_nothing_is_left_over(durawrite: Study) -> None:
    assert not [miss for miss in durawrite[0]["misses"] if "No explanation known" in miss["text"]]
    assert durawrite[0]["unmatched"] == []


@pytest.mark.long
def test_the_model_stays_above_theory_and_follows_it(durawrite: Study) -> None:
    points = [row for row in durawrite[0]["entropy"]["points"] if row["variant"] == "Nytro 1351"]
    model = [row["write_amplification"] for row in points]
    assert model == sorted(model)
    assert all(row["write_amplification"] > row["theory"] for row in points)
    # Incompressible data has no chunks to round up: what is left above theory is parity, mapping and blocks held free.
    for row in durawrite[0]["entropy"]["points"]:
        if row["entropy"] == 1.0:
            assert row["write_amplification"] == pytest.approx(row["theory"], rel=0.15)


def test_a_new_drive_wears_in(durawrite: Study) -> None:
    for config, low, high in (("plain", 4.0, 6.0), ("s4500", 2.5, 5.0), ("nytro", 0.5, 0.75)):
        readings = pl.read_parquet(durawrite[1] / "runs" / f"{config}.new-drive" / "smart.parquet")
        interval = readings["write_amplification"].drop_nulls()
        assert interval[0] < 1.1, config
        assert low < interval[-1] < high, config


@pytest.mark.long
def test_the_same_data_has_a_ratio_of_its_own_under_each_load(durawrite: Study) -> None:
    rows = finding(durawrite[0], "ratios-against-entropy")["table"]["rows"]
    assert [row[1] for row in rows] == [0.0126, 0.17, 0.19, 0.37, 0.79]
    common = [row[5] for row in rows]
    assert max(common) > 1.5 * min(common)
    assert "not the same order" in finding(durawrite[0], "ratios-against-entropy")["text"]


@pytest.mark.long
def test_trim_moves_the_drives_that_do_not_compress(durawrite: Study) -> None:
    rows = {(row[0], row[1]): (row[2], row[3]) for row in finding(durawrite[0], "trim")["table"]["rows"]}
    for label, better in (("OLTP, without TRIM", 0), ("Jetstress, without TRIM", 0), ("SPECsfs SWBUILD, with TRIM", 1)):
        for drive in ("S4500", "5200 ECO"):
            pair = rows[label, drive]
            assert pair[better] < pair[1 - better], (label, drive)
        ours = rows[label, "Nytro 1351"]
        assert ours[1] == pytest.approx(ours[0], rel=0.05), label


@pytest.mark.long
def test_the_ratio_of_vdi_falls_as_the_others_wear_in(durawrite: Study) -> None:
    ratios = [row[-1] for row in finding(durawrite[0], "vdi-footprint")["table"]["rows"]]
    assert ratios[:3] == sorted(ratios[:3], reverse=True)
    assert ratios[3] > ratios[4], "the same of SWBUILD"


@pytest.mark.long
def test_claims(durawrite: Study) -> None:
    holds = {one["id"]: one["holds"] for one in durawrite[0]["claims"]}
    assert holds["ycsb-gains"] is True
    assert set(holds) == {"ycsb-gains", "vdi-ratio", "vdi-not-faster"}
