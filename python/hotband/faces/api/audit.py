"""`hb.compare`: whether one result is faster than another, from Python (docs/guides/compare.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.text.html import frame_html
from hotband.data.record.record import Record
from hotband.inference.audit.audited import Side
from hotband.inference.audit.compare import compare as compared
from hotband.inference.audit.compare import comparisons_data
from hotband.inference.audit.load import audited_record, load_sides

if TYPE_CHECKING:
    import polars as pl

    from hotband.inference.audit.compare import Comparison, ComparisonsDoc

Result: TypeAlias = "Record | str | PathLike[str]"
"""A record, or the path of one or of a result of another tool."""
DIFFERENCE = ("metric", "unit", "a", "b", "change_pct", "low_pct", "high_pct", "how", "verdict")


@dataclass(frozen=True)
class Compared:
    """Every further side against the first: `comparisons` has a `Comparison` for each."""

    comparisons: tuple[Comparison, ...]

    @property
    def verdicts(self) -> list[str]:
        """Of each further side, a sentence: what it is against the first."""
        return [f"{one.b.name} is {one.verdict} than {one.a.name}" if one.verdict in ("faster", "slower")
                else f"{one.b.name} against {one.a.name}: {one.verdict}" for one in self.comparisons]  # fmt: skip

    @property
    def frame(self) -> pl.DataFrame:
        """A row a difference: result, against, metric, unit, a, b, change_pct, low_pct and high_pct (the ends of its
        95 % interval, null where there is too little for one), how, verdict."""
        import polars as pl

        rows = [
            {"result": one.b.name, "against": one.a.name, **{name: getattr(row, name) for name in DIFFERENCE}}
            for one in self.comparisons
            for row in one.differences
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> ComparisonsDoc:
        """All that `hotband compare --json` prints."""
        return comparisons_data(self.comparisons)

    def __repr__(self) -> str:
        return f"<{'; '.join(self.verdicts)}>"

    def _repr_html_(self) -> str:
        shown = self.frame.select("result", "metric", "a", "b", "unit", "change_pct", "low_pct", "high_pct", "verdict")
        return f"<div>{frame_html(shown)}</div>"


@public
def compare(
    first: Result | Sequence[Result], *others: Result | Sequence[Result], seed: int = 1, anyway: bool = False
) -> Compared:
    """Says whether the others are faster than `first`, slower, or show no difference: IOPS and percentiles with 95 %
    intervals. A side is a record, the path of a result of any tool that is recognised, or a list of repeats of one.
    `seed` is the root of the resampling. Raises UserError where a result cannot be read, or sides were not asked the
    same, unless told to go on `anyway`."""
    if not others:
        raise UserError("others", "", "", "expected at least two sides to compare")
    side, *further = _sides([first, *others])
    return Compared(tuple(compared(side, other, seed, anyway) for other in further))


def _sides(given: Sequence[Result | Sequence[Result]]) -> list[Side]:
    """What is compared, in the order given: paths are read as the command reads them."""
    listed = [[one] if isinstance(one, Record | str | PathLike) else one for one in given]
    if not all(listed):
        raise UserError("others", "", "[]", "expected a result or more on every side")
    of_paths = [[Path(one) for one in side if not isinstance(one, Record)] for side in listed]
    if all(len(paths) == len(side) for paths, side in zip(of_paths, listed, strict=True)):
        return load_sides(of_paths)
    return [_side(side, place) for place, side in enumerate(listed)]


def _side(results: Sequence[Result], place: int) -> Side:
    """Records of this program, maybe beside results that lie in files."""
    runs = []
    for one in results:
        if isinstance(one, Record):
            runs.append(audited_record(one.to_dict(), one.series))
        else:
            runs += load_sides([[Path(one)]])[0].runs
    return Side(runs[0].name if len(runs) == 1 else f"side {place + 1}", runs)
