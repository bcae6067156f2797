"""Readers of results to audit: Hotband's records, other tools' results, published tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hotband.base.errors import UserError, reason_of_input
from hotband.base.folders import real_path
from hotband.base.heavy import pl
from hotband.base.text.numbers import counted
from hotband.base.text.pipes import opened_result
from hotband.base.text.regular import file_text
from hotband.data import importers
from hotband.data.documents.record import RecordDoc, source_file
from hotband.data.importers import loaded, vdbench
from hotband.data.importers.files import name_of
from hotband.data.record.files import RECORD_FILE, record_file
from hotband.data.record.load import LoadedRecord, load_record, records_in
from hotband.data.results.walk import Walk, is_walked, walk
from hotband.inference.audit import shapes
from hotband.inference.audit.audited import Audited, Side
from hotband.inference.audit.comparability import measured
from hotband.inference.audit.published import COLUMNS, is_table, read_table

if TYPE_CHECKING:
    from hotband.data.record.record import Record

# Bytes of a file that contain the heading of a table or the schema of a record.
_BEGINNING = 4096


def audited_record(record: RecordDoc, series: pl.DataFrame | None = None, name: str = "") -> Audited:
    """Wrap a record from memory, named by itself unless a name is given."""
    return Audited(name or str(record["name"]), record, series)


def load_results(results: Sequence[Path | Record], skipped: list[str] | None = None) -> list[Audited]:
    """Return every result in files and folders, and records from memory, each under its own name; one that is given
    twice (through a link, or as its own import) counts once. Add to `skipped` a sentence on those, and on the other
    files of each folder. Raises UserError for the first mistake."""
    sentences = [] if skipped is None else skipped
    loaded: list[Audited] = []
    earlier: dict[Path, list[Audited]] = {}
    for result in results:
        given = [(_file_of(run), run) for run in _results_of(result, sentences)]
        new = [(file, run) for file, run in given if not (file and _is_among(run, earlier.get(file, [])))]
        loaded += [run for _, run in new]
        if len(new) < len(given):
            label = name_of(result) if isinstance(result, Path) else result.name
            sentences.append(f"{label}: {counted(len(given) - len(new), 'result')} given twice, counted once.")
        for file, run in new:
            if file:
                earlier.setdefault(file, []).append(run)
    return named(loaded)


def _file_of(run: Audited) -> Path | None:
    """Return the file that a result was read or imported from; None for a run in memory."""
    file = source_file(run.record) or run.origin
    return real_path(Path(file)) if file else None


def _is_among(run: Audited, others: Sequence[Audited]) -> bool:
    """Return whether one of the results of the same file is the same: a file may have changed since its import."""
    return any(measured(run) == measured(other) for other in others)


def audited_of(folder: Walk) -> list[Audited]:
    """Return the results of a folder, each named by its series, if there are several, and its test."""
    several = len(folder.series) > 1
    made = []
    for entry in folder.results:
        shapes.check(entry.name, entry.record.record)
        name, loaded = entry.name if several else entry.test, entry.record
        made.append(Audited(name, loaded.record, loaded.series, str(entry.path), over_time=loaded.over_time))
    return made


def _results_of(result: Path | Record, skipped: list[str]) -> list[Audited]:
    if isinstance(result, Path):
        if is_walked(result):
            folder = walk(result)
            skipped += [folder.skipped_words] if folder.skipped else []
            return audited_of(folder)
        return [audited for path in records_in(result) for audited in load_one(path)]
    loaded = result.loaded()
    shapes.check(result.name, loaded.record)
    file = source_file(loaded.record)
    name = PurePath(file).name if file else result.name
    return [Audited(name, loaded.record, loaded.series, over_time=loaded.over_time)]


def expect_once(paths: Sequence[Path]) -> None:
    """Raise UserError for a result that is given twice."""
    seen: set[Path] = set()
    for path in paths:
        file = real_path(record_file(path) if path.is_dir() else path)
        if file in seen:
            raise UserError(str(path), "", "", "is given twice; expected each result once")
        seen.add(file)


def load_sides(sides: Sequence[Sequence[Path]]) -> list[Side]:
    """Load the sides of a comparison: each has files of repeats, one result each, or folders of records. Raises
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
    """Load the repeats of one side; `seen` maps earlier results to their last side. Every side is compared only with
    the first, so further sides may share results."""
    runs: list[tuple[str, Audited]] = []
    for record_path in (record_path for path in paths for record_path in records_in(path)):
        file = real_path(record_file(record_path) if record_path.is_dir() else record_path)
        if seen.get(file) == number:
            raise UserError(
                str(record_path), "", "", "is given twice on one side; expected a separate result for each repeat"
            )
        if seen.get(file) == 0:
            itself = "is on both sides; expected another result, because a result does not differ from itself"
            raise UserError(str(record_path), "", "", itself)
        seen[file] = number
        loaded = load_one(record_path)
        if len(loaded) != 1:
            apart = "expected one; hotband import writes each to a separate folder"
            raise UserError(str(record_path), "", "", f"holds {len(loaded)} results: {apart}")
        runs.append((str(record_path), loaded[0]))
    if len(runs) == 1:
        return Side(runs[0][1].name, [runs[0][1]])
    return Side(", ".join(map(str, paths)), [replace(run, name=record_path) for record_path, run in runs])


