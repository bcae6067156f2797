"""The tables of a record as polars frames: from a run in memory, or from the Parquet files next to a record.

Columns and their types are those of the files (docs/guides/records.md); `stream`, `direction`, `drive`, `state` and
`operation` are text. A frame is made on first access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.heavy import pl
from hotband.data.record.files import Table, file_key, frame_of, table_files
from hotband.data.record.parquet import read_parquet

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.finished import Finished

    Frames = dict[str, pl.DataFrame | Callable[[], pl.DataFrame]]


class Tables(Mapping[str, "pl.DataFrame"]):
    """Tables by name; each is read or built on first access."""

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
    """Return the tables of a finished run."""
    return Tables({name: _later(table) for name, table in finished.tables.items()})


def _later(table: Table) -> Callable[[], pl.DataFrame]:
    return lambda: frame_of(table)


def of_folder(file: Path, record: RecordDoc) -> Tables:
    """Return the tables that a record names next to its file; tables whose file is missing are left out.

    Raises UserError for a name that leads out of the folder; reading reports a file that is not Parquet.
    """
    folder, named = real_path(file.parent), cast("Mapping[str, object]", record.get("series") or {})
    frames: Frames = {}
    for name, text in table_files(named).items():
        path = real_path(folder / text)
        if not path.is_relative_to(folder):
            accepted = "expected a file in the record's folder"
            raise UserError(str(file), f"series.{file_key(name)}", text, accepted)
        if path.is_file():
            frames[name] = partial(read_parquet, path)
    return Tables(frames)
