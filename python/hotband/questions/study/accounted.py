"""How large errors of studies are, as Python has it (`hb.accuracy`, `hb.blind_errors`)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.text.html import frame_html
from hotband.data.inputs.specify import texts
from hotband.execution.experiment import Executor, using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.questions.study.account import run_account
from hotband.questions.study.blind_errors import blind_errors as errors_of

if TYPE_CHECKING:
    import polars as pl

    from hotband.data.documents.study import AccountDoc, ClassErrorsDoc
    from hotband.execution.experiment.watch import Wanted

ALL = "all"
SETS = ("seen", "blind", "now")
OF_SET = ("measurements", "median_pct", "p90_pct", "largest_pct")


@dataclass(frozen=True)
class Accuracy:
    """The errors of studies, by class of figure."""

    _document: AccountDoc

    @property
    def frame(self) -> pl.DataFrame:
        """A row a study ("all" together at last) and class of figure: study, figure_class, then of figures that were
        `seen` while the models were built, of `blind` predictions, and of these figures as they are predicted `now`
        (null where there is none): seen_measurements, seen_median_pct, seen_p90_pct, seen_largest_pct, and so on;
        `intervals`, published figures whose prediction has an interval, and `inside`, those that lie in it."""
        import polars as pl

        columns = {f"{name}_{key}": pl.Int64 if key == OF_SET[0] else pl.Float64 for name in SETS for key in OF_SET}
        counts = {"intervals": pl.Int64, "inside": pl.Int64}
        schema = {"study": pl.String, "figure_class": pl.String, **columns, **counts}
        of = [*((name, one["classes"]) for name, one in self._document["studies"].items())]
        rows = [_row(name, one) for name, classes in (*of, (ALL, self._document["totals"])) for one in classes]
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def goals(self) -> pl.DataFrame:
        """What is to be reached beside what is: figures, measurements, statistic, most_pct, reached_pct, holds."""
        import polars as pl

        return pl.DataFrame(list(self._document["goals"]), infer_schema_length=None)

    def to_dict(self) -> AccountDoc:
        """All that `hotband study accuracy --json` prints; a copy. Of each study it names what is `missed`."""
        return copy.deepcopy(self._document)

    def __repr__(self) -> str:
        return f"<Accuracy of {', '.join(self._document['studies'])}>"

    def _repr_html_(self) -> str:
        names = [f"{name}_{key}" for name in SETS for key in OF_SET[:2]]
        return f"<div>{frame_html(self.frame.select('study', 'figure_class', *names))}</div>"


def _row(study: str, of: ClassErrorsDoc) -> tuple[str | float | None, ...]:
    numbers: list[float | None] = []
    for errors in (of["seen"], of["blind"], of["now"]):
        numbers += [errors["measurements"], errors["median_pct"], errors["p90_pct"], errors["largest_pct"]]
    covered = of["coverage"]
    ends = (None, None) if covered is None else (covered["intervals"], covered["inside"])
    return (study, of["figure_class"], *numbers, *ends)


@public
def accuracy(
    studies: str | Sequence[str] = (),
    *,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Accuracy:
    """Runs `studies`, all of the catalog where none is named (which takes hours), and says how large their errors are,
    by class of figure: of figures that were seen while the models were built, and of those that were predicted before.

    With a folder `out` runs are kept there, and those of this version that are there are not run again, unless `fresh`.
    `executor` as in `sweep`, `progress` as in `run`. The result has a `frame` and `goals`. Raises UserError,
    KeyboardInterrupt where it is stopped.
    """
    where = None if out is None else Path(out)
    with as_interrupt(), using(executor):
        chosen = texts(studies, "studies")
        return Accuracy(run_account(chosen, where, fresh, lambda _: None, lambda title: watch.watch(title, progress)))


def blind_errors() -> pl.DataFrame:
    """How far predictions were off that were made before the published figure was seen: a row a study ("all" at last)
    and class of figures: study, figures, measurements, median_pct, p90_pct, largest_pct. Runs nothing."""
    import polars as pl

    return pl.DataFrame([asdict(one) for one in errors_of()], infer_schema_length=None)
