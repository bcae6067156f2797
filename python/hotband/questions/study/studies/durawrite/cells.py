"""What claims and findings of the DuraWrite study read from its cells and its published rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.documents.record import known
from hotband.data.record.stats import DIRECTIONS
from hotband.questions.study.definition import Published
from hotband.questions.study.operations import amplification, written
from hotband.questions.study.runs import Results

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

NYTRO, S4500, ECO = "nytro", "s4500", "eco"
PLAIN, COMMON = "plain", "common"
OTHERS = (S4500, ECO)
DRIVES = (NYTRO, S4500, ECO)
LOADS = ("ycsb", "vdi", "swbuild", "oltp", "jetstress")
RATES = {"ycsb": "ops", "vdi": "ops", "swbuild": "ops", "oltp": "iops", "jetstress": "iops"}
"""What the throughput of a load is read from."""


def published(results: Results, number_of: str) -> Published:
    """A published row by the end of its id."""
    return next(one for one in results.study.published if one.id.endswith(number_of))


def stated(results: Results, number_of: str) -> float:
    """The number of a published row."""
    value = published(results, number_of).value
    assert value is not None, "the rows that are read as numbers are plain numbers"
    return value


def short(results: Results, config: str) -> str:
    """A drive in a few words."""
    return next(one.name for one in results.study.configs if one.id == config)


def record(results: Results, config: str, load: str) -> RecordDoc:
    """The record of a cell that is one run."""
    return results.cells[config, load].records[0]


def entropy(results: Results, load: str) -> float:
    """Entropy of the data of a load, as published."""
    return float(dict(results.study.load(load).set)["data"])


def amplified(results: Results, config: str, load: str) -> float | None:
    """Write amplification of a cell."""
    return amplification(record(results, config, load))


def write_share(results: Results, config: str, load: str) -> float:
    """Share of the bytes that hosts moved that were writes."""
    summary = record(results, config, load)["summary"]
    read, wrote = (known(summary[name]["bytes"]) for name in DIRECTIONS)
    return wrote / (read + wrote) if read + wrote else 0.0


def host_rate_mb(results: Results, config: str, load: str) -> float:
    """Megabytes a second that the host wrote."""
    one = record(results, config, load)
    return written(one, "host_bytes") / (float(one["duration_ns"]) / 1e9) / 1e6


def rate(results: Results, config: str, load: str) -> float | None:
    """Throughput of a cell, in what its load counts."""
    return results.value(config, load, RATES[load])


def mean_of(values: list[float | None]) -> float | None:
    """The plain mean; None where one of them is none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def over(one: float | None, other: float | None) -> float | None:
    """A ratio, None where either is none or the other nothing."""
    return one / other if one is not None and other else None


def rounded(value: float | None, digits: int = 2) -> float | None:
    """For a table."""
    return None if value is None else round(value, digits)


def percent(share: float, digits: int = 0, signed: bool = False) -> str:
    """A share as text: `37 %`."""
    shown = round(share * 100, digits) + 0.0  # no minus before a zero
    return f"{shown:{'+' if signed and shown else ''}.{digits}f} %"
