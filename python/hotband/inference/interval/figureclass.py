"""Class of a figure, and the measurement it belongs to: pure functions of its row.

Errors are summed up by class, because a model is good at some things and worse at others: a rate of random reads is
within a few percent where the slowest thousandth of the same reads is not. A measurement counts once. A test that
keeps a fixed number of I/Os outstanding measures one thing: its IOPS, its bandwidth and its mean latency follow from
one another (Little's law; bandwidth is IOPS x size). Its percentiles do not.

Left out: it knows a figure by its words (metric, unit, load). A load that its words do not describe counts as
random.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc


class FigureClass(StrEnum):
    """Class of a figure. The value is its name in tables."""

    RANDOM = "random rate"
    """IOPS or bandwidth of random I/O, mixes and tiering benchmarks included."""
    SEQUENTIAL = "sequential rate"
    """IOPS or bandwidth of sequential I/O."""
    APPLICATION = "application rate"
    """Work of a program (a database, a file system's benchmark, a web server, desktops that boot): op/s,
    transactions, pages, or the IOPS that it causes."""
    TIME = "mean time"
    """A mean latency, or how long a whole job took."""
    P50 = "p50"
    P90 = "p90"
    P99 = "p99"
    P999 = "p99.9"
    AMPLIFICATION = "write amplification"
    """Flash bytes over host bytes, or the ratio of two drives' of them."""
    GAIN = "gain"
    """One configuration against another: a ratio, a gain, a difference of rates or times."""
    OTHER = "other"
    """Other figures: a rate per drive, outstanding I/Os."""


RATES = (FigureClass.RANDOM, FigureClass.SEQUENTIAL, FigureClass.APPLICATION)
PERCENTILES = (FigureClass.P50, FigureClass.P90, FigureClass.P99, FigureClass.P999)

RATE_UNITS = ("IOPS", "MB/s", "MiB/s", "GB/s", "GiB/s")
"""Units of rates of I/Os; the load determines whether they are a program's."""
PROGRAM_UNITS = ("op/s", "tps", "pages/s")
"""Units of rates that only programs have."""
TIME_UNITS = ("s", "ms", "us")
RATIO_UNITS = ("x", "%")

SEQUENTIAL_WORDS = ("sequential", "linear", "streaming")
PROGRAM_WORDS = ("oltp", "ycsb", "specsfs", "exchange", "jetstress", "boot storm", "esxi", "iis", "web server, ")
"""Words in names of loads that a program makes. Iometer's "web server pattern" is random I/O; "web server, 5 to 20
users" is a program."""
COMPARED_WORDS = ("gain", "ratio", "reduction", "improvement", "change", "extra", "speed-up")
"""Words in metrics that compare two configurations."""
PERCENTILE = re.compile(r"\bp(\d+(?:\.\d+)?)\b")
"""A percentile as fio and data sheets print it: "clat p99", "p99.9"."""


def class_of(metric: str, unit: str, load: str) -> FigureClass:
    """Return the class of a figure by the words of its metric, its unit and the load that it is of."""
    metric, load = metric.lower(), load.lower()
    if "write amplification" in metric:
        return FigureClass.AMPLIFICATION
    if unit in RATIO_UNITS or (unit in (*RATE_UNITS, *PROGRAM_UNITS, *TIME_UNITS) and _has(metric, COMPARED_WORDS)):
        return FigureClass.GAIN
    if unit in TIME_UNITS:
        return _time(metric)
    if unit in PROGRAM_UNITS or (unit in RATE_UNITS and _has(load, PROGRAM_WORDS)):
        return FigureClass.APPLICATION
    if unit not in RATE_UNITS:
        return FigureClass.OTHER
    return FigureClass.SEQUENTIAL if _has(f"{metric} {load}", SEQUENTIAL_WORDS) else FigureClass.RANDOM


def figure_class(row: FigureDoc) -> FigureClass:
    """Return the class of a study's figure."""
    return class_of(row["metric"], row["unit"], _load(row))


class Measurement(NamedTuple):
    """Key of one measurement. `what` is "rate" of a test that keeps a fixed number of I/Os outstanding, whichever of
    IOPS, bandwidth and mean latency is published of it; a percentile; else the metric."""

    study: str
    config: str
    load: str
    what: str


def measurement(study: str, row: FigureDoc) -> Measurement:
    """Return the measurement that a figure belongs to. Loads are distinguished by the published words if there are
    any: a curve's maximum and its first point are two measurements."""
    found, load = figure_class(row), row.get("workload") or row["label"]
    if found in PERCENTILES:
        what = str(found)
    elif found in (FigureClass.RANDOM, FigureClass.SEQUENTIAL, FigureClass.TIME) and not _has(
        _load(row), PROGRAM_WORDS
    ):
        what = "rate"
    else:
        # A program thinks between its I/Os, or asks for a rate: its rate and its times are not one another's inverse.
        what = row["metric"]
    return Measurement(study, row["config"], load, what)


def counted(study: str, rows: Iterable[FigureDoc], repeats: Mapping[str, str] | None = None) -> list[FigureDoc]:
    """Return the rows that an account of errors counts: of each measurement one, those that have an error before those
    that have none, then IOPS before bandwidth before a time (IOPS are printed with the most digits). A published figure
    that stands next to several predictions counts once, with the largest error. `repeats` names published rows that
    repeat others: they do not count."""
    known = repeats or {}
    by_source: dict[str, FigureDoc] = {}
    for row in rows:
        # What is not published has no source of its own, and stands for itself.
        key = row["source"] if row["published"] is not None else row["id"]
        if row["source"] not in known and (key not in by_source or _size(row) > _size(by_source[key])):
            by_source[key] = row
    chosen: dict[Measurement, FigureDoc] = {}
    for row in by_source.values():
        place = measurement(study, row)
        if place not in chosen or _order(row) < _order(chosen[place]):
            chosen[place] = row
    return list(chosen.values())


def _order(row: FigureDoc) -> tuple[bool, int]:
    """Return the order of a figure: the first one represents its measurement."""
    units = ("IOPS", *RATE_UNITS)
    return row["error_pct"] is None, units.index(row["unit"]) if row["unit"] in units else len(units)


def _size(row: FigureDoc) -> float:
    return -1.0 if row["error_pct"] is None else abs(row["error_pct"])


def _load(row: FigureDoc) -> str:
    """All words of a row about its load."""
    return f"{row.get('workload') or ''} {row['label']}".lower()


def _time(metric: str) -> FigureClass:
    """Return a percentile where the metric names one (of another than those that are summed up, nothing), else a
    mean."""
    found = PERCENTILE.search(metric)
    if found is None:
        return FigureClass.P50 if "median" in metric else FigureClass.TIME
    return next((one for one in PERCENTILES if one == found[0]), FigureClass.OTHER)


def _has(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)
