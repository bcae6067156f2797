"""Folders compared test by test: results whose names are the same in all folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.text.numbers import counted
from hotband.base.text.order import natural
from hotband.data.inputs.kinds import Sides
from hotband.data.record.files import record_file
from hotband.data.record.load import records_in
from hotband.data.results.walk import Walk, is_output, is_walked, walk
from hotband.inference.audit import shapes
from hotband.inference.audit.audited import Audited, Side
from hotband.inference.audit.compare import Comparison, compare
from hotband.inference.audit.finding import listed


@dataclass(frozen=True)
class Folder:
    """A folder of results as a side: its name, its runs by test, and the skipped files."""

    name: str
    tests: Mapping[str, Sequence[Audited]]
    skipped: str

    @property
    def runs(self) -> list[Audited]:
        """The runs of all tests."""
        return [run for runs in self.tests.values() for run in runs]

    @property
    def is_repeats(self) -> bool:
        """Whether all its results have the same load: repeats of one test."""
        return len({(*one.load, one.record.get("concurrency")) for one in self.runs}) == 1


def folders_of(sides: Sides) -> list[Folder] | None:
    """Return the folders, if every side is one folder that holds tests; None if they are compared as a whole. Raises
    UserError for a folder without a result."""
    paths = [side[0] for side in sides if len(side) == 1 and isinstance(side[0], Path)]
    if len(paths) < len(sides) or not all(_holds_tests(path) for path in paths):
        return None
    names = [real_path(path).name for path in paths]
    distinct = names if len(set(names)) == len(names) else [str(path) for path in paths]
    folders = [_folder(name, walk(path)) for name, path in zip(distinct, paths, strict=True)]
    by_test = any(
        is_walked(path) or (is_output(path) and len(folder.tests) > 1)
        for path, folder in zip(paths, folders, strict=True)
    )
    return folders if by_test or not all(folder.is_repeats for folder in folders) else None


def repeats_of(folders: Sequence[Folder]) -> list[Side] | None:
    """Return the folders as sides, if each holds repeats of one test; else None."""
    if not all(folder.is_repeats for folder in folders) or all(len(folder.runs) == 1 for folder in folders):
        return None
    return [Side(folder.name, folder.runs) for folder in folders]


def compared_by_test(
    folders: Sequence[Folder], seed: int, anyway: bool
) -> tuple[list[Comparison], list[str], list[str]]:
    """Return the comparisons of every test that all folders have, the names of these tests, and remarks on the others.
    Raises UserError if no test can be compared."""
    first, *others = folders
    shared = sorted((test for test in first.tests if all(test in one.tests for one in others)), key=natural)
    if not shared:
        names = "; ".join(f"{folder.name} has {listed(list(folder.tests))}" for folder in folders)
        accepted = "no test has the same name in all folders; expected files of the same names"
        raise UserError("question.sides", "", names, accepted)
    found: list[Comparison] = []
    tests: list[str] = []
    refused: list[tuple[str, UserError]] = []
    for test in shared:
        for other in others:
            try:
                found.append(compare(_side(first, test), _side(other, test), seed, anyway))
                tests.append(test)
            except UserError as error:
                refused.append((test, error))
    if not found:
        raise refused[0][1]
    return found, tests, _remarks(folders, shared, refused)


def _holds_tests(path: Path) -> bool:
    """Whether a path is a folder with several results."""
    if not path.is_dir() or record_file(path).exists():
        return False
    return is_walked(path) or is_output(path) or records_in(path) != [path]


def _folder(name: str, found: Walk) -> Folder:
    direct = real_path(found.folder).name
    tests: dict[str, list[Audited]] = {}
    for one in found.results:
        below = "" if one.series == direct else f"{one.series}/"
        shapes.check(one.name, one.record.record)
        title, loaded = f"{name}/{below}{one.test}", one.record
        run = Audited(title, loaded.record, loaded.series, str(one.path), over_time=loaded.over_time)
        tests.setdefault(f"{below}{one.shared_test}", []).append(run)
    return Folder(name, tests, found.skipped_words)


def _side(folder: Folder, test: str) -> Side:
    return Side(f"{folder.name}/{test}", list(folder.tests[test]))


def _remarks(folders: Sequence[Folder], shared: Sequence[str], refused: Sequence[tuple[str, UserError]]) -> list[str]:
    """Return which tests were not compared, and which files were skipped."""
    remarks = []
    for one in folders:
        alone = [test for test in one.tests if test not in shared]
        if alone:
            remarks.append(f"{counted(len(alone), 'test')} of {one.name} not in every folder: {listed(alone)}.")
    if refused:
        tests = list(dict.fromkeys(test for test, _ in refused))
        why = refused[0][1]
        remarks.append(f"Not compared: {listed(tests)} ({why.accepted}).")
    return [*remarks, *(f"{folder.name}: {folder.skipped}" for folder in folders if folder.skipped)]
