"""The question `calibrate`: a target or results, the product to fit, and limits of measuring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.question import Ending, Question, asks, fresh, invalid_ending, jobs, out, seed
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.catalog.named import is_emulated
from hotband.data.inputs.kinds import Drive, Targets, Values, Workload
from hotband.execution.targets.fields import anyway

if TYPE_CHECKING:
    from hotband.questions.calibrate.calibrated import Calibrated


@dataclass(frozen=True, kw_only=True)
class CalibrateQuestion(Question):
    """Fit a product's values to a drive: measure it, or use existing results or a trace.

    `target` is "real:PATH", "emulated:MACHINE", a machine (its model is measured), one or several results of fio,
    vdbench, DiskSpd or Iometer, or a trace with latencies, whose second half validates the fit. `like` is a product of
    the catalog or a file of yours. `set` has known values of the product.

    The result has `values` (key, value, low, high: the middle 90 %, state: told, narrowed or unknown), `told`,
    `unknown`, `checks` (loads that the fit did not use, with `error_pct`), `best_next`, `misfit`, `text` (the file),
    for a trace `comparison` (its second half, as in a record), a `frame` with one row per value, and `to_dict()`.
    Raises UserError for a mistake, KeyboardInterrupt if it is stopped.
    """

    name = "calibrate"
    schema = "hotband-calibrate"
    answers = "hotband.questions.calibrate.calibrated:Calibrated"
    runs = True
    on_the_way = ("hotband.questions.calibrate.run:CalibrationPlan",)

    target: Targets = asks(
        "Target to measure (real:PATH, emulated:MACHINE or a machine), or existing results or a trace.",
        metavar="TARGET|RESULT...|TRACE",
        positional=True,
    )
    like: Drive = asks("Product whose values are fitted.", metavar="PRODUCT")
    output: Path | None = asks("Product file to write (.toml).", default=None, metavar="FILE", short="-o")
    duration: str = asks("Time limit of the measurements.", default="10 min", metavar="TIME", unit="s", called="for")
    plan: bool = asks("Show the planned measurements and stop.", default=False, hidden=True)
    out: Path | None = out()
    fresh: bool = fresh()
    workload: Workload | None = asks(
        "Workload of the results, if they do not state it.", default=None, metavar="WORKLOAD", short="-w"
    )
    settings: Values = asks("Change a value.", default=(), metavar="KEY=VALUE")
    reads_only: bool = asks("Write nothing to the target.", default=False)
    erase: str | None = asks(
        "real: serial number of the drive that may be overwritten.", default=None, metavar="SERIAL"
    )
    yes: bool = asks("real: write without confirmation.", default=False, hidden=True)
    size: str | None = asks("real:DIR: size of the test file.", default=None, metavar="SIZE", unit="B")
    anyway: bool = anyway()
    seed: int = seed()
    jobs: int | None = jobs()

    def __post_init__(self) -> None:
        """Check the time and the size, too. Raises UserError."""
        super().__post_init__()
        seconds_of(self.duration)
        bytes_of(self.size)
        if self.anyway and not any(is_emulated(name) for name in self.target):
            accepted = "is for emulated machines: expected emulated:MACHINE"
            raise UserError("question.anyway", "", "", accepted)

    def ending(self, result: Calibrated) -> Ending | None:
        """Return the exit code of values that were fitted to an invalid result."""
        return invalid_ending(result.notes)

    def afterwards(self) -> str:
        """Return a line with the path of the product file."""
        return "" if self.output is None or self.plan else f"written: {self.output}"


def seconds_of(text: str) -> float:
    """Read a time in seconds. Raises UserError."""
    ns = span_ns(text)
    if ns is None:
        raise UserError("question.duration", "", text, 'expected a time with its unit, such as "10 min"')
    return ns / 1e9


def bytes_of(text: str | None) -> int:
    """Read a size in bytes, 0 for None. Raises UserError."""
    size = 0 if text is None else size_bytes(text)
    if size is None or (text is not None and size <= 0):
        raise UserError("question.size", "", str(text), 'expected a size with its unit, such as "8 GiB"')
    return int(size)
