"""Studies: run a published evaluation on models, and compare published with predicted figures."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.text.numbers import percent
from hotband.base.text.write import write_file
from hotband.base.views import Report, view_of
from hotband.data.catalog.entries import product, unknown
from hotband.data.record.files import REPORT_FILE
from hotband.data.record.finished import Finished
from hotband.data.record.load import loaded_run
from hotband.data.record.record import record_of
from hotband.data.results.manifest import EXPERIMENT_FILE
from hotband.execution.experiment import Experiment, Lock, Say, Tick, expect_out, expect_own_page
from hotband.inference.interval.figureclass import counted, figure_class
from hotband.questions.study import cellrows, file, wearrows
from hotband.questions.study.accuracy import by_class
from hotband.questions.study.blind import blind_of
from hotband.questions.study.definition import Study, findings_file, in_catalog
from hotband.questions.study.figures import Conclusion, cell_figures, comparison_figures, figure
from hotband.questions.study.machines import machine_rows
from hotband.questions.study.measures import median
from hotband.questions.study.result import StudyResult
from hotband.questions.study.runs import Cell, Results, chosen, collect, points, products
from hotband.questions.study.swingfile import swings_of

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.data.documents.study import (
        AccuracyDoc,
        AssumptionDoc,
        FigureDoc,
        InputDoc,
        ListedFigureDoc,
        MissDoc,
        ScoredDoc,
        StudyAccuracyDoc,
        StudyDoc,
    )
    from hotband.questions.study.asked import StudyRunQuestion
    from hotband.questions.study.conclusions.conclude import Conclusions

__all__ = ["Cell", "Conclusion", "Results", "figure", "run_study"]

DERIVED = "derived"
"""The group of figures that are derived from others."""
SCORED = {"IOPS": "IOPS", "op/s": "op/s", "x": "ratios", "%": "gains"}
"""Units whose errors are summed up by group of loads, and the names of their figures. Gains and reductions are scored
by their ratio (`comparisons.error_of`)."""
SIGNIFICANT_ERROR = 10.0
"""Errors beyond this (percent) get an explanation."""


def listing(study: Study, rows: Sequence[FigureDoc]) -> list[ListedFigureDoc]:
    """Return figures as a result lists them. A figure derived from others adds no information, so it does not count."""
    groups = {load.label: load.group or load.label for load in study.loads}
    derived = {row["source"]: "" for row in rows if row.get("group") == DERIVED and row["published"] is not None}
    derived |= {row.id: "" for row in study.published if row.kind == DERIVED}
    counts = {row["id"] for row in counted(study.name, rows, {**derived, **study.repeats})}
    return [
        {
            **row,
            "group": row.get("group") or groups.get(row["label"], row["label"]),
            "figure_class": str(figure_class(row)),
            "counted": row["id"] in counts,
            "blind": blind_of(study, row),
            "interval": None,
        }
        for row in rows
    ]


def accuracy(listed: Sequence[ListedFigureDoc]) -> StudyAccuracyDoc:
    """Return errors over all figures, by class, and by unit and group of loads (rates, ratios and gains). Each
    measurement counts once (`figureclass.counted`)."""

    def of(chosen: Sequence[ListedFigureDoc]) -> AccuracyDoc:
        errors = [abs(row["error_pct"]) for row in chosen if row["counted"] and row["error_pct"] is not None]
        return {
            "figures": len(chosen),
            "compared": len(errors),
            "median_abs_error_pct": median(errors),
            "max_abs_error_pct": max(errors, default=None),
        }

    groups: dict[tuple[str, str], list[ListedFigureDoc]] = {}
    for row in listed:
        if row["unit"] in SCORED:
            groups.setdefault((SCORED[row["unit"]], row["group"]), []).append(row)
    scored: list[ScoredDoc] = [{"figure": name, "group": group, **of(rows)} for (name, group), rows in groups.items()]
    iops = {entry["group"]: of(groups["IOPS", entry["group"]]) for entry in scored if entry["figure"] == "IOPS"}
    return {**of(listed), "iops_by_group": iops, "scored": scored, "classes": by_class(listed)}


def misses(study: Study, listed: Sequence[FigureDoc]) -> list[MissDoc]:
    """Return cells with a large error in any figure, each with the study's explanation. Derived figures are left out:
    their sources are in the list."""
    cells: dict[tuple[str, str], list[FigureDoc]] = {}
    for row in listed:
        if row.get("group") != DERIVED and row["error_pct"] is not None and abs(row["error_pct"]) > SIGNIFICANT_ERROR:
            cells.setdefault((row["config"], row["label"]), []).append(row)
    explained: list[MissDoc] = []
    names = {entry.label: entry.name for entry in study.configs}
    for (config, label), rows in cells.items():
        errors = ", ".join(f"{row['metric']} {percent(row['error_pct'])}" for row in rows)
        what = f"{names.get(config, config)}, {label}: {errors}"
        why = reason(study, config, label) or "No explanation known."
        explained.append({"id": rows[0]["id"], "text": f"{what}. {why}", "what": what, "why": why})
    return explained


def by_reason(missed: Sequence[MissDoc]) -> dict[str, list[MissDoc]]:
    """Group misses by their explanation."""
    groups: dict[str, list[MissDoc]] = {}
    for miss in missed:
        groups.setdefault(miss["why"], []).append(miss)
    return groups


def reason(study: Study, config: str, label: str) -> str:
    """Return the study's explanation of a cell's error, empty if it has none."""
    fits = [
        entry["text"]
        for entry in study.explanations
        if entry.get("config", "") in config and entry.get("label", "") in label
    ]
    return " ".join(fits)


def unmatched(study: Study, listed: Sequence[FigureDoc], conclusion: Conclusion) -> list[str]:
    """Return ids of published rows without prediction, claim or input: background, or a mistyped name."""
    used = {row["source"] for row in listed} | {claim.get("source") for claim in conclusion.claims} | set(study.inputs)
    return [row.id for row in study.published if row.id not in used]


def inputs(study: Study) -> list[InputDoc]:
    """Return published rows that are inputs of the model or shown for comparison: nothing predicts them."""
    rows = {row.id: row for row in study.published}
    return [
        {
            "id": name,
            "config": rows[name].config,
            "workload": rows[name].workload,
            "metric": rows[name].metric,
            "value": rows[name].text,
            "unit": rows[name].unit,
            "used": used,
        }
        for name, used in study.inputs.items()
    ]


def assumptions(results: Results) -> list[AssumptionDoc]:
    """Return the study's assumptions, and every value of every drive used."""
    listed = list(results.study.assumptions)
    for name in dict.fromkeys(name for names in products(results).values() for name in names):
        for value in product(name)["values"]:
            if not value["key"].startswith("reference."):
                listed.append({"part": name, **value})
    return listed


