"""Detect equal runs if one of them is known only by its row in the frame of a sweep.

The key of a record consists of spec, seed and version; a row has names, seed, settings and figures, and shares no key
with a record. They are the same run if all common values are equal, figures to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hotband.data.results.sweep_rows import NAMES
from hotband.data.store.columns import COLUMNS, Cell
from hotband.data.store.manifest import Part, read_with, snapshot
from hotband.data.store.store_folder import StoreFolder
from hotband.data.store.stored_run import Factor, StoredRun, factor_of, settings_of

COMPARED = ("workload", "target", "seed", *NAMES)
"""Columns that a row has as well as a record."""
INTERVALS = tuple(name for name in COLUMNS if "_interval_" in name and name != "interval_level_pct")
FACTOR = ("run", "factor", "text", "number", "unit")

Figures = tuple[Cell, ...]
Settings = frozenset[tuple[str, object, str]]


@dataclass(frozen=True)
class Held:
    """A run in the store: its key, whether only its row is stored, and its version, if known."""

    run: str
    is_bare: bool
    version: Cell
    settings: Settings


class Same:
    """Finds the run of a store that equals another. Files are read on first use."""

    def __init__(self, store: StoreFolder) -> None:
        self.store = store
        self._held: dict[Figures, list[Held]] = {}
        self._pending: dict[Figures, list[Held]] = {}
        self._bare, self._whole, self._bounds = _Unread(store), _Unread(store), _Unread(store)
        self._intervals: dict[str, Figures] = {}

    def added(self, stored: StoredRun) -> None:
        """Record that a run was added and belongs to no part yet."""
        held = Held(stored.run, not stored.document, stored.cells.get("hotband"), _settings(stored.factors))
        self._pending.setdefault(_figures(stored.cells), []).append(held)

    def put(self) -> None:
        """Record that added runs are in a part now, and that other parts may exist."""
        self._pending = {}
        for unread in (self._bare, self._whole, self._bounds):
            unread.is_behind = True

    def of(self, stored: StoredRun) -> str | None:
        """Return the key of the equal run, None if there is none; two records are compared by key. Raises UserError for
        a file of the store that cannot be read."""
        self._read(self._bare, bare=True)
        if not stored.document:
            self._read(self._whole, bare=False)
        figures = _figures(stored.cells)
        candidates = [*self._held.get(figures, []), *self._pending.get(figures, [])]
        return next((held.run for held in candidates if _is_same(held, stored)), None)

    def intervals(self, run: str) -> Figures | None:
        """Return the intervals of a run of the parts, None if it has none. Raises UserError."""
        with self._bounds.parts() as parts:
            for part in parts:
                for row in _rows(self.store, part, "summary", ["run", *INTERVALS]):
                    bounds = intervals_of(row)
                    if bounds is not None:
                        self._intervals[row["run"]] = bounds
        return self._intervals.get(run)

    def _read(self, unread: _Unread, *, bare: bool) -> None:
        """Load either the runs stored as rows only, or the runs with full records."""
        with unread.parts() as parts:
            for part in parts:
                self._read_part(part, bare=bare)

    def _read_part(self, part: Part, *, bare: bool) -> None:
        with_records = {row["run"] for row in _rows(self.store, part, "records", ["run"])}
        if bare and len(with_records) == part.runs:
            return
        factors: dict[str, list[Factor]] = {}
        for row in _rows(self.store, part, "factors", FACTOR):
            factors.setdefault(row["run"], []).append(Factor(*(row[name] for name in FACTOR[1:])))
        for row in _rows(self.store, part, "summary", ["run", "hotband", *COMPARED]):
            if (row["run"] not in with_records) == bare:
                held = Held(row["run"], bare, row["hotband"], _settings(factors.get(row["run"], ())))
                self._held.setdefault(_figures(row), []).append(held)


class _Unread:
    """The parts of a store that were not yet read."""

    def __init__(self, store: StoreFolder) -> None:
        self.store, self.is_behind = store, True
        self._seen: set[str] = set()

    @contextmanager
    def parts(self) -> Iterator[list[Part]]:
        """Yield the parts that appeared since the last call, locked while they are read, so that no compaction removes
        them; they then count as read. Raises UserError."""
        if not self.is_behind:
            yield []
            return
        with self.store.lock():
            unread = [part for part in snapshot(self.store).parts if part.name not in self._seen]
            yield unread
        self._seen |= {part.name for part in unread}
        self.is_behind = False


def intervals_of(cells: Mapping[str, Cell]) -> Figures | None:
    """Return the bounds of a run's figures; None if it has none."""
    bounds = tuple(cells.get(name) for name in INTERVALS)
    return bounds if any(bound is not None for bound in bounds) else None


def _is_same(held: Held, stored: StoredRun) -> bool:
    """Return whether two runs with the same figures have the same version and settings, and one of them is only a
    row."""
    if stored.document and not held.is_bare:
        return False
    version = stored.cells.get("hotband")
    if None not in (version, held.version) and version != held.version:
        return False
    settings = _own_settings(stored)
    # A record may have received further factors when it was added.
    return settings == held.settings if held.is_bare else settings <= held.settings


def _own_settings(stored: StoredRun) -> Settings:
    """Return a run's settings without the factors that were added with its record."""
    if not stored.document:
        return _settings(stored.factors)
    return _settings(factor_of(name, value) for name, value in settings_of(json.loads(stored.document)).items())


def _settings(factors: Iterable[Factor]) -> Settings:
    """Return factors in comparable form: quantities by number, others by text."""
    return frozenset(
        (factor.name, factor.text if factor.number is None else factor.number, factor.unit) for factor in factors
    )


def _figures(cells: Mapping[str, Cell]) -> Figures:
    return tuple(cells.get(name) for name in COMPARED)


def _rows(store: StoreFolder, part: Part, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return rows of a table of a part. Raises UserError for a file that cannot be read."""
    paths = part.paths(store, table)
    return [row for path in paths for row in read_with(path, lambda file: file.read(list(columns)).to_pylist())]
