"""Do the lines and tables of intervals say the numbers that they are of?"""

from __future__ import annotations

from typing import Any, cast

import pytest

from hotband.base.text.formats import plain
from hotband.base.text.table import MS, Estimate, Table, estimate
from hotband.data.documents.interval import ClassTermDoc, CoverageDoc, FigureIntervalDoc, RunIntervalsDoc, ShareDoc
from hotband.inference.interval.conformal import FigureSpread
from hotband.questions.study.intervals.intervalfile import IntervalFile
from hotband.views import interval as show


def cells(table: Table) -> list[list[str]]:
    """The rows as a terminal shows them."""
    return table.texts()


def test_an_interval_is_said_in_the_unit_of_its_figure() -> None:
    assert show.said({"level": 90.0, "low": 4.9e6, "high": 6.3e6}, MS) == "90 % interval 4.9 to 6.3 ms"
    assert show.said({"level": 99.5, "low": 4900.0, "high": 6300.0}) == "99.5 % interval 4,900 to 6,300"


def test_a_figure_has_its_interval_behind_it() -> None:
    assert show.with_ends(5580.0, None) == 5580.0
    found = show.with_ends(5.6e6, {"low": 4.9e6, "high": 6.3e6})
    assert found == Estimate(5.6e6, 4.9e6, 6.3e6)
    table = Table("", [estimate("mean ms", MS)])
    table.add(found)
    assert cells(table) == [["5.6 (4.9 to 6.3)"]]


def figure(name: str, predicted: float, scale: float = 1.0) -> FigureIntervalDoc:
    return {
        "figure": name,
        "figure_class": "random rate",
        "predicted": predicted,
        "level": 90.0,
        "low": predicted - 5 * scale,
        "high": predicted + 5 * scale,
        "values_low": predicted - 2 * scale,
        "values_high": predicted + 2 * scale,
    }


def intervals(*figures: FigureIntervalDoc, **more: Any) -> RunIntervalsDoc:
    of: dict[str, Any] = {
        "level": 90.0,
        "draws": 64,
        "refused": 0,
        "runs": 100,
        "ios": 10**6,
        "duration_ns": 10**9,
        "seed": "1",
        "values": ["a", "b"],
        "without_effect": ["c", "d", "e"],
        "figures": list(figures),
        "rests_on": "",
        "notes": [],
    }
    return cast("RunIntervalsDoc", of | more)


def test_a_line_a_figure_in_its_unit_with_what_values_alone_do() -> None:
    lines = show.interval_lines(
        intervals(figure("iops", 100.0), figure("read.latency_p99_ns", 20e6, 1e6), figure("bandwidth_bytes_per_s", 5e7))
    )
    assert lines[:2] == [
        "100 IOPS (90 % interval 95 to 105 IOPS; 98 to 102 IOPS from parameter uncertainty alone)",
        "20 ms p99 of reads (90 % interval 15 to 25 ms; 18 to 22 ms from parameter uncertainty alone)",
    ]
    assert lines[2].startswith("50 MB/s (90 % interval 50.0 MB/s;")


def test_a_prediction_lies_between_the_ends_that_are_shown() -> None:
    """Of a rate that the load asks for they are so near that three digits are the same."""
    (line, _) = show.interval_lines(intervals(figure("iops", 99.98, 0.001)))
    assert line == "100 IOPS (90 % interval 100 IOPS; 100 IOPS from parameter uncertainty alone)"


def test_what_intervals_rest_on_is_said() -> None:
    rests = "the seed, and the model's error."
    assert show.interval_lines(intervals()) == [
        f"  Rests on 64 samples of 2 uncertain values; 3 others have no effect, {rests}"
    ]
    assert show.interval_lines(intervals(refused=5, notes=["one", "two"])) == [
        f"  Rests on 64 samples of 2 uncertain values, 5 more refused by the model; 3 others have no effect, {rests}",
        "  note: one",
        "  note: two",
    ]
    assert show.interval_lines(intervals(values=[])) == [f"  Rests on no uncertain value moves a figure, {rests}"]


def test_a_table_of_intervals_has_both_ends_in_the_unit() -> None:
    table = show.intervals_table(intervals(figure("iops", 100.0), figure("read.latency_p99_ns", 20e6, 1e6)))
    assert table.title == "Intervals of 90 %"
    assert cells(table) == [
        ["IOPS", "100 IOPS", "95 to 105 IOPS", "98 to 102 IOPS", "random rate"],
        ["read p99", "20 ms", "15 to 25 ms", "18 to 22 ms", "random rate"],
    ]
    headings, values = table.values()
    assert headings[:3] == ["figure", "unit", "predicted"]
    assert [[one for one in row if isinstance(one, float)] for row in values] == [
        [100.0, 95.0, 105.0, 98.0, 102.0],
        [20.0, 15.0, 25.0, 18.0, 22.0],
    ]