def not_trusted(study: Study, trust: bool) -> str | None:
    """Return why the program `findings.py` of a study's folder is not executed: the user has not allowed it. None if it
    is executed, or missing."""
    path = findings_file(study)
    if trust or in_catalog(study) or not path.is_file():
        return None
    return (
        f"{path} was not executed, so there are no claims and findings: it is a program that came with the folder. "
        "Read it, and run the study again with --trust; finished runs are not repeated"
    )


def conclude(study: Study, results: Results, trust: bool = False, conclusions: Conclusions | None = None) -> Conclusion:
    """Evaluate the study's `conclusions.toml` (`conclusions`, if it has been compiled before), and with `trust` run the
    program `findings.py` of a folder that has one."""
    from hotband.questions.study.conclusions.conclude import conclusions_of

    conclusions = conclusions or conclusions_of(study)
    stated = Conclusion() if conclusions is None else conclusions.of(results)
    path = findings_file(study)
    if not path.is_file() or not_trusted(study, trust) is not None:
        return stated
    spec = importlib.util.spec_from_file_location(f"{study.folder.name}_findings", path)
    assert spec is not None, "a path that ends in .py has a loader"
    assert spec.loader is not None, "a path that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    programmed: Conclusion = module.conclude(results)
    return Conclusion(
        [*stated.claims, *programmed.claims],
        [*stated.findings, *programmed.findings],
        [*stated.figures, *programmed.figures],
        programmed.answer or stated.answer,
    )


def check_only(study: Study, only: Collection[str]) -> None:
    """Raise UserError for a load that the study does not have."""
    known = [load.id for load in study.loads]
    for name in only:
        if name not in known:
            raise unknown("question.only", name, known)


def answer(question: StudyRunQuestion, way: Way) -> StudyResult:
    """Return the predictions of a study. Raises UserError, and the errors of its runs."""
    result, finished = run_study(question, way)
    return StudyResult({run.spec.id: record_of(run) for run in finished}, result)


