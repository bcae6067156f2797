"""The tables of a record as polars frames: from a run in memory, or from the Parquet files beside a record.

Columns and their types are those of the files (docs/guides/records.md); `stream`, `direction`, `drive`, `state` and
`operation` are text. A frame is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.errors import UserError

if TYPE_CHECKING:
    import polars as pl

    from hotband.record.document import RecordDoc
    from hotband.runs.run import Finished

    Frames = dict[str, pl.DataFrame | Callable[[], pl.DataFrame]]

# The key of `series` in a record that names the file of a table, by the name of the table; series itself is "file".
FILE_KEYS = {
    "series": "file",
    "caches": "caches_file",
    "smart": "smart_file",
    "power": "power_file",
    "operations": "operations_file",
}
TEXTS = frozenset({"stream", "direction", "drive", "state", "operation"})
# Columns that are whole numbers are unsigned, as in the files.
WHOLE = frozenset({"time_ns", "length_ns", "latency_p99_ns", "erases_max"})
REALS = frozenset({"write_amplification", "write_amplification_total", "erases_mean", "percentage_used"})


class Tables(Mapping[str, "pl.DataFrame"]):
    """Tables by name; read or built when first asked for."""

    def __init__(self, frames: Frames) -> None:
        self._frames = dict(frames)

    def __getitem__(self, name: str) -> pl.DataFrame:
        frame = self._frames[name]
        if callable(frame):
            frame = self._frames[name] = frame()
        return frame

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self._frames)})"

    def __reduce__(self) -> tuple[type[Tables], tuple[dict[str, pl.DataFrame]]]:
        return Tables, ({name: self[name] for name in self},)


def of_run(finished: Finished) -> Tables:
    """The tables that a run left."""
    names = [one["name"] for one in finished.record["app"]["operations"]] if "app" in finished.record else []
    series = dict(finished.series)
    series["stream"] = [finished.streams[index] for index in series["stream"]]
    series["direction"] = [("read", "write")[index] for index in series["direction"]]
    found = {"series": series, "caches": finished.caches, "smart": finished.smart, "power": finished.power}
    if names:
        operation = [names[index] for index in finished.operations["operation"]]
        found["operations"] = {**finished.operations, "operation": operation}
    return Tables({name: _later(columns) for name, columns in found.items() if columns.get("time_ns")})


def _later(columns: Mapping[str, list[object]]) -> Callable[[], pl.DataFrame]:
    return lambda: frame_of(columns)


def frame_of(columns: Mapping[str, list[object]]) -> pl.DataFrame:
    """Columns as a frame, with the types that their files have."""
    import polars as pl

    def kind(name: str) -> type[pl.DataType]:
        if name in TEXTS:
            return pl.String
        whole = name in WHOLE or (name not in REALS and name.endswith(("_bytes", "_hits", "_misses", "_extents")))
        return pl.UInt64 if whole or name in ("destages", "media_ios") else pl.Float64

    return pl.DataFrame(
        [pl.Series(name, list(values), dtype=kind(name), strict=False) for name, values in columns.items()]
    )


def of_folder(file: Path, record: RecordDoc) -> Tables:
    """The tables that a record names beside its file; those whose file is missing are not among them.

    Raises UserError for a name that leads out of the folder; a file that is no Parquet is told when it is read.
    """
    folder, named = file.parent.resolve(), cast("Mapping[str, object]", record.get("series") or {})
    found: Frames = {}
    for name, key in FILE_KEYS.items():
        text = named.get(key)
        if text is None:
            continue
        path = (folder / str(text)).resolve()
        if not path.is_relative_to(folder):
            accepted = "expected a file beside the record, not one outside its folder"
            raise UserError(str(file), f"series.{key}", str(text), accepted)
        if path.is_file():
            found[name] = _reader(path)
    return Tables(found)


def _reader(path: Path) -> Callable[[], pl.DataFrame]:
    def read() -> pl.DataFrame:
        import polars as pl

        try:
            return pl.read_parquet(path, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise UserError(str(path), "", "", f"not a Parquet file that can be read: {error}") from None

    return read
