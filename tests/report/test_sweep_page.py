"""Are the pages of sweeps, and the curves of records, complete?"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, open_page

import hotband as hb
from hotband.data.documents.record import RecordDoc
from hotband.data.inputs.values import Value
from hotband.data.results.sweep_rows import NAMES, Row
from hotband.questions.slo import slo_of
from hotband.views.report import sweep_drawn as drawn
from hotband.views.report.page import Charts, Fold, Page, Prose, Table, render
from hotband.views.report.sweep_of_records import sweep_of
from hotband.views.report.sweep_page import sweep_page


def swept(axes: Mapping[str, Sequence[Value]], seeds: int = 1) -> hb.Sweep:
    """A sweep with figures made up."""
    every = {"target": ["A"], "workload": ["w"], **axes, "seed": range(1, seeds + 1)}
    points = [dict(zip(every, at, strict=True)) for at in itertools.product(*every.values())]
    rows = [
        Row({**dict.fromkeys(NAMES, 1.0), "iops": 100.0 + 7 * n, "latency_p99_ns": 1e6 + n, "latency_mean_ns": 5e5 + n})
        for n in range(len(points))
    ]
    return hb.Sweep(tuple(points), (None,) * len(points), tuple(rows), duration="5 s")  # type: ignore[arg-type]


def titles(page: Page) -> list[str]:
    """Titles of all charts."""
    blocks = (block for section in page.every_section for block in section.blocks if isinstance(block, Charts))
    return [chart.title for block in blocks for chart in block.charts]


def said(page: Page) -> str:
    """What its paragraphs say."""
    blocks = (block for section in page.every_section for block in section.blocks if isinstance(block, Prose))
    return " ".join(text for block in blocks for text in block.paragraphs)


def test_a_line_a_machine_and_no_more_titles_than_differ() -> None:
    page = sweep_page(swept({"target": ["A", "B"], "qd": [1, 2, 4, 8]}))
    assert page.title == "How fast is w on A, B with queue depth 1, 2, 4, 8?"
    assert titles(page) == ["IOPS", "p99 latency (µs)", "Mean latency (µs)", "p99 latency (µs) against IOPS"]
    assert [section.title for section in page.sections][-2:] == ["Numbers", "Conditions"]


def test_a_second_parameter_is_charts_side_by_side_and_a_matrix_a_machine() -> None:
    page = sweep_page(swept({"target": ["A", "B"], "qd": [1, 2, 4], "bs": ["4 KiB", "8 KiB"]}, seeds=2))
    found = titles(page)
    assert page.subtitle == "12 points, 2 seeds each"
    assert [one for one in found if one.startswith("IOPS")] == [
        "IOPS: bs 4 KiB",
        "IOPS: bs 8 KiB",
        "IOPS: A",
        "IOPS: B",
    ]
    assert "Bandwidth (MB/s): bs 8 KiB" in found
    assert said(page).count("95 % t intervals of the mean of 2 seeds") == 1


def test_a_second_parameter_of_one_machine_is_a_line_each() -> None:
    page = sweep_page(swept({"qd": [1, 2, 4], "read_pct": [0, 50, 100]}))
    first = next(block for block in page.sections[0].blocks if isinstance(block, Charts))
    assert [item.text for item in first.key] == ["read_pct 0", "read_pct 50", "read_pct 100"]
    assert [chart.title for chart in first.charts] == ["IOPS"]


def test_of_many_combinations_the_reader_chooses() -> None:
    page = sweep_page(
        swept({"target": ["A", "B"], "qd": [1, 2, 4], "bs": ["4 KiB", "8 KiB"], "read_pct": [0, 25, 50, 100]})
    )
    assert "8 combinations of bs, read_pct have charts of their own: choose one" in said(page)
    first = next(block for block in page.sections[0].blocks if isinstance(block, Charts))
    assert list(first.runs)[:2] == ["bs 4 KiB, read_pct 0", "bs 4 KiB, read_pct 25"]


def test_texts_are_bars() -> None:
    page = sweep_page(swept({"target": ["A", "B"], "wce": ["on", "off"]}))
    assert titles(page) == ["IOPS", "p99 latency (µs)", "Mean latency (µs)"]


def test_the_command_of_a_page_asks_for_the_same() -> None:
    page = sweep_page(swept({"target": ["A", "B"], "qd": [1, 2], "data": ["{ mean = 0.4, low = 0.1 }"]}, seeds=3))
    fold = next(block for block in page.sections[-1].blocks if isinstance(block, Fold))
    words = ["--set", "qd=1,2", "--set", 'data="{ mean = 0.4, low = 0.1 }"', "--repeat", "3", "--duration", "5 s"]
    assert shlex.split(fold.text) == ["hotband", "sweep", "w", "--on", "A", "--on", "B", *words]


def test_the_command_of_a_page_states_its_objective() -> None:
    sweep = replace(swept({"target": ["A"], "qd": [1, 2]}), slo=slo_of("p99 < 5 ms"))
    fold = next(block for block in sweep_page(sweep).sections[-1].blocks if isinstance(block, Fold))
    words = shlex.split(fold.text)
    assert words[words.index("--slo") + 1] == "p99 < 5 ms"


def test_many_rows_are_folded() -> None:
    page = sweep_page(swept({"qd": range(1, 40)}))
    numbers = next(section for section in page.sections if section.id == "numbers").blocks[0]
    assert isinstance(numbers, Table)
    assert numbers.folded


def test_a_sweep_of_which_nothing_ended_has_no_page() -> None:
    with pytest.raises(hb.UserError, match="no run has ended"):
        sweep_page(hb.Sweep(({"target": "a", "workload": "w", "qd": 1, "seed": 1},), (None,)))


def record(machine: str, settings: dict[str, str], seed: str = "1", concurrency: int = 1) -> RecordDoc:
    """A record with what tells it from others."""
    side = {**dict.fromkeys(NAMES, 1.0), "count": 1}
    document: dict[str, Any] = {"name": f"w on {machine}", "target": {"machine": machine}, "seed": seed}
    document |= {"spec": {"set": settings}, "concurrency": concurrency, "notes": [], "streams": []}
    document["summary"] = {**side, "read": side, "write": side}
    return document  # type: ignore[return-value]


def test_records_that_differ_in_one_parameter_are_a_sweep() -> None:
    found = sweep_of([record(name, {"qd": qd, "wce": "on"}) for name in ("A", "B") for qd in ("1", "2", "16")])
    assert found is not None
    assert found.axes == ("target", "qd")
    assert found.frame["qd"].to_list() == [1, 2, 16] * 2


def test_results_without_settings_are_one_along_what_is_outstanding() -> None:
    found = sweep_of([record("A", {}, concurrency=depth) for depth in (1, 2, 4)])
    assert found is not None
    assert found.axes == ("I/Os outstanding",)


@pytest.mark.parametrize(
    "settings",
    [
        [{"qd": "1"}, {"qd": "2"}],
        [{"qd": "1"}, {"qd": "2"}, {"bs": "4 KiB"}],
        [{"qd": "1", "bs": "4 KiB"}, {"qd": "2", "bs": "4 KiB"}, {"qd": "4", "bs": "8 KiB"}],
        [{"wce": "on"}, {"wce": "off"}, {"wce": "no"}],
        [{"qd": "1"}, {"qd": "2"}, {"qd": "4"}, {"qd": "4"}],
        [{}, {}, {}],
        [],
    ],
    ids=["two values", "another key", "two keys", "texts", "one twice", "the same", "none"],
)
def test_other_records_are_none(settings: list[dict[str, str]]) -> None:
    assert sweep_of([record("A", of) for of in settings]) is None


def test_the_charts_are_what_vega_lite_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are made without this check, which takes longer than making them."""
    checked: list[dict[str, Any]] = []
    monkeypatch.setattr(drawn, "drawing", lambda view: checked.append(view.to_dict(validate=True)))
    sweep_page(swept({"target": ["A", "B"], "qd": [1, 2], "bs": ["4 KiB", "8 KiB"]}, seeds=2))
    sweep_page(swept({"target": ["A", "B"], "wce": ["on", "off"]}))
    assert len(checked) > 10


@needs_browser
def test_a_page_opens_without_complaint_with_every_chart_drawn(tmp_path: Path) -> None:
    page = sweep_page(swept({"target": ["<A>", "B"], "qd": [1, 2, 4], "bs": ["4 KiB", "8 KiB"]}, seeds=2))
    (tmp_path / "page.html").write_text(render(page), encoding="utf-8")
    opened = open_page(tmp_path / "page.html", tmp_path)
    opened.check(charts=len(titles(page)))
    ids = re.findall(r'<section id="([^"]+)"', opened.document)
    assert len(set(ids)) == len(ids) == len(page.sections)
