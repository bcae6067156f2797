"""Studies: run what a published evaluation ran, print published beside predicted, say what cannot be right."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hotband.measures import MEASURES, error_pct, median
from hotband.run import Finished, RunSpec, check_writable, execute
from hotband.studyfile import Config, Load, Measure, Study
from hotband.studyfile import load as load_study

SIGNIFICANT_ERROR = 10.0
"""Errors beyond this (percent) are explained, not only printed."""


@dataclass(frozen=True)
class Cell:
    """One configuration under one load: the runs of it by queue depth (0 where there is no sweep)."""

    config: Config
    load: Load
    records: dict[int, dict[str, Any]]

    def value(self, measure: Measure) -> float | None:
        """A measure over the runs of the cell."""
        read = MEASURES[measure.of]
        if measure.pick == "first":
            return read(self.records[min(self.records)])
        values = [value for value in map(read, self.records.values()) if value is not None]
        return max(values) if values else None


@dataclass
class Conclusion:
    """What a study's own module adds: claims, findings and figures that no single cell has."""

    claims: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Results:
    """Everything a study ran, for its findings: cells by (config id, load id)."""

    study: Study
    cells: dict[tuple[str, str], Cell]

    def iops(self, config: str, load: str) -> float:
        """IOPS of a cell (the most of a sweep)."""
        return max(MEASURES["iops"](record) or 0.0 for record in self.cells[config, load].records.values())


def pairs(study: Study) -> list[tuple[Config, Load]]:
    """Every configuration with the loads that it runs."""
    wanted: list[tuple[Config, Load]] = []
    for config in study.configs:
        for one in study.loads:
            if one.id in config.loads or not config.loads:
                wanted.append((config, one))
    return wanted


def run_id(config: Config, one: Load, depth: int) -> str:
    """Folder name of a run."""
    return f"{config.id}.{one.id}" + (f".qd{depth}" if depth else "")


def specs(study: Study, out: Path | None, seed: int) -> list[RunSpec]:
    """The runs of a study."""
    listed = []
    for config, one in pairs(study):
        for depth in one.sweep or (0,):
            sets = (*one.set, *config.set, *((("qd", str(depth)),) if depth else ()))
            name = run_id(config, one, depth)
            folder = None if out is None else out / "runs" / name
            listed.append(RunSpec(name, config.machine, one.workload, sets, seed, one.duration, folder))
    return listed


def collect(study: Study, finished: list[Finished]) -> Results:
    """Sorts finished runs into cells."""
    records = {one.spec.id: one.record for one in finished}
    cells = {}
    for config, one in pairs(study):
        by_depth = {depth: records[run_id(config, one, depth)] for depth in one.sweep or (0,)}
        cells[config.id, one.id] = Cell(config, one, by_depth)
    return Results(study, cells)


def figures(results: Results) -> list[dict[str, Any]]:
    """Every figure of every cell, published or not, in the order of the study's measures."""
    study = results.study
    rows = {(row.config, row.workload, row.metric.removeprefix("max ")): row for row in study.published}
    by_id = {measure.id: measure for measure in study.measures}
    listed = []
    for cell in results.cells.values():
        if cell.config.what_if or cell.load.what_if:
            continue
        first = cell.config.ids.get(cell.load.id)
        for offset, measure_id in enumerate(cell.load.measures):
            measure = by_id[measure_id]
            name = cell.load.published_config or cell.config.label
            row = rows.get((name, cell.load.published, measure.metric))
            numbered = study.id_format.format(first + offset) if first is not None else None
            listed.append(
                figure(
                    id=row.id if row else numbered or f"{study.name}/{cell.config.id}/{cell.load.id}/{measure.id}",
                    config=cell.config.label,
                    label=cell.load.label,
                    workload=cell.load.published,
                    metric=measure.metric,
                    published=row.value if row else None,
                    unit=measure.unit,
                    predicted=cell.value(measure),
                    source=row.id if row else "not published, or withheld",
                    caveat=row.caveat if row else "",
                )
            )
    return listed


def figure(*, published: float | None, predicted: float | None, note: str = "", **named: Any) -> dict[str, Any]:
    """One figure with its error."""
    error = error_pct(published, predicted)
    return {**named, "published": published, "predicted": predicted, "error_pct": error, "note": note}


def accuracy(listed: list[dict[str, Any]]) -> dict[str, Any]:
    """How large the errors are, over all figures and over the IOPS alone."""

    def of(chosen: list[dict[str, Any]]) -> dict[str, Any]:
        errors = [abs(row["error_pct"]) for row in chosen if row["error_pct"] is not None]
        return {
            "figures": len(chosen),
            "compared": len(errors),
            "median_abs_error_pct": median(errors),
            "max_abs_error_pct": max(errors, default=None),
        }

    groups: dict[str, list[dict[str, Any]]] = {}
    for row in listed:
        if row["metric"].endswith("IOPS"):
            groups.setdefault(row["group"], []).append(row)
    return {**of(listed), "iops_by_group": {name: of(rows) for name, rows in groups.items()}}


