"""A calibration as it is asked for: of a target that is measured now, or of results."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.question import Way
from hotband.base.text.numbers import about, counted, percent
from hotband.base.text.write import expect_folder, write_file
from hotband.data.catalog.named import EMULATED, is_real
from hotband.data.inputs.specify import Named
from hotband.data.inputs.texts import text_of
from hotband.data.traces.files import is_trace
from hotband.execution.serve import Serving
from hotband.execution.serve.lateness import lateness_lines
from hotband.questions.calibrate import calibrate
from hotband.questions.calibrate.asked import CalibrateQuestion, bytes_of, seconds_of
from hotband.questions.calibrate.black_box import checks_for, loads_for, product_of
from hotband.questions.calibrate.calibrate import Asked, Planned
from hotband.questions.calibrate.calibrated import Calibrated
from hotband.questions.calibrate.loads import BLACK_BOX, USES, Measurement, held_out
from hotband.questions.calibrate.measure import measure
from hotband.questions.calibrate.measured import Measured
from hotband.questions.calibrate.model import Product
from hotband.questions.calibrate.product_file import file_text, whole_text
from hotband.questions.calibrate.results import measured_of
from hotband.questions.calibrate.target import Hardware, is_model, span_of_model, target_of
from hotband.questions.calibrate.trace.calibrate import of_trace

BLACK_BOX_IOS = 8_000
"""Measured I/Os of a load in its model: eighty lie beyond the 99th percentile."""
RESULTS = (".json", ".html", ".xml", ".csv", ".txt", ".log")
"""What names of results end in: such a name is no machine's, whether it is there or not."""
WHOLE = 1 << 40
"""Bytes of a black box that is a model of unknown size."""


