"""Folders that a command has for itself: results of another command are not overwritten unless that is requested
(`--fresh`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hotband.base.errors import UserError, refused
from hotband.data.record.files import RECORD_FILE, REPORT_FILE
from hotband.data.record.lock import Lock
from hotband.execution.experiment.store import expect_no_experiment


def expect_out(fresh: bool, out: Path | None, option: str = "question.out") -> None:
    """Raise UserError if a folder is to be started over, and none is given."""
    if fresh and out is None:
        raise UserError("question.fresh", "", "", f"is for a folder: expected {option} DIR with it")


def expect_no_record(out: Path, option: str = "question.out", names: Sequence[str] = (RECORD_FILE,)) -> None:
    """Refuse a folder with runs, or with the record of one: a file of these names. Raises UserError."""
    expect_no_experiment(out, option)
    if any((out / name).exists() for name in names):
        raise refused(out, "contains the record of another run", option)


def expect_own_page(out: Path, written: Sequence[str]) -> None:
    """Refuse a folder with a page of another command: one that has none of the files which a command leaves next to its
    own. Raises UserError."""
    if (out / REPORT_FILE).exists() and not any((out / name).exists() for name in written):
        raise refused(out, f"holds {REPORT_FILE} of another command")


@contextmanager
def new_record(out: Path | None, option: str, fresh: bool, names: Sequence[str] = (RECORD_FILE,)) -> Iterator[None]:
    """The folder of a record that no second run gives again, such as that of served programs, locked meanwhile.
    `names` are files in which it may be. Raises UserError if one is there already and is not to be written over, and
    if `fresh` is set without a folder."""
    expect_out(fresh, out, option)
    if out is None:
        yield
        return
    with Lock(out, option):
        if not fresh:
            expect_no_record(out, option, names)
        yield
