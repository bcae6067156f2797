"""Questions about a store of results: its contents, additions, integrity, and statements in SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.question import Ending, Question, Way, asks
from hotband.base.text.numbers import counted
from hotband.data.inputs.kinds import Paths
from hotband.data.record.record import Record
from hotband.data.record.written import record_text
from hotband.data.store.check import Checked, check
from hotband.data.store.compact import Compacted, compact
from hotband.data.store.folders import Added, add_all
from hotband.data.store.journal import left_behind
from hotband.data.store.listed import Listed, RunsListed, listed
from hotband.data.store.lookup import record_of
from hotband.data.store.store_folder import made, opened
from hotband.data.store.views import query, rows
from hotband.data.store.writer import writing

LISTED = 40
"""Runs listed by default: a screen or two."""


@dataclass(frozen=True, kw_only=True)
class StoreQuestion(Question):
    """Base of questions about one store."""

    path: Path = asks("The folder of a store.", metavar="DIR", positional=True)


def waiting(path: Path) -> str:
    """Return a sentence about runs that no part of the store contains yet."""
    journals = left_behind(opened(path).journal)
    if not journals:
        return ""
    what = counted(len(journals), "journal")
    return f"{what} with runs that are in no part yet, of writers at work or ended: hotband store compact {path}"


@dataclass(frozen=True, kw_only=True)
class ListQuestion(StoreQuestion):
    """List runs, the newest first: workload, factors, rate and latency. JSON has all columns."""

    name = "store list"
    schema = ""
    answers = "hotband.data.store.listed:RunsListed"

    where: str = asks("In SQL, such as 'qd >= 8 and latency_p99_ns < 20e6'.", default="", metavar="CONDITION")
    limit: int = asks("Number of runs to list, the last ones.", default=LISTED, least=1, most=10**9)

    def afterwards(self) -> str:
        """Return a sentence about runs that no part of the store contains yet."""
        return waiting(self.path)


def runs_of(question: ListQuestion, _: Way) -> RunsListed:
    """Return the runs. Raises UserError."""
    return listed(opened(question.path), question.where, question.limit)


@dataclass(frozen=True, kw_only=True)
class ShowQuestion(StoreQuestion):
    """Show a run of a store in full."""

    name = "store show"
    schema = ""
    answers = "hotband.data.record.record:Record"

    run: str = asks("Its key, or the first digits of its key.", metavar="RUN", positional=True)
    out: Path | None = asks("Also write its record to this folder.", default=None, metavar="DIR")

    def written_json(self, result: Record) -> str:
        """Return the record as it was written."""
        return record_text(result.document)

    def files(self) -> Sequence[Path]:
        """Return the store."""
        return (self.path,)


def record_in(question: ShowQuestion, _: Way) -> Record:
    """Return the record of a run, and write it if requested. Raises UserError, OSError."""
    record = record_of(opened(question.path), question.run)
    if question.out is not None:
        record.save(question.out)
    return record


@dataclass(frozen=True, kw_only=True)
class AddQuestion(StoreQuestion):
    """Add records to a store; create it if necessary. A run is stored once."""

    name = "store add"
    schema = "hotband-store-add"
    answers = "hotband.data.store.folders:Added"

    results: Paths = asks(
        "Records, folders of them, sweeps, results of other tools.", metavar="RECORD|FILE...", positional=True
    )
    small: bool = asks("Create a store without tables over time, with the buckets of fio.", default=False)
    experiment: str = asks("Name of the experiment that the runs belong to.", default="", metavar="TEXT")

    def document(self, result: Added) -> tuple[object, str]:
        """Return how many runs were added, and how many the store already had."""
        return {"added": result.new, "there": result.present}, self.schema


def added(question: AddQuestion, way: Way) -> Added:
    """Return the additions. Raises UserError, OSError."""
    for result in question.results:
        if not result.exists():
            raise UserError(str(result), "", "", "no such file or folder; expected records, or results of another tool")
    with writing(made(question.path, True if question.small else None)) as writer:
        return add_all(writer, question.results, question.experiment, each_thousand(way.say))


def each_thousand(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """Return a function that reports every thousand added runs."""

    def tick(done: int, total: int) -> None:
        if done and done < total and done % 1000 == 0:
            say(f"{done:,} of {total:,}")

    return tick


@dataclass(frozen=True, kw_only=True)
class CompactQuestion(StoreQuestion):
    """Merge many small files into few large ones; recover the runs of interrupted writers."""

    name = "store compact"
    schema = "hotband-store-compact"
    answers = "hotband.data.store.compact:Compacted"

    def document(self, result: Compacted) -> tuple[object, str]:
        """Return the numbers of parts."""
        return asdict(result), self.schema


def compacted(question: CompactQuestion, way: Way) -> Compacted:
    """Return the number of parts before and after. Raises UserError, OSError."""
    return compact(opened(question.path), way.say)


@dataclass(frozen=True, kw_only=True)
class CheckQuestion(StoreQuestion):
    """Verify every file by its checksum. Exit code 1 if one is damaged or missing."""

    name = "store check"
    schema = "hotband-store-check"
    answers = "hotband.data.store.check:Checked"

    def document(self, result: Checked) -> tuple[object, str]:
        """Return the findings as JSON."""
        return asdict(result), self.schema

    def afterwards(self) -> str:
        """Return a sentence about runs that no part of the store contains yet."""
        return waiting(self.path)

    def ending(self, result: Checked) -> Ending | None:
        """Return exit code 1 if a file is damaged."""
        return Ending(1) if result.damaged else None


def checked(question: CheckQuestion, _: Way) -> Checked:
    """Return the damaged files. Raises UserError."""
    return check(opened(question.path))


@dataclass(frozen=True, kw_only=True)
class SqlQuestion(Question):
    """Query a store in SQL, read-only."""

    name = "store query"
    schema = ""
    answers = "hotband.data.store.listed:Listed"

    sql: str = asks("One statement that selects (DuckDB).", metavar="SQL", positional=True)
    from_: Path = asks(
        "Folder of the store. Default: the current folder.", default=Path(), metavar="DIR", called="from"
    )


def rows_of(question: SqlQuestion, _: Way) -> Listed:
    """Return the rows. Raises UserError."""
    names, found = query(opened(question.from_), question.sql, rows)
    return Listed(names, found, len(found))
