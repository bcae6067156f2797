"""Is every figure of the right class, and does a measurement count once?"""

from __future__ import annotations

import csv
from typing import Any

import pytest

from hotband.data.catalog import STUDIES_DIR
from hotband.inference.interval.figureclass import FigureClass, class_of, counted, figure_class, measurement

OLTP = "MS SQL OLTP, ~8KB I/O"
CELL = "vdbench 8KB 100% random, 16 threads, 25% read"


def row(metric: str, unit: str, error: float | None, **other: Any) -> Any:
    """A figure of one cell."""
    found = {"id": f"{metric} {unit}", "config": "mirror", "label": "8 KB random", "workload": CELL, "note": ""}
    found |= {"metric": metric, "unit": unit, "published": None if error is None else 1.0, "predicted": 1.0}
    return {**found, "source": found["id"], "error_pct": error, **other}


@pytest.mark.parametrize(
    ("metric", "unit", "load", "expected"),
    [
        ("IOPS", "IOPS", "fio 4KB randread QD1", "random rate"),
        ("IOPS @ 5 ms mean RT", "IOPS", "SNIA Emerald 2.1.1 Hot Band (~60% random, 15% seq write)", "random rate"),
        ("highest IOPS", "IOPS", "Iometer web server pattern", "random rate"),
        ("bandwidth", "MiB/s", "vdbench 128KB 100% sequential", "sequential rate"),
        ("RBD sequential write (MACH.2 pool)", "MB/s", "see text", "sequential rate"),
        ("IOPS", "IOPS", OLTP, "application rate"),
        ("max IOPS", "IOPS", "web server, 5 to 20 users", "application rate"),
        ("achieved op/s", "op/s", "anything", "application rate"),
        ("clat mean", "ms", "fio 4KB randread QD1", "mean time"),
        ("boot completion (first to last)", "s", "ESXi6, 60 Win10 VMs", "mean time"),
        ("clat p50", "ms", "", "p50"),
        ("median latency", "ms", "", "p50"),
        ("clat p99", "ms", "", "p99"),
        ("clat p99.9", "ms", "", "p99.9"),
        ("clat p99.99", "ms", "", "other"),
        ("write amplification ratio", "x", "", "write amplification"),
        ("IOPS gain", "%", "Iometer 4KB 100% random write", "gain"),
        ("improvement", "ms", "random read access time", "gain"),
        ("extra pages served, averaged over test", "pages/s", "IIS read-only", "gain"),
        ("mean outstanding I/O = IOPS*RT", "I/Os", OLTP, "other"),
        ("device I/O per drive", "IOPS/drive", "8KB random", "other"),
    ],
)
def test_classes(metric: str, unit: str, load: str, expected: str) -> None:
    assert class_of(metric, unit, load) == FigureClass(expected)


def test_every_measured_figure_of_the_catalog_but_durations_has_a_class_that_is_summed_up() -> None:
    others = set()
    for path in STUDIES_DIR.glob("*/published.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for one in csv.DictReader(file):
                if class_of(one["metric"], one["unit"], one["workload"]) is FigureClass.OTHER:
                    others.add((one["unit"], one["kind"]))
    # Shares, hours, ratios to one and sizes are given to the model; what is derived repeats a measurement.
    assert {unit for unit, kind in others if kind == "measured"} <= {"frac", "h", ":1", "KB", "", "count"}


def test_iops_bandwidth_and_mean_latency_of_a_closed_loop_are_one_measurement() -> None:
    rows = [row("mean response time", "ms", 3.0), row("bandwidth", "MiB/s", 2.0), row("IOPS", "IOPS", 1.0)]
    assert len({measurement("study", one) for one in rows}) == 1
    assert [one["unit"] for one in counted("study", rows)] == ["IOPS"]


def test_of_a_measurement_the_part_that_is_published_counts() -> None:
    rows = [row("IOPS", "IOPS", None), row("mean response time", "ms", 3.0)]
    assert [one["unit"] for one in counted("study", rows)] == ["ms"]


def test_percentiles_are_measurements_of_their_own() -> None:
    rows = [row("IOPS", "IOPS", 1.0), *(row(f"clat p{n}", "ms", 1.0) for n in ("50", "90", "99", "99.9"))]
    assert [str(figure_class(one)) for one in counted("s", rows)] == ["random rate", "p50", "p90", "p99", "p99.9"]


def test_rate_and_time_of_a_program_are_two_measurements() -> None:
    rows = [row("IOPS", "IOPS", 1.0, workload=OLTP), row("mean I/O response time", "ms", 2.0, workload=OLTP)]
    assert len(counted("study", rows)) == 2


def test_a_published_figure_beside_several_predictions_counts_once_with_the_largest_error() -> None:
    rows = [row("IOPS", "IOPS", error, config=f"{error}", source="one", id=f"{error}") for error in (3.0, -9.0, 5.0)]
    assert [one["error_pct"] for one in counted("study", rows)] == [-9.0]


def test_what_is_said_again_does_not_count() -> None:
    rows = [row("IOPS", "IOPS", 1.0), row("peak IOPS", "IOPS", 8.0, workload="boot", source="again")]
    assert [one["error_pct"] for one in counted("study", rows, {"again": "IOPS IOPS"})] == [1.0]


def test_figures_that_are_not_published_are_kept() -> None:
    rows = [row("IOPS", "IOPS", None, source="not published", id=config, config=config) for config in ("a", "b")]
    assert len(counted("study", rows)) == 2
