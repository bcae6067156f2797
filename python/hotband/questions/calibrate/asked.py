"""What is asked of `calibrate`: a target or results, the product that is fitted, and what measuring may do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.question import Question, asks, fresh, jobs, out, seed
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.inputs.kinds import Drive, Targets, Values, Workload


@dataclass(frozen=True, kw_only=True)
class CalibrateQuestion(Question):
    """Fit a product's values to a drive: measure what tells them, or take results, or a trace, that are there.

    `target` is "real:PATH", "emulated:MACHINE", a machine (its model is measured), one or several results of fio,
    vdbench, DiskSpd or Iometer, or a trace with latencies, of which half is fitted and half is the check; `like` a
    product of the catalog or a file of your own. In the folder `out` runs are found again (not with `fresh`). `set` are
    values of the product that are known. The executor is for the model's runs.

    The result has `values` (key, value, low, high: the middle 90 %, state: told, narrowed or unknown), `told`,
    `unknown`, `checks` (loads that the fit did not use, with `error_pct`), `best_next`, `misfit`, `text` (the file), of
    a trace `comparison` (its second half, as a record has it), a `frame` with a row a value, and `to_dict()`. Raises
    UserError for a mistake, KeyboardInterrupt where it is stopped.
    """

    name = "calibrate"
    schema = "hotband-calibrate"
    answers = "hotband.questions.calibrate.calibrated:Calibrated"
    runs = True
    on_the_way = ("hotband.questions.calibrate.run:CalibrationPlan",)

    target: Targets = asks(
        "real:PATH, emulated:MACHINE or a machine, which is measured; results or a trace that are there.",
        metavar="TARGET|RESULT...|TRACE",
        positional=True,
    )
    like: Drive = asks("The product whose values are fitted.", metavar="PRODUCT")
    output: Path | None = asks("The product's file that is written (.toml).", default=None, metavar="FILE", short="-o")
    duration: str = asks("What measuring may take.", default="10 min", metavar="TIME", called="for")
    plan: bool = asks("Show what would be measured, and end.", default=False, hidden=True)
    out: Path | None = out()
    fresh: bool = fresh()
    workload: Workload | None = asks(
        "What was run, if a result does not say.", default=None, metavar="WORKLOAD", short="-w"
    )
    settings: Values = asks("Change a value.", default=(), metavar="KEY=VALUE")
    reads_only: bool = asks("Write nothing to the target.", default=False)
    erase: str | None = asks(
        "real: permission to overwrite; the drive's serial number.", default=None, metavar="SERIAL"
    )
    yes: bool = asks("real: do not ask before writing.", default=False, hidden=True)
    size: str | None = asks("real:DIR: size of the file made in it.", default=None, metavar="SIZE")
    seed: int = seed()
    jobs: int | None = jobs()

    def __post_init__(self) -> None:
        """Look at the time and the size, too. Raises UserError."""
        super().__post_init__()
        seconds_of(self.duration)
        bytes_of(self.size)

    def afterwards(self) -> str:
        """Return where the product is."""
        return "" if self.output is None or self.plan else f"written: {self.output}"


def seconds_of(text: str) -> float:
    """A time in seconds. Raises UserError for what is none."""
    ns = span_ns(text)
    if ns is None:
        raise UserError("question.duration", "", text, 'expected a time with its unit, such as "10 min"')
    return ns / 1e9


def bytes_of(text: str | None) -> int:
    """A size in bytes, 0 where none is said. Raises UserError for what is none."""
    found = 0 if text is None else size_bytes(text)
    if found is None or (text is not None and found <= 0):
        raise UserError("question.size", "", str(text), 'expected a size with its unit, such as "8 GiB"')
    return int(found)
