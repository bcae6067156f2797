"""Do the studies predict the figures that were seen within the bounds that the project promises?"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

Study = tuple[dict[str, Any], Path]


def errors(result: dict[str, Any], group: str) -> dict[str, float]:
    """Absolute errors of measured IOPS by figure id, of figures that were seen while the models were built."""
    measured = [row for row in result["figures"] if row["metric"] == "IOPS" and row["error_pct"] is not None]
    chosen = [row for row in measured if row["blind"] is None]
    return {row["id"]: abs(row["error_pct"]) for row in chosen if group in row["group"]}


def test_random_iops_of_both_studies(content_hdd: Study, exos: Study) -> None:
    # The promise (issue A): median at most 10 %, none above 25 %.
    found = {**errors(content_hdd[0], "8 KB random"), **errors(exos[0], "4 KB random")}
    # Four cells of the five layouts; reads of three variants, writes of two.
    assert len(found) == 4 + 3 + 2
    assert statistics.median(found.values()) <= 10
    assert max(found.values()) <= 25


def test_sequential_128_kb_within_5_percent(content_hdd: Study) -> None:
    found = errors(content_hdd[0], "128 KB sequential")
    assert len(found) == 6
    assert max(found.values()) <= 5


def test_every_large_error_is_explained(content_hdd: Study, exos: Study) -> None:
    for result, _ in (content_hdd, exos):
        assert not [miss for miss in result["misses"] if "No explanation known" in miss["text"]]


def test_withheld_cells_are_predicted(content_hdd: Study) -> None:
    cells = [row for row in content_hdd[0]["figures"] if row["metric"] == "IOPS"]
    assert len(cells) == 30
    assert all(row["predicted"] > 0 for row in cells)
    assert sum(row["published"] is None for row in cells) == 8
    assert all(row["error_pct"] is None for row in cells if row["published"] is None)


@pytest.mark.long
def test_visible_iops_and_times_of_the_exos_study(exos: Study) -> None:
    # The promise (issue B): median at most 15 %, none above 35 %. One figure breaks it and is named here: the
    # response time of the web server on flash, which does not fit the network limit published beside it
    # (finding "web-sizes").
    # A figure that is published for all three variants, or twice, counts once.
    repeated = {"demartek_exos15e900-035", "demartek_exos15e900-039"}
    found: dict[str, float] = {}
    for row in exos[0]["figures"]:
        seen = row["error_pct"] is not None and row["blind"] is None
        if seen and row["unit"] in ("IOPS", "ms", "s") and row["source"] not in repeated:
            found[row["source"]] = max(abs(row["error_pct"]), found.get(row["source"], 0.0))
    assert len(found) == 15
    assert statistics.median(found.values()) <= 15
    assert {name for name, error in found.items() if error > 35} == {"demartek_exos15e900-031"}
