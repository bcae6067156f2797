"""Whether results are faster than another, slower, or show no difference (docs/guides/expect.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.question import Question, Way, asks, seed
from hotband.base.text.html import frame_html
from hotband.base.text.values import Json
from hotband.base.text.write import expect_page
from hotband.base.views import Report, view_of
from hotband.data.inputs.kinds import Records, Sides, paths_of
from hotband.inference.audit.audited import Audited, Side
from hotband.inference.audit.compare import Comparison, compare, comparisons_data
from hotband.inference.audit.load import audited_record, load_sides
from hotband.questions.compare_folders import compared_by_test, folders_of, repeats_of

DIFFERENCE = ("metric", "unit", "a", "b", "change_pct", "low_pct", "high_pct", "how", "verdict")


@dataclass(frozen=True)
class Compared:
    """Every further side against the first: `comparisons` has a `Comparison` for each. With folders, there is one for
    each of the `tests`, and `remarks` list uncompared parts."""

    comparisons: tuple[Comparison, ...]
    tests: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def verdicts(self) -> list[str]:
        """One sentence for each further side, comparing it with the first."""
        return [
            f"{side.b.name} is {side.verdict} than {side.a.name}"
            if side.verdict in ("faster", "slower")
            else f"{side.b.name} against {side.a.name}: {side.verdict}"
            for side in self.comparisons
        ]

    @property
    def frame(self) -> pl.DataFrame:
        """One row per difference: result, against, metric, unit, a, b, change_pct, low_pct and high_pct (the ends of
        its 95 % interval, null if there is too little for one), how, verdict."""
        rows = [
            {
                "result": comparison.b.name,
                "against": comparison.a.name,
                **{name: getattr(row, name) for name in DIFFERENCE},
            }
            for comparison in self.comparisons
            for row in comparison.differences
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Json]:
        """Return all that `hotband compare --json` prints."""
        return comparisons_data(self.comparisons)

    @public
    def write_html(self, path: str | Path) -> Path:
        """Write the page, one HTML file; return its path. Raises UserError if the path is wrong, OSError."""
        expect_page("path", Path(path))
        report: Report = view_of(self, "report")(self)
        return report.save(path)

    def __repr__(self) -> str:
        return f"<{'; '.join(self.verdicts)}>"

    def _repr_html_(self) -> str:
        shown = self.frame.select("result", "metric", "a", "b", "unit", "change_pct", "low_pct", "high_pct", "verdict")
        return f"<div>{frame_html(shown)}</div>"


@dataclass(frozen=True, kw_only=True)
class CompareQuestion(Question):
    """Report whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals.

    A side is a record, the path of a result of any tool that is recognised, a folder of results whose tests have the
    same names on all sides, or a list of repeats of one. Raises UserError if a result cannot be read, or loads of the
    sides differ, unless `anyway` is set.
    """

    name = "compare"
    schema = "hotband-compare"
    answers = "hotband.questions.compare:Compared"
    has_page = True

    sides: Sides = asks(
        "Records or results of other tools; put vs between the repeats of A and of B.",
        metavar="A... [vs] B...",
        positional=True,
    )
    anyway: bool = asks("Compare even if their loads differ.", default=False)
    seed: int = seed("Seed of the resampling.")

    def files(self) -> list[Path]:
        """Return the paths of the compared results."""
        return [path for side in self.sides for path in paths_of(side)]


def answer(question: CompareQuestion, _: Way) -> Compared:
    """Compare every further side with the first; folders are compared test by test. Raises UserError."""
    folders = folders_of(question.sides)
    sides = None if folders is None else repeats_of(folders)
    if folders is not None and sides is None:
        compared, tests, remarks = compared_by_test(folders, question.seed, question.anyway)
        return Compared(tuple(compared), tuple(tests), tuple(remarks))
    first, *others = sides or _sides(question.sides)
    return Compared(tuple(compare(first, other, question.seed, question.anyway) for other in others))


def _sides(given: Sides) -> list[Side]:
    """Return the compared sides, in the order given."""
    of_paths = [[result for result in side if isinstance(result, Path)] for side in given]
    if all(len(paths) == len(side) for paths, side in zip(of_paths, given, strict=True)):
        return load_sides(of_paths)
    return [_side(side, index) for index, side in enumerate(given)]


def _side(results: Records, position: int) -> Side:
    """Return a side of records in memory, which may come with results from files."""
    runs: list[Audited] = []
    for result in results:
        if isinstance(result, Path):
            runs += load_sides([[result]])[0].runs
        else:
            runs.append(audited_record(result.to_dict(), result.series))
    return Side(runs[0].name if len(runs) == 1 else f"side {position + 1}", runs)