def share(key: str, total: float, **more: Any) -> ShareDoc:
    of: dict[str, Any] = {
        "key": key,
        "part": "disk",
        "low": "4 ms",
        "high": "6 ms",
        "first": total / 2,
        "total": total,
        "low_pct": -1.25,
        "high_pct": None,
        "narrower_pct": 12.4,
    }
    return cast("ShareDoc", of | more)


def why_of(*rows: ShareDoc, **more: Any) -> list[str | Table]:
    of: dict[str, Any] = {
        "label": "load on disk",
        "figure_class": "random rate",
        "unit": "IOPS",
        "predicted": 5583.0,
        "rests_on": "from 12 families",
        "interval": {"level": 90.0, "low": 4900.0, "high": 6300.0},
        "of_values": 0.3,
        "of_seed": 0.005,
        "of_model": 0.695,
        "unexplained": 0.0,
        "values": list(rows),
        "advice": "Measure it.",
    }
    return [one if isinstance(one, Table) else plain(one) for one in show.why_views(cast("Any", of | more))]


def test_why_names_the_figure_and_the_shares_of_its_width() -> None:
    assert why_of() == [
        "load on disk: 5,583 IOPS (90 % interval 4,900 to 6,300 IOPS), class: random rate",
        "Sources of uncertainty: model error 69.5 % (from 12 families), drive parameters 30 %, seed 0.5 %",
        "Measure it.",
    ]
    assert why_of(unexplained=0.04)[1].endswith("seed 0.5 %; 4 % of values acting together, not split up")


@pytest.mark.parametrize(("unit", "shown"), [("ns", "5.58 ms (90 % interval 4.9 to 6.3 ms)"), ("B/s", "5.58 MB/s"),
                                             ("x", "5,583,000 x")])  # fmt: skip
def test_why_has_times_in_milliseconds_and_bandwidths_in_megabytes(unit: str, shown: str) -> None:
    head = why_of(unit=unit, predicted=5.583e6, interval={"level": 90.0, "low": 4.9e6, "high": 6.3e6})[0]
    assert shown in cast("str", head)


def test_why_has_a_row_a_value_from_half_a_percent_on() -> None:
    _, _, table, more, advice = why_of(share("a", 0.6), share("b", 0.005), share("c", 0.004), share("d", 0.0))
    assert isinstance(table, Table)
    assert cells(table) == [
        ["disk: a", "4 ms .. 6 ms", "30 %", "60 %", "-1.25 %", "–", "12.4 %"],
        ["disk: b", "4 ms .. 6 ms", "0.25 %", "0.5 %", "-1.25 %", "–", "12.4 %"],
    ]
    assert more == "2 more with less than half a percent each."
    assert advice == "Measure it."


def test_why_leaves_out_a_table_without_rows_and_words_without_a_rest() -> None:
    assert why_of(share("c", 0.004))[2:] == ["1 more with less than half a percent each.", "Measure it."]
    assert len(why_of(share("a", 0.6), share("b", 0.1))) == 4, "no row is left out"


def test_values_drawn_together_have_no_range_of_their_own() -> None:
    (row,) = cells(cast("Table", why_of(share("a, b", 0.6, low_pct=2.0, high_pct=-3.0))[2]))
    assert row == ["disk: a, b", "each its own range, together", "30 %", "60 %", "+2 %", "-3 %", "12.4 %"]


def test_a_row_a_class_of_how_often_intervals_hold() -> None:
    rows: list[CoverageDoc] = [
        {"figure_class": "p50", "predicted": "seen", "figures": 40, "inside": 37, "coverage_pct": 92.5,
         "width_pct": 18.4},
        {"figure_class": "all", "predicted": "blind", "figures": 3, "inside": 2, "coverage_pct": 66.7,
         "width_pct": 40.0},
    ]  # fmt: skip
    table = show.coverage_table(rows, 90.0)
    assert table.title == "Coverage of 90 % intervals, each study left out"
    assert cells(table) == [
        ["p50", "seen", "40", "37", "92.5 %", "18.4 %"],
        ["all", "blind", "3", "2", "66.7 %", "40 %"],
    ]


def test_a_row_a_class_of_what_the_model_leaves_out() -> None:
    row: ClassTermDoc = {"figure_class": "p50", "system": "pools", "figures": 4, "studies": 2, "size": 0.0953,
                         "pooled_with": "times", "pooled_figures": 31}  # fmt: skip
    assert cells(show.terms_table([row])) == [["p50", "4", "2", "10.0 %", "times (31)"]]


def test_a_row_a_figure_that_has_a_spread() -> None:
    known = FigureSpread(5583.0, figure_class="p50", cells={"a": 1.0}, low=0.0953, high=0.1823, seed=0.01)
    of = IntervalFile("tiny", "1", "", figures={
        "one": known, "two": FigureSpread(5.0), "three": FigureSpread(None, cells={"a": 1.0})
    })  # fmt: skip
    table = show.spreads_table(of)
    assert table.title == "tiny: effects of uncertain values on its figures"
    assert cells(table) == [["one", "p50", "5,583", "10.0 %", "20.0 %", "1.01 %"]]
