"""Do charts of a study survive outliers, long names and lines that lie on each other?"""

from __future__ import annotations

import polars as pl
import pytest

from hotband.views.draw import charts, lines, published, rows
from hotband.views.draw.charts import PALETTE
from hotband.views.report.colors import COLORS, Painted, machine_colors


@pytest.mark.parametrize(
    ("errors", "reach"),
    [([], 10.0), ([1.0, -2.0], 10.0), ([-30.0, 20.0], 31.5), ([*[10.0] * 9, 400.0], 13.0), ([5.0, 18.0, 25.0], 26.25)],
)
def test_the_axis_of_errors_goes_as_far_as_most(errors: list[float], reach: float) -> None:
    assert published.reach_of(errors) == pytest.approx(reach)


def errors_of(*errors: float) -> pl.DataFrame:
    texts = dict.fromkeys(("label", "config", "published_text", "predicted_text", "error_text"), "same")
    return pl.DataFrame([{"quantity": "IOPS", "error_pct": error, **texts} for error in errors])


def test_what_is_beyond_the_axis_is_an_arrow_with_its_number() -> None:
    errors = errors_of(*[2.0] * 40, 104.0, 438.0, -60.0)
    found = published.beyond(errors, 10.0)
    assert sorted(found.select("side", "text").rows()) == [(-1, "−60 %"), (1, "+104 to 438 % (2)")]
    spec = published.error_chart(errors).to_dict()
    low, high = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert -25 < low < 0 < high < 25
    shapes = [layer["mark"].get("shape") for layer in spec["layer"]]
    assert "triangle-left" in shapes
    assert "triangle-right" in shapes


def test_without_outliers_there_is_no_arrow() -> None:
    assert published.beyond(errors_of(3.0, -8.0, 9.0), 10.0).is_empty()
    assert len(published.error_chart(errors_of(3.0, -8.0, 9.0)).to_dict()["layer"]) == 2


def test_a_long_name_is_wrapped_and_never_cut() -> None:
    name = "normal pool: 6x Toshiba MG06SCA 10TB, 12 OSDs (2 per disk), Ceph 14.2.5 size 3, one node"
    found = rows.wrapped(name)
    assert isinstance(found, list)
    assert " ".join(found) == name
    assert max(map(len, found)) <= rows.ROW_CHARS
    assert rows.row_height(["short", name]) > rows.row_height(["short"])
    assert rows.wrapped("short") == "short"


def test_lines_on_each_other_are_found_and_drawn_one_inside_the_other() -> None:
    points = [(name, qd, value * qd) for name, value in (("a", 100.0), ("b", 100.5), ("c", 150.0)) for qd in (1, 2, 4)]
    frame = pl.DataFrame(points, schema=["line", "qd", "iops"], orient="row")
    groups = lines.coincident(frame, "line", "qd", ["iops"])
    assert groups == [["a", "b"]]
    [(width, names)] = lines.wider(groups)
    assert names == ["a"]
    assert width > lines.WIDTH
    assert "a and b" in lines.said(groups)
    assert lines.said([]) == ""


def test_lines_that_share_one_point_are_apart() -> None:
    frame = pl.DataFrame({"line": ["a", "b"], "qd": [1, 1], "iops": [10.0, 10.0]})
    assert lines.coincident(frame, "line", "qd", ["iops"]) == []


def test_a_load_chart_draws_both_of_two_equal_machines() -> None:
    machines = [("m", 1), ("m", 2), ("n", 1), ("n", 2)]
    curves = [
        {"machine": m, "qd": qd, "iops": 10.0 * qd, "latency_mean_ms": 1.0, "latency_p99_ms": 2.0} for m, qd in machines
    ]
    spec = charts.load_chart(pl.DataFrame(curves), "iops", "IOPS").to_dict()
    widths = [layer["mark"]["strokeWidth"] for layer in spec["layer"]]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 2


def test_a_machine_has_one_colour_wherever_it_stands() -> None:
    colors = machine_colors(["a", "b", "c"])
    assert colors == {"a": PALETTE[0], "b": PALETTE[1], "c": PALETTE[2]}
    curves = [{"machine": m, "qd": 1, "iops": 10.0, "latency_mean_ms": 1.0, "latency_p99_ms": 2.0} for m in "cb"]
    spec = Painted(charts.load_chart(pl.DataFrame(curves), "iops", "IOPS"), colors).to_dict()
    scale = spec["encoding"]["color"]["scale"]  # type: ignore[index,call-overload]
    assert scale == {"domain": ["c", "b"], "range": [PALETTE[2], PALETTE[1]]}
    assert len(set(COLORS)) == len(COLORS) == 16
