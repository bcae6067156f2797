"""The runs of the results store: listed, shown, and copied into folders for reports and comparisons."""

from __future__ import annotations

import re
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.write import make_folder
from hotband.data.store.columns import COLUMNS

if TYPE_CHECKING:
    from hotband.data.store.results_store import ResultsStore

KEY = re.compile(r"[0-9a-f]{16,64}")
"""The key of a run (`store/`): a hash in hexadecimal."""
MOST_LISTED = 200
"""Most runs that the page lists: a condition finds others."""


class RunDoc(TypedDict):
    """A run of the store: its key, when it was added (seconds since 1970), workload and machine, its settings, I/Os
    per second and p99 latency in ms."""

    run: str
    at: int
    workload: str
    target: str
    factors: str
    iops: float | None
    p99_ms: float | None


class ListingDoc(TypedDict):
    """Number of runs that meet a condition, and the newest of them."""

    count: int
    rows: list[RunDoc]


class Stored:
    """Runs of a store; records that are requested repeatedly are cached in `folder`."""

    def __init__(self, results: ResultsStore, folder: Path) -> None:
        self.results, self._folder = results, folder

    def listing(self, where: str) -> ListingDoc:
        """Return the runs that meet a condition in SQL, all if it is empty. Raises UserError."""
        frame = self.results.runs(where)
        return {"count": frame.height, "rows": _rows(frame.head(MOST_LISTED))}

    def folder(self, key: str) -> Path | None:
        """Return the folder with a run's record; None for a text that is not a key. Raises UserError for an unknown
        run."""
        if not KEY.fullmatch(key):
            return None
        path = self._folder / key
        if not (path / "record.json").is_file():
            record = self.results.record(key)
            make_folder(self._folder)
            record.save(path)
        return path

    def needed(self, key: str) -> Path:
        """Return the folder as `folder` does; raise UserError also for a text that is not a key."""
        folder = self.folder(key)
        if folder is None:
            raise UserError("run", "", key, "is not in the store")
        return folder


def _rows(frame: pl.DataFrame) -> list[RunDoc]:
    # A search uses `machine` for the target.
    known = {*COLUMNS, "run", "added_utc", "experiment", "machine"}
    factors = [name for name in frame.columns if name not in known and not _is_base_unit(name, frame.columns)]
    listed: list[RunDoc] = []
    for row in frame.iter_rows(named=True):
        settings = ", ".join(f"{name}={_value(row[name])}" for name in factors if row[name] is not None)
        p99, added = row["latency_p99_ns"], row["added_utc"]
        listed.append({
            "run": row["run"], "at": int(added.replace(tzinfo=UTC).timestamp()), "workload": row["workload"],
            "target": row["target"], "factors": settings, "iops": row["iops"],
            "p99_ms": None if p99 is None else p99 / 1e6,
        })  # fmt: skip
    return listed


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_base_unit(name: str, columns: list[str]) -> bool:
    """Return whether a column repeats another in its base unit: `bs_bytes` next to `bs`."""
    return any(name.startswith(f"{other}_") for other in columns if other != name)
