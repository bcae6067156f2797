"""`Sweep`: the runs of a grid, the missing ones, one frame of all, means over seeds, and the answer in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.schema import with_schema
from hotband.base.text.write import make_folder, write_file
from hotband.base.views import Report, View, self_contained, view_of
from hotband.data.inputs.values import Value
from hotband.data.record.record import Record
from hotband.data.results.sweep_rows import Kept, Row, row_of
from hotband.questions.find.question import Condition
from hotband.questions.sweeps.frames import means_frame, runs_frame
from hotband.questions.sweeps.plan import Coordinates

MOST_NAMED = 20
"""Most values of an axis that an error message names."""


@dataclass(frozen=True)
class Sweep:
    """A grid of runs: `points` are its coordinates (`target`, `workload`, a value for each setting, `seed`), `records`
    has the record of each; None for unfinished runs and, if only rows are stored, for all. Iteration yields the
    records. `rows` has the frame's values of each run, `level` the percentage of its intervals; `duration` and `events`
    are those that all runs were given, `slo` the conditions that points are judged by."""

    points: tuple[Coordinates, ...]
    records: tuple[Record | None, ...]
    rows: tuple[Row | None, ...] = ()
    level: float | None = None
    duration: str | None = None
    events: tuple[str, ...] = ()
    # Runs the missing points; None for a sweep that was made from records.
    _go_on: Callable[[Mapping[int, Kept]], Sweep] | None = None
    slo: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if not self.rows:
            rows = tuple(None if record is None else row_of(record.document) for record in self.records)
            object.__setattr__(self, "rows", rows)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the function that continues the sweep: a pickled sweep has only its results."""
        return {**self.__dict__, "_go_on": None}

    @property
    def complete(self) -> bool:
        """Return whether every run of the grid is finished, with its requested intervals."""
        return not self.missing

    @property
    def missing(self) -> tuple[Coordinates, ...]:
        """Return the points that did not run, or lack their intervals."""
        return tuple(self.points[index] for index in self._left())

    def _left(self) -> list[int]:
        first = self.points[0].get("seed") if self.points else None
        lacks = [
            row is None or (self.level is not None and at.get("seed") == first and row.intervals is None)
            for at, row in zip(self.points, self.rows, strict=True)
        ]
        return [index for index, is_missing in enumerate(lacks) if is_missing]

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the coordinates with more than one value."""
        names = list(self.points[0]) if self.points else []
        return tuple(name for name in names if len({repr(at[name]) for at in self.points}) > 1)

    def resume(self) -> Sweep:
        """Run the missing points, and return the whole sweep; finished runs stay. If interrupted again, it lists the
        runs still missing."""
        if self.complete or self._go_on is None:
            return self
        pairs = enumerate(zip(self.rows, self.records, strict=True))
        return self._go_on({index: Kept(row, record) for index, (row, record) in pairs if row is not None})

    def __iter__(self) -> Iterator[Record]:
        return (record for record in self.records if record is not None)

    def __len__(self) -> int:
        return sum(row is not None for row in self.rows)

    def __getitem__(self, index: int) -> Record:
        """Return the record of a point by its index in the grid. Raises KeyError if it is missing, or was not
        stored."""
        record = self.records[index]
        if record is None:
            why = "did not end" if self.rows[index] is None else "left a row; records were not kept"
            raise KeyError(f"the run of {dict(self.points[index])} {why}")
        return record

    def select(self, **at: Value) -> list[Record]:
        """Return the finished records at these coordinates, such as `select(qd=32)`. Raises UserError for a name that
        is not an axis, and for a value that no run has."""
        known = list(self.points[0]) if self.points else []
        for name, value in at.items():
            if name not in known:
                raise UserError("select", name, str(value), f"expected one of {', '.join(known)}")
            values = list(dict.fromkeys(point[name] for point in self.points))
            if value not in values:
                few = ", ".join(map(repr, values[:MOST_NAMED])) + (", ..." if len(values) > MOST_NAMED else "")
                raise UserError("select", name, repr(value), f"no run has it; expected one of {few}")
        chosen = (all(point[name] == value for name, value in at.items()) for point in self.points)
        return [record for record, here in zip(self.records, chosen, strict=True) if here and record is not None]

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per finished run, in the order of the grid: the coordinates (as they were given, truth
        values as on and off; one with units also as a number, `bs_bytes`, `think_ns`), then `iops`,
        `bandwidth_bytes_per_s`, `latency_mean_ns`, `_p50_`, `_p99_`, `_p999_`, `_max_ns`, `queue_depth_mean` and
        `errors` of all I/Os, and `read_` and `write_` with `iops`, `latency_mean_ns` and `latency_p99_ns`. If a run
        flushes, `commit_latency_mean_ns`, `_p50_`, `_p99_` and `_p999_ns` are those of a write with its flush. With
        intervals also `iops_interval_low` and so on."""
        return runs_frame(self)

    @property
    def means(self) -> pl.DataFrame:
        """Return one row per point, over its seeds: the coordinates, `runs`, the mean of each figure under its name
        and, if there are several runs, its 95 % t interval as `iops_low`, `iops_high`; null if there is one run. With
        an objective there is a column per condition, named after it: yes, likely (only in a part of the interval) or
        no."""
        return means_frame(self)

    @property
    def answers(self) -> list[str]:
        """Return the answer in a few sentences: the best machine in each range, crossings and saturation of
        curves."""
        return list(view_of(self, "answers")(self))

    @public
    def report(self, path: str | Path) -> Path:
        """Write the page of the sweep, one HTML file; return its path. Raises UserError if no run finished or the path
        is wrong, OSError."""
        report: Report = view_of(self, "report")(self)
        return report.save(path)

    def to_dict(self) -> dict[str, object]:
        """Return the output of `hotband sweep --json`: the answers and the rows of the frames."""
        document = {"answers": self.answers, "runs": self.frame.to_dicts(), "points": self.means.to_dicts()}
        return with_schema(document, "hotband-sweep-answers")

    @public
    def write_frame(self, path: str | Path) -> None:
        """Write the frame as Parquet. Raises UserError, OSError."""
        import io

        buffer = io.BytesIO()
        self.frame.write_parquet(buffer)
        write_file(Path(path), buffer.getvalue())

    @public
    def plot(self, y: str = "iops", x: str | None = None) -> View:
        """Return a chart (altair) of a column of the frame against a numeric axis, with a line for each combination of
        the other coordinates; without such an axis, a bar for each run. Against another figure, as in
        `plot("latency_p99_ns", x="iops")`, lines go through the swept values. Raises UserError for an unknown column,
        or if no run finished."""
        drawn: View = view_of(self, "chart")(self, y, x)
        return self_contained(drawn)

    @public
    def save(self, folder: str | Path) -> Path:
        """Write every record to its own folder, `folder/0`, `folder/1` and so on by index in the grid, and the frame to
        `folder/sweep.parquet`; return the folder. Raises UserError if it cannot be written."""
        path = Path(folder)
        make_folder(path)
        for index, record in enumerate(self.records):
            if record is not None:
                record.save(path / str(index))
        self.write_frame(path / "sweep.parquet")
        return path

    def __repr__(self) -> str:
        axes = f" over {', '.join(self.axes)}" if self.axes else ""
        lost = f", {len(self.missing)} missing" if self.missing else ""
        return f"<Sweep of {len(self.points)} runs{axes}{lost}>"

    def _repr_html_(self) -> str:
        return str(view_of(self, "html")(self))
