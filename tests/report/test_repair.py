"""Does a page say what failed, what was rebuilt and what hosts got, and mark it in the charts over time?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import synthetic
from browser import needs_browser, open_page
from test_variants import Page

from hotband.report import record_page, write_report
from hotband.report.load import LoadedRecord
from hotband.report.page import render
from hotband.report.repair import mark_frame

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
    for words in ("Failed: d3 after 20 s", "3 I/Os failed", "rebuilding", "d3 of data on spare1", "25.0 %"):
        assert words in text
    nothing = failed(failures=[], rebuilds=[], bytes_lost=0, io_errors=0)
    text = Page(render(record_page([nothing], "One"))).text
    assert "Failed: nothing yet. No data was lost, no I/O failed." in text


def test_without_a_failure_nothing_is_said() -> None:
    plain = synthetic.loaded()
    assert "Failed" not in Page(render(record_page([plain], "One"))).text
    assert mark_frame({"one": plain}).is_empty()


def test_failures_and_rebuilds_are_marked_when_they_happened() -> None:
    marks = mark_frame({"one": failed()})
    assert marks.rows() == [("one", 20.0, "d3 fails"), ("one", 30.0, "rebuild of d3 on spare1 begins")]


@needs_browser
def test_a_browser_draws_the_marks(tmp_path: Path) -> None:
    opened = open_page(write_report(tmp_path / "page.html", record_page([failed()], "One")), tmp_path, "")
    opened.check()
    assert f'data-drawn="{len(opened.charts)}"' in opened.document
