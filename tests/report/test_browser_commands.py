"""Do the pages that the commands write open without complaint, with every chart drawn?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from browser import Opened, needs_browser, open_page

pytestmark = needs_browser

Hotband = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def record(hotband: Hotband, tmp_path: Path) -> Path:
    out = tmp_path / "run"
    done = hotband("run", "iometer-database", "--on", "raid1:2xsavvio-10k1", "--duration", "20 s", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out


def opened_of(hotband: Hotband, tmp_path: Path, out: Path, *arguments: str) -> Opened:
    done = hotband(*arguments)
    assert done.returncode == 0, done.stderr
    return open_page(out, tmp_path)


@pytest.mark.long
def test_a_report_of_a_record_with_the_auditors_section(hotband: Hotband, record: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    arguments = ("report", str(record), "-o", str(out), "--audit", "--on", "raid1:2xsavvio-10k1")
    opened = opened_of(hotband, tmp_path, out, *arguments)
    opened.check()
    assert 'id="audit"' in opened.document


def test_a_plot_of_latency(hotband: Hotband, record: Path, tmp_path: Path) -> None:
    out = tmp_path / "latency.html"
    opened = opened_of(hotband, tmp_path, out, "plot", "latency", str(record), "--out", str(out))
    opened.check(charts=1)
    # Its words go on in the next line and its chart is as wide as the window, so that a phone shows all of it.
    assert "<h1>Latency by percentile</h1>" in opened.document
    assert 'name="viewport"' in opened.document


@pytest.mark.long
def test_the_report_of_a_study(content_hdd: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    open_page(content_hdd[1] / "report.html", tmp_path).check()


# --- does the look itself see what is wrong? -----------------------------------------------------------------

PAGE = '<!doctype html><html><head></head><body><div class="chart">{}</div></body></html>'
DRAWN = '<svg class="marks"><g class="mark-line role-mark"><path d="M0,0L9,9" stroke="red"/></g></svg>'
EMPTY = '<svg class="marks"><g class="mark-line role-mark"></g><g class="mark-rule role-axis"><line x2="9"/></g></svg>'


def looked_at(tmp_path: Path, *charts: str) -> Opened:
    page = tmp_path / "page.html"
    page.write_text(PAGE.format('</div><div class="chart">'.join(charts)))
    return open_page(page, tmp_path)


def test_a_chart_without_marks_is_seen_and_one_that_is_drawn_passes(tmp_path: Path) -> None:
    opened = looked_at(tmp_path, DRAWN, EMPTY, "<canvas width=9 height=9></canvas>")
    assert opened.charts == [1, 0, 0]
    # Chromium prints a warning about reading a canvas again and again.
    with pytest.raises(AssertionError, match="marks of the charts"):
        replace(opened, complaints=[]).check()
    replace(opened, complaints=[], charts=[1]).check(charts=1)


def test_what_a_page_complains_of_is_seen(tmp_path: Path) -> None:
    scripts = "console.error('printed')", "throw new Error('thrown')", "Promise.reject('refused')"
    image = "<img src='https://hotband.invalid/x.png'>"
    opened = looked_at(tmp_path, DRAWN + "".join(f"<script>{script}</script>" for script in scripts) + image)
    for complaint in (
        '"printed"',
        "error: Uncaught Error: thrown",
        "rejected: refused",
        "fetched: https://hotband.invalid",
    ):
        found = [line for line in opened.complaints if complaint in line]
        assert found, (complaint, opened.complaints)
        with pytest.raises(AssertionError):
            replace(opened, complaints=found).check()
