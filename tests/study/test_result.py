"""Is a study's result what scripts rely on, and does it find what is wrong in the published tables?"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

Study = tuple[dict[str, Any], Path]


def finding(result: dict[str, Any], name: str) -> dict[str, Any]:
    """A finding by id."""
    return next(one for one in result["findings"] if one["id"] == name)


def test_figures_claims_and_findings_have_their_keys(content_hdd: Study, exos: Study) -> None:
    for result, _ in (content_hdd, exos):
        for row in result["figures"]:
            assert {"id", "published", "unit", "predicted", "error_pct", "source"} <= set(row)
        for claim in result["claims"]:
            assert {"id", "text", "holds", "measured"} <= set(claim)
        assert len({row["id"] for row in result["figures"]}) == len(result["figures"])


def test_response_times_are_milliseconds(content_hdd: Study) -> None:
    table = finding(content_hdd[0], "latency-unit")["table"]["rows"]
    assert len(table) == 22
    # 597.11 IOPS x 25.9: 15,465 I/Os outstanding if seconds, 15.5 if milliseconds.
    assert table[0][1:] == [597.11, 25.9, 16, 15465, 15.465]


def test_cells_short_of_sixteen_are_named(content_hdd: Study) -> None:
    rows = finding(content_hdd[0], "idle-concurrency")["table"]["rows"]
    assert [row[1:3] for row in rows] == [[16, 8.3116], [16, 10.583], [16, 8.6503], [16, 9.5664]]
    names = ("ENT 15K RAID1 (2 drives)", "ENT 10K RAID1 (2 drives)")
    assert all(row[0].startswith(tuple(f"{name}: vdbench 8KB 100% sequential" for name in names)) for row in rows)


def test_bandwidth_is_binary(content_hdd: Study) -> None:
    title = finding(content_hdd[0], "bandwidth-unit")["title"]
    # The other is rounded to neither: 979 IOPS of 8 KB are 7.65 MiB/s, printed as 7.7.
    assert "21 of 22 results print bandwidth in another unit than they label: MB is MiB (2^20 bytes)" in title


def test_the_software_array_fits_no_parity(content_hdd: Study) -> None:
    found = finding(content_hdd[0], "software-raid-level")
    assert "without parity" in found["title"]
    levels = {row[0] for row in found["table"]["rows"]}
    assert levels == {"raid0", "concat", "raid5", "raid6"}


@pytest.mark.long
def test_the_exos_baseline_is_not_write_through(exos: Study) -> None:
    rows = finding(exos[0], "awc-off-is-not-write-through")["table"]["rows"]
    assert rows[0][2] < 0.8 * rows[0][1], "write-through falls short by more than a fifth"


def test_exos_curves_cover_every_mix_and_depth(exos: Study) -> None:
    points = [point for point in exos[0]["curves"] if "write-through" not in point["machine"]]
    assert len(points) == 3 * 4 * 7
    for machine, group in {(point["machine"], point["group"]) for point in points}:
        curve = [point["iops"] for point in points if (point["machine"], point["group"]) == (machine, group)]
        # Half a per cent: with a write cache that is always full the depth changes little.
        assert all(after > 0.995 * before for before, after in pairwise(curve)), f"{machine}, {group}"


def test_everything_is_left_in_the_folder(content_hdd: Study) -> None:
    result, out = content_hdd
    assert (out / "report.html").stat().st_size > 500_000
    assert json.loads((out / "result.json").read_text())["figures"] == result["figures"]
    for run in result["runs"]:
        assert (out / run["record"]).is_file()


@pytest.mark.parametrize("study", ["content_hdd", "exos"])
def test_closed_loops_obey_littles_law(study: str, request: pytest.FixtureRequest) -> None:
    result, out = request.getfixturevalue(study)
    for run in result["runs"]:
        record = json.loads((out / run["record"]).read_text())
        summary = record["summary"]
        outstanding = summary["iops"] * summary["latency_mean_ns"] / 1e9
        if record["concurrency"] is not None:
            assert outstanding == pytest.approx(record["concurrency"], rel=0.01), run["id"]
        for step in record.get("steps", []):
            if step["threads"]:
                step_outstanding = step["summary"]["iops"] * step["summary"]["latency_mean_ns"] / 1e9
                assert step_outstanding == pytest.approx(step["threads"], rel=0.01), (run["id"], step["name"])


def test_every_assumption_has_a_source(content_hdd: Study) -> None:
    assumptions = content_hdd[0]["assumptions"]
    assert {entry["part"] for entry in assumptions} == {"study", "ent-15k", "ent-10k", "ent-cap-2tb"}
    assert all(entry["source"] for entry in assumptions)
