"""Question and result of a quick test."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.question import Ending, Question, Way, asks, fresh, invalid_ending, out, seed
from hotband.base.text.write import expect_folder
from hotband.base.views import view_of
from hotband.data.inputs.kinds import Target, Values
from hotband.execution.runs.signals import stoppable
from hotband.execution.targets.fields import OnHardware, anyway, erase, size, yes
from hotband.questions.suites.asking import Suite, expect_agreed, quick_of
from hotband.questions.suites.left import written
from hotband.questions.suites.quick import QUICK_FILE, QuickDoc, run_quick


@dataclass(frozen=True, kw_only=True)
class QuickQuestion(OnHardware, Question):
    """Test a disk, SSD or NVMe drive in a few minutes, and compare it with what the model expects.

    A real drive is only read, unless `erase` is its serial number; in a folder, a file of `size` is created. Without
    `expect`, figures are compared with the catalog's drive that has the device's model number. Raises UserError for a
    mistake, KeyboardInterrupt if it is stopped.
    """

    name = "quick"
    schema = "hotband-quick"
    answers = "hotband.questions.suites.looked:QuickResult"
    runs = True
    has_executor = False
    has_page = True

    on: Target = asks(
        "A drive, LAYOUT:COUNTxDRIVE, a TOML file; emulated:MACHINE serves it, real:PATH measures.",
        metavar="TARGET",
        positional=True,
    )
    duration: str = asks("Total time.", default="5 min", metavar="TIME", unit="s", called="for")
    expect: str | None = asks(
        "The product it should be, whose predicted figures are shown next to the measured ones.",
        default=None,
        metavar="PRODUCT",
    )
    settings: Values = asks("Change a value of a model.", default=(), metavar="KEY=VALUE")
    picture: Path | None = asks(
        "A picture to paste: sequential and random reads and writes in four rows.",
        default=None,
        metavar="FILE.png",
    )
    erase: str | None = erase()
    size: str | None = size()
    yes: bool = yes()
    anyway: bool = anyway()
    seed: int = seed()
    out: Path | None = out()
    fresh: bool = fresh()

    def written(self, found: QuickResult, page: Path | None) -> list[str]:
        """Write the result into the folder, too."""
        pictures = [] if self.picture is None else [found.picture(self.picture)]
        return [f"Written: {path}" for path in [*found.write(self.out, page), *pictures]]

    def ending(self, result: QuickResult) -> Ending | None:
        """Return the exit code of an invalid result."""
        return invalid_ending(result.answer)


def answer(question: QuickQuestion, way: Way) -> QuickResult:
    """Return what was found. Raises UserError, NotAgreed, KeyboardInterrupt if it is stopped."""
    if question.picture is not None:
        expect_picture("question.picture", question.picture)
    can_ask = way.can_ask(question.yes)
    suite = Suite(
        question.on, question.settings, question.hardware(None), question.seed, question.out, question.fresh, can_ask
    )
    look = quick_of(suite, time=question.duration, expect=question.expect, pictured=question.picture is not None)
    expect_agreed(look, look.writes, question.yes, way)
    with stoppable() if way.on_terminal else nullcontext():
        return QuickResult(run_quick(look, watch=way.watch))


def expect_picture(field: str, path: Path) -> None:
    """Raise UserError for a path that no picture can be written to."""
    if path.suffix.lower() != ".png":
        raise UserError(field, "", str(path), "expected a file that ends in .png")
    if path.is_dir():
        raise UserError(field, "", str(path), "is a folder; expected a file")
    expect_folder(field, path)


@dataclass(frozen=True)
class QuickResult:
    """A quick look. `document` is its JSON (`hotband.questions.suites.quick.QuickDoc`)."""

    document: QuickDoc

    @property
    def answer(self) -> list[str]:
        """Return what the drive is good at, whether its writes keep their rate, and whether it is as expected and
        healthy."""
        return self.document["answer"]

    @property
    def figures(self) -> pl.DataFrame:
        """Return one row per load: name, value, unit (B/s, IOPS, ns), expected, verdict."""
        keys = ("name", "value", "unit", "expected", "verdict")
        rows = [{key: dict(load)[key] for key in keys} for load in self.document["loads"]]
        numbers = {"value": pl.Float64, "expected": pl.Float64}
        return pl.DataFrame(rows, schema={key: numbers.get(key, pl.Utf8) for key in keys})

    @public
    def report(self, path: str | PathLike[str]) -> Path:
        """Writes its page. Raises UserError for a path that cannot be written."""
        page: Path = view_of(self, "page")(self.document, Path(path))
        return page

    @public
    def picture(self, path: str | PathLike[str]) -> Path:
        """Write the picture of four rows, a PNG. Raises UserError if the look was made without `picture`, or for a path
        that cannot be written."""
        expect_picture("path", Path(path))
        if "picture" not in self.document:
            raise UserError(
                "path", "", str(path), "the test lacks loads of the picture; expected a quick test with picture="
            )
        drawn: Path = view_of(self, "picture")(self.document, Path(path))
        return drawn

    @public
    def write(self, out: Path | None, page: Path | None) -> list[Path]:
        """Writes the results of a quick test: `quick.json` and `report.html` into a folder, and a page anywhere. Raises
        UserError, OSError."""
        return written(QUICK_FILE, self.document, self.report, out, page)

    def to_dict(self) -> QuickDoc:
        """Return what `hotband measure quick --json` prints."""
        return self.document
