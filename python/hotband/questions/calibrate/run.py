"""Answer `calibrate`: measure a target, or use results or a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.question import INVALID, Way
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.numbers import about, counted, percent
from hotband.base.text.write import expect_folder, write_file
from hotband.data.catalog.named import EMULATED, is_model, is_real
from hotband.data.documents.serving import Serving
from hotband.data.inputs.specify import Named
from hotband.data.inputs.texts import text_of
from hotband.data.traces.files import is_trace
from hotband.execution.serve.lateness import lateness_lines
from hotband.questions.calibrate import calibrate
from hotband.questions.calibrate.asked import CalibrateQuestion, bytes_of, seconds_of
from hotband.questions.calibrate.black_box import checks_for, loads_for, product_of
from hotband.questions.calibrate.calibrate import CalibrationTask, Planned
from hotband.questions.calibrate.calibrated import Calibrated
from hotband.questions.calibrate.loads import BLACK_BOX, USES, Measurement, held_out
from hotband.questions.calibrate.measure import measure
from hotband.questions.calibrate.measured import Measured
from hotband.questions.calibrate.model import Product
from hotband.questions.calibrate.product_file import file_text, whole_text
from hotband.questions.calibrate.results import measured_of
from hotband.questions.calibrate.target import Hardware, Target, span_of_model, target_of
from hotband.questions.calibrate.trace.calibrate import of_trace

BLACK_BOX_IOS = 8_000
"""Measured I/Os of a load in its model: eighty lie beyond the 99th percentile."""
RESULTS = (".json", ".html", ".xml", ".csv", ".txt", ".log")
"""Suffixes of result files: such a name is never a machine, even if the file is missing."""
WHOLE = 1 << 40
"""Bytes of a black box whose model has an unknown size."""


@dataclass(frozen=True)
class CalibrationPlan:
    """The planned measurements: loads and the number of runs of each; `planned` has the expected information, None for
    a black box."""

    loads: Sequence[Measurement]
    counts: Sequence[int]
    planned: Planned | None = None
    schema: ClassVar[str] = "hotband-calibration-plan"

    @property
    def rows(self) -> list[tuple[str, int, float, str]]:
        """Load, number of runs, total seconds and use of each planned measurement."""
        pairs = zip(self.loads, self.counts, strict=True)
        return [(load.name, count, count * load.time, USES[load.held_out]) for load, count in pairs if count]

    @property
    def frame(self) -> pl.DataFrame:
        """One row per load: load, times, seconds, use."""
        schema = {"load": pl.String, "times": pl.Int64, "seconds": pl.Float64, "use": pl.String}
        return pl.DataFrame(self.rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, object]:
        """Return the plan as JSON."""
        return {"schema": self.schema, "loads": self.frame.to_dicts()}


def answer(question: CalibrateQuestion, way: Way) -> Calibrated | CalibrationPlan:
    """Calibrate, or plan the measurements. Raises UserError, OSError, RunsInterrupted."""
    if question.plan and question.like.name == BLACK_BOX:
        return CalibrationPlan(*black_box_plan(question, way))
    if question.plan:
        return plan_only(question, way)
    return run(with_folder(question) if way.on_terminal else question, way)


def _product(question: CalibrateQuestion) -> Product:
    """Return the product to fit, with its known values."""
    return Product(question.like.name, question.like.text, question.settings)


def _hardware(question: CalibrateQuestion, way: Way) -> Hardware:
    return Hardware(question.erase, lambda _: way.may_write(question.yes), bytes_of(question.size), question.anyway)


def run(wanted: CalibrateQuestion, way: Way) -> Calibrated:
    """Calibrate, and write the product file. Raises UserError, OSError, RunsInterrupted."""
    _expect_file(wanted.output)
    if wanted.like.name == BLACK_BOX:
        result, measured = _black_box(wanted, way)
    elif (trace := trace_of(wanted.target)) is not None:
        result, measured = of_trace(trace, _product(wanted), way.watch, wanted.jobs)
        result.text = _text(wanted, result, f"{counted(measured, 'I/O')} of {trace.name}")
    elif is_target(wanted.target):
        result, measured = _measured(wanted, way)
    else:
        result, measured = _results(wanted, way)
    result.text = result.text or _text(wanted, result, f"{counted(measured, 'measurement')} of {result.target}")
    if wanted.output is not None:
        write_file(wanted.output, result.text)
    return result


def trace_of(targets: Sequence[str]) -> Path | None:
    """Return the trace among the targets, None without one. Raises UserError for a trace among others."""
    traces = [Path(target) for target in targets if is_trace(Path(target))]
    if traces and len(targets) > 1:
        raise UserError("question.target", "", str(traces[0]), "is a trace: expected no other target with it")
    return traces[0] if traces else None


def is_target(targets: Sequence[str]) -> bool:
    """Return whether the names are a target, not results."""
    if len(targets) != 1:
        return False
    [name] = targets
    if not is_model(name) or name.endswith(".toml"):
        return True
    return Path(name).suffix not in RESULTS and not Path(name).exists()


def plan_only(wanted: CalibrateQuestion, way: Way) -> CalibrationPlan:
    """Return the plan, without measuring. Raises UserError, RunsInterrupted."""
    if not is_target(wanted.target):
        existing = [target for target in wanted.target if Path(target).exists()]
        [result] = existing[:1] or _one(wanted.target)
        kind = "a trace" if trace_of(wanted.target) else "a folder of results" if Path(result).is_dir() else "a result"
        raise UserError("question.plan", "", result, f"is {kind}: nothing is measured; omit question.plan")
    [name] = _one(wanted.target)
    if not is_real(name):
        span = span_of_model(Product(name, text_of(name.removeprefix(EMULATED), "machine")), _product(wanted))
        planned = calibrate.plan(_task(wanted, Product(name), span), way.watch)
        return CalibrationPlan(planned.loads, planned.counts, planned)
    with target_of(Product(name), _product(wanted), _hardware(wanted, way), (False, wanted.seed), way.say) as target:
        planned = calibrate.plan(_task(wanted, Product(name), target.span_bytes), way.watch)
        return CalibrationPlan(planned.loads, planned.counts, planned)


def black_box_plan(wanted: CalibrateQuestion, way: Way) -> tuple[list[Measurement], list[int]]:
    """Return the loads of a black box and the number of runs of each, without measuring; the rate of the last follows
    from those before. Raises UserError."""
    [name] = _one(wanted.target)
    if is_real(name):
        with target_of(
            Product(name), _product(wanted), _hardware(wanted, way), (False, wanted.seed), way.say
        ) as target:
            span = target.span_bytes
    else:
        span = span_of_model(Product(name, text_of(name.removeprefix(EMULATED), "machine")), _product(wanted))
    loads, counts = loads_for(seconds_of(wanted.duration), span, wanted.reads_only)
    checks = held_out(BLACK_BOX, 1.0)
    return [*loads, *checks], [*counts, *([1] * len(checks))]


def _task(wanted: CalibrateQuestion, target: Product, span: int | None) -> CalibrationTask:
    return CalibrationTask(
        _product(wanted),
        target,
        seconds_of(wanted.duration),
        span_bytes=span,
        reads=wanted.reads_only,
        seed=wanted.seed,
        jobs=wanted.jobs,
    )


def _measured(wanted: CalibrateQuestion, way: Way) -> tuple[Calibrated, int]:
    [name] = _one(wanted.target)
    named = Product(name, text_of(name, "machine") if is_model(name) else None)
    with target_of(
        named, _product(wanted), _hardware(wanted, way), (not wanted.reads_only, wanted.seed), way.say
    ) as target:
        task = replace(_task(wanted, target.product, target.span_bytes), path_ns=target.path_ns)
        planned = calibrate.plan(task, way.watch)
        way.shows(CalibrationPlan(planned.loads, planned.counts, planned))
        setup = (target.executor, wanted.out, wanted.seed)
        measured = measure(target.product, planned.loads, planned.counts, setup, way.say, way.watch, fresh=wanted.fresh)
    result = calibrate.of_plan(planned, measured, way.watch)
    result.notes += _lateness(target)
    return result, sum(planned.counts)


def _black_box(wanted: CalibrateQuestion, way: Way) -> tuple[Calibrated, int]:
    """Measure a volume without a known mechanism: loads for first guesses, then validation loads."""
    if not is_target(wanted.target):
        accepted = "chooses its own loads: expected a target to measure, not results"
        raise UserError("question.like", "", BLACK_BOX, accepted)
    [name] = _one(wanted.target)
    named = Product(name, text_of(name, "machine") if is_model(name) else None)
    with target_of(
        named, _product(wanted), _hardware(wanted, way), (not wanted.reads_only, wanted.seed), way.say
    ) as target:
        loads, counts = loads_for(seconds_of(wanted.duration), target.span_bytes, wanted.reads_only)
        way.say(f"{sum(counts)} measurements, then 2 for validation: {_minutes(loads, counts)}")

        def run(loads: Sequence[Measurement], counts: Sequence[int], name: str) -> list[Measured]:
            folder = None if wanted.out is None else wanted.out / name
            return measure(
                target.product,
                loads,
                counts,
                (target.executor, folder, wanted.seed),
                way.say,
                way.watch,
                fresh=wanted.fresh,
            )

        measured = run(loads, counts, "fit")
        checks = checks_for(measured, target.span_bytes, wanted.reads_only)
        kept_back = run(checks, [1] * len(checks), "check")
    with TemporaryFolder("calibrate") as folder:
        like = product_of(measured, target.span_bytes or WHOLE, Path(folder))
        task = replace(_task(wanted, target.product, None), like=like, ios=BLACK_BOX_IOS)
        result = calibrate.of_results(task, measured, way.watch, kept_back)
        source = _source(f"{counted(sum(counts), 'measurement')} of {result.target}")
        result.text = whole_text(like.text or "", source, result.values, _head(wanted, result))
    result.like = BLACK_BOX
    result.notes += _lateness(target)
    return result, sum(counts)


def _minutes(loads: Sequence[Measurement], counts: Sequence[int]) -> str:
    seconds = sum(count * load.time for load, count in zip(loads, counts, strict=True))
    seconds += sum(check.time for check in held_out(BLACK_BOX, 1.0))
    return about(seconds)


def _lateness(target: Target) -> list[str]:
    """Return notes on the emulation delay of a served target; the first says why the measurements are not the drive's,
    if they are not."""
    if target.served is None or target.served.finished is None:
        return []
    serving = Serving.of(cast("Any", target.served.finished.record)["serving"])
    invalid = [] if serving.late is None else [f"{INVALID}: {serving.late}"]
    return [*invalid, *(line.strip() for line in lateness_lines(serving))]


def _results(wanted: CalibrateQuestion, way: Way) -> tuple[Calibrated, int]:
    paths = [Path(target) for target in wanted.target]
    like = Named(wanted.like.name, wanted.like.text)
    measured, kept_back, notes = measured_of(paths, wanted.workload, like)
    name = ", ".join(str(path) for path in paths[:2]) + (", ..." if paths[2:] else "")
    result = calibrate.of_results(_task(wanted, Product(name), None), measured, way.watch, kept_back)
    result.notes = [*notes, *result.notes]
    return result, sum(len(load_measured.runs) for load_measured in measured)


def _one(targets: Sequence[str]) -> Sequence[str]:
    if len(targets) != 1:
        raise UserError("question.target", "", ", ".join(targets), "expected one target, or results that exist")
    return targets


def _expect_file(out: Path | None) -> None:
    if out is None:
        return
    if out.suffix != ".toml":
        raise UserError("question.output", "", str(out), "expected a file that ends in .toml")
    if out.is_dir():
        raise UserError("question.output", "", str(out), "is a folder; expected a file")
    expect_folder("question.output", out)


def _source(what: str) -> str:
    return f"calibrated on {datetime.now(UTC).date().isoformat()} from {what}"


def _head(wanted: CalibrateQuestion, result: Calibrated) -> list[str]:
    head = [f"{wanted.like.name} calibrated by: hotband measure calibrate {' '.join(wanted.target)}"]
    return head + [
        f"Validation, not fitted: {check.load}, {check.figure}: {percent(check.error_pct)}"
        for check in result.checks
        if check.figure in ("IOPS", "p99")
    ]


def _text(wanted: CalibrateQuestion, result: Calibrated, what: str) -> str:
    title = f"{Path(wanted.like.name).name.removesuffix('.toml')}, calibrated"
    return file_text(wanted.like.name, title, _source(what), result.values, _head(wanted, result), wanted.output)


def with_folder(wanted: CalibrateQuestion) -> CalibrateQuestion:
    """Store measurements next to the product file, unless `out` is set."""
    if wanted.out is not None or wanted.output is None or not is_target(wanted.target):
        return wanted
    return replace(wanted, out=wanted.output.with_name(f"{wanted.output.stem}-measured"))
