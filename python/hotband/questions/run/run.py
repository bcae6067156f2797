"""Run a workload, or several one after the other, on a model or on hardware."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.views import view_of
from hotband.data.catalog.named import EMULATED, is_emulated, is_model, is_real
from hotband.data.documents.run import Repair, RunSpec
from hotband.data.record.files import CLIENT, MODEL, RECORD_FILE, REPORT_FILE, SERVED
from hotband.data.results.manifest import EXPERIMENT_FILE
from hotband.data.store.into import into_store
from hotband.execution.experiment import (
    Experiment,
    Lock,
    expect_no_experiment,
    expect_no_record,
    expect_out,
    expect_own_page,
    expect_same_run,
    points_of,
)
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import save
from hotband.execution.runs.sequence import in_sequence
from hotband.inference.interval import DRAWS
from hotband.questions.run.ran import Emulation, Ran, judged_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hotband.base.question import Way
    from hotband.data.documents.record import SloDoc
    from hotband.data.record.finished import Finished
    from hotband.execution.targets.emulated import OnServed
    from hotband.execution.targets.on_device import OnDevice
    from hotband.questions.find.question import Condition
    from hotband.questions.run.asked import RunQuestion


def answer(question: RunQuestion, way: Way) -> Ran | Emulation:
    """Return the results of the runs. Raises UserError for a mistake, RunsInterrupted, OSError."""
    on = question.on.name
    expect_out(question.fresh, question.out)
    compares = is_emulated(on) and way.on_terminal and not question.then
    if question.interval is not None and not (compares or is_model(on)):
        instead = "question.expect PRODUCT has them" if is_real(on) else f"run on {on.removeprefix(EMULATED)}"
        raise UserError("question.interval", "", f"{question.interval:g}", f"applies to predictions: {instead}")
    if compares:
        return on_emulated(question, way)
    specs = specs_of(question)
    title = f"{', '.join(spec.workload for spec in specs)} on {on}"
    hardware = executor_of(question, way, specs)
    with into_store(question.into, at_end=question.interval is not None):
        with way.watch(title) as tick:
            experiment = Experiment(points_of(specs), what=f"the runs {title}")
            with guarded(question, specs), blaming_rate(question):
                if len(specs) > 1:
                    done = experiment.run(
                        out=question.out, fresh=question.fresh, executor=hardware, progress=tick, say=way.say
                    )
                else:
                    # A single run always runs: there is nothing to continue. It replaces its earlier result.
                    done = experiment.run(executor=hardware, progress=tick)
        ran = Ran(done.finished, question.io_log)
        way.before_saving(ran)
        if question.interval is not None:
            ran.is_whole = add_intervals(question, specs[0], ran.finished[0], way)
        if question.slo is not None:
            add_slo(question.slo, ran.finished)
        if is_real(on) and question.out is not None and way.as_text:
            ran.report = view_of("hotband-run", "report")(specs).save(question.out / REPORT_FILE)
        return ran


def settings_of(question: RunQuestion) -> tuple[tuple[str, str], ...]:
    """Return the settings, including the rate."""
    if question.rate is None:
        return question.settings
    from hotband.data.inputs.rate import setting_of

    return (*question.settings, *setting_of(question.rate, question.settings))


def blaming_rate(question: RunQuestion) -> AbstractContextManager[None]:
    """Return the context that reports a workload without a rate as a mistake of the rate."""
    if question.rate is None:
        return nullcontext()
    from hotband.data.inputs.rate import mistakes_of_rate

    return mistakes_of_rate(question.rate)


def specs_of(question: RunQuestion) -> list[RunSpec]:
    """Return the requested runs in the form that the engine accepts."""
    workloads = [question.workload, *question.then]
    folders = [question.out]
    if question.out is not None and question.then:
        folders = [question.out / f"{n}" for n in range(1, len(workloads) + 1)]
    elif question.then:
        folders = [None] * len(workloads)
    first = RunSpec(
        "run",
        question.on.name,
        question.workload.name,
        settings_of(question),
        question.seed,
        question.duration,
        io_log=question.io_log,
        power_loss=question.power_loss,
        machine_text=question.on.text,
        workload_text=question.workload.text,
        repair=Repair(question.fail, question.spares, question.rebuild_rate, question.rebuild_after),
        events=question.events,
        in_use=True,
        precision=question.precision,
    )
    if question.interval is not None:
        from hotband.inference.interval.of_run import pinned

        pinned_first = pinned(replace(first, machine=first.machine.removeprefix(EMULATED)))
        first = replace(pinned_first, machine=question.on.name)
        workloads = [replace(question.workload, text=first.workload_text)]
    return in_sequence(first, workloads, folders, question.fresh_seeds)


def executor_of(question: RunQuestion, way: Way, specs: Sequence[RunSpec]) -> OnDevice | OnServed | None:
    """Return the executor for hardware or an emulated machine; None for a model. Raises UserError."""
    on = question.on.name
    question.expect_hardware([on])
    if is_model(on):
        return None
    from hotband.questions.targets.expected import expected_of

    return question.executor_on(way, specs, replace(question.hardware(question.expect), predict=expected_of))


@contextmanager
def guarded(question: RunQuestion, specs: Sequence[RunSpec]) -> Iterator[None]:
    """Refuse a folder with other contents, unless `fresh` is set. Raises UserError."""
    out = question.out
    if out is None:
        yield
        return
    if not question.fresh and is_real(specs[0].machine):
        expect_own_page(out, (EXPERIMENT_FILE, RECORD_FILE))
    # With several runs the experiment holds the lock.
    lock: AbstractContextManager[object] = nullcontext() if len(specs) > 1 else Lock(out)
    with lock:
        if len(specs) == 1:
            expect_no_experiment(out)
        if len(specs) == 1 and not question.fresh:
            expect_same_run(out, specs[0], _unnamed(question, specs[0]))
        yield


def _unnamed(question: RunQuestion, spec: RunSpec) -> dict[str, str | None]:
    """Return the texts of a machine and a workload given as text or dict: these have one name whatever they contain."""
    return {
        "machine": None if question.on.text is None else spec.machine_text,
        "workload": None if question.workload.text is None else spec.workload_text,
    }


def add_intervals(question: RunQuestion, spec: RunSpec, finished: Finished, way: Way) -> bool:
    """Add intervals to a run's record and, if it has a folder, to the file there. Return False if the user interrupts
    on a terminal before there are enough samples; the record then stays as it is."""
    from hotband.inference.interval.of_record import intervals_of, keep
    from hotband.inference.interval.of_run import Asked

    assert question.interval is not None, "intervals are asked for"
    drawn = Asked(question.interval, DRAWS if question.draws is None else question.draws)
    try:
        intervals = intervals_of(spec, finished, drawn, None, way.say, way.watch)
    except RunsInterrupted:
        if not way.on_terminal:
            raise
        way.say("interrupted: the record is stored without intervals")
        return False
    keep(finished, intervals)
    if spec.out is not None:
        save(finished, spec.out)
    return True


def add_slo(slo: str, finished: Sequence[Finished]) -> None:
    """Add to each record, and to its folder if it has one, whether it meets the objective."""
    from hotband.data.record.written import record_text
    from hotband.questions.slo import slo_of

    objective = slo_of(slo)
    for run in finished:
        run.record["slo"] = slo_of_record(objective, run)
        run.text = record_text(run.record)
        if run.spec.out is not None:
            save(run, run.spec.out)


def slo_of_record(slo: Sequence[Condition], finished: Finished) -> list[SloDoc]:
    """Return the conditions of an objective with the figures of a run, in the units of their names."""
    judged = judged_run(slo, finished)
    scales = [1.0 if item.condition.is_goal else 1e9 for item in judged]
    return [
        {
            "condition": item.condition.text,
            "figure": item.condition.figure.document_name,
            "value": None if item.value is None else item.value * scale,
            "bound": item.condition.bound * scale,
            "met": item.is_met,
        }
        for item, scale in zip(judged, scales, strict=True)
    ]


def on_emulated(question: RunQuestion, way: Way) -> Emulation:
    """Run the workload in virtual time, and through fio on the served machine. Raises UserError."""
    from hotband.execution.targets.emulated import emulate

    [spec] = specs_of(question)
    executor_of(question, way, [spec])
    spec, out = replace(spec, machine=question.on.name.removeprefix(EMULATED)), question.out
    is_whole = True
    with into_store(question.into, at_end=question.interval is not None), nullcontext() if out is None else Lock(out):
        if out is not None and not question.fresh:
            expect_same_comparison(out, spec)
        with way.watch(f"{spec.workload} on {spec.machine}") as progress:
            emulation = emulate(spec, progress=progress, say=way.say, anyway=question.anyway)
        if question.interval is not None:
            is_whole = add_intervals(question, emulation.model.spec, emulation.model, way)
        if question.slo is not None:
            add_slo(question.slo, [emulation.fio])
        page = None
        if out is not None and way.as_text:
            page = view_of("hotband-emulated", "report")(spec, out).save(out / REPORT_FILE)
    return Emulation(emulation, page, is_whole)


def expect_same_comparison(out: Path, spec: RunSpec) -> None:
    """Refuse a folder with another comparison, or with output of another command. The run of the model, which is stored
    first, identifies the comparison. Raises UserError."""

    model = out / MODEL / RECORD_FILE
    expect_no_record(out)
    expect_own_page(out, (str(model.relative_to(out)),))
    if model.exists():
        return expect_same_run(model.parent, spec)
    for part in (CLIENT, SERVED):
        expect_no_record(out / part)
    return None