@dataclass(frozen=True)
class CalibrationPlan:
    """What would be measured: loads and how often each; `planned` says what it is expected to tell, which nothing does
    of a black box."""

    loads: Sequence[Measurement]
    counts: Sequence[int]
    planned: Planned | None = None
    schema: ClassVar[str] = "hotband-calibration-plan"

    @property
    def rows(self) -> list[tuple[str, int, float, str]]:
        """Load, times, seconds of all times together, and the use, of what is measured."""
        pairs = zip(self.loads, self.counts, strict=True)
        return [(one.name, count, count * one.time, USES[one.held_out]) for one, count in pairs if count]

    @property
    def frame(self) -> pl.DataFrame:
        """A row a load: load, times, seconds, use."""
        schema = {"load": pl.String, "times": pl.Int64, "seconds": pl.Float64, "use": pl.String}
        return pl.DataFrame(self.rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {"schema": self.schema, "loads": self.frame.to_dicts()}


def answer(question: CalibrateQuestion, way: Way) -> Calibrated | CalibrationPlan:
    """Calibrates, or says what would be measured. Raises UserError, OSError, RunsInterrupted."""
    if question.plan and question.like.name == BLACK_BOX:
        return CalibrationPlan(*black_box_plan(question, way))
    if question.plan:
        return plan_only(question, way)
    return run(with_folder(question) if way.on_terminal else question, way)


def _product(question: CalibrateQuestion) -> Product:
    """The product that is fitted, with the values of it that are known."""
    return Product(question.like.name, question.like.text, question.settings)


def _hardware(question: CalibrateQuestion, way: Way) -> Hardware:
    return Hardware(question.erase, lambda _: way.may_write(question.yes), bytes_of(question.size))


def run(wanted: CalibrateQuestion, way: Way) -> Calibrated:
    """Calibrates, and writes the product's file. Raises UserError, OSError, RunsInterrupted."""
    _expect_file(wanted.output)
    if wanted.like.name == BLACK_BOX:
        found, measured = _black_box(wanted, way)
    elif (trace := trace_of(wanted.target)) is not None:
        found, measured = of_trace(trace, _product(wanted), way.watch, wanted.jobs)
        found.text = _text(wanted, found, f"{counted(measured, 'I/O')} of {trace.name}")
    elif is_target(wanted.target):
        found, measured = _measured(wanted, way)
    else:
        found, measured = _results(wanted, way)
    found.text = found.text or _text(wanted, found, f"{counted(measured, 'measurement')} of {found.target}")
    if wanted.output is not None:
        write_file(wanted.output, found.text)
    return found


def trace_of(targets: Sequence[str]) -> Path | None:
    """The trace that is named, if it is one. Raises UserError for one among others."""
    traces = [Path(target) for target in targets if is_trace(Path(target))]
    if traces and len(targets) > 1:
        raise UserError("question.target", "", str(traces[0]), "is a trace: expected one alone")
    return traces[0] if traces else None


def is_target(targets: Sequence[str]) -> bool:
    """Whether it is a target that is named, not results."""
    if len(targets) != 1:
        return False
    [name] = targets
    if not is_model(name) or name.endswith(".toml"):
        return True
    return Path(name).suffix not in RESULTS and not Path(name).exists()


def plan_only(wanted: CalibrateQuestion, way: Way) -> CalibrationPlan:
    """The plan, without measuring. Raises UserError, RunsInterrupted."""
    [name] = _one(wanted.target)
    if trace_of(wanted.target) is not None:
        raise UserError("question.plan", "", name, "is a trace: nothing is measured; leave question.plan out")
    if not is_real(name):
        span = span_of_model(Product(name, text_of(name.removeprefix(EMULATED), "machine")), _product(wanted))
        planned = calibrate.plan(_asked(wanted, Product(name), span), way.watch)
        return CalibrationPlan(planned.loads, planned.counts, planned)
    with target_of(Product(name), _product(wanted), _hardware(wanted, way), (False, wanted.seed), way.say) as target:
        planned = calibrate.plan(_asked(wanted, Product(name), target.span_bytes), way.watch)
        return CalibrationPlan(planned.loads, planned.counts, planned)


def black_box_plan(wanted: CalibrateQuestion, way: Way) -> tuple[list[Measurement], list[int]]:
    """The loads of a black box and how often each is measured, without measuring; the rate of the last follows from
    those before. Raises UserError."""
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


def _asked(wanted: CalibrateQuestion, target: Product, span: int | None) -> Asked:
    return Asked(
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
        asked = replace(_asked(wanted, target.product, target.span_bytes), path_ns=target.path_ns)
        planned = calibrate.plan(asked, way.watch)
        way.shows(CalibrationPlan(planned.loads, planned.counts, planned))
        how = (target.executor, wanted.out, wanted.seed)
        measured = measure(target.product, planned.loads, planned.counts, how, way.say, way.watch, fresh=wanted.fresh)
    found = calibrate.of_plan(planned, measured, way.watch)
    if target.served is not None and target.served.finished is not None:
        found.notes += _lateness(target.served.finished.record)
    return found, sum(planned.counts)


def _black_box(wanted: CalibrateQuestion, way: Way) -> tuple[Calibrated, int]:
    """Measures a volume without a mechanism: loads that give first guesses, then those that are held out."""
    if not is_target(wanted.target):
        accepted = "needs loads of its own choice: expected a target to measure, not results"
        raise UserError("question.like", "", BLACK_BOX, accepted)
    [name] = _one(wanted.target)
    named = Product(name, text_of(name, "machine") if is_model(name) else None)
    with target_of(
        named, _product(wanted), _hardware(wanted, way), (not wanted.reads_only, wanted.seed), way.say
    ) as target:
        loads, counts = loads_for(seconds_of(wanted.duration), target.span_bytes, wanted.reads_only)
        way.say(f"{sum(counts)} measurements, then 2 that are held out: {_minutes(loads, counts)}")

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
    with tempfile.TemporaryDirectory(prefix="hotband-calibrate-") as folder:
        like = product_of(measured, target.span_bytes or WHOLE, Path(folder))
        asked = replace(_asked(wanted, target.product, None), like=like, ios=BLACK_BOX_IOS)
        found = calibrate.of_results(asked, measured, way.watch, kept_back)
        source = _source(f"{counted(sum(counts), 'measurement')} of {found.target}")
        found.text = whole_text(like.text or "", source, found.values, _head(wanted, found))
    found.like = BLACK_BOX
    return found, sum(counts)


def _minutes(loads: Sequence[Measurement], counts: Sequence[int]) -> str:
    seconds = sum(count * load.time for load, count in zip(loads, counts, strict=True))
    seconds += sum(one.time for one in held_out(BLACK_BOX, 1.0))
    return about(seconds)


def _lateness(record: object) -> list[str]:
    from typing import Any, cast

    return [line.strip() for line in lateness_lines(Serving.of(cast("Any", record)["serving"]))]


def _results(wanted: CalibrateQuestion, way: Way) -> tuple[Calibrated, int]:
    paths = [Path(one) for one in wanted.target]
    like = Named(wanted.like.name, wanted.like.text)
    measured, kept_back, notes = measured_of(paths, wanted.workload, like)
    name = ", ".join(str(path) for path in paths[:2]) + (", ..." if paths[2:] else "")
    found = calibrate.of_results(_asked(wanted, Product(name), None), measured, way.watch, kept_back)
    found.notes = [*notes, *found.notes]
    return found, sum(len(one.runs) for one in measured)


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


def _head(wanted: CalibrateQuestion, found: Calibrated) -> list[str]:
    head = [f"{wanted.like.name} as it was measured: hotband measure calibrate {' '.join(wanted.target)}"]
    return head + [
        f"Not used in the fit: {check.load}, {check.figure}: {percent(check.error_pct)}"
        for check in found.checks
        if check.figure in ("IOPS", "p99")
    ]


def _text(wanted: CalibrateQuestion, found: Calibrated, what: str) -> str:
    title = f"{Path(wanted.like.name).name.removesuffix('.toml')}, calibrated"
    return file_text(wanted.like.name, title, _source(what), found.values, _head(wanted, found), wanted.output)


def with_folder(wanted: CalibrateQuestion) -> CalibrateQuestion:
    """Measurements are kept beside the product's file where nothing else is said."""
    if wanted.out is not None or wanted.output is None or not is_target(wanted.target):
        return wanted
    return replace(wanted, out=wanted.output.with_name(f"{wanted.output.stem}-measured"))
