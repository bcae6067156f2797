"""A task on a cluster: it receives lines of runs and returns their results. Workers run no other part of Hotband."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from hotband.base.engine import version
from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.write import make_folder, write_file
from hotband.data.catalog import CATALOG_DIR
from hotband.execution.experiment.parcel import Line, Packing, Read, Reply, Told, refuse
from hotband.execution.runs.run import Prepared, execute_one, prepare, sequences

DATA = ("drives", "osds", "workloads")
"""Folders of the catalog that a run reads."""


@cache
def build() -> str:
    """Return what must be equal at both ends for equal bytes: version, engine and the catalog's files."""
    digest = hashlib.sha256()
    for path in sorted(path_ for folder in DATA for path_ in (CATALOG_DIR / folder).glob("*.toml")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{version()}, catalog {digest.hexdigest()[:12]}"


def run_lines(asked_by: str, lines: Sequence[Line], read: Read | None) -> bytes:
    """Run lines one after the other, up to the first mistake, and read each run (without `read` they are only
    checked), if Hotband is the same as on the requesting computer. Returns a `Reply` as bytes."""
    node = platform.node()
    if build() != asked_by:
        return Reply((), node, build()).packed()
    replies: list[Told] = []
    for line in lines:
        replies.append(_with_files(line, checked if read is None else partial(_run, read=read)))
        if replies[-1].mistake is not None:
            break
    return Reply(tuple(replies), node).packed()


def checked(line: Line) -> Told:
    """Return whether a line can be run, and the bytes of memory that it needs."""
    begin = time.perf_counter()
    try:
        prepared = prepared_of(line)
    except UserError as error:
        return Told(mistake=error)
    needs = sum(item.run.memory() or 0 for item in prepared)
    return Told(memory=needs, seconds=time.perf_counter() - begin)


def prepared_of(line: Line) -> list[Prepared]:
    """The runs of a line, ready to be executed. Raises UserError."""
    last = len(line.specs) - 1
    runs = [prepare(spec, is_followed=index < last) for index, spec in enumerate(line.specs)]
    sequences(runs)
    return runs


def _run(line: Line, read: Read) -> Told:
    begin, runs, ios = time.perf_counter(), [], 0
    try:
        prepared = prepared_of(line)
        for index in range(len(prepared)):
            finished = execute_one(prepared, index)
            ios += finished.ios
            runs.append(read(finished))
    except UserError as error:
        return Told(mistake=error)
    return Told(tuple(runs), ios, seconds=time.perf_counter() - begin)


def _with_files(line: Line, work: Callable[[Line], Told]) -> Told:
    """Does it where the user's files are as the runs name them: relative ones in a folder of their own, which the
    process is in meanwhile; whole paths have to be there already."""
    if not line.files:
        return work(line)
    with TemporaryFolder("files") as folder, contextlib.chdir(folder):
        for name, data in line.files.items():
            if not Path(name).is_absolute():
                make_folder(Path(name).parent)
                write_file(Path(name), data)
        try:
            _expect_same(line)
        except UserError as error:
            return Told(mistake=error)
        return work(line)


def _expect_same(line: Line) -> None:
    """Raise UserError if a file differs from the one on the requesting computer."""
    here = Packing().line(line.specs).files
    for name, data in line.files.items():
        if here.get(name) != data:
            refuse(name, f"is not the same file on {platform.node()}; expected one below the current folder")
