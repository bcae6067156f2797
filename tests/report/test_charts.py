"""Do charts choose the scales that the numbers ask for?"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import synthetic

from hotband.data.record import frames
from hotband.views.draw import charts, published


def scale_of(view: charts.View, channel: str) -> dict[str, Any]:
    spec = view.to_dict()
    found: dict[str, Any] = spec.get("layer", [spec])[0]["encoding"][channel]["scale"]
    return found


def curves(*iops: float) -> pl.DataFrame:
    rows = [
        {"machine": "m", "qd": 2.0**n, "iops": value, "latency_mean_ms": 1.0, "latency_p99_ms": None}
        for n, value in enumerate(iops)
    ]
    return pl.DataFrame(rows)


def figures(*published: float | None) -> pl.DataFrame:
    texts = ("label", "config", "machine", "workload", "published_text", "predicted_text", "error_text")
    rows = [
        {"id": str(n), "published": value, "predicted": 10.0} | dict.fromkeys(texts, "same")
        for n, value in enumerate(published)
    ]
    return pl.DataFrame(rows, schema_overrides={"published": pl.Float64})


def test_a_rate_starts_at_zero_until_it_spans_too_much() -> None:
    assert scale_of(charts.load_chart(curves(100, 2000), "iops", "IOPS"), "y") == {"zero": True, "nice": True}
    assert scale_of(charts.load_chart(curves(100, 2001), "iops", "IOPS"), "y")["type"] == "log"


def test_latency_is_always_log_and_queue_depth_log2() -> None:
    view = charts.load_chart(curves(100, 200), "latency_mean_ms", "Mean latency (ms)")
    assert scale_of(view, "y")["type"] == "log"
    assert scale_of(view, "x")["base"] == 2


def test_equal_labels_stay_rows_of_their_own() -> None:
    spec = published.published_chart(figures(10.0, 11.0, None), "IOPS").to_dict()
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == ["head:same", "0", "1", "2"]


def test_a_figure_of_zero_keeps_the_axis_linear() -> None:
    assert "type" not in scale_of(published.published_chart(figures(0.0, 1000.0), "IOPS"), "x")


def test_the_shared_frame_keeps_no_rows_it_does_not_draw() -> None:
    records = {"run": synthetic.loaded()}
    frame, _ = frames.series_frame(records)
    spec = charts.series_chart(frame, "iops").to_dict()
    assert [len(rows) for rows in spec["datasets"].values()] == [frame.height]


@pytest.mark.parametrize(("nines", "name"), [(0.0, "0"), (0.30103, "50"), (1.0, "90"), (2.0, "99"), (4.0, "99.99")])
def test_percentile_names(nines: float, name: str) -> None:
    assert charts.percentile_name(nines) == name


def test_log_steps() -> None:
    assert charts.log_steps(0.3, 20) == [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
    assert charts.log_steps(1e-4, 1e4) == [10.0**n for n in range(-4, 5)]
    assert charts.log_steps(10, 10) == [10]


def test_shorten() -> None:
    assert charts.shorten("short") == "short"
    assert len(charts.shorten("long " * 40)) <= charts.LABEL_CHARS
