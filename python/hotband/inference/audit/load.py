"""Reading what is to be audited: hotband's records, other tools' results, published tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hotband.base.errors import UserError, reason_of
from hotband.base.text.pipes import opened_result
from hotband.base.text.regular import file_bytes
from hotband.data import importers
from hotband.data.documents.record import RecordDoc, source_file
from hotband.data.importers import loaded, vdbench
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.load import LoadedRecord, load_record, records_in
from hotband.data.results.walk import Walk, is_walked, walk
from hotband.inference.audit import shapes
from hotband.inference.audit.audited import Audited, Side
from hotband.inference.audit.published import COLUMNS, is_table, read_table

if TYPE_CHECKING:
    import polars as pl

    from hotband.data.record.record import Record

# The heading of a table and the schema of a record stand within this much of a file.
_BEGINNING = 4096


def audited_record(record: RecordDoc, series: pl.DataFrame | None = None, name: str = "") -> Audited:
    """A record from memory, under its own name where none is given."""
    return Audited(name or str(record["name"]), record, series)


def load_results(results: Sequence[Path | Record], skipped: list[str] | None = None) -> list[Audited]:
    """Return every result in files and folders, and records from memory, each under its own name; add to `skipped` a
    sentence on the other files of each folder. Raises UserError for the first mistake."""
    return named([one for result in results for one in _results_of(result, [] if skipped is None else skipped)])


def audited_of(found: Walk) -> list[Audited]:
    """Return the results of a folder, each named by its series, if there are several, and its test."""
    several = len(found.series) > 1
    made = []
    for one in found.results:
        shapes.check(one.name, one.record.record)
        name, loaded_one = one.name if several else one.test, one.record
        made.append(Audited(name, loaded_one.record, loaded_one.series, str(one.path), health=loaded_one.health))
    return made


def _results_of(result: Path | Record, skipped: list[str]) -> list[Audited]:
    if isinstance(result, Path):
        if is_walked(result):
            found = walk(result)
            skipped += [found.skipped_words] if found.skipped else []
            return audited_of(found)
        return [one for place in records_in(result) for one in load_one(place)]
    loaded = result.loaded()
    shapes.check(result.name, loaded.record)
    file = source_file(loaded.record)
    return [Audited(PurePath(file).name if file else result.name, loaded.record, loaded.series, health=loaded.health)]


def expect_once(paths: Sequence[Path]) -> None:
    """Raises UserError for a result that is given twice."""
    seen: set[Path] = set()
    for path in paths:
        file = (path / RECORD_FILE if path.is_dir() else path).resolve()
        if file in seen:
            raise UserError(str(path), "", "", "is given twice; expected another result, or once")
        seen.add(file)


def load_sides(sides: Sequence[Sequence[Path]]) -> list[Side]:
    """What is compared: of each side the files of its repeats, one result each, or folders of records. Raises
    UserError."""
    seen: dict[Path, int] = {}
    loaded = [_side(paths, n, seen) for n, paths in enumerate(sides)]
    counts = Counter(side.name for side in loaded)
    named_apart = [
        side if counts[side.name] == 1 else replace(side, name=", ".join(map(str, paths)))
        for side, paths in zip(loaded, sides, strict=True)
    ]
    return [_named_alone(side) for side in named_apart]


def _side(paths: Sequence[Path], number: int, seen: dict[Path, int]) -> Side:
    """The repeats of one side; `seen` has the results of all sides before, and the last that they are on. Every side is
    compared with the first alone, so that further ones may share results."""
    runs: list[tuple[str, Audited]] = []
    for place in (place for path in paths for place in records_in(path)):
        file = (place / RECORD_FILE if place.is_dir() else place).resolve()
        if seen.get(file) == number:
            raise UserError(str(place), "", "", "is given twice on one side; expected a result of its own for a repeat")
        if seen.get(file) == 0:
            itself = "is what it would be compared with; expected another result, for one does not differ from itself"
            raise UserError(str(place), "", "", itself)
        seen[file] = number
        own = load_one(place)
        if len(own) != 1:
            apart = "expected one; hotband import keeps each in a folder of its own"
            raise UserError(str(place), "", "", f"holds {len(own)} results: {apart}")
        runs.append((str(place), own[0]))
    if len(runs) == 1:
        return Side(runs[0][1].name, [runs[0][1]])
    return Side(", ".join(map(str, paths)), [replace(run, name=place) for place, run in runs])


def _named_alone(side: Side) -> Side:
    """A run that is a side of its own goes by the name of the side."""
    return replace(side, runs=[replace(side.runs[0], name=side.name)]) if len(side.runs) == 1 else side


def load_one(path: Path) -> list[Audited]:
    """The results of one file, of the folder of a record, or of the folder that vdbench wrote."""
    if path.is_dir():
        if not vdbench.is_output(path):
            return [_of_record(load_record(path), path, path.resolve().name)]
    else:
        beginning = _beginning(path)
        if is_table(beginning):
            return read_table(path)
        if _is_record(path, beginning):
            name = path.resolve().parent.name if path.name == RECORD_FILE else path.stem
            return [_of_record(load_record(path), path, name)]
    found = []
    also = f"hotband's records, published tables (CSV with {', '.join(COLUMNS)})"
    for imported in importers.load(path, also):
        one = loaded(imported)
        found.append(Audited(path.name, one.record, one.series, str(path)))
    return found


def _of_record(own: LoadedRecord, path: Path, name: str) -> Audited:
    """A record from disk: an imported one by the name of the file it came from, ours by that of its folder."""
    shapes.check(str(path), own.record)
    file = source_file(own.record)
    return Audited(PurePath(file).name if file else name, own.record, own.series, str(path), health=own.health)


def named(results: Sequence[Audited]) -> list[Audited]:
    """With names that differ: several results of one file take their record's name after the file's."""
    counts = Counter(result.name for result in results)
    seen: Counter[str] = Counter()
    found = []
    for one in results:
        name = one.name
        if counts[name] > 1 and name != one.record["name"]:
            name = f"{one.name}: {one.record['name']}"
        seen[name] += 1
        found.append(replace(one, name=name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return found


def _beginning(path: Path) -> bytes:
    try:
        with opened_result(path) as file:
            return file.read(_BEGINNING)
    except OSError as error:
        raise UserError(str(path), "", "", f"cannot be read: {reason_of(error)}") from None
    except ValueError as error:
        raise UserError(repr(str(path)), "", "", f"cannot be read: {error}") from None


def _is_record(path: Path, beginning: bytes) -> bool:
    """Whether it is a record of ours: its schema stands among the first keys, or in a document that is JSON."""
    if b'"hotband-record"' in beginning:
        return True
    if path.name != RECORD_FILE:
        return False
    try:
        return isinstance(json.loads(file_bytes(path)), dict)
    except (OSError, ValueError, RecursionError):
        return False