def run_study(question: StudyRunQuestion, way: Way, page: bool = True) -> tuple[StudyDoc, list[Finished]]:
    """Run a study, or only some loads of it; return its result and its runs. The folder `out` receives records,
    `result.json` and (with `page`) `report.html`.

    Claims and findings exist only if all loads were run.
    """
    study = file.with_data(file.load(question.study), question.data)
    trust = question.trust and not in_catalog(study)
    again = replace(
        question, seed=study.seed if question.seed is None else question.seed, into=None, fresh=False, trust=trust
    )
    with way.watch(study.name) as progress:
        return predict(study, question, progress, way.say, page, way.again(again))


def predict(
    study: Study,
    question: StudyRunQuestion,
    progress: Tick | None = None,
    say: Say | None = None,
    page: bool = True,
    command: str = "",
) -> tuple[StudyDoc, list[Finished]]:
    """Run a study; its result names `command` as the way to repeat it."""
    expect_out(question.fresh, question.out)
    check_only(study, question.only)
    out, root = question.out, study.seed if question.seed is None else question.seed
    pairs = chosen(study, question.only)
    whole = len(pairs) == len(study.pairs())
    untrusted = not_trusted(study, question.trust) if whole else None
    # Compile before anything runs, to report mistakes at once.
    from hotband.questions.study.conclusions.conclude import conclusions_of

    conclusions = conclusions_of(study)
    if say is not None and untrusted is not None:
        say(untrusted)
    with nullcontext() if out is None else Lock(out) as held:
        if out is not None and page and not question.fresh:
            expect_own_page(out, (EXPERIMENT_FILE,))
        experiment = Experiment(points(study, pairs, out, root, question.fresh_seeds), what=f"the study {study.name}")
        finished = experiment.run(out=held, fresh=question.fresh, progress=progress, say=say).finished
        results = collect(study, pairs, finished)
        conclusion = conclude(study, results, question.trust, conclusions) if whole else Conclusion()
        result: StudyDoc = {**result_of(results, conclusion, root), "command": command}
        if not whole:
            result["only"] = sorted(question.only)
        if untrusted is not None:
            result["untrusted"] = untrusted
        if out is not None:
            write_study(out, result, finished, page)
    return result, finished


def result_of(results: Results, conclusion: Conclusion, seed: int) -> StudyDoc:
    """Return the result of a study as plain data."""
    from hotband.questions.study.intervals.listing import intervals_of

    study = results.study
    of_cells = cell_figures(results)
    rows = [*of_cells.values(), *comparison_figures(results), *conclusion.figures]
    listed = listing(study, rows)
    intervals, rest_on = intervals_of(study, listed, seed)
    listed = [{**row, "interval": intervals.get(row["id"])} for row in listed]
    published = {key: row["published"] for key, row in of_cells.items() if row["published"] is not None}
    return {
        "study": study.name,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "seed": str(seed),
        "answer": conclusion.answer,
        "machines": machine_rows(results),
        "summary": accuracy(listed),
        "inputs": inputs(study),
        "figures": listed,
        "claims": conclusion.claims,
        "findings": conclusion.findings,
        "misses": misses(study, listed),
        "unmatched": unmatched(study, listed, conclusion),
        "curves": cellrows.depth_rows(results),
        "response": {
            "points": cellrows.response_rows(results),
            "rules": cellrows.rule_rows(results),
            "published": cellrows.published_points(results, published),
        },
        "bars": wearrows.bar_rows(results, published),
        "entropy": wearrows.entropy_rows(results),
        "times": cellrows.time_rows(results),
        "why": cellrows.why_rows(results),
        "assumptions": assumptions(results),
        "swings": swings_of(study, listed, seed),
        "intervals": rest_on,
        "runs": cellrows.run_rows(results),
    }


def write_study(out: Path, result: StudyDoc, finished: Sequence[Finished], page: bool = True) -> None:
    """Write `result.json` and, with `page`, `report.html` from the records in memory."""
    write_file(out / "result.json", json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    if not page:
        return
    loaded = {run.spec.id: loaded_run(run) for run in finished}
    report: Report = view_of("hotband-study", "report")(result, loaded)
    result["report"] = str(report.save(out / REPORT_FILE))
