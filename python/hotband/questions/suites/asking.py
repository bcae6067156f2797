"""Conversion of a user's options into the work of a suite, for `pts` and `quick`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.question import NotAgreed, Way
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.data.catalog.entries import unknown
from hotband.data.documents.record import KIND_EMULATED, KIND_REAL
from hotband.execution.experiment import Executor, expect_out
from hotband.execution.targets.real_options import RealOptions, expect_product
from hotband.execution.targets.target import expect_answer
from hotband.questions.suites.hardware import expect_ways
from hotband.questions.suites.pts import RANDOM, TESTS, Asked, spec
from hotband.questions.suites.pts.suite import with_write_cache
from hotband.questions.suites.quick import QuickAsked
from hotband.questions.suites.target import SuiteTarget, executor_for, target_of


@dataclass(frozen=True)
class Suite:
    """Input of every suite: the machine or place, values of a model, what is stated about hardware, the seed, the
    folder that stores its runs and whether it starts over there. `can_ask` states whether a user can confirm
    writes to hardware, or has confirmed them."""

    machine: str
    set: Sequence[tuple[str, str]]
    real: RealOptions
    seed: int
    out: Path | None
    fresh: bool
    can_ask: bool = True

    def target(self) -> SuiteTarget:
        """Return the target. Raises UserError for one that cannot be measured, and for options of hardware with a
        model."""
        expect_out(self.fresh, self.out)
        found = target_of(self.machine, self.set, self.real.setup().size_bytes)
        given = {
            "question.erase": self.real.erase,
            "question.size": self.real.size,
            "question.purge_by": self.real.purge_by,
        }
        for option, value in given.items():
            if found.kind != KIND_REAL and value is not None:
                raise UserError(option, "", value, f"is for a real device; {self.machine} is a model")
        if self.real.anyway and found.kind != KIND_EMULATED:
            raise UserError("question.anyway", "", "", f"is for emulated machines; {self.machine} is none")
        return found

    def executor(self, target: SuiteTarget, writes: bool, in_use: bool = False) -> Executor | None:
        """Return the executor for hardware; None for a model. Raises UserError if it must not be written, or no
        user can confirm."""
        if target.is_model:
            return None
        found = executor_for(target, self.real, writes, lambda _: None, in_use)
        if target.kind == KIND_REAL:
            expect_answer(writes, self.can_ask)
        return found


def expect_agreed(asked: Asked | QuickAsked, writes: bool, yes: bool, way: Way) -> None:
    """Print the plan for hardware, and ask once before it is written. Raises UserError for `yes` to a model,
    NotAgreed if the user declines."""
    if yes and asked.target.kind != KIND_REAL:
        raise UserError("question.yes", "", "", f"is for a real device; {asked.target.name} is a model")
    if asked.target.is_model:
        return
    for line in asked.ahead():
        way.say(line)
    if asked.target.kind == KIND_REAL and writes and not way.may_write(yes):
        raise NotAgreed


def quick_of(of: Suite, *, time: str = "5 min", expect: str | None = None, pictured: bool = False) -> QuickAsked:
    """Return a quick test of a machine. A real target is written if `erase` permits it or Hotband made the file,
    else only read. Raises UserError for the first mistake."""
    span = span_ns(time)
    if span is None:
        raise UserError("question.duration", "", time, f"expected {SPAN_EXPECTED}")
    target = of.target()
    if expect is not None:
        expect_product(expect)
    writes = target.kind != KIND_REAL or of.real.erase is not None or target.is_folder
    asked = QuickAsked(target, span / 1e9, writes, expect, of.seed, of.out, of.fresh, pictured=pictured)
    asked.expect_time()
    return asked.run_by(of.executor(target, writes, in_use=True))


def pts_of(
    of: Suite,
    *,
    drive_class: str = "enterprise",
    tests: Sequence[str] = (),
    quick: bool = False,
    minute: str | None = None,
    threads: int | None = None,
    depth: int | None = None,
    sponsor: str = "",
    set_write_cache: bool = False,
) -> Asked:
    """Return a run of these tests (all if none is named, in the specification's order) on a machine. Raises
    UserError for the first mistake: a machine or test that is not there, a device that must not be erased."""
    if drive_class not in spec.RULES:
        raise unknown("question.drive_class", drive_class, list(spec.RULES))
    for name in tests:
        if not name.strip(" ,"):
            raise UserError("question.tests", "", name, "names no test")
        if name not in TESTS:
            raise unknown("question.tests", name, list(TESTS))
        if list(tests).count(name) > 1:
            raise UserError("question.tests", "", name, "is given twice; expected each test once")
    for option, value in (("question.threads", threads), ("question.depth", depth)):
        if value is not None and tests and not set(tests) & set(RANDOM):
            raise UserError(option, "", str(value), f"is for random loads: expected one of {', '.join(RANDOM)}")
    target = of.target()
    if target.kind != KIND_REAL and set_write_cache:
        raise UserError(
            "question.set_write_cache",
            "",
            "",
            f"is for a real device; {of.machine} is a model (question.settings wce=off)",
        )
    if target.kind == KIND_EMULATED:
        # A client cannot switch the cache of a served drive, so it is served as the class requires.
        target = with_write_cache(target, spec.RULES[drive_class])
    asked = Asked(
        target,
        spec.RULES[drive_class].name,
        [name for name in TESTS if not tests or name in tests],
        quick,
        spec.minute_of(minute),
        threads,
        depth,
        sponsor,
        of.seed,
        of.out,
        of.fresh,
        purge_by=of.real.purge_by,
        set_write_cache=set_write_cache,
    )
    asked.plan()
    executor = of.executor(target, True)
    expect_ways(executor, asked.purge_by, set_write_cache)
    return asked.run_by(executor)
