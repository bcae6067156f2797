"""The frames of a sweep: one row per run, and one row per point over its seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.table import IOPS, TPS
from hotband.data.inputs.specify import setting
from hotband.data.inputs.values import ENDINGS, Value, base_of
from hotband.data.record.durability import SHARE, decides
from hotband.data.record.overload import MissedRate
from hotband.data.record.stats import FIGURES as INTERVAL_FIGURES
from hotband.data.results.sweep_rows import (
    COMMIT_NAMES,
    FURTHER,
    NAMES,
    REQUESTED,
    REQUESTED_TRANSACTIONS,
    TRANSACTION_NAMES,
    TRANSACTIONS,
    Row,
)
from hotband.data.store.columns import COLUMNS, WHOLE
from hotband.inference.beta import student_quantile
from hotband.questions.find.figures import COMMIT
from hotband.questions.slo import SLO, Judged, judge, with_rate
from hotband.questions.sweeps.plan import NOT_SET

if TYPE_CHECKING:
    from hotband.questions.find.figures import Figure
    from hotband.questions.find.question import Condition
    from hotband.questions.sweeps.sweep import Sweep

CONFIDENCE = 0.95
"""Level of the intervals of means, as in `hotband compare`."""


def runs_frame(sweep: Sweep) -> pl.DataFrame:
    """Return one row per finished run, in the order of the grid."""
    pairs = [(at, row) for at, row in zip(sweep.points, sweep.rows, strict=True) if row is not None]
    names = list(sweep.points[0]) if sweep.points else []
    columns = _coordinates(names, [at for at, _ in pairs])
    columns += [_figures(name, [row.figures.get(name) for _, row in pairs]) for name in names_of(sweep) if pairs]
    if sweep.level is not None:
        columns += _intervals([row for _, row in pairs])
    return pl.DataFrame(columns)


def names_of(sweep: Sweep) -> tuple[str, ...]:
    """Return the columns of figures; those of commits if a run flushes, of transactions if a run has them, and the
    requested rate if a run missed it."""
    return (*NAMES, *(name for name in FURTHER if any(row is not None and name in row.figures for row in sweep.rows)))


def means_frame(sweep: Sweep) -> pl.DataFrame:
    """Return one row per point: means over its seeds with their t intervals, and the intervals of its first seed."""
    groups = groups_of(sweep)
    names = [name for name in (sweep.points[0] if sweep.points else ()) if name != "seed"]
    columns = _coordinates(names, [group[0][0] for group in groups])
    columns.append(pl.Series("runs", [len(group) for group in groups], pl.Int64))
    for name in names_of(sweep):
        means = [mean_of([row.figures.get(name) for _, row in group]) for group in groups]
        for ending, index in (("", 0), ("_low", 1), ("_high", 2)):
            columns.append(pl.Series(f"{name}{ending}", [mean[index] for mean in means], pl.Float64))
    if sweep.level is not None:
        columns += _intervals([group[0][1] for group in groups])
    frame = pl.DataFrame(columns)
    judged = [judged_row(sweep.slo, row) for row in frame.iter_rows(named=True)]
    # A point that misses its rate meets nothing.
    texts = [
        ["no"] * len(point) if len(point) > len(sweep.slo) else [item.verdict for item in point] for point in judged
    ]
    verdicts = [
        pl.Series(condition.text, [point[at] for point in texts], pl.String) for at, condition in enumerate(sweep.slo)
    ]
    return frame.with_columns(verdicts)


def groups_of(sweep: Sweep) -> list[list[tuple[Mapping[str, Value], Row]]]:
    """Return the finished runs of each point, one per seed, in the order of `means_frame`."""
    groups: dict[tuple[str, ...], list[tuple[Mapping[str, Value], Row]]] = {}
    for at, row in zip(sweep.points, sweep.rows, strict=True):
        if row is not None:
            key = tuple(repr(value) for name, value in at.items() if name != "seed")
            groups.setdefault(key, []).append((at, row))
    return list(groups.values())


def judged_row(slo: Sequence[Condition], row: Mapping[str, float | None]) -> tuple[Judged, ...]:
    """Return whether a point meets an objective, by the interval of its predictions or else of its seeds. Raises
    UserError for a figure that rows do not have."""

    def value(figure: Figure) -> float | None:
        cell = row.get(judged_column(figure, row))
        return None if cell is None else cell * figure.document_scale

    def name(figure: Figure) -> str:
        return str(figure) if judged_column(figure, row) == column_of(figure) else f"{COMMIT} {figure}"

    def ends(figure: Figure) -> tuple[float, float] | None:
        for ending in ("_interval", ""):
            low, high = (row.get(f"{judged_column(figure, row)}{ending}_{end}") for end in ("low", "high"))
            if low is not None and high is not None:
                return low * figure.document_scale, high * figure.document_scale
        return None

    return with_rate(judge(slo, value, ends, name), _missed(row))


def _missed(row: Mapping[str, float | None]) -> MissedRate | None:
    """Return the rate that a point missed."""
    for requested, served, unit in ((REQUESTED, "iops", IOPS), (REQUESTED_TRANSACTIONS, TRANSACTIONS, TPS)):
        asked, done = row.get(requested), row.get(served)
        if asked is not None and done is not None:
            return MissedRate(asked, done, unit.name)
    return None


def judged_column(figure: Figure, row: Mapping[str, float | None]) -> str:
    """Return the column by which a point is judged: that of the commits where they decide a latency of all I/Os."""
    plain = column_of(figure)
    of_commits = f"{COMMIT}_{plain}"
    known = row.get(f"{COMMIT}_{SHARE}")
    share = 1.0 if known is None else known
    is_theirs = not figure.side and decides(row.get(of_commits), row.get(plain), share, figure.percentile)
    return of_commits if is_theirs else plain


def column_of(figure: Figure) -> str:
    """Return the column of a figure in the frames. Raises UserError for one that rows do not have."""
    name = figure.column
    if name not in (*NAMES, *COMMIT_NAMES, *TRANSACTION_NAMES):
        accepted = (
            "is not a figure of a sweep; expected IOPS, MB/s, TPS, mean, p50, p99, p99.9, read.p99, write.p99, "
            "commit.p99 or transaction.p99"
        )
        raise UserError(SLO, "", str(figure), accepted)
    return name


def mean_of(values: Sequence[float | None]) -> tuple[float | None, float | None, float | None]:
    """Return the mean of the known values, and its t interval if there are several."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None, None
    mean = math.fsum(known) / len(known)
    if len(known) < 2:
        return mean, None, None
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1))
    half = student_quantile(len(known) - 1, (1 + CONFIDENCE) / 2) * spread / math.sqrt(len(known))
    return mean, mean - half, mean + half


