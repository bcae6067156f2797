"""Which runs are the same, where one of them is known by its row in the frame of a sweep alone.

The key of a record says spec, seed and version; a row has names, seed, settings and figures, and no key in common with
a record. They are one run where all that both have is the same, figures to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hotband.base.heavy import pa, pq
from hotband.base.text.regular import opened
from hotband.data.results.sweep_rows import NAMES
from hotband.data.store.columns import COLUMNS, Cell
from hotband.data.store.kept import Factor, Kept, factor_of, settings_of
from hotband.data.store.manifest import Part, broken, snapshot
from hotband.data.store.place import Place

COMPARED = ("workload", "target", "seed", *NAMES)
"""Columns that a row has as well as a record."""
INTERVALS = tuple(name for name in COLUMNS if "_interval_" in name and name != "interval_level_pct")
FACTOR = ("run", "factor", "text", "number", "unit")

Figures = tuple[Cell, ...]
Settings = frozenset[tuple[str, object, str]]


@dataclass(frozen=True)
class Held:
    """A run that is in the store: its key, whether its row alone is known, and the version that made it, where that is
    known."""

    run: str
    is_bare: bool
    version: Cell
    settings: Settings


class Same:
    """Finds the run of a store that is the same as another. Files are read when the first is asked for."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._held: dict[Figures, list[Held]] = {}
        self._pending: dict[Figures, list[Held]] = {}
        self._bare, self._whole, self._bounds = _Unread(place), _Unread(place), _Unread(place)
        self._intervals: dict[str, Figures] = {}

    def added(self, kept: Kept) -> None:
        """A run that was added, and is in no part yet."""
        held = Held(kept.run, not kept.document, kept.cells.get("hotband"), _settings(kept.factors))
        self._pending.setdefault(_figures(kept.cells), []).append(held)

    def put(self) -> None:
        """What was added is in a part now, beside which others may stand."""
        self._pending = {}
        for unread in (self._bare, self._whole, self._bounds):
            unread.is_behind = True

    def of(self, kept: Kept) -> str | None:
        """The key of the run that is the same, None if there is none; of two records their keys tell. Raises
        UserError for a file of the store that cannot be read."""
        self._read(self._bare, bare=True)
        if not kept.document:
            self._read(self._whole, bare=False)
        figures = _figures(kept.cells)
        found = [*self._held.get(figures, []), *self._pending.get(figures, [])]
        return next((held.run for held in found if _is_same(held, kept)), None)

    def intervals(self, run: str) -> Figures | None:
        """The intervals of a run of the parts, None if it has none. Raises UserError."""
        with self._bounds.parts() as parts:
            for part in parts:
                for row in _rows(self.place, part, "summary", ["run", *INTERVALS]):
                    found = intervals_of(row)
                    if found is not None:
                        self._intervals[row["run"]] = found
        return self._intervals.get(run)

    def _read(self, unread: _Unread, *, bare: bool) -> None:
        """Reads runs of which rows alone are known, or the others."""
        with unread.parts() as parts:
            for part in parts:
                self._read_part(part, bare=bare)

    def _read_part(self, part: Part, *, bare: bool) -> None:
        with_records = {row["run"] for row in _rows(self.place, part, "records", ["run"])}
        if bare and len(with_records) == part.runs:
            return
        factors: dict[str, list[Factor]] = {}
        for row in _rows(self.place, part, "factors", FACTOR):
            factors.setdefault(row["run"], []).append(Factor(*(row[name] for name in FACTOR[1:])))
        for row in _rows(self.place, part, "summary", ["run", "hotband", *COMPARED]):
            if (row["run"] not in with_records) == bare:
                held = Held(row["run"], bare, row["hotband"], _settings(factors.get(row["run"], ())))
                self._held.setdefault(_figures(row), []).append(held)


class _Unread:
    """The parts of a store that were not read yet."""

    def __init__(self, place: Place) -> None:
        self.place, self.is_behind = place, True
        self._seen: set[str] = set()

    @contextmanager
    def parts(self) -> Iterator[list[Part]]:
        """Those that came since this was asked last, held while they are read, so that no compaction takes them away;
        they count as read then. Raises UserError."""
        if not self.is_behind:
            yield []
            return
        with self.place.lock():
            found = [part for part in snapshot(self.place).parts if part.name not in self._seen]
            yield found
        self._seen |= {part.name for part in found}
        self.is_behind = False


def intervals_of(cells: Mapping[str, Cell]) -> Figures | None:
    """The bounds of a run's figures; None if it has none."""
    found = tuple(cells.get(name) for name in INTERVALS)
    return found if any(one is not None for one in found) else None


def _is_same(held: Held, kept: Kept) -> bool:
    """Return whether two runs of the same figures have the same version and settings, and one of them is a row
    alone."""
    if kept.document and not held.is_bare:
        return False
    version = kept.cells.get("hotband")
    if None not in (version, held.version) and version != held.version:
        return False
    own = _own_settings(kept)
    # A record may have been given further factors when it was added.
    return own == held.settings if held.is_bare else own <= held.settings


def _own_settings(kept: Kept) -> Settings:
    """What was set, without the factors that a record was given when it was added."""
    if not kept.document:
        return _settings(kept.factors)
    return _settings(factor_of(name, value) for name, value in settings_of(json.loads(kept.document)).items())


def _settings(factors: Iterable[Factor]) -> Settings:
    """Factors to be compared: quantities by their numbers, others by their texts."""
    return frozenset(
        (factor.name, factor.text if factor.number is None else factor.number, factor.unit) for factor in factors
    )


def _figures(cells: Mapping[str, Cell]) -> Figures:
    return tuple(cells.get(name) for name in COMPARED)


def _rows(place: Place, part: Part, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a table of a part. Raises UserError for a file that cannot be read."""
    found: list[dict[str, Any]] = []
    for path in (place.path / file.path for file in part.files if file.table == table):
        try:
            with opened(path) as data:
                found += pq.read_table(data, columns=list(columns)).to_pylist()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise broken(path, error) from None
    return found
