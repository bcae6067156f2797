"""Does the Exos study answer for three variants, and find what is odd in the published figures?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

Study = tuple[dict[str, Any], Path]
VARIANTS = (
    "24x ST900MP0006 512n, Advanced Write Cache off",
    "24x ST900MP0006 512n, Advanced Write Cache on",
    "24x ST900MP0146 512e, AWC + TurboBoost",
)


def table(result: dict[str, Any], name: str) -> list[list[Any]]:
    """The rows of a finding's table."""
    rows: list[list[Any]] = next(one for one in result["findings"] if one["id"] == name)["table"]["rows"]
    return rows


@pytest.mark.long
def test_every_variant_is_predicted_under_every_load(exos: Study) -> None:
    known = [row for row in exos[0]["figures"] if row["config"] in VARIANTS and row["group"] != "derived"]
    cells = {(row["config"], row["label"]) for row in known}
    loads = {label for _, label in cells}
    assert len(loads) == 4 + 4
    assert all((variant, load) in cells for variant in VARIANTS for load in loads)
    assert all(row["predicted"] is not None for row in exos[0]["figures"])


def test_withheld_figures_have_an_empty_published_column(exos: Study) -> None:
    open_ones = [row for row in exos[0]["figures"] if row["published"] is None]
    assert open_ones
    assert all(row["error_pct"] is None for row in open_ones)


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("qd1-latency", True),
        ("reads-do-not-gain", True),
        ("writes-gain", True),
        ("mixes-gain", False),
        ("hot-band-gains", True),
        ("warm-warm-up", True),
        ("warm-web", False),
    ],
)
@pytest.mark.long
def test_claims(exos: Study, claim: str, holds: bool) -> None:
    # The gain of mixed loads is underpredicted (finding "mixed-gain"); with 5 users reading for the
    # first ten minutes, the web server's hot pages take 39 minutes, whatever the ration of promotions.
    assert next(one for one in exos[0]["claims"] if one["id"] == claim)["holds"] is holds


@pytest.mark.long
def test_the_power_on_floor_is_under_every_boot_time(exos: Study) -> None:
    rows = table(exos[0], "boot-floor")
    assert rows[0][1:3] == [449, 272]
    assert all(row[3] - row[4] == 177 for row in rows)


@pytest.mark.long
def test_the_web_servers_figures_ask_for_two_sizes(exos: Study) -> None:
    assert [row[1] for row in table(exos[0], "web-sizes")[:2]] == [312, 100]


@pytest.mark.long
def test_oltp_runs_hold_unequal_numbers_outstanding(exos: Study) -> None:
    outstanding = [row[3] for row in table(exos[0], "oltp-concurrency")]
    assert outstanding[0] == pytest.approx(52.9, rel=0.02), "as the published baseline"
    assert outstanding[1] < 0.95 * outstanding[0]


@pytest.mark.long
def test_oltp_seeks_are_short(exos: Study) -> None:
    full, short = table(exos[0], "oltp-is-short-stroked")
    assert short[2] < 0.5 * full[2]
    assert short[1] > full[1], "and its IOPS exceed the full span's"


@pytest.mark.long
def test_the_flash_is_cold_warming_and_warm_in_the_record(exos: Study) -> None:
    import json

    record = json.loads((exos[1] / "runs" / "turbo.warm-up" / "record.json").read_text())
    assert record["caches"]["state_begin"] == "cold"
    assert record["caches"]["state_end"] == "warm"
    assert 180e9 < record["caches"]["warm_after_ns"] < 1800e9
    assert 0 < record["caches"]["flash_hit_ratio"] < 1


def test_swings_beyond_a_tenth_are_named(exos: Study) -> None:
    swings = exos[0]["swings"]
    # They cost an hour of two cores, so a change of the model leaves them behind for a while; the page says so then.
    assert ("run it again" in swings["text"]) == swings["stale"]
    assert all(name in swings["text"] for name in swings["missing"])
    assert swings["moved"]
    assert all(row["spread_pct"] > 10 for row in swings["moved"])
    assert "hotband study swings exos-15e900" in swings["text"]
