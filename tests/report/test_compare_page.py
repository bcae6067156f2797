"""Do the pages of comparisons and audits begin with the answer, and draw what it rests on?"""

from __future__ import annotations

from pathlib import Path

import pytest

import hotband as hb
from hotband.base.views import view_of
from hotband.views.report.page import Charts, Page, Prose


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders of two runs each, whose files have the same names."""
    folder = tmp_path_factory.mktemp("compared")
    for name, drive in (("slow", "ent-10k"), ("fast", "ent-15k")):
        for seed, repeat in enumerate(("one", "two"), start=1):
            run = hb.run("fio-randread", on=drive, duration="10 s", seed=seed, progress=False)
            run.save(folder / name / repeat)
    return folder


def page_of(found: object) -> Page:
    page: Page = view_of(found, "report")(found).page
    return page


def lead_of(page: Page) -> str:
    block = page.sections[0].blocks[0]
    assert isinstance(block, Prose)
    assert block.lead
    return " ".join(block.paragraphs)


def charts_of(page: Page) -> list[str]:
    return [chart.title for block in page.sections[0].blocks if isinstance(block, Charts) for chart in block.charts]


def test_two_results_are_compared_in_charts_below_the_verdict(runs: Path, tmp_path: Path) -> None:
    found = hb.compare(runs / "slow" / "one", runs / "fast" / "one")
    page = page_of(found)
    # The last parts of both paths are the same, so that the sides have their whole names.
    slow, fast = str(runs / "slow" / "one"), str(runs / "fast" / "one")
    assert page.title == f"Is {fast} faster than {slow}?"
    assert lead_of(page).startswith(f"{fast} is predicted to be ")
    assert charts_of(page)[:2] == ["IOPS", "Median latency (ms)"]
    assert charts_of(page)[-1] == f"Ratio to {slow}"
    assert [section.title for section in page.sections if section.folded] == ["Basis of the verdict"]
    assert found.write_html(tmp_path / "page.html").read_text(encoding="utf-8").count("<h1>") == 1


def test_folders_are_compared_test_by_test(runs: Path) -> None:
    page = page_of(hb.compare(runs / "slow", runs / "fast", anyway=True))
    assert page.title == "Is fast faster than slow?"
    assert "IOPS" in " ".join(charts_of(page))


def test_an_audit_has_a_page_of_its_own(runs: Path, tmp_path: Path) -> None:
    found = hb.audit(runs / "slow" / "one")
    page = page_of(found)
    assert page.title == "What does one prove?"
    assert lead_of(page).startswith("1 result: ")
    assert found.write_html(tmp_path / "page.html").stat().st_size > 1000
