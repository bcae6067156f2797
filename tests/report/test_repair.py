"""Does a page say what failed, what was rebuilt and what hosts got, and mark it in the charts over time?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic
from browser import needs_browser, open_page
from test_variants import Page

from hotband.data.record.frames import series_frame
from hotband.data.record.load import LoadedRecord
from hotband.data.record.repair import rebuild_line, repair_lines, state_name
from hotband.views.draw import charts
from hotband.views.report import energy, record_page, sections, write_report
from hotband.views.report.page import Table, render
from hotband.views.report.repair import mark_frame

SECOND = 10**9


def service(phase: str, seconds: int, iops: float, errors: int = 0) -> dict[str, Any]:
    """A state of the machine and what hosts got in it."""
    latency = {f"latency_{key}_ns": 5 * 10**6 for key in ("mean", "p50", "p99")}
    rates = {"count": int(iops * seconds), "iops": iops, "bandwidth_bytes_per_s": 4096 * iops}
    return {"phase": phase, "duration_ns": seconds * SECOND, **rates, **latency, "errors": errors}


def failed(**changes: Any) -> LoadedRecord:
    """A record of a run in which a drive failed and was rebuilt in part."""
    made = synthetic.loaded()
    rebuild = {
        "drive": "d3", "spare": "spare1", "layout": "data", "state": "running", "began_ns": 30 * SECOND,
        "ended_ns": None, "bytes": 10**9, "of_bytes": 4 * 10**9, "rate_limit_bytes_per_s": None,
        "mean_bytes_per_s": 33e6, "sector_errors": 2, "repaired_sectors": 0,
    }  # fmt: skip
    made.record["repair"] = {
        "failures": [{"drive": "d3", "at_ns": 20 * SECOND}], "spares": 1, "spares_taken": 1, "rebuilds": [rebuild],
        "service": [service("before", 20, 350.0), service("rebuilding", 30, 127.0, 3)],
        "sector_errors": 2, "bytes_lost": 1024, "io_errors": 3, **changes,
    }  # fmt: skip
    return made


def test_the_page_says_what_failed_and_what_hosts_got() -> None:
    text = Page(render(record_page([failed()], "One"))).text
    for words in ("Failed: d3 after 20 s", "3 I/Os failed", "rebuilding", "d3 of data on spare1", "25 %"):
        assert words in text
    nothing = failed(failures=[], rebuilds=[], bytes_lost=0, io_errors=0)
    text = Page(render(record_page([nothing], "One"))).text
    assert "Failed: nothing yet. No data was lost, no I/O failed." in text


def test_a_rebuild_that_began_in_a_run_before_took_its_bytes_over_its_rate() -> None:
    before = {"state": "done", "began_ns": 0, "ended_ns": 2 * SECOND, "bytes": 4 * 10**9, "mean_bytes_per_s": 50e6}
    rebuild = failed().record["repair"]["rebuilds"][0] | before
    page = Page(render(record_page([failed(rebuilds=[rebuild])], "One"))).text
    assert "80 s" in page.partition("d3 of data on spare1")[2]
    line = str(rebuild_line(rebuild))
    assert "4 GB (100 %) in 80 s (78 s of them before this run), 50 MB/s" in line


def test_without_a_failure_nothing_is_said() -> None:
    plain = synthetic.loaded()
    assert "Failed" not in Page(render(record_page([plain], "One"))).text
    assert mark_frame({"one": plain}).is_empty()


def test_failures_and_rebuilds_are_marked_when_they_happened() -> None:
    marks = mark_frame({"one": failed()})
    begins = ("one", 30.0, "rebuild of d3 on spare1 begins", "rebuild begins")
    assert marks.rows() == [("one", 20.0, "d3 fails", "d3 fails"), begins]
    rebuild = failed().record["repair"]["rebuilds"][0] | {"ended_ns": 45 * SECOND}
    for state, ends in (("done", "rebuild ends"), ("stopped", "rebuild stops")):
        kinds = mark_frame({"one": failed(rebuilds=[rebuild | {"state": state}])})["kind"]
        assert kinds.to_list() == ["d3 fails", "rebuild begins", ends]


@pytest.mark.parametrize(("count", "key"), [(1, "d0 fails"), (3, "d0, d1, d2 fail"), (4, "a drive fails")])
def test_the_key_names_a_few_drives(count: int, key: str) -> None:
    failures = [{"drive": f"d{n}", "at_ns": n * SECOND} for n in range(count)]
    kinds = mark_frame({"one": failed(failures=failures, rebuilds=[])})["kind"].to_list()
    assert kinds == [key] * count


def test_charts_over_time_have_a_key_of_their_marks() -> None:
    marks = mark_frame({"one": failed()})
    series, _ = series_frame({"one": failed()})
    power = pl.DataFrame({"line": ["one"], "time_s": [0.0], "power_w": [9.0], "low_w": [8.0], "high_w": [10.0]})
    for view, unmarked in (
        (charts.series_chart(series, "iops", marks), charts.series_chart(series, "iops")),
        (energy.power_chart(power, marks), energy.power_chart(power)),
    ):
        assert '"domain": ["d3 fails", "rebuild begins"]' in json.dumps(view.to_dict())
        assert "rebuild begins" not in json.dumps(unmarked.to_dict())


def test_the_table_of_results_may_break_its_headings() -> None:
    [figures] = (section for section in record_page([failed()], "One").sections if section.id == "figures")
    [results, *_] = (block for block in figures.blocks if isinstance(block, Table))
    assert results.tight


def test_repair_has_a_section_of_its_own() -> None:
    page = record_page([failed()], "One")
    assert [section.title for section in page.sections][:2] == ["Results", "Failure and repair"]
    assert "repair" not in [section.id for section in record_page([synthetic.loaded()], "One").sections]


def test_after_a_loss_the_machine_is_not_merely_degraded() -> None:
    once, twice = [{"drive": "d3", "at_ns": SECOND}], [{"drive": f"d{n}", "at_ns": n * SECOND} for n in (1, 3)]
    refused, kept = service("degraded", 10, 100.0, 7), service("degraded", 10, 100.0)
    assert state_name(kept, {"failures": once, "bytes_lost": 0}) == "degraded"
    assert state_name(refused, {"failures": once, "bytes_lost": 512}) == "data lost"
    assert state_name(refused, {"failures": twice, "bytes_lost": 512}) == "degraded, data lost"
    assert state_name(service("rebuilding", 10, 1.0, 3), {"failures": twice, "bytes_lost": 512}) == "rebuilding"
    made = failed(service=[refused], failures=twice, sector_errors=0, rebuilds=[])
    assert "degraded, data lost" in Page(render(record_page([made], "One"))).text
    assert any("degraded, data lost" in line for line in repair_lines(made.record))
    made.record["repair"]["bytes_lost"] = 102 * 10**9
    assert any("102 GB lost" in line for line in repair_lines(made.record))
    assert "102 GB of data were lost" in Page(render(record_page([made], "One"))).text


def test_what_was_to_happen_can_be_asked_for_again() -> None:
    made = failed()
    repair = {"fail": ["d3@20 s", "d1@40 s"], "spare": 1, "rebuild_rate": "5 MB/s", "rebuild_after": "2 s"}
    made.record["spec"] = {"set": {"qd": "8"}, "repair": repair, "power_loss": "50 s"}
    said = "qd=8, --fail 'd3@20 s', --fail 'd1@40 s', --spares 1, --rebuild-rate '5 MB/s', --rebuild-after '2 s'"
    assert f"{said}, --power-loss '50 s'" in Page(render(record_page([made], "One"))).text
    made.record["spec"] = {"set": {}, "repair": {"fail": ["d3@20 s"], "spare": 0}}
    assert sections.events(made.record["spec"]) == ["--fail 'd3@20 s'"]


@needs_browser
def test_a_browser_draws_the_marks(tmp_path: Path) -> None:
    opened = open_page(write_report(tmp_path / "page.html", record_page([failed()], "One")), tmp_path, "")
    opened.check()
    assert f'data-drawn="{len(opened.charts)}"' in opened.document