def misses(study: Study, listed: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Cells with a large error in any figure, each with the study's explanation."""
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in listed:
        if row["error_pct"] is not None and abs(row["error_pct"]) > SIGNIFICANT_ERROR:
            cells.setdefault((row["config"], row["label"]), []).append(row)
    explained = []
    for (config, label), rows in cells.items():
        errors = ", ".join(f"{row['metric']} {row['error_pct']:+.0f} %" for row in rows)
        fits = [
            entry["text"]
            for entry in study.explanations
            if entry.get("config", "") in config and entry.get("label", "") in label
        ]
        reason = " ".join(fits) or "No explanation known."
        explained.append({"id": rows[0]["id"], "text": f"{config}, {label}: {errors}. {reason}"})
    return explained


def curves(results: Results) -> list[dict[str, Any]]:
    """Points of the response curves: rows of the charts against queue depth."""
    points = []
    for cell in results.cells.values():
        for depth, record in sorted(cell.records.items()):
            if depth:
                summary = record["summary"]
                points.append(
                    {
                        "group": cell.load.group or cell.load.label,
                        "machine": cell.config.label,
                        "qd": depth,
                        "iops": summary["iops"],
                        "latency_mean_ns": summary["latency_mean_ns"],
                        "latency_p99_ns": summary["latency_p99_ns"],
                    }
                )
    return points


def assumptions(study: Study) -> list[dict[str, Any]]:
    """Every value of every drive used, and what the study itself assumes."""
    from hotband.catalogue import drive, drives

    machines = " ".join(config.machine for config in study.configs)
    listed = [dict(entry) for entry in study.assumptions]
    for entry in drives():
        if entry["name"] in machines:
            for value in drive(entry["name"])["values"]:
                if not value["key"].startswith("reference."):
                    listed.append({"part": entry["name"], **value})
    return listed


def run_study(name: str, out: Path | None, seed: int | None) -> dict[str, Any]:
    """Runs a study; with `out` it leaves records, `result.json` and `report.html` there."""
    from hotband.progress import run_progress

    study = load_study(name)
    root = study.seed if seed is None else seed
    if out is not None:
        check_writable(out)
    with run_progress(name) as progress:
        finished = execute(specs(study, out, root), progress)
    results = collect(study, finished)
    conclusion: Conclusion = importlib.import_module(f"{study.package}.findings").conclude(results)
    groups = {one.label: one.group or one.label for one in study.loads}
    listed = figures(results) + conclusion.figures
    listed = [{**row, "group": row.get("group") or groups[row["label"]]} for row in listed]
    result = {
        "study": name,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "command": f"hotband study run {name} --seed {root}" + (f" --out {out}" if out else ""),
        "seed": str(root),
        "summary": accuracy(listed),
        "figures": listed,
        "claims": conclusion.claims,
        "findings": conclusion.findings,
        "misses": misses(study, listed),
        "curves": curves(results),
        "assumptions": assumptions(study),
        "runs": [
            {
                "id": one.spec.id,
                "label": label_of(results, one.spec.id),
                "record": f"runs/{one.spec.id}/record.json",
            }
            for one in finished
        ],
    }
    if out is not None:
        write_study(out, result)
    return result


def label_of(results: Results, name: str) -> str:
    """What a person calls a run."""
    for cell in results.cells.values():
        for depth in cell.records:
            if run_id(cell.config, cell.load, depth) == name:
                at = f", queue depth {depth}" if depth else ""
                return f"{cell.config.label}: {cell.load.label}{at}"
    return name


def write_study(out: Path, result: dict[str, Any]) -> None:
    """Writes `result.json` and `report.html`."""
    from hotband.records import write_whole
    from hotband.report import load_record, study_page, write_report

    write_whole(out / "result.json", (json.dumps(result, indent=2, ensure_ascii=False) + "\n").encode())
    loaded = {run["id"]: load_record(out / run["record"]) for run in result["runs"]}
    result["report"] = str(write_report(out / "report.html", study_page(result, loaded)))


def print_result(result: dict[str, Any], show: Callable[..., None]) -> None:
    """Tables, claims and findings to the terminal."""
    from hotband.tables import claims_table, figures_table, significant

    show(f"[bold]{result['title']}[/]", result["question"], "")
    show(figures_table(result["figures"]))
    for group, of in result["summary"]["iops_by_group"].items():
        if of["compared"]:
            worst = significant(of["max_abs_error_pct"])
            typical = significant(of["median_abs_error_pct"])
            show(f"IOPS, {group}: {of['compared']} compared, median error {typical} %, largest {worst} %")
    show("", claims_table(result["claims"]), "")
    for finding in result["findings"]:
        show(f"[bold]{finding['title']}[/]", finding["text"], "")
    for miss in result["misses"]:
        show(f"[yellow]Missed:[/] {miss['text']}")
    if "report" in result:
        show("", f"Report: {result['report']}")
