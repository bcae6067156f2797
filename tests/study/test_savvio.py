"""Does the study of two small disks in an array predict the visible ratios, and do its claims hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

Study = tuple[dict[str, Any], Path]
POINTS = 10.0
"""The promise (issue E): visible ratios within ten percentage points."""


def by_source(result: dict[str, Any], ending: str) -> list[dict[str, Any]]:
    return [row for row in result["figures"] if row["source"].endswith(ending)]


def finding(result: dict[str, Any], name: str) -> list[list[Any]]:
    rows: list[list[Any]] = next(one for one in result["findings"] if one["id"] == name)["table"]["rows"]
    return rows


@pytest.mark.long
@pytest.mark.parametrize(("ending", "points"), [("-026", 2), ("-035", 1), ("-006", 1), ("-007", 1)])
def test_visible_ratios_within_ten_points(savvio: Study, ending: str, points: int) -> None:
    rows = by_source(savvio[0], ending)
    assert len(rows) == points
    for row in rows:
        scale = 100 if row["unit"] == "x" else 1
        assert abs(row["predicted"] - row["published"]) * scale <= POINTS, row


def test_an_array_reads_a_block_as_soon_as_its_disk(savvio: Study) -> None:
    # The same, of the times themselves, which `make test` has without the comparisons of a whole study.
    ending = "/access/access-time"
    rows = [row for row in savvio[0]["figures"] if row["id"].endswith(ending)]
    times = {row["id"].removesuffix(ending).split("/")[1]: row["predicted"] for row in rows}
    for disk, shorter in (("savvio", 0.15), ("cheetah10", 0.0)):
        for layout in ("raid0", "raid1"):
            assert abs(times[f"{disk}-single"] - times[f"{disk}-{layout}"] - shorter) <= 0.25, (disk, layout)


@pytest.mark.long
def test_access_times_change_by_less_than_a_quarter_of_a_millisecond(savvio: Study) -> None:
    # Published: 0.1 to 0.2 ms shorter on the Savvio, 0 on the Cheetah, of some 7.5 ms.
    rows = by_source(savvio[0], "-001") + by_source(savvio[0], "-002")
    assert len(rows) == 4
    assert all(abs(row["predicted"] - row["published"]) <= 0.25 for row in rows)


@pytest.mark.long
def test_every_claim_but_a_released_one_holds(savvio: Study) -> None:
    claims = savvio[0]["claims"]
    assert {one["id"] for one in claims} == {
        "mirror-matches-stripe",
        "mirror-ahead-on-reads",
        "raid0-beats-15k",
        "raid1-beats-15k",
        "stripe-doubles",
        "mirror-slows-random-writes",
    }
    # The last is of a row that was released: a mirror's write is 4 % longer in the model (explained in the study).
    assert [one["id"] for one in claims if not one["holds"]] == ["mirror-slows-random-writes"]


@pytest.mark.long
def test_no_published_row_is_left_over(savvio: Study) -> None:
    assert savvio[0]["unmatched"] == []
    assert not [miss for miss in savvio[0]["misses"] if "No explanation known" in miss["text"]]


@pytest.mark.long
def test_only_one_read_policy_fits(savvio: Study) -> None:
    # As published: no shorter access time (within 0.25 ms), and clearly ahead of the stripe on the web server.
    rows = [row for row in finding(savvio[0], "read-policy") if row[0] != "published"]
    assert len(rows) == 5
    fits = [name for name, shorter, linear, _, web in rows if abs(shorter) <= 0.25 and web > 1.05 and linear <= 1.05]
    assert fits == ["idle-or-nearest"]


@pytest.mark.long
def test_the_bus_carries_what_was_measured(savvio: Study) -> None:
    one, two, _ = finding(savvio[0], "bus")
    assert one[1] < 190 < two[3]
    assert all(210 <= rate <= 240 for rate in (one[3], two[2], two[3]))


@pytest.mark.long
def test_the_modes_are_for_the_desk(savvio: Study) -> None:
    # Facts: desktop scores change by 25 %, server scores little. Read as: more on the desk, on servers below 10 %.
    for _, server, desktop in finding(savvio[0], "firmware-modes"):
        assert abs(float(server.rstrip("%"))) < 10
        assert float(desktop.rstrip("%")) > float(server.rstrip("%"))


@pytest.mark.long
def test_files_and_writers_are_predicted_as_they_were_blind(savvio: Study) -> None:
    # By `hotband review` then, by loads of the study on its own machines now: the models of this are the same, so the
    # ratios that the gains stand for are within five percent.
    rows = [row for row in savvio[0]["figures"] if row["blind"] is not None]
    assert len(rows) == 6
    for row in rows:
        then, now = (1 + value / 100 for value in (row["blind"]["predicted"], row["predicted"]))
        assert now == pytest.approx(then, rel=0.05), row["id"]


@pytest.mark.long
def test_withheld_figures_are_predicted(savvio: Study) -> None:
    rows = [row for row in savvio[0]["figures"] if row["published"] is None]
    assert all(row["predicted"] is not None for row in rows)
    # Ten configurations: three linear or access, an interface, four patterns, five desktop loads each.
    assert len([row for row in rows if row["metric"] in ("bandwidth", "highest IOPS", "access time")]) == 10 * 13
