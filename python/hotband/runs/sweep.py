"""`Sweep`: the records of a grid of runs, what is missing of it, and one frame of all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hotband.errors import UserError
from hotband.record.record import Record

if TYPE_CHECKING:
    import polars as pl

    from hotband.draw.charts import View
    from hotband.record.document import FiguresDoc

Value: TypeAlias = str | int | float | bool
Coordinates: TypeAlias = Mapping[str, Value]
# What a frame has of every record, by the name of the column: a key of the summary, and of each direction's.
FIGURES = (
    "iops",
    "bandwidth_bytes_per_s",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p999_ns",
    "latency_max_ns",
    "queue_depth_mean",
    "errors",
)
DIRECTION_FIGURES = ("iops", "latency_mean_ns", "latency_p99_ns")


def axis(value: object) -> list[Value]:
    """One value, or the values of a list, tuple or range. Raises UserError for an empty one."""
    if isinstance(value, list | tuple | range):
        return list(value)
    return [value]  # type: ignore[list-item]  # checked where it becomes text


def grid(axes: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Every combination, the last axis varying fastest. Raises UserError for an axis without values."""
    for name, values in axes.items():
        if not values:
            raise UserError(name, "", "[]", "expected at least one value")
        if len({repr(value) for value in values}) < len(values):
            raise UserError(name, "", repr(list(values))[:60], "expected each value once")
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


@dataclass(frozen=True)
class Sweep:
    """A grid of runs: `points` are its coordinates (`target`, `workload`, a value for each setting, `seed`), `records`
    what each left, None for those that an interrupt kept from ending. Iterating gives the finished records."""

    points: tuple[Coordinates, ...]
    records: tuple[Record | None, ...]
    # Runs the points that are missing; None for a sweep that was made of records.
    _go_on: Callable[[Sequence[int]], Mapping[int, Record]] | None = None

    @property
    def complete(self) -> bool:
        """Whether every run of the grid ended."""
        return None not in self.records

    @property
    def missing(self) -> tuple[Coordinates, ...]:
        """The points that have no record."""
        return tuple(at for at, record in zip(self.points, self.records, strict=True) if record is None)

    @property
    def axes(self) -> tuple[str, ...]:
        """The coordinates that take more than one value."""
        names = list(self.points[0]) if self.points else []
        return tuple(name for name in names if len({repr(at[name]) for at in self.points}) > 1)

    def resume(self) -> Sweep:
        """The same sweep with the missing runs run; those that are there are kept. Interrupted again, it says what is
        missing still."""
        left = [index for index, record in enumerate(self.records) if record is None]
        if not left or self._go_on is None:
            return self
        found = self._go_on(left)
        records = (record or found.get(index) for index, record in enumerate(self.records))
        return Sweep(self.points, tuple(records), self._go_on)

    def __iter__(self) -> Iterator[Record]:
        return (record for record in self.records if record is not None)

    def __len__(self) -> int:
        return sum(record is not None for record in self.records)

    def __getitem__(self, index: int) -> Record:
        """The record of a point by its place in the grid. KeyError where it is missing."""
        record = self.records[index]
        if record is None:
            raise KeyError(f"the run of {dict(self.points[index])} did not end")
        return record

    def select(self, **at: Value) -> list[Record]:
        """The finished records at these coordinates, such as `select(qd=32)`. UserError for a name that is no axis."""
        known = list(self.points[0]) if self.points else []
        for name in at:
            if name not in known:
                raise UserError("select", name, str(at[name]), f"expected one of {', '.join(known)}")
        chosen = (all(point[name] == value for name, value in at.items()) for point in self.points)
        return [record for record, here in zip(self.records, chosen, strict=True) if here and record is not None]

    @property
    def frame(self) -> pl.DataFrame:
        """A row a finished run, in the order of the grid: the coordinates (as they were given), then `iops`,
        `bandwidth_bytes_per_s`, `latency_mean_ns`, `_p50_`, `_p99_`, `_p999_`, `_max_ns`, `queue_depth_mean` and
        `errors` of all I/Os, and `read_` and `write_` with `iops`, `latency_mean_ns` and `latency_p99_ns`."""
        import polars as pl

        pairs = [(at, record) for at, record in zip(self.points, self.records, strict=True) if record is not None]
        names = list(self.points[0]) if self.points else []
        columns = [pl.Series(name, _alike([at[name] for at, _ in pairs])) for name in names]
        rows = [figures_of(record) for _, record in pairs]
        numbers = list(rows[0]) if rows else []
        columns += [
            pl.Series(
                name, [row[name] for row in rows], dtype=pl.Int64 if name == "errors" else pl.Float64, strict=False
            )
            for name in numbers
        ]
        return pl.DataFrame(columns)

    def plot(self, y: str = "iops", x: str | None = None) -> View:
        """A chart (altair) of a column of the frame against an axis of numbers, a line for all other coordinates; where
        there is no such axis, a bar for each run. Raises UserError for what is no column, or where nothing ended."""
        from hotband.draw.sweep import sweep_chart

        return sweep_chart(self, y, x)

    def save(self, folder: str | Path) -> Path:
        """Writes every record to a folder of its own, `folder/0`, `folder/1` and so on by place in the grid, and the
        frame to `folder/sweep.parquet`; returns the folder. Raises UserError where it cannot be written."""
        import io

        from hotband.text.write import write_file

        path = Path(folder)
        for index, record in enumerate(self.records):
            if record is not None:
                record.save(path / str(index))
        buffer = io.BytesIO()
        self.frame.write_parquet(buffer)
        write_file(path / "sweep.parquet", buffer.getvalue())
        return path

    def __repr__(self) -> str:
        axes = f" over {', '.join(self.axes)}" if self.axes else ""
        lost = f", {len(self.missing)} missing" if self.missing else ""
        return f"<Sweep of {len(self.points)} runs{axes}{lost}>"

    def _repr_html_(self) -> str:
        from hotband.draw.sweep import sweep_html

        return sweep_html(self)


def _alike(values: list[Value]) -> list[Value]:
    """Values of one type, for a column: mixed ones become text, integers among floats floats."""
    kinds = {type(value) for value in values}
    if len(kinds) <= 1:
        return values
    return [float(value) for value in values] if kinds == {int, float} else [str(value) for value in values]


def figures_of(record: Record) -> dict[str, float | None]:
    """A record's row, with the names and units of its summary."""
    summary = record.document["summary"]
    row = {name: _number(summary, name) for name in FIGURES}
    for direction in ("read", "write"):
        of: FiguresDoc = summary["read"] if direction == "read" else summary["write"]
        row |= {f"{direction}_{name}": _number(of, name) for name in DIRECTION_FIGURES}
    return row


def _number(figures: Mapping[str, object], name: str) -> float | None:
    value = figures[name]
    return value if isinstance(value, int | float) else None
