"""Question and result of SNIA's performance test (docs/guides/measure.md)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.question import Ending, Question, Way, asks, fresh, invalid_ending, out, seed
from hotband.base.views import view_of
from hotband.data.documents.pts import PtsDoc
from hotband.data.inputs.kinds import EachName, Target, Values
from hotband.execution.runs.signals import INTERRUPTED, stoppable
from hotband.execution.targets.fields import OnHardware, anyway, erase, purge_by, size, yes
from hotband.questions.suites.asking import Suite, expect_agreed, pts_of
from hotband.questions.suites.left import written
from hotband.questions.suites.pts import TESTS, Interrupted, run_pts
from hotband.questions.suites.pts.suite import PTS_FILE


class DriveClass(StrEnum):
    """Class of drives in the PTS."""

    enterprise = "enterprise"
    client = "client"


@dataclass(frozen=True, kw_only=True)
class PtsQuestion(OnHardware, Question):
    """Run SNIA's performance test for SSDs (PTS 2.0.2): purge, precondition, measure rounds until steady.

    `tests` are iops, throughput, latency, write-saturation, idle-recovery, cross-stimulus (all if none is named).
    Neither `quick` nor another `minute` gives a result by the specification. With `out` every run is stored there as it
    ends, and the same call continues after a stop. Raises UserError for a mistake, KeyboardInterrupt if it is
    stopped.
    """

    name = "pts"
    schema = "hotband-pts"
    answers = "hotband.questions.suites.tested:PtsResult"
    runs = True
    has_executor = False
    has_page = True

    on: Target = asks(
        "A drive, LAYOUT:COUNTxDRIVE, a TOML file; emulated:MACHINE serves it, real:PATH measures.",
        metavar="TARGET",
        positional=True,
    )
    drive_class: DriveClass = asks("The specification's class.", default=DriveClass.enterprise, called="class")
    tests: EachName = asks("These alone.", default=(), metavar="TEST[,TEST]", called="test")
    quick: bool = asks("Use a tenth of all times: a quick test, not a result.", default=False)
    minute: str | None = asks(
        "Time that one minute of it takes: a quick test, not a result.", default=None, metavar="TIME", unit="s"
    )
    threads: int | None = asks("Threads of random loads. Default: as the class requires.", default=None)
    depth: int | None = asks("Outstanding I/Os per thread.", default=None)
    sponsor: str = asks("Name of the tester, for the report's header.", default="", metavar="NAME")
    settings: Values = asks("Change a value of a model.", default=(), metavar="KEY=VALUE")
    erase: str | None = erase()
    size: str | None = size()
    purge_by: str | None = purge_by()
    set_write_cache: bool = asks(
        "real: set the drive's write cache as the class requires, and restore it.", default=False
    )
    yes: bool = yes()
    anyway: bool = anyway()
    seed: int = seed()
    out: Path | None = out()
    fresh: bool = fresh()

    def written(self, found: PtsResult, page: Path | None) -> list[str]:
        """Write the result into the folder, too."""
        return [f"Written: {path}" for path in found.write(self.out, page)]

    def ending(self, found: PtsResult) -> Ending | None:
        """Return the exit code of an interruption if one ended it, or of an invalid result."""
        if not found.is_interrupted:
            return invalid_ending(found.answer)
        tests = [name for name in TESTS if not self.tests or name in self.tests]
        count = sum(test["id"] in tests for test in found.document["tests"])
        where = f"; kept in {self.out}: the same command continues from there" if self.out is not None else ""
        return Ending(INTERRUPTED, f"interrupted; {count} of {len(tests)} tests were finished{where}")


def answer(question: PtsQuestion, way: Way) -> PtsResult:
    """Return what was found, on a terminal also if it is stopped. Raises UserError, NotAgreed, KeyboardInterrupt."""
    suite = pts_of(
        Suite(
            question.on,
            question.settings,
            question.hardware(None),
            question.seed,
            question.out,
            question.fresh,
            way.can_ask(question.yes),
        ),
        drive_class=question.drive_class,
        tests=question.tests,
        quick=question.quick,
        minute=question.minute,
        threads=question.threads,
        depth=question.depth,
        sponsor=question.sponsor,
        set_write_cache=question.set_write_cache,
    )
    expect_agreed(suite, True, question.yes, way)
    try:
        with stoppable() if way.on_terminal else nullcontext():
            return PtsResult(run_pts(suite, watch=way.watch))
    except Interrupted as stop:
        if not way.on_terminal:
            raise KeyboardInterrupt from None
        return PtsResult(stop.document, True)


@dataclass(frozen=True)
class PtsResult:
    """A PTS run. `document` is its JSON (docs/guides/measure.md)."""

    document: PtsDoc
    is_interrupted: bool = False

    @property
    def answer(self) -> list[str]:
        """Return a sentence a test."""
        return self.document["answer"]

    @property
    def compliant(self) -> bool:
        """Return whether it is a result by the specification; `document["specification"]["departures"]` says why
        not."""
        return self.document["specification"]["compliant"]

    @property
    def figures(self) -> pl.DataFrame:
        """Return one row per figure: test, name, value, unit (IOPS, B/s, ns, s)."""
        rows = [
            {"test": test["id"], "name": figure["name"], "value": figure["value"], "unit": figure["unit"]}
            for test in self.document["tests"]
            for figure in test["figures"]
        ]
        return pl.DataFrame(rows, schema={"test": pl.Utf8, "name": pl.Utf8, "value": pl.Float64, "unit": pl.Utf8})

    @public
    def report(self, path: str | PathLike[str]) -> Path:
        """Writes the report as one HTML page. Raises UserError for a path that cannot be written."""
        page: Path = view_of(self, "page")(self.document, Path(path))
        return page

    @public
    def write(self, out: Path | None, page: Path | None) -> list[Path]:
        """Writes what a run leaves: `pts.json` and `report.html` into a folder, and a page anywhere. Raises UserError,
        OSError."""
        return written(PTS_FILE, self.document, self.report, out, page)

    def to_dict(self) -> PtsDoc:
        """Return what `hotband measure pts --json` prints."""
        return self.document
