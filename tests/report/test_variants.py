"""Are steps, scripts, caches and times of records drawn as they are, and missed by nobody where they are absent?"""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
import synthetic
import synthetic_variants as made

from hotband.base.errors import UserError
from hotband.questions.study.cellrows import times_ms
from hotband.views.draw import curves
from hotband.views.report import load_record, record_page, study_page, variants
from hotband.views.report.page import render

NEW_SECTIONS = ["response", "warm-up", "once", "io-time", "why", "swings"]


class Page(HTMLParser):
    """Sections and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.text, self._quiet = "", False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._quiet = tag in ("script", "style")
        if tag == "section":
            self.sections.append(dict(attrs).get("id") or "")

    def handle_data(self, data: str) -> None:
        self.text += "" if self._quiet else data


def test_a_study_of_variants_has_their_sections() -> None:
    page = Page(render(study_page(*made.result())))
    assert [name for name in page.sections if name in NEW_SECTIONS] == NEW_SECTIONS
    for words in ("IOPS at 5 ms", "hot band, from cold", "Boots completed over time", "Queue a drive", "-22 %"):
        assert words in page.text


def test_a_study_of_plain_records_has_none_of_them() -> None:
    result = synthetic.result()
    page = Page(render(study_page(result, synthetic.runs_of(result))))
    assert not set(NEW_SECTIONS) & set(page.sections)


def test_a_record_with_everything_says_everything() -> None:
    page = Page(render(record_page([made.rich()], "One")))
    assert {"io-time", "caches", "once"} <= set(page.sections)
    for words in ("users-32", "32 threads", "boot", "16 of them were lost (main: 16)", "90 s into the run", "62 %"):
        assert words in page.text


def test_a_power_loss_that_took_nothing_says_so() -> None:
    one = made.rich()
    one.record["power_loss"] = {"at_ns": 10**9, "acknowledged_writes": 5, "lost_writes": 0, "lost_bytes": 0}
    text = Page(render(record_page([one], "One"))).text
    assert "nothing that had been acknowledged was lost" in text


def test_nothing_new_is_said_of_a_plain_record() -> None:
    page = Page(render(record_page([synthetic.loaded()], "One")))
    for words in ("Steps", "Scripts", "Power was cut", "What the drives did"):
        assert words not in page.text


def test_rates_of_streams_and_directions_add_up_and_latency_is_weighted() -> None:
    rows = [(0, "a", "read", 100.0, 1e6), (0, "b", "write", 300.0, 5e6), (10**9, "a", "read", 50.0, 2e6)]
    names = ["time_ns", "stream", "direction", "iops", "latency_mean_ns"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    one = replace(synthetic.loaded(), series=frame, caches=None)
    lines = variants.over_time({"v": one})
    assert lines["iops"].to_list() == [400.0, 50.0]
    assert lines["latency_mean_ms"].to_list() == pytest.approx([4.0, 2.0])
    assert lines["time_min"].to_list() == pytest.approx([0, 1 / 60])
    assert lines["hit_pct"].null_count() == 2


def test_a_long_run_is_binned_to_the_same_mean() -> None:
    lines = variants.over_time({"v": made.rich(seconds=1500)})
    assert lines.height == 500
    series = made.series(1500, 900.0, 250.0)
    assert lines["iops"][0] == pytest.approx(series["iops"][:3].mean())


def test_hits_are_a_share_of_what_was_looked_for() -> None:
    columns = {"time_ns": [0, 10**9, 2 * 10**9], "flash_hits": [1, 0, 3], "flash_misses": [3, 0, 1]}
    caches = pl.DataFrame({**columns, "state": ["cold", "warming", "warm"]})
    one = replace(made.rich(seconds=3), caches=caches)
    assert variants.over_time({"v": one})["hit_pct"].to_list() == [25.0, None, 75.0]
    assert variants.became_warm({"v": one}).rows() == [("v", pytest.approx(2 / 60))]


def test_a_cache_that_a_machine_does_not_have_is_not_drawn() -> None:
    one = made.rich(seconds=3)
    assert one.caches is not None
    without = one.caches.with_columns(flash_hits=0, flash_misses=0, flash_used_bytes=0)
    lines = variants.over_time({"v": replace(one, caches=without)})
    assert lines["hit_pct"].null_count() == lines["flash_gb"].null_count() == 3
    assert lines["extents"].to_list() == [16.0] * 3
    assert lines["destages"].to_list() == [10.0] * 3


@pytest.mark.parametrize("states", [["cold", "cold"], ["warm", "warm"]])
def test_no_rule_where_nothing_became_warm(states: list[str]) -> None:
    caches = pl.DataFrame({"time_ns": [0, 1], "flash_hits": [1, 1], "flash_misses": [1, 1], "state": states})
    assert variants.became_warm({"v": replace(made.rich(), caches=caches)}).is_empty()


def test_completions_count_up_from_none() -> None:
    one = made.rich()
    one.record["scripts"] = [made.script(clients=3, seconds=60.0)]
    found = variants.completions({"v": one})
    assert found["completions"].to_list() == [0, 1, 2, 3]
    assert found["time_min"].to_list() == pytest.approx([0, 0.6, 0.8, 1.0])


def test_the_parts_of_a_bar_add_up_to_the_latency() -> None:
    whole = made.figures(100.0, 8.0)
    frame = variants.io_time_frame([("r", times_ms(whole))])
    assert frame["ms"].sum() == pytest.approx(8.0)
    assert frame["activity"].to_list() == list(curves.IO_TIME_COLORS)
    assert times_ms(made.figures(0.0, None)) == {}


def points(*latencies: float) -> pl.DataFrame:
    rows = [("v", f"p{n}", n, 100.0 * (n + 1), value) for n, value in enumerate(latencies)]
    return pl.DataFrame(rows, schema=["variant", "point", "order", "iops", "latency_mean_ms"], orient="row")


def test_a_response_curve_is_drawn_in_the_order_of_its_steps_with_its_rule() -> None:
    spec = curves.response_chart(points(2.0, 4.0, 9.0), [5.0], points()[:0], ["v"]).to_dict()
    rule, line = spec["layer"]
    assert [{"latency_mean_ms": 5.0, "text": "5 ms"}] in spec["datasets"].values()
    assert rule["layer"][0]["mark"]["type"] == "rule"
    assert line["encoding"]["order"]["field"] == "order"
    low, high = line["encoding"]["y"]["scale"]["domain"]
    assert low == 0, "within a decade or so a straight line is how IOPS at a latency are read"
    assert high > 9
    wide = curves.response_chart(points(2.0, 4.0, 90.0), [5.0], points()[:0], ["v"]).to_dict()
    assert wide["layer"][1]["encoding"]["y"]["scale"]["type"] == "log"


def test_published_points_have_a_shape_of_their_own() -> None:
    spec = curves.response_chart(points(2.0, 4.0), [], points(30.0), ["v"]).to_dict()
    marks = spec["layer"][-1]
    assert marks["encoding"]["shape"]["scale"]["range"] == ["diamond"]
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1] > 30, "the axis reaches what is published"


def test_more_variants_than_colours_are_dashed() -> None:
    names = [f"v{n}" for n in range(10)]
    frame = pl.concat([points(2.0, 4.0).with_columns(variant=pl.lit(name)) for name in names])
    spec = curves.response_chart(frame, [], points()[:0], names).to_dict()
    assert spec["layer"][-1]["encoding"]["strokeDash"]["scale"]["range"][8:] == [[5, 3], [5, 3]]


def test_caches_come_back_from_disk(tmp_path: Path) -> None:
    one = made.rich()
    folder = synthetic.save(tmp_path / "run", one.record, one.series)
    assert "caches.parquet is missing" in load_record(folder).remarks[0]
    assert one.caches is not None
    one.caches.write_parquet(folder / "caches.parquet")
    found = load_record(folder)
    assert found.caches is not None
    assert found.caches["flash_hits"].to_list() == one.caches["flash_hits"].to_list()
    one.caches.drop("state").write_parquet(folder / "caches.parquet")
    with pytest.raises(UserError, match="state"):
        load_record(folder)
