"""Replay the I/Os of a trace on models of a product with other values; latencies follow the order of the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.heavy import pl, tomlkit
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.write import write_file
from hotband.data.catalog import is_file
from hotband.data.documents.run import RunSpec
from hotband.data.traces.files import IO_LOG
from hotband.execution.experiment import Experiment, Tick, points_of
from hotband.inference.traces.convert import convert_trace
from hotband.questions.calibrate.model import Product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.base.arrays import Floats
    from hotband.data.documents.record_traces import ComparisonDoc
    from hotband.data.record.finished import Finished


NEAR_BYTES = 1 << 20
"""Distance from the end of the previous I/O within which an I/O is near, as in a record's comparison."""
DISTANCES = ("continuing", "near", "far")
FIRST, SECOND = "first half", "second half"
LEAST_IOS = 200
"""Least I/Os of a half: smaller ones have classes of a handful."""


@dataclass(frozen=True)
class Measured:
    """A measured trace: latencies in ms, and the class of each I/O (reads and writes by distance; -1 for others)."""

    latency_ms: Floats
    classes: NDArray[np.int64]

    @property
    def half(self) -> int:
        """I/Os of the first half."""
        return len(self.latency_ms) // 2


def class_name(number: int) -> str:
    """Return the name of a class."""
    return f"{DISTANCES[number % 3]} {('reads', 'writes')[number // 3]}"


class Replays(AbstractContextManager["Replays"]):
    """Replays of one trace; a temporary folder has their files."""

    def __init__(self, trace: Path, like: Product, jobs: int | None) -> None:
        self.trace, self.like, self.jobs = trace, like, jobs
        self._folder = TemporaryFolder("calibrate")
        self.folder = Path(self._folder.name)
        self.measured = self._read()
        self.runs = 0

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def latencies(self, points: Sequence[Mapping[str, str]], ios: int, tick: Tick | None = None) -> list[Floats]:
        """Return latencies in ms of the first I/Os for each point, which replaces or adds values of the product. Raises
        UserError for values that the product refuses, RunsInterrupted."""
        specs = [self._spec(number, point, _phase("all", ios, True)) for number, point in enumerate(points)]
        self._run(specs, tick)
        return [self._latencies_of(spec.io_log, ios) for spec in specs if spec.io_log is not None]

    def comparison(self, point: Mapping[str, str], half: str) -> ComparisonDoc:
        """Compare measured and replayed I/Os of one half (FIRST or SECOND), as in a record. Raises UserError,
        RunsInterrupted."""
        first, ios = self.measured.half, len(self.measured.latency_ms)
        phases = [_phase(FIRST, first, half == FIRST)]
        if half == SECOND:
            phases.append(_phase(SECOND, ios - first, True))
        [finished] = self._run([self._spec(0, point, "".join(phases))], None)
        return finished.record["comparison"]

    def _run(self, specs: Sequence[RunSpec], tick: Tick | None) -> list[Finished]:
        self.runs += len(specs)
        try:
            return Experiment(points_of(specs), what="").run(jobs=self.jobs, progress=tick).finished
        except UserError as error:
            raise self._in_their_files(error) from None

    def _spec(self, number: int, point: Mapping[str, str], phases: str) -> RunSpec:
        drive = self.folder / f"{number}.toml"
        write_file(drive, variant(self.like, point))
        text = f'[trace]\nfile = "{self.log}"\nissue = "after-completion"\n{phases}'
        return RunSpec(
            f"replay.{number}", str(drive), "trace", io_log=self.folder / f"{number}.parquet", workload_text=text
        )

    def _in_their_files(self, error: UserError) -> UserError:
        """Convert an error in a generated file to one in the user's file behind it."""
        if error.file == str(self.log):
            return UserError(str(self.trace), error.key, error.value, error.accepted)
        if Path(error.file).parent == self.folder:
            return UserError(self.like.name, error.key, error.value, error.accepted)
        return error

    @property
    def log(self) -> Path:
        """Path of the trace as an I/O log."""
        return self.folder / "trace.parquet"

    def _latencies_of(self, log: Path, ios: int) -> Floats:
        rows = pl.read_parquet(log, columns=["number", "latency_ns"]).sort("number")
        latencies: Floats = rows["latency_ns"].to_numpy().astype(float)[:ios] / 1e6
        if len(latencies) < ios:
            raise UserError(str(self.trace), "", "", f"only {len(latencies)} of {ios} I/Os were replayed")
        return latencies

    def _read(self) -> Measured:
        convert_trace(self.trace, self.log, IO_LOG, {})
        rows = pl.read_parquet(self.log)
        if rows["latency_ns"].null_count():
            raise UserError(str(self.trace), "", "", "has no latencies: expected a trace with latencies")
        rows = rows.sort("number") if "number" in rows.columns else rows.sort("submit_ns", maintain_order=True)
        if len(rows) < 2 * LEAST_IOS:
            raise UserError(str(self.trace), "", f"{len(rows)} I/Os", f"are too few: expected {2 * LEAST_IOS} or more")
        begins, sizes = (rows[name].to_numpy().astype(np.int64) for name in ("offset_bytes", "size_bytes"))
        ends = np.concatenate([[0], (begins + sizes)[:-1]])
        away = np.abs(begins - ends)
        distance = np.where(away == 0, 0, np.where(away < NEAR_BYTES, 1, 2))
        side = rows["direction"].replace_strict({"read": 0, "write": 1}, default=-1).to_numpy()
        classes = np.where(side < 0, -1, 3 * side + distance)
        return Measured(rows["latency_ns"].to_numpy().astype(float) / 1e6, classes)


def _phase(name: str, ios: int, measure: bool) -> str:
    return f'[[phases]]\nname = "{name}"\nios = {ios}\nmeasure = {str(measure).lower()}\n'


def variant(like: Product, point: Mapping[str, str]) -> str:
    """Return the file of a variant of a product, with replaced and added values."""
    document = tomlkit.document()
    document.add("variant_of", tomlkit.item(str(real_path(Path(like.name))) if is_file(like.name) else like.name))
    document.add("title", tomlkit.item("a disk that is fitted"))
    values = tomlkit.table(is_super_table=True)
    for key, text in {**dict(like.held), **point}.items():
        value = tomlkit.table()
        value.add("value", tomlkit.item(int(text) if text.isdigit() else text))
        value.add("source", tomlkit.item("tried by hotband measure calibrate"))
        values.add(key, value)
    document.add("values", values)
    return str(tomlkit.dumps(document))
