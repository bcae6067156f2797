"""Is a page whole, self-contained, and safe with any text?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import synthetic

from hotband.base.errors import UserError
from hotband.views.report import Page, record_page, study_page, write_report
from hotband.views.report.page import Prose, Section, render, to_json


class Reader(HTMLParser):
    """Collects tags with their attributes, and text outside of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self._inside = "", ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text += data

    def sections(self) -> list[str | None]:
        return [attrs.get("id") for tag, attrs in self.tags if tag == "section"]


def study(figures: int = 24, runs: int = 3, name: str = "") -> str:
    result = synthetic.result(figures, runs, name)
    return render(study_page(result, synthetic.runs_of(result)))


def page_data(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', html, re.S)
    assert found
    return json.loads(found[1])


def test_a_study_has_every_section_and_the_contents_name_them() -> None:
    reader = Reader(study())
    assert reader.sections() == [
        "answer", "accuracy", "machines", "misses", "claims", "figures", "load", "findings", "assumptions",
        "latency", "series", "time", "reproduction",
    ]  # fmt: skip
    links = [attrs["href"] for tag, attrs in reader.tags if tag == "a"]
    assert links == [f"#{name}" for name in reader.sections()]


def test_a_study_says_what_it_was_told() -> None:
    result = synthetic.result()
    text = Reader(study()).text
    for drawn in result["figures"]:
        assert drawn["label"] in text
        assert drawn["source"] in text
    assert all(claim["text"] in text for claim in result["claims"])
    assert all(miss["what"] in text for miss in result["misses"])
    assert [text.count(why) for why in dict.fromkeys(miss["why"] for miss in result["misses"])] == [1, 1]
    assert result["answer"]["text"] in text
    for item in result["assumptions"]:
        assert item["source"] in text
    for words in (
        "✔",
        "✘",
        "0.1 to 0.4",
        "estimate",
        "hotband study content-hdd --seed 1",
        "hotband 0.1.0",
        "not published",
    ):
        assert words in text


def test_every_chart_has_a_place_and_a_spec() -> None:
    html = study()
    places = [int(attrs["data-chart"] or "") for _, attrs in Reader(html).tags if "data-chart" in attrs]
    data = page_data(html)
    assert places == list(range(len(data["charts"])))
    assert all(name in data["frames"] for chart in data["charts"] for name in chart["frames"])


def test_charts_of_one_frame_share_it() -> None:
    data = page_data(study())
    series = [chart["frames"] for chart in data["charts"] if "over time" in chart["title"]]
    assert len(series) == 4
    assert all(names == series[0] for names in series)


@pytest.mark.parametrize("name", ["", synthetic.HOSTILE])
def test_nothing_is_loaded_from_elsewhere(name: str) -> None:
    reader = Reader(study(name=name))
    for _, attrs in reader.tags:
        for key in ("src", "href", "srcset", "action", "data"):
            assert not re.match(r"\s*(\w+:)?//", attrs.get(key) or ""), attrs
    policies = [attrs["content"] for _, attrs in reader.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policies
    assert policies[0] is not None
    assert policies[0].startswith("default-src 'none'")
    assert "http" not in policies[0]


def test_hostile_texts_stay_text() -> None:
    plain, hostile = Reader(study(runs=6)), Reader(study(runs=6, name=synthetic.HOSTILE))
    assert [tag for tag, _ in plain.tags] == [tag for tag, _ in hostile.tags]
    assert not any("onmouseover" in attrs for _, attrs in hostile.tags)
    assert synthetic.HOSTILE in hostile.text


def test_hostile_records_stay_text() -> None:
    made = synthetic.record(synthetic.HOSTILE)
    made["target"]["machine"] = made["streams"][0]["name"] = synthetic.HOSTILE
    made["spec"] = {
        "workload": synthetic.HOSTILE,
        "drives": {synthetic.HOSTILE: synthetic.HOSTILE},
        "set": {"a": synthetic.HOSTILE},
    }
    made["notes"] = [synthetic.HOSTILE]
    made["parts"][0]["id"] = synthetic.HOSTILE
    page = record_page([replace(synthetic.loaded(synthetic.HOSTILE), record=made)], synthetic.HOSTILE)
    reader = Reader(render(page))
    assert not any(tag == "b" for tag, _ in reader.tags)
    assert synthetic.HOSTILE in reader.text


def test_json_cannot_end_its_element() -> None:
    assert "<" not in to_json({"</script>": "<!--&"})
    assert json.loads(to_json({"</script>": "<!--&"})) == {"</script>": "<!--&"}


def test_one_record() -> None:
    reader = Reader(render(record_page([synthetic.loaded("a run")], "One")))
    assert reader.sections() == ["results", "latency", "series", "time", "figures", "details", "reproduction"]
    assert not any(tag == "select" for tag, _ in reader.tags)


def test_many_runs_are_chosen_from() -> None:
    records = [synthetic.loaded(f"run {n}", n) for n in range(1, 7)]
    reader = Reader(render(record_page(records, "Many")))
    names = [attrs["name"] for tag, attrs in reader.tags if tag == "select"]
    assert names == ["run", "other", "run", "other"]


def test_several_streams_get_a_table() -> None:
    made = synthetic.record()
    made["streams"].append({**made["streams"][0], "name": "log"})
    text = Reader(render(record_page([replace(synthetic.loaded(), record=made)], "Streams"))).text
    assert "Streams" in text
    assert "log" in text


def test_no_records_is_still_a_page() -> None:
    assert "no records" in Reader(render(record_page([], "None"))).text


def test_a_study_without_anything_is_still_a_page() -> None:
    empty = {
        "study": "s",
        "title": "Empty",
        "question": "",
        "figures": [],
        "claims": [],
        "findings": [],
        "assumptions": [],
    }
    empty |= {"misses": [], "curves": [], "runs": []}
    empty["summary"] = {"figures": 0, "compared": 0, "median_abs_error_pct": None, "max_abs_error_pct": None}
    reader = Reader(render(study_page(empty, {})))
    assert reader.sections() == ["accuracy", "reproduction"]
    assert not any(tag == "script" for tag, _ in reader.tags)


def test_a_run_without_its_record_is_listed() -> None:
    result = synthetic.result(runs=2)
    loaded = {"r0": synthetic.runs_of(result)["r0"]}
    assert result["runs"][1]["label"] in Reader(render(study_page(result, loaded))).text


def test_a_run_without_io_has_no_latency() -> None:
    loaded = synthetic.loaded(reads=0, writes=0)
    idle = replace(loaded, series=synthetic.series(write=False).with_columns(iops=0.0, queue_depth=0.0))
    reader = Reader(render(record_page([idle], "Idle")))
    assert "latency" not in reader.sections()
    assert "series" not in reader.sections()
    assert "–" in reader.text


def test_a_record_without_series_has_no_charts_over_time() -> None:
    loaded = replace(synthetic.loaded(), series=None, remarks=("series.parquet is missing",))
    reader = Reader(render(record_page([loaded], "Lost")))
    assert "series" not in reader.sections()
    assert "series.parquet is missing" in reader.text


def test_not_a_number_is_a_gap() -> None:
    result = synthetic.result(6, 0)
    result["figures"][0] |= {"predicted": float("nan"), "error_pct": float("inf")}
    result["curves"][0]["iops"] = float("nan")
    assert "NaN" not in json.dumps(page_data(render(study_page(result, {}))))


@pytest.mark.long
def test_sixty_runs_stay_below_six_megabytes() -> None:
    result = synthetic.result(60, 60)
    assert len(render(study_page(result, synthetic.runs_of(result, 1800)))) < 6_000_000


def test_the_same_page_is_the_same_file() -> None:
    assert study() == study()


def test_importing_the_report_loads_nothing_heavy() -> None:
    code = "import sys, hotband.views.report; print({'altair', 'polars', 'vl_convert', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_page_is_written_and_a_bad_path_is_the_users_mistake(tmp_path: Path) -> None:
    page = Page("Small", [Section("s", "Section", [Prose(["text"])])])
    out = write_report(tmp_path / "small.html", page)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(UserError, match="cannot be written"):
        write_report(Path("/dev/null/folder.html"), page)
