"""Figures of real-disks beside those of its cells: demerits and classes of I/Os of each disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.data.documents.record import ComparedClassDoc, ComparisonDoc
    from hotband.questions.study.runs import Results

DEMERIT = "DiskSim's demerit"
FAR_DISKS = ("atlas-iii", "barracuda", "cheetah9lp")
"""Those of 1997 to 1999, of which far random reads are asked for within `FAR_PCT` of the mean (issue M)."""
FAR_PCT = 3.0


def comparison(results: Results, config: str, load: str) -> ComparisonDoc:
    """A disk's trace beside its replay in one of the ways."""
    found = results.cells[config, load].records[0].get("comparison")
    assert found is not None, "the traces have latencies"
    return found


def class_of(found: ComparisonDoc, direction: str, distance: str) -> ComparedClassDoc | None:
    """One class of I/Os; None where the trace has none of it."""
    return next((one for one in found["classes"] if (one["direction"], one["distance"]) == (direction, distance)), None)


def other_demerit(results: Results, label: str) -> float | None:
    """The other simulator's published demerit of a disk, in percent of the measured mean."""
    rows = results.study.published
    return next((row.value for row in rows if row.config == label and row.metric == DEMERIT), None)


def signed(value: float | None) -> str:
    """An error in percent."""
    return "–" if value is None else f"{value:+.1f}"
