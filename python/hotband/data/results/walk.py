"""Folders of results: a sub-folder is a series (a drive), the files in it are tests.

Files of fio, vdbench, DiskSpd, Iometer and HdrHistogram and the records of Hotband are recognised by content. A folder
below a series is part of the name of its tests. Every other file is skipped and counted by reason. Left out: hidden
files, links to folders and to results in the folder, and published tables.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.text.numbers import counted
from hotband.base.text.order import natural
from hotband.data.documents.record import RecordDoc, source_file
from hotband.data.importers import loaded, tools, vdbench
from hotband.data.importers.files import name_of, read_beginning
from hotband.data.importers.fio.logs import is_log
from hotband.data.record.files import record_file
from hotband.data.record.imported import Imported
from hotband.data.record.load import LoadedRecord, load_record

NO_RESULT, EMPTY, DAMAGED, STRAY_LOG = "not a result", "empty", "damaged", "a log without its result"
LINK = "a link to another result"
STUDY_FILES = ("study.toml", "result.json")
"""A folder with either of these belongs to a study, which has a comparison of its own."""
MOST_NAMED = 2
"""Files that the line of skipped ones names."""


@dataclass(frozen=True)
class FolderResult:
    """A result in a folder: its series and its test, the file or folder it is in, and its record. `imported` is what
    the importer read; None for a record of Hotband. `repeats` is the test that it repeats with other results, such as
    `read` of `read_run1` and `read_run2`; empty if it is the only one."""

    series: str
    test: str
    path: Path
    record: LoadedRecord
    imported: Imported | None = None
    repeats: str = ""

    @property
    def shared_test(self) -> str:
        """The test, the same for all its repeats."""
        return self.repeats or self.test

    @property
    def name(self) -> str:
        """The name among all results of the folder."""
        return f"{self.series}/{self.test}"


@dataclass
class Walk:
    """The results of a folder in the natural order of their names, and the files that are none, by reason."""

    folder: Path
    results: list[FolderResult] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)

    @property
    def series(self) -> list[str]:
        """The series, each once."""
        return list(dict.fromkeys(result.series for result in self.results))

    @property
    def tests(self) -> list[str]:
        """The tests, each once."""
        return sorted(dict.fromkeys(result.shared_test for result in self.results), key=natural)

    @classmethod
    def merged(cls, walks: Sequence[Walk]) -> Walk:
        """Join the results of several folders; series of one name are distinguished by their folders."""
        counts = Counter(series for part in walks for series in part.series)
        joined = cls(walks[0].folder)
        for part in walks:
            for result in part.results:
                alike = counts[result.series] > 1
                series = name_of(part.folder / result.series) if alike else result.series
                joined.results.append(replace(result, series=series))
            for reason, names in part.skipped.items():
                joined.skipped.setdefault(reason, []).extend(names)
        return joined

    def skip(self, path: Path, reason: str) -> None:
        """Count a file that is not a result."""
        inside = path.relative_to(self.folder)
        self.skipped.setdefault(reason, []).append(name_of(inside if inside.parts else Path(path.name)))

    @property
    def skipped_words(self) -> str:
        """The files that are no results, in a sentence; empty if there are none."""
        count = sum(map(len, self.skipped.values()))
        return f"Skipped {counted(count, 'file')}: {self._reasons()}." if count else ""

    def _reasons(self) -> str:
        parts = []
        for reason, names in self.skipped.items():
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            parts.append(f"{len(names)} {reason} ({', '.join(names[:MOST_NAMED])}{more})")
        return ", ".join(parts)

    def expect_results(self) -> None:
        """Raise UserError if the folder has no result."""
        if not self.results:
            why = self._reasons() or "no file in it"
            accepted = f"expected results of {', '.join(tools())}, or Hotband's records"
            raise UserError(name_of(self.folder), "", "", f"contains no result: {why}; {accepted}")


def is_walked(path: Path) -> bool:
    """Return whether a path is a folder whose results have to be collected: neither a record nor a study, and not only
    the output of vdbench, with results of other tools in it. If some were imported into the same folder, its records
    are its results, or they would count twice."""
    if not path.is_dir() or record_file(path).exists() or any((path / name).is_file() for name in STUDY_FILES):
        return False
    files = (file for container in _containers(path) for file in container.files)
    if is_output(path):
        return any(is_foreign(file) and not vdbench.belongs(file) for file in files)
    if not any(is_foreign(file) for file in files):
        return False
    return not any(container.kind == "record" and _is_imported(container.folder) for container in _containers(path))


def _is_imported(folder: Path) -> bool:
    try:
        return "source" in load_record(folder).record
    except UserError:
        return False


def walk_of_series(path: Path) -> Walk | None:
    """Return the results of a folder whose sub-folders are series: of other tools, several run definitions of vdbench,
    or records of at least two series with a test of the same name; None for any other path. Raises UserError."""
    if is_walked(path):
        return walk(path)
    if not path.is_dir() or record_file(path).exists():
        return None
    if is_output(path):
        found = walk(path)
        return found if len(found.results) > 1 else None
    if any((path / name).is_file() for name in STUDY_FILES):
        return None
    inside = [container.folder.relative_to(path).parts for container in _containers(path) if container.kind == "record"]
    series = {parts[0] for parts in inside}
    tests = [parts[1:] for parts in inside]
    deep = len(series) > 1 and all(tests) and len(set(tests)) < len(tests)
    return walk(path) if deep else None


def series_in(folder: Path) -> list[Path]:
    """Return the sub-folders of a folder that hold results, if there are several."""
    if not folder.is_dir() or is_output(folder):
        return []
    inside = [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != "."]
    series = [path for path in inside if is_walked(path) or is_output(path)]
    return sorted(series, key=lambda path: natural(path.name)) if len(series) > 1 else []


def walk(folder: Path) -> Walk:
    """Collect the results of a folder. Raises UserError if there are none."""
    result = Walk(folder)
    containers = list(_containers(folder))
    links = _links(containers)
    for link in sorted(links):
        result.skip(link, LINK)
    for container in containers:
        without_links = replace(container, files=[path for path in container.files if path not in links])
        for path, record, imported in _read(without_links, result):
            result.results.append(FolderResult("", "", path, record, imported))
    result.expect_results()
    result.results = sorted(_repeated(_named(result)), key=lambda entry: (natural(entry.series), natural(entry.test)))
    return result


@dataclass(frozen=True)
class _Container:
    """A folder of the tree: a record of Hotband, the output of vdbench, or a folder with files to recognise."""

    folder: Path
    files: Sequence[Path] = ()
    kind: str = "files"


def _containers(folder: Path) -> Iterator[_Container]:
    """Yield the folders of a tree in order; nothing below a record or a study. Raises UserError."""
    for current, folders, files in os.walk(folder):
        here = Path(current)
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=natural)
        if record_file(here).exists():
            folders.clear()
            yield _Container(here, kind="record")
            continue
        if here != folder and any(name in files for name in STUDY_FILES):
            folders.clear()
            continue
        present = [here / name for name in sorted(files, key=natural) if not name.startswith(".")]
        kind = "vdbench" if vdbench.has_results(present) else "files"
        yield _Container(here, [path for path in present if path.is_file()], kind)


def _links(containers: Sequence[_Container]) -> set[Path]:
    """Return the links among files that lead to another of them, such as `latest.json`."""
    files = [path for container in containers for path in container.files]
    reached = {path: real_path(path) for path in files}
    # A file comes before the links to it, and one of several links before the others.
    first: dict[Path, Path] = {}
    for path in sorted(files, key=Path.is_symlink):
        first.setdefault(reached[path], path)
    return set(files) - set(first.values())


def is_output(folder: Path) -> bool:
    """Return whether a folder is one that vdbench wrote; False for one that cannot be read."""
    try:
        return vdbench.is_output(folder)
    except OSError:
        return False


def is_foreign(file: Path) -> bool:
    """Return whether another tool wrote a file."""
    try:
        beginning = read_beginning(file)
    except UserError:
        return False
    return any(tool.recognises(beginning) for tool in tools().values())


_Read = tuple[Path, LoadedRecord, Imported | None]


def _read(container: _Container, result: Walk) -> list[_Read]:
    """Return the results of a container; count its other files."""
    if container.kind == "record":
        try:
            return [(container.folder, load_record(container.folder), None)]
        except UserError:
            result.skip(record_file(container.folder), DAMAGED)
            return []
    by_tool: dict[str, list[Path]] = {}
    of_vdbench = container.kind == "vdbench"
    for path in container.files:
        if of_vdbench and vdbench.belongs(path):
            continue
        if (tool := _tool_of(path, result)) is not None:
            by_tool.setdefault(tool, []).append(path)
    read = _tried(vdbench.read, container.folder, result) if of_vdbench else []
    for tool, paths in by_tool.items():
        importer = tools()[tool].read
        if tool == "fio":
            read += _fio(importer, paths, result)
        else:
            read += [read_ for path in paths for read_ in _tried(importer, path, result)]
    return read


def _tool_of(path: Path, result: Walk) -> str | None:
    try:
        beginning = read_beginning(path)
    except UserError:
        result.skip(path, DAMAGED)
        return None
    tool = next((name for name, tool_ in tools().items() if tool_.recognises(beginning)), None)
    if tool is None:
        result.skip(path, NO_RESULT if beginning.strip() else EMPTY)
    return tool


def _tried(read: Callable[[Sequence[Path]], list[Imported]], path: Path, result: Walk) -> list[_Read]:
    try:
        return [(path, loaded(imported), imported) for imported in read([path])]
    except UserError:
        result.skip(path, DAMAGED)
        return []


def _fio(read: Callable[[Sequence[Path]], list[Imported]], paths: Sequence[Path], result: Walk) -> list[_Read]:
    """Return fio's results with the logs that belong to them; documents that cannot be read are skipped, and logs
    whose result is unclear."""
    try:
        imported = read(paths)
    except UserError:
        logs = [path for path in paths if is_log(read_beginning(path))]
        documents = [path for path in paths if path not in logs and _tried(read, path, result)]
        try:
            imported = read([*documents, *logs]) if documents or logs else []
        except UserError:
            imported = read(documents) if documents else []
            for path in logs:
                result.skip(path, STRAY_LOG)
    return [(_path_of(entry.record, paths[0]), loaded(entry), entry) for entry in imported]


def _path_of(record: RecordDoc, other: Path) -> Path:
    file = source_file(record)
    return Path(file) if file else other


def _named(walk_: Walk) -> list[FolderResult]:
    """Name every result by its series and test. A file with several results adds the name of each, which is all if the
    series has one file."""
    places = [_place(result, walk_.folder) for result in walk_.results]
    files = Counter(places)
    of_series = Counter(series for series, _ in files)
    named = []
    taken: Counter[tuple[str, str]] = Counter()
    for entry, (series, stem) in zip(walk_.results, places, strict=True):
        record_name = entry.record.record["name"]
        test = stem
        if files[series, stem] > 1 or not stem:
            test = record_name if of_series[series] == 1 or not stem else f"{stem}: {record_name}"
        taken[series, test] += 1
        again = taken[series, test]
        named.append(replace(entry, series=series, test=test if again == 1 else f"{test} ({again})"))
    return named


RUN = re.compile(
    r"(?:[ _.-]*\(?(?:run|rep|repeat|iter|iteration|trial|try|pass|round)[ _.#-]*|[ _.#-]+\(?)\d+\)?$", re.IGNORECASE
)
"""The number of a run behind the name of a test or a folder: `read_run2`, `read-3`, `run 1`, `read (2)`; not that of
`qd1` or `disk1`."""


def _repeated(results: Sequence[FolderResult]) -> list[FolderResult]:
    """Return the results with the test that they repeat: names that differ by the number of a run, with equal
    requests. Repeats in one series have the same name in the others."""
    by_name: dict[tuple[str, str], list[FolderResult]] = {}
    for entry in results:
        parts = [RUN.sub("", part) for part in entry.test.split("/")]
        shared = "/".join(part for part in parts if part) or entry.record.record["name"]
        by_name.setdefault((entry.series, shared), []).append(entry)
    alike = {key for key, entries in by_name.items() if _is_one_request(entry.record.record for entry in entries)}
    repeated = {shared for series, shared in alike if len(by_name[series, shared]) > 1}
    return [
        replace(entry, repeats=shared) if shared in repeated and (series, shared) in alike else entry
        for (series, shared), entries in by_name.items()
        for entry in entries
    ]


def _is_one_request(records: Iterable[RecordDoc]) -> bool:
    """Return whether runs have the same request and target, as far as their records state it."""
    requests = {_request(record) for record in records}
    return len(requests) == 1 and None not in requests


def _request(record: RecordDoc) -> str | None:
    """Return the request of a run as text that can be compared; None if its record does not state it."""
    source, spec = record.get("source"), record.get("spec") or {}
    requested = (source.get("asked") if source else None) or {
        key: spec.get(key) for key in ("machine", "workload", "set")
    }
    if all(value is None for value in requested.values()):
        return None
    return json.dumps([requested, source and source.get("target")])


def _place(result: FolderResult, folder: Path) -> tuple[str, str]:
    """Return the series of a result, and the name that its place in the series gives it."""
    is_file = result.path.is_file()
    try:
        inside = result.path.relative_to(folder)
    except ValueError:
        inside = Path(result.path.name)
    parts = [*inside.parts[:-1], inside.stem if is_file else inside.name] if inside.parts else []
    is_output = not is_file and result.imported is not None
    if parts and not RUN.sub("", parts[0]) and not parts[0].isdigit():
        # The folder of a run, `run1`: its results are repeats, not those of another drive.
        return name_of(Path(real_path(folder).name)), name_of(Path(*parts))
    if len(parts) > 1 or (is_output and parts):
        return name_of(Path(parts[0])), name_of(Path(*parts[1:])) if len(parts) > 1 else ""
    return name_of(Path(real_path(folder).name)), name_of(Path(*parts)) if parts else ""
