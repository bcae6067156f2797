"""Is the wear of drives drawn as SMART says, and missed by nobody where no drive wears?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic
import synthetic_wear as made
from test_variants import Page

from hotband.base.errors import UserError
from hotband.views.draw import wear as wearcharts
from hotband.views.report import load_record, record_page, study_page, wear
from hotband.views.report.page import render


def lines(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    return frame.filter(pl.col("kind") == kind)


def test_amplification_is_of_the_interval_and_since_new() -> None:
    frame = wear.amplification_frame({"run": made.worn(amplification=2.5)})
    interval, total = lines(frame, wearcharts.INTERVAL), lines(frame, wearcharts.TOTAL)
    # 20 GB, then 20 GB that cost 40, both untimed; then 1 + 1.5 n / 30 in minute n.
    assert interval["write_amplification"][:3].to_list() == pytest.approx([1.0, 2.0, 1.05])
    assert interval["timed"][:3].to_list() == [False, False, True]
    assert interval["write_amplification"][-1] == pytest.approx(2.5)
    assert total["write_amplification"][1] == pytest.approx(1.5)
    assert total["host_gb"][-1] == pytest.approx(100.0)
    assert interval["time_min"][-1] == pytest.approx(60.0)


def test_an_idle_interval_has_no_amplification() -> None:
    smart = pl.DataFrame({"time_ns": [0.0, 6e10, 12e10], "host_bytes": [0.0, 1e9, 1e9], "flash_bytes": [0.0, 2e9, 3e9]})
    one = replace(made.worn(), smart=smart.with_columns(drive=pl.lit("d0")))
    frame = wear.amplification_frame({"run": one})
    assert lines(frame, wearcharts.INTERVAL)["write_amplification"].to_list() == [2.0]
    assert lines(frame, wearcharts.TOTAL)["write_amplification"].to_list() == [2.0, 3.0]


def test_a_long_run_keeps_its_sums() -> None:
    one = replace(made.worn(), smart=made.readings(minutes=5000))
    frame = wear.amplification_frame({"run": one})
    interval = lines(frame, wearcharts.INTERVAL)
    assert interval.height <= wear.POINTS + 1
    steps = interval["host_gb"].diff().fill_null(interval["host_gb"][0])
    whole = float((steps * interval["write_amplification"]).sum())
    assert whole == pytest.approx(made.readings(minutes=5000)["flash_bytes"].max() / 1e9, rel=1e-6)


@pytest.mark.parametrize(("drives", "found"), [(1, ["d0"]), (2, ["d0", "d1"]), (6, ["all 6 drives"])])
def test_a_line_a_drive_or_one_of_all(drives: int, found: list[str]) -> None:
    frame = wear.amplification_frame({"run": made.worn(drives=drives)})
    assert frame["line"].unique(maintain_order=True).to_list() == found
    assert lines(frame, wearcharts.INTERVAL)["write_amplification"][-1] == pytest.approx(2.5)


def test_a_record_page_shows_wear_and_operations() -> None:
    page = Page(render(record_page([made.worn()], "One")))
    assert "wear" in page.sections
    # 50 GB of flash for 20 GB of the host; 600 reads and 300 updates a second.
    for words in ("Write amplification over time", "2.5", "50 GB", "update", "btree: 900 operations a second"):
        assert words in page.text


def test_a_plain_record_says_nothing_of_wear() -> None:
    page = Page(render(record_page([synthetic.loaded()], "One")))
    assert "wear" not in page.sections
    for words in ("amplification", "Operations", "operations a second"):
        assert words not in page.text


def test_bytes_to_the_end_of_a_part_of_a_drive_are_said_to_be_of_all_of_it() -> None:
    def caption(*scales: int) -> str:
        drives = [
            one | ({"scale": scale} if scale > 1 else {})
            for one, scale in zip(made.smart(drives=3), scales, strict=True)
        ]
        table = wear.smart_table({"run": replace(synthetic.loaded(), record=synthetic.record() | {"smart": drives})})
        assert table is not None
        return table.caption

    assert "simulated" not in caption(1, 1, 1)
    assert caption(1, 256, 64).endswith("the whole drive, other bytes those of the simulated part (1/64, 1/256)")


def save(folder: Path, smart: pl.DataFrame | None) -> Path:
    record = synthetic.record() | {"smart": made.smart()}
    record["series"]["smart_file"] = "smart.parquet"
    synthetic.save(folder, record, synthetic.series())
    if smart is not None:
        smart.write_parquet(folder / "smart.parquet")
    return folder


def test_smart_comes_back_from_disk(tmp_path: Path) -> None:
    found = load_record(save(tmp_path / "run", made.readings()))
    assert found.smart is not None
    assert found.smart.height == 63


def test_lost_smart_is_a_remark_and_broken_smart_a_mistake(tmp_path: Path) -> None:
    lost = load_record(save(tmp_path / "lost", None))
    assert lost.smart is None
    assert "smart.parquet is missing" in lost.remarks[0]
    with pytest.raises(UserError, match="missing from a record's series"):
        load_record(save(tmp_path / "broken", made.readings().drop("flash_bytes")))


def study() -> tuple[dict[str, Any], dict[str, Any]]:
    """A result with inputs, bars, an entropy curve and a run that wears in."""
    result = synthetic.result(runs=2)
    for run, variant in zip(result["runs"], ("compressing", "plain"), strict=True):
        run |= {"variant": variant, "load": "new drive", "chart": "wear-in"}
    loaded = {run["id"]: made.worn(run["label"], 2.5 + n) for n, run in enumerate(result["runs"])}
    bars = {"load": "YCSB A", "metric": "achieved op/s", "unit": "op/s"}
    curve = [{"variant": "compressing", "entropy": e / 10, "write_amplification": e / 3} for e in range(1, 11)]
    result |= {
        "inputs": [
            {
                "id": "p-18",
                "config": "data",
                "workload": "YCSB",
                "metric": "data entropy (tgz)",
                "value": "0.79",
                "unit": "frac",
                "used": "entropy of every write",
            }
        ],
        "bars": [
            {**bars, "variant": "compressing", "value": 1200.0, "published": 1250.0},
            {**bars, "variant": "plain", "value": 800.0, "published": None},
        ],
        "entropy": {"points": curve[::3], "theory": curve},
    }
    return result, loaded


def test_a_study_page_shows_inputs_bars_and_amplification() -> None:
    page = Page(render(study_page(*study())))
    assert [name for name in page.sections if name in ("inputs", "bars", "amplification")] == [
        "bars", "amplification", "inputs"
    ]  # fmt: skip
    for words in ("entropy of every write", "YCSB A: Achieved op/s", "against the entropy", "new drive"):
        assert words in page.text


def test_the_theory_is_a_line_and_the_model_points() -> None:
    result, _ = study()
    block = wear.entropy_block(result["entropy"], ["compressing"])
    assert block is not None
    line, points = block.charts[0].view.to_dict()["layer"]
    assert (line["mark"]["type"], points["mark"]["type"]) == ("line", "point")
    assert wear.entropy_block({"points": [], "theory": result["entropy"]["theory"]}, []) is None


def test_bars_begin_at_zero_and_leave_room_for_what_is_published() -> None:
    result, _ = study()
    ((_, block),) = wear.bar_blocks(result["bars"], ["compressing", "plain"])
    spec = block.charts[0].view.to_dict()
    low, high = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low == 0
    assert high > 1250
    published = next(rows for rows in spec["datasets"].values() if len(rows) == 1)
    assert json.loads(json.dumps(published))[0]["published"] == 1250.0
