"""What real-disks finds: demerits beside the other simulator's, errors by class of I/O, far random reads."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from hotband.questions.study.answer import figures_of
from hotband.questions.study.studies.real_disks.answer import answer
from hotband.questions.study.studies.real_disks.cells import (
    FAR_DISKS,
    FAR_PCT,
    class_of,
    comparison,
    other_demerit,
    signed,
)
from hotband.questions.study.study import Conclusion

if TYPE_CHECKING:
    from hotband.data.documents.study import FindingDoc, TableCell
    from hotband.questions.study.runs import Results

CLASSES = [(direction, distance) for direction in ("read", "write") for distance in ("continuing", "near", "far")]


def conclude(results: Results) -> Conclusion:
    """Findings and the answer; there are no claims."""
    return Conclusion(
        findings=[_demerits(results), _classes(results), _far_reads(results)], answer=answer(figures_of(results, []))
    )


def _demerits(results: Results) -> FindingDoc:
    """Every disk in every way, and the median and the largest of each."""
    study = results.study
    rows: list[list[TableCell]] = []
    demerits: dict[str, list[float]] = {load.id: [] for load in study.loads}
    others = []
    for config in study.configs:
        cells = []
        for load in study.loads:
            found = comparison(results, config.id, load.id)
            demerit = found["demerit_pct"] or 0.0
            demerits[load.id].append(demerit)
            cells.append(f"{demerit:.1f} ({signed(found['mean_error_pct'])})")
        mean = comparison(results, config.id, study.loads[0].id)["mean_measured_ns"] / 1e6
        other = other_demerit(results, config.label)
        others += [other] if other is not None else []
        rows.append([config.name, f"{mean:.2f}", other, *cells])
    said = []
    for name, of in (("median", statistics.median), ("largest", max)):
        said.append(
            f"{name} {of(others):.1f}, ours {_by_way(results, {way: of(all_) for way, all_ in demerits.items()})}"
        )
        rows.append([name, None, of(others), *(f"{of(demerits[load.id]):.1f}" for load in study.loads)])
    columns = ["disk", "measured mean (ms)", "DiskSim, extracted", *(load.label for load in study.loads)]
    return {
        "id": "demerit",
        "title": "Demerit in percent of the measured mean, and the error of the mean",
        "text": "The root of the mean squared horizontal distance of the two distributions of response times; in "
        "brackets the error of the mean. DiskSim's is published, of values that were extracted from each drive: "
        f"{'; '.join(said)}. What a trace itself can tell of a drive is fitted by a calibration to the trace.",
        "table": {"columns": columns, "rows": rows},
    }


def _by_way(results: Results, values: dict[str, float]) -> str:
    """A value for each way, with its name."""
    return ", ".join(f"{value:.1f} ({results.study.load(way).label})" for way, value in values.items())


def _classes(results: Results) -> FindingDoc:
    """Where the differences lie: mean and its error by class of I/O."""
    study = results.study
    rows: list[list[TableCell]] = []
    for config in study.configs:
        all_ways = [comparison(results, config.id, load.id) for load in study.loads]
        for direction, distance in CLASSES:
            ways = [class_of(found, direction, distance) for found in all_ways]
            first = ways[0]
            if first is None:
                continue
            errors = [signed(one["mean_error_pct"]) if one is not None else None for one in ways]
            mean = f"{first['mean_measured_ns'] / 1e6:.2f}"
            rows.append([config.name, f"{direction}s, {distance}", f"{first['ios']:,}", mean, *errors])
    columns = ["disk", "I/Os", "count", "measured mean (ms)", *(load.label for load in study.loads)]
    return {
        "id": "classes",
        "title": "Error of the mean (%) by class of I/O",
        "text": "An I/O continues the one before it, begins within 1 MiB of its end (near), or beyond (far).",
        "table": {"columns": columns, "rows": rows},
    }


def _far_reads(results: Results) -> FindingDoc:
    """Seek and rotation alone: reads that no cache can have."""
    rows: list[list[TableCell]] = []
    largest: dict[str, float] = {}
    for config in (one for one in results.study.configs if one.id in FAR_DISKS):
        errors = []
        for load in results.study.loads:
            far = class_of(comparison(results, config.id, load.id), "read", "far")
            error = None if far is None else far["mean_error_pct"]
            errors.append(signed(error))
            largest[load.id] = max(largest.get(load.id, 0.0), abs(error or 0.0))
        rows.append([config.name, *errors])
    rows.append(["largest, either way", *(f"{value:.1f}" for value in largest.values())])
    within = [results.study.load(name).label for name, value in largest.items() if value <= FAR_PCT]
    return {
        "id": "far-reads",
        "title": f"Far random reads of the three disks of 1997 to 1999: error of the mean (%), {FAR_PCT:g} asked for",
        "text": f"Largest of the three, either way: {_by_way(results, largest)}. Within {FAR_PCT:g} %: "
        f"{'; '.join(within) or 'none'}.",
        "table": {"columns": ["disk", *(load.label for load in results.study.loads)], "rows": rows},
    }
