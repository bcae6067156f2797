"""Does a browser draw every chart, without a word of complaint and without asking the network?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import synthetic
import synthetic_variants
import synthetic_wear
import test_wear
from browser import needs_browser, open_page

from hotband.views.report import Page, record_page, study_page, write_report

pytestmark = needs_browser


def check(tmp_path: Path, page: Page, script: str = "") -> str:
    """The document of a page that opened without complaint, with every chart drawn."""
    opened = open_page(write_report(tmp_path / "page.html", page), tmp_path, script)
    opened.check()
    assert f'data-drawn="{len(opened.charts)}"' in opened.document
    return opened.document


@pytest.mark.long
def test_a_study(tmp_path: Path) -> None:
    result = synthetic.result(24, 3)
    check(tmp_path, study_page(result, synthetic.runs_of(result)))


def test_a_study_of_many_runs_with_hostile_names(tmp_path: Path) -> None:
    result = synthetic.result(12, 8, synthetic.HOSTILE)
    document = check(tmp_path, study_page(result, synthetic.runs_of(result)))
    assert "<b onmouseover" not in document


COMPARE = """
const form = document.querySelector("form.choose");
form.elements.run.value = "run 2";
form.elements.other.value = "run 5";
form.elements.run.dispatchEvent(new Event("change", {bubbles: true}));
form.elements.other.dispatchEvent(new Event("change", {bubbles: true}));
"""


def test_the_chosen_runs_are_drawn_in_every_chart(tmp_path: Path) -> None:
    records = [synthetic.loaded(f"run {n}", n) for n in range(1, 7)]
    document = check(tmp_path, record_page(records, "Many"), COMPARE)
    assert document.count(">run 2 · read</text>") == 5
    assert document.count(">run 5 · write</text>") == 5
    assert ">run 1 · read</text>" not in document


@pytest.mark.long
def test_one_record(tmp_path: Path) -> None:
    check(tmp_path, record_page([synthetic.loaded("a run")], "One"))


def test_printed_percentiles_alone(tmp_path: Path) -> None:
    loaded = synthetic.loaded("from fio")
    for direction in ("read", "write"):
        loaded.record["streams"][0][direction]["histogram"] = {"kind": "none", "buckets": []}
    check(tmp_path, record_page([loaded], "Printed"))


@pytest.mark.long
def test_a_study_of_variants(tmp_path: Path) -> None:
    check(tmp_path, study_page(*synthetic_variants.result()))


def test_a_record_with_everything(tmp_path: Path) -> None:
    check(tmp_path, record_page([synthetic_variants.rich()], "One"))


@pytest.mark.long
def test_drives_that_wear(tmp_path: Path) -> None:
    check(tmp_path, record_page([synthetic_wear.worn("one"), synthetic_wear.worn("two", 4.0, drives=6)], "Wear"))


@pytest.mark.long
def test_a_study_of_drives_that_wear(tmp_path: Path) -> None:
    check(tmp_path, study_page(*test_wear.study()))


def test_the_page_of_the_shortest_study_is_short(full_ssd: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    """Folded as a reader meets it: the answer's chart and that of the errors are drawn, the rest waits."""
    page = write_report(tmp_path / "page.html", study_page(full_ssd[0], {}))
    opened = open_page(page, tmp_path, window="1400,900", unfold=False)
    assert opened.complaints == []
    assert 'data-drawn="2"' in opened.document
    assert 1000 < opened.height <= 12_000
    assert 300 < opened.words <= 4_000
