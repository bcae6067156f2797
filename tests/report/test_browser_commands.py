"""Do the pages that the commands write open without complaint, with every chart drawn?"""

from __future__ import annotations

from collections.abc import Callable
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


def test_the_report_of_a_study(content_hdd: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    open_page(content_hdd[1] / "report.html", tmp_path).check()


# --- does the look itself see what is wrong? -----------------------------------------------------------------

PAGE = '<!doctype html><html><head></head><body><div class="chart">{}</div></body></html>'
DRAWN = '<svg class="marks"><g class="mark-line role-mark"><path d="M0,0L9,9" stroke="red"/></g></svg>'
EMPTY = '<svg class="marks"><g class="mark-line role-mark"></g><g class="mark-rule role-axis"><line x2="9"/></g></svg>'


def looked_at(tmp_path: Path, body: str) -> Opened:
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(body))
    return open_page(page, tmp_path)


def test_a_drawn_chart_passes(tmp_path: Path) -> None:
    looked_at(tmp_path, DRAWN).check(charts=1)


@pytest.mark.parametrize(
    "body",
    [
        EMPTY,
        "<canvas width=9 height=9></canvas>",
        f"{DRAWN}<script>console.error('not well')</script>",
        f"{DRAWN}<script>throw new Error('not well')</script>",
        f"{DRAWN}<script>Promise.reject('not well')</script>",
        f"{DRAWN}<img src='https://hotband.invalid/x.png'>",
    ],
)
def test_what_is_wrong_is_seen(tmp_path: Path, body: str) -> None:
    opened = looked_at(tmp_path, body)
    with pytest.raises(AssertionError):
        opened.check()