def _named_alone(side: Side) -> Side:
    """Name the only run of a side after the side."""
    return replace(side, runs=[replace(side.runs[0], name=side.name)]) if len(side.runs) == 1 else side


def load_one(path: Path) -> list[Audited]:
    """Load the results of one file, of a record's folder, or of vdbench's output folder."""
    if path.is_dir():
        if not vdbench.is_output(path):
            return [_of_record(load_record(path), path, real_path(path).name)]
    else:
        beginning = _beginning(path)
        if is_table(beginning):
            return read_table(path)
        if _is_record(path, beginning):
            name = real_path(path).parent.name if path.name == RECORD_FILE else path.stem
            return [_of_record(load_record(path), path, name)]
    results = []
    also = f"hotband's records, published tables (CSV with {', '.join(COLUMNS)})"
    for imported in importers.load(path, also):
        record = loaded(imported)
        results.append(Audited(path.name, record.record, record.series, str(path)))
    return results


def _of_record(record: LoadedRecord, path: Path, name: str) -> Audited:
    """Wrap a record from disk: name an imported one after its source file, ours after its folder."""
    shapes.check(str(path), record.record)
    file = source_file(record.record)
    name = PurePath(file).name if file else name
    return Audited(name, record.record, record.series, str(path), over_time=record.over_time)


def named(results: Sequence[Audited]) -> list[Audited]:
    """Make names unique: several results of one file add the name of their record."""
    counts = Counter(result.name for result in results)
    seen: Counter[str] = Counter()
    renamed = []
    for single in results:
        name = single.name
        if counts[name] > 1 and name != single.record["name"]:
            name = f"{single.name}: {single.record['name']}"
        seen[name] += 1
        renamed.append(replace(single, name=name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return renamed


def _beginning(path: Path) -> bytes:
    try:
        with opened_result(path) as file:
            return file.read(_BEGINNING)
    except OSError as error:
        raise UserError(str(path), "", "", f"cannot be read: {reason_of_input(error)}") from None
    except ValueError as error:
        raise UserError(repr(str(path)), "", "", f"cannot be read: {error}") from None


def _is_record(path: Path, beginning: bytes) -> bool:
    """Return whether it is a Hotband record: its schema is among the first keys, or `record.json` is a JSON object."""
    if b'"hotband-record"' in beginning:
        return True
    if path.name != RECORD_FILE:
        return False
    try:
        return isinstance(json.loads(file_text(path)), dict)
    except (OSError, ValueError, RecursionError):
        return False
