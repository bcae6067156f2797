"""The request of a form, as one call of the public API and as a command. Nothing here computes: `shown.py` prepares
the display of a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.inputs.specify import Named, named
from hotband.data.inputs.texts import text_of
from hotband.data.record.files import REPORT_FILE, record_file
from hotband.data.record.load import records_in
from hotband.data.record.record import Record
from hotband.execution.experiment import Tick
from hotband.faces.asked.words import words
from hotband.faces.ui import shown
from hotband.faces.ui.asked import answered, doubts, of_form
from hotband.faces.ui.call import MACHINE, WORKLOAD, Call, expect_report
from hotband.faces.ui.calls_on_files import of_calibrate, of_expect, of_fleet
from hotband.faces.ui.form import Form
from hotband.faces.ui.shown import Shown
from hotband.questions.advise.asked import AdviseQuestion
from hotband.questions.compare import CompareQuestion
from hotband.questions.find.asked import FindQuestion
from hotband.questions.review.reviewed import ReviewQuestion
from hotband.questions.run.asked import RunQuestion
from hotband.questions.study.asked import StudyRunQuestion
from hotband.questions.sweeps.asked import SweepQuestion
from hotband.questions.sweeps.sweep import Sweep

Kind = Callable[[Form], Call]


def prepare(kind: str, form: Form) -> Call:
    """Return the call that a form requests. Raises UserError for mistakes that can be found before the call."""
    if kind not in KINDS:
        raise UserError("kind", "", kind, f"expected one of {', '.join(KINDS)}")
    call = KINDS[kind](form)

    def run(tick: Tick, folder: Path) -> Shown:
        with doubts() as sentences:
            result = call.run(tick, folder)
        result["lead"] = [*dict.fromkeys(sentences), *result["lead"]]
        return result

    return replace(call, run=run)


def of_run(form: Form) -> Call:
    """Return the call of a run; several machines are a sweep over them."""
    workload, machines = form.named("workload", WORKLOAD), form.all_named("on", MACHINE)
    if len(machines) > 1:
        return of_sweep(form, draws_distributions=True)
    named_by = {"workload": named(workload, "workload"), "on": named(machines[0], "on")}
    question = of_form(RunQuestion, form, named_by)

    def run(tick: Tick, folder: Path) -> Shown:
        return shown.of_record(question.in_python(answered(replace(question, out=folder), tick)))

    return Call(f"{workload} on {machines[0]}", words(question), run, report_of_records)


def report_of_records(folder: Path) -> None:
    """Write the report of every record in a folder."""
    hb.report(records_of(folder)).save(folder / REPORT_FILE)


def records_of(folder: Path) -> list[Record]:
    """Return the record that a folder is, or the records in its folders."""
    return [hb.load(path) for path in records_in(folder) if record_file(path).is_file()]


def of_sweep(form: Form, draws_distributions: bool = False) -> Call:
    """Return the call of a sweep; with `draws_distributions` it stores its records and shows the latency distribution
    of each machine."""
    workload, machines = form.named("workload", WORKLOAD), form.all_named("on", MACHINE)
    named_by = {"workload": (named(workload, "workload"),), "on": tuple(named(machine, "on") for machine in machines)}
    repeat = form.whole("repeat", 1, 1000)
    question = of_form(SweepQuestion, form, {**named_by, "repeat": repeat, "records": draws_distributions})

    def swept(tick: Tick | bool, folder: Path) -> Sweep:
        done: Sweep = answered(replace(question, out=folder / "runs"), tick)
        return done

    def report(folder: Path) -> None:
        swept(False, folder).report(folder / REPORT_FILE)  # all runs are stored, so none is run again

    show = shown.of_machines if draws_distributions else shown.of_sweep
    keys = [key for key, _ in question.settings]
    axes = f" over {', '.join(keys)}" if keys else ""
    return Call(
        f"{workload} on {', '.join(machines)}{axes}",
        words(question),
        lambda tick, folder: show(swept(tick, folder)),
        report,
    )


def of_find(form: Form) -> Call:
    """Return the call of `hb.find`."""
    question = form.needed("question", 'such as "IOPS at p99 < 10 ms"')
    workload, machines = form.named("workload", WORKLOAD), form.all_named("on", MACHINE)
    named_by = {"workload": named(workload, "workload"), "on": tuple(named(machine, "on") for machine in machines)}
    wanted = of_form(FindQuestion, form, {"question": question, **named_by})

    def run(tick: Tick, folder: Path) -> Shown:
        result = answered(wanted, tick)
        for number, answer in enumerate(result.answers):
            if answer.record is not None:
                answer.record.save(folder / f"{number}")
        return shown.of_found(result)

    return Call(f"{question}: {workload} on {', '.join(machines)}", words(wanted), run, report_of_records)


def of_review(form: Form) -> Call:
    """Return the call of a review."""
    machines = tuple(form.all_named("on", MACHINE))
    question = of_form(ReviewQuestion, form, {"on": machines})
    return Call(
        f"Review of {', '.join(machines)}",
        words(question),
        lambda tick, folder: shown.of_review(answered(replace(question, out=folder), tick)),
        expect_report,
    )


def of_study(form: Form) -> Call:
    """Return the call of `hb.study(NAME).run`."""
    name = form.needed("study", "the name of a study of the catalog")
    known = hb.studies()["name"].to_list()
    if name not in known:
        raise UserError("study", "", name, f"expected one of {', '.join(known)}")
    question = of_form(StudyRunQuestion, form, {"study": name, "only": tuple(form.texts("only"))})

    def run(tick: Tick, folder: Path) -> Shown:
        return shown.of_study(answered(replace(question, out=folder), tick))

    return Call(f"Study {name}", words(question), run, expect_report)


def of_compare(form: Form) -> Call:
    """Return the call of a comparison of results in the store: the others with the first."""
    ids = form.texts("results")
    if len(ids) < 2:
        raise UserError("results", "", ", ".join(ids), "expected two results or more: tick them in the list")
    paths = [form.placed("results", id_) for id_ in ids]
    question = CompareQuestion(sides=tuple((Path(path),) for path in paths), anyway=form.flag("anyway"))

    def run(tick: Tick, folder: Path) -> Shown:
        names = {
            Path(path).name: form.label(result) or hb.load(path).name for result, path in zip(ids, paths, strict=True)
        }
        return shown.of_compared(answered(question, tick), names)

    def report(folder: Path) -> None:
        hb.report([hb.load(path) for path in paths]).save(folder / REPORT_FILE)

    first, *others = (form.label(result) or result for result in ids)
    return Call(f"{first} against {', '.join(others)}", words(question), run, report)


def of_advise(form: Form) -> Call:
    """Return the call of `hb.advise`."""
    workloads = [form.placed("workload", text) for text in form.texts("workload")]
    if not workloads:
        raise UserError("workload", "", "", f"is missing: expected {WORKLOAD}")
    named = tuple(Named(workload, text_of(workload, "workload")) for workload in workloads)
    slo = form.needed("slo", 'such as "p99 < 20 ms"')
    capacity = form.needed("capacity", 'such as "50 TB"')
    protect = form.needed("protect", 'such as "two failures"')
    candidates = ",".join(
        f"{key}={','.join(form.placed(key, value) for value in values)}"
        for key in ("drives", "layouts", "counts")
        if (values := form.split(key))
    )
    fields = {"workloads": named, "slo": slo, "capacity": capacity, "protect": protect, "candidates": candidates}
    question = of_form(AdviseQuestion, form, fields)

    def run(tick: Tick, folder: Path) -> Shown:
        advice = answered(question, tick)
        advice.write_html(folder / REPORT_FILE)
        return shown.of_advice(advice)

    return Call(f"{capacity} for {', '.join(workloads)}: {slo}, {protect}", words(question), run, expect_report)


KINDS: Mapping[str, Kind] = {
    "run": of_run,
    "sweep": of_sweep,
    "find": of_find,
    "review": of_review,
    "study": of_study,
    "compare": of_compare,
    "advise": of_advise,
    "fleet": of_fleet,
    "expect": of_expect,
    "calibrate": of_calibrate,
}
"""The forms of the page, by name."""
