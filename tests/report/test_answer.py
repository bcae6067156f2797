"""Does a page of records say first what differs, and which is faster?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic
from browser import needs_browser, open_page

import hotband as hb
from hotband.base.errors import UserError
from hotband.views.draw.strokes import Strokes, dashed
from hotband.views.report import LoadedRecord, record_page, write_report
from hotband.views.report.answer import answer
from hotband.views.report.curve import curve_of
from hotband.views.report.kept import Report
from hotband.views.report.naming import named
from hotband.views.report.page import Charts, Prose


def run(machine: str, iops: float, seed: int = 1, workload: str = "load", **settings: str) -> LoadedRecord:
    """A record of a machine with a rate, whose series varies little."""
    made: dict[str, Any] = synthetic.record(f"{workload} on {machine}", seed)
    made["target"]["machine"] = machine
    made["spec"]["set"] = settings
    made["summary"]["iops"] = iops
    even = synthetic.series(seed).with_columns(
        iops=pl.when(pl.col("direction") == "read")
        .then(iops * (1 + 0.01 * (pl.col("time_ns") // 10**9 % 3 - 1)))
        .otherwise(0)
    )
    return LoadedRecord(made, even, made["name"])


@pytest.mark.parametrize(
    ("runs", "labels", "title"),
    [
        ([run("a", 1), run("b", 1)], ["a", "b"], "load on a and b"),
        ([run("a", 1, qd="1"), run("a", 1, qd="8"), run("a", 1, qd="64")], ["qd 1", "qd 8", "qd 64"],
         "load on a: qd 1 to 64"),
        ([run("a", 1, qd="1"), run("b", 1, qd="8")], ["a, qd 1", "b, qd 8"], "load on a and b: qd 1 and 8"),
        ([run("a", 1), run("a", 1, wce="off")], ["load on a", "wce off"], "load on a: wce as it is and off"),
        ([run("a", 1, bs="8k", qd="1"), run("a", 1, bs="8k", qd="4"), run("a", 1)],
         ["bs 8k, qd 1", "bs 8k, qd 4", "load on a"], "load on a"),
        ([run("a", 1, 1), run("a", 1, 2)], ["seed 1", "seed 2"], "load on a"),
        ([run("a", 1), run("a", 1)], ["load on a", "load on a (2)"], "load on a"),
        ([run(f"d{n}", 1) for n in range(6)], [f"d{n}" for n in range(6)], "load on 6 machines"),
        ([run("a", 1, workload="x"), run("a", 1, workload="y")], ["x", "y"], "x and y on a"),
    ],
)  # fmt: skip
def test_records_are_called_by_what_differs(runs: list[LoadedRecord], labels: list[str], title: str) -> None:
    naming = named(runs)
    assert list(naming.records) == labels
    assert naming.title == title


def said(*runs: LoadedRecord) -> str:
    return " ".join(answer(named(list(runs))).sentences)


def test_one_record_says_its_figures() -> None:
    assert said(run("a", 300)).startswith("300 IOPS, ")


def test_of_two_the_faster_with_its_interval() -> None:
    text = said(run("a", 200), run("b", 250))
    assert text.startswith("b is 25 % faster than a: 250 against 200 IOPS (95 % interval ")
    assert said(run("a", 900), run("b", 300)).startswith("a is 3 times as fast as b: 900 against 300 IOPS")


def test_no_difference_is_said_as_such() -> None:
    assert said(run("a", 200), run("b", 200)).startswith("No difference in IOPS is shown between a and b: 200 against")


def test_a_short_run_leaves_it_open() -> None:
    short, long = (
        replace(run(name, 300), series=synthetic.series(seconds=count)) for name, count in (("b", 5), ("a", 60))
    )
    assert "This is not certain: " in said(long, short)


def test_one_run_each_without_samples_is_faster_without_an_interval() -> None:
    a, b = (replace(run(name, iops), series=None) for name, iops in (("a", 200), ("b", 500)))
    assert said(a, b).startswith(
        "b is 2.5 times as fast as a: 500 against 200 IOPS. One run each, so how much runs differ is unknown (no series"
    )


def test_of_several_the_first_and_how_far_behind_the_others_are() -> None:
    text = said(run("a", 200), run("b", 1000), run("c", 800))
    assert text.startswith("b is fastest with 1,000 IOPS: 25 % over c (800) and 5 times a (200).")


def test_other_loads_are_not_called_faster() -> None:
    other = run("b", 900)
    other.record["concurrency"] = 64
    text = said(run("a", 200), other)
    assert text == "Their loads differ (concurrency differs: 16 and 64), so none is called faster."


def test_repeats_are_one_side() -> None:
    text = said(*(run("a", 200 + n, n) for n in range(3)), *(run("b", 300 + n, n) for n in range(3)))
    assert text.startswith("b is 49.8 % faster than a: 301 against 201 IOPS (95 % interval ")
    assert text.endswith("Means of 3 and 3 repeats.")
    assert said(run("a", 200, 1), run("a", 202, 2)).startswith("201 IOPS, the mean of 2 repeats from 200 to 202")


def curves(*rates: float, machine: str = "a") -> list[LoadedRecord]:
    return [run(machine, rate, qd=str(2**n)) for n, rate in enumerate(rates)]


def test_a_number_that_was_set_is_drawn_as_a_curve() -> None:
    runs = [*curves(100, 200, 300, 310), *curves(50, 90, 150, 160, machine="b")]
    naming = named(runs)
    found = curve_of(naming)
    assert found is not None
    assert (found.key, list(found.lines), found.places) == ("qd", ["a", "b"], [1, 2, 4, 8])
    assert said(*runs) == (
        "a has the highest IOPS at every qd: 2 times b at 1, 93.8 % over it at 8. "
        "The most of each: a 310 at 8, b 160 at 8."
    )
    page = record_page(runs)
    charts = [one.title for block in page.sections[0].blocks if isinstance(block, Charts) for one in block.charts]
    assert charts == ["IOPS against queue depth", "p99 latency against queue depth", "p99 latency over IOPS"]


def measured(depth: int, iops: float) -> LoadedRecord:
    """A result of another tool, which has no settings."""
    made: dict[str, Any] = synthetic.record("rr on /dev/sdx", 1)
    made["target"], made["concurrency"] = {"kind": "fio", "machine": "/dev/sdx"}, depth
    made["source"] = {"tool": "fio", "file": f"qd{depth}.json", "asked": {"concurrency": depth}}
    made["spec"], made["summary"]["iops"] = {"global": {}, "jobs": {}}, iops
    return LoadedRecord(made, synthetic.series(1), made["name"])


def test_a_measured_result_has_a_curve_beside_predictions() -> None:
    files = [measured(depth, 90.0 * depth) for depth in (1, 2, 4)]
    alone = curve_of(named(files))
    assert alone is not None
    assert (alone.key, alone.places) == ("qd", [1, 2, 4])
    both = curve_of(named([*curves(100, 200, 300), *curves(50, 90, 150, machine="b"), *files]))
    assert both is not None
    assert (both.key, both.places) == ("qd", [1, 2, 4])
    assert list(both.lines) == ["load, a", "load, b", "rr on /dev/sdx"]
    charts = Report(record_page([*curves(100, 200, 300), *files])).charts
    assert {"iops-against-queue-depth", "p99-latency-over-iops"} <= set(charts)


def test_a_curve_of_one_machine_says_where_more_is_of_no_use() -> None:
    text = said(*curves(100, 290, 300, 310))
    assert text.startswith("It does most at qd 8: 310 IOPS, p99 ")
    assert "From qd 2 on it does at least 90 % of that (290 IOPS" in text


def test_two_points_are_no_curve() -> None:
    assert curve_of(named(curves(1, 2))) is None


def test_caches_that_are_not_alike_are_said_first() -> None:
    runs = [run("a", 200), run("b", 250)]
    for one, kind in zip(runs, ("volatile", "off"), strict=True):
        drive = {"drives": ["d0"], "product": "x", "write_cache": kind, "declared_volatile": False, "read_ahead": True,
                 "write_cache_bytes": 1, "read_cache_bytes": 1, "flash_cache": None, "flash_cache_bytes": 0, "scale": 1,
                 "holds": None}  # fmt: skip
        one.record["drive_state"] = {"drives": [drive]}
    blocks = [block for block in record_page(runs).sections[0].blocks if isinstance(block, Prose)]
    assert blocks[0].paragraphs[0].startswith("Not alike: a writes with a volatile cache, b writes without a cache")
    assert any(block.lead for block in blocks[1:])


def test_a_run_has_one_colour_and_lines_over_each_other_are_dashed() -> None:
    rows = [("a", float(x), 16.0) for x in range(9)] + [("b", float(x), 16.0) for x in range(9)]
    rows += [("c", float(x), float(x)) for x in range(9)]
    frame = pl.DataFrame(rows, schema=["line", "x", "y"], orient="row")
    assert dashed(frame, "x", "y", ["a", "b", "c"], ["1", "2", "3"]) == [[1, 0], [7, 3], [1, 0]]
    page = record_page([run("a", 200), run("b", 250)])
    colors: dict[str, set[str]] = {}
    for chart in Report(page).charts.values():
        for layer in chart.view.to_dict().get("layer", [chart.view.to_dict()]):
            scale = layer["encoding"].get("color", {}).get("scale", {})
            for name, color in zip(scale.get("domain", []), scale.get("range", []), strict=True):
                if name.partition(" ")[0] in ("a", "b"):
                    colors.setdefault(name.partition(" ")[0], set()).add(color)
    assert {name: len(own) for name, own in colors.items()} == {"a": 1, "b": 1}
    assert Strokes.of(["x", "y", "z"], ["1", "2", "1"]).colors["x"] == Strokes.of(["x"]).colors["x"]


def test_the_answer_stands_unfolded_and_the_rest_is_folded() -> None:
    page = record_page([run("a", 200), run("b", 250)])
    assert [section.id for section in page.sections if not section.folded] == ["results", "latency", "series"]
    [lead, *_] = [block for block in page.sections[0].blocks if isinstance(block, Prose) and block.lead]
    assert lead.paragraphs[0].startswith("b is 25 % faster than a")


def test_charts_are_files_and_have_names(tmp_path: Path) -> None:
    report = Report(record_page([run("a", 200), run("b", 250)]))
    assert {"iops", "p99-latency-ms", "latency-by-percentile", "iops-over-time"} <= set(report.charts)
    svg = report.charts["iops"].save(tmp_path / "made" / "iops.svg").read_text(encoding="utf-8")
    assert "<svg" in svg
    assert ">Is b faster than a? · Hotband" in svg
    assert report.charts["iops"].save(tmp_path / "iops.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UserError, match="expected a file that ends in svg or png"):
        report.charts["iops"].save(tmp_path / "iops.gif")
    with pytest.raises(UserError, match="expected at least one record"):
        hb.report([])


def test_the_command_writes_every_chart(hotband: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        synthetic.save(tmp_path / name, run(name, 200 if name == "a" else 250).record, synthetic.series())
    done = hotband("report", "a", "b", "--charts", "out")
    assert done.returncode == 0, done.stderr
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert f"\nCharts: {len(files)} in out\n" in done.stdout
    assert "latency-by-percentile.svg" in files
    for arguments, words in (
        (("a",), "--output: missing: expected -o FILE.html, --charts DIR or both"),
        (("a", "-o", "x.html", "--chart-format", "png"), "--chart-format = 'png': applies to chart files"),
        (("a", "--charts", "out", "--chart-format", "gif"), "--chart-format = 'gif': expected one of svg, png"),
        (("a", "a/record.json", "-o", "x.html"), "a/record.json: is given twice"),
        (("a", "--charts", "a/record.json"), "a/record.json"),
    ):
        done = hotband("report", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    done = hotband("compare", "a", "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is on both sides" in done.stderr


@needs_browser
def test_a_page_is_short_on_a_desk_and_narrow_on_a_phone(tmp_path: Path) -> None:
    """Folded, as a reader meets it: only what is not folded is drawn, nothing complains."""
    page = write_report(tmp_path / "page.html", record_page([run("a", 200), run("b", 250)]))
    opened = open_page(page, tmp_path, window="1400,900", unfold=False)
    assert opened.complaints == []
    assert 'data-drawn="8"' in opened.document
    assert opened.height <= 4_000
    assert opened.words <= 1_000