def _figures(name: str, values: Sequence[float | None]) -> pl.Series:
    # As in a store, so that frames of both can be concatenated.
    if COLUMNS.get(name) == WHOLE:
        return pl.Series(name, [None if value is None else round(value) for value in values], pl.Int64)
    return pl.Series(name, values, pl.Float64)


def _intervals(rows: Sequence[Row]) -> list[pl.Series]:
    """Return two columns per figure; null if a run has no interval, as with further seeds."""
    columns = []
    for name in INTERVAL_FIGURES:
        bounds = [None if row.intervals is None else row.intervals.bounds.get(name) for row in rows]
        for index, ending in enumerate(("low", "high")):
            ends = [None if ends is None else ends[index] for ends in bounds]
            columns.append(pl.Series(f"{name}_interval_{ending}", ends, pl.Float64))
    return columns


def _coordinates(names: Sequence[str], points: Sequence[Mapping[str, Value]]) -> list[pl.Series]:
    """Return one column per coordinate, and one more for those with units: the number."""
    columns = []
    for name in names:
        values = [at[name] for at in points]
        # Records of other tools have texts as seeds.
        is_seed = name == "seed" and all(isinstance(value, int) for value in values)
        columns.append(pl.Series(name, values, pl.UInt64) if is_seed else pl.Series(name, _alike(values)))
        numbers = None if name in NOT_SET else numbers_of(values)
        if numbers is not None and numbers[0]:
            ending, scale = ENDINGS[numbers[0]]
            columns.append(pl.Series(f"{name}_{ending}", [value * scale for value in numbers[1]], pl.Float64))
    return columns


def numbers_of(values: Sequence[Value]) -> tuple[str, list[float]] | None:
    """Return the kind of values and their numbers in the base unit; None if they are not all of one kind."""
    bases = [base_of(value) for value in values]
    kinds = {base[0] for base in bases if base is not None}
    if None in bases or len(kinds) != 1:
        return None
    return kinds.pop(), [base[1] for base in bases if base is not None]


def _alike(values: list[Value]) -> list[Value]:
    """Convert values to one type for a column: truth values are on and off, mixed ones become text, integers among
    floats become floats."""
    values = [setting("", value) if isinstance(value, bool) else value for value in values]
    kinds = {type(value) for value in values}
    if len(kinds) <= 1:
        return values
    return [float(value) for value in values] if kinds == {int, float} else [str(value) for value in values]
