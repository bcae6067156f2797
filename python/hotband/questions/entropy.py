"""Compressibility of real data, measured by the extension."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TypedDict

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.heavy import pl
from hotband.base.question import Ending, Question, Way, asks, seed
from hotband.base.text.numbers import counted, share, size
from hotband.data.inputs.kinds import Names, Paths
from hotband.execution.runs.signals import INTERRUPTED

Progress = Callable[[int, int, int, int], None]
"""Called with files and bytes counted, bytes to measure (0 while counting) and bytes measured."""


class RatioDoc(TypedDict):
    """A ratio with its interval; None if there was no data."""

    entropy: float | None
    interval: list[float] | None


class ChunksDoc(TypedDict):
    """Chunks of one size with one compressor; the histograms count chunks and bytes by ratio, in percent."""

    size: int
    compressor: str
    mean: float | None
    interval: list[float] | None
    histogram: list[int]
    histogram_bytes: list[int]


class SampleDoc(TypedDict):
    """Parameters of the sample."""

    asked_bytes: int
    extent_bytes: int
    extents: int
    extents_chosen: int
    extents_read: int
    confidence: float
    seed: str


class SkippedDoc(TypedDict):
    """Omitted files: counts by reason, and the length of the holes of sparse files."""

    links: int
    symbolic_links: int
    hard_links: int
    special: int
    mounts: int
    holes_bytes: int


class EntropyDoc(TypedDict):
    """Output of `hotband measure entropy --json` (`Report` of crates/entropy)."""

    schema: str
    schema_version: int
    paths: list[str]
    files: int
    bytes: int
    bytes_read: int
    unreadable: int
    unreadable_examples: list[str]
    changed: int
    skipped: SkippedDoc
    links_forgotten: int
    interrupted: bool
    sample: SampleDoc | None
    compressors: dict[str, str]
    archive: dict[str, RatioDoc]
    chunks: list[ChunksDoc]


@dataclass(frozen=True, kw_only=True)
class EntropyQuestion(Question):
    """Measure how well your data compresses, which decides how fast a compressing SSD writes it.

    Ctrl-C ends it with what was measured (`complete` is False). The result has `archive` and a `frame`. Raises
    UserError, KeyboardInterrupt if nothing was measured.
    """

    name = "entropy"
    schema = "hotband-entropy"
    answers = "hotband.questions.entropy:Entropy"

    paths: Paths = asks("Files and folders.", metavar="PATH...", positional=True, takes="a file or a folder")
    compressor: Names = asks("lz4, deflate or zstd. Default: all.", default=(), metavar="NAME[,NAME]")
    chunk: Names = asks(
        '"4 KiB" to "64 KiB", or none for the archive alone. Default: all sizes.', default=(), metavar="SIZE[,SIZE]"
    )
    sample: str | None = asks(
        'Amount of data to read at random places, or "all". Default: 1 GB.', default=None, metavar="SIZE", unit="B"
    )
    seed: int = seed("Seed of the sample.")
    jobs: int | None = asks("Number of threads. Default: all cores.", default=None, least=1, most=1024)
    one_file_system: bool = asks("Skip file systems mounted in the tree.", default=False, short="-x")

    def ending(self, result: Entropy) -> Ending | None:
        """Return the exit code of an interruption, if there was one."""
        return None if result.complete else Ending(INTERRUPTED, "interrupted; the result is of the data read so far")


def answer(question: EntropyQuestion, way: Way) -> Entropy:
    """Return the measurement. Raises UserError, KeyboardInterrupt if nothing was measured."""
    with entropy_progress() if way.on_terminal else nullcontext() as progress:
        measured = measure(question, progress)
    if measured is None:
        raise KeyboardInterrupt
    return measured


def measure(question: EntropyQuestion, progress: Progress | None = None) -> Entropy | None:
    """Measure on all cores; `progress` is called about ten times a second.

    Ctrl-C ends it with the measurement so far, None if there is none. Raises UserError.
    """
    try:
        entropy = _core.Entropy(
            list(question.paths),
            compressors=list(question.compressor),
            chunks=list(question.chunk),
            sample=question.sample,
            seed=question.seed,
            jobs=question.jobs,
            one_file_system=question.one_file_system,
        )
        left = _in_thread(entropy, progress)
    except _core.SpecError as error:
        raise user_error(error) from None
    return None if left is None else Entropy(json.loads(left["report"]), left["jobs"], left["measuring_s"])


def _in_thread(entropy: _core.Entropy, progress: Progress | None) -> _core.EntropyMeasured | None:
    """Measure in a second thread; this one stays free to show progress and to be interrupted."""
    outcome: list[_core.EntropyMeasured | None] = []
    failure: list[BaseException] = []
    # Not Thread.join: after an interrupt it reports a running thread as ended (CPython 3.11, threading.py,
    # _wait_for_tstate_lock).
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(entropy.measure())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=work).start()
    try:
        while not done.wait(0.1):
            if progress is not None:
                progress(*entropy.progress())
    except KeyboardInterrupt:
        pass
    finally:
        # A second Ctrl-C no longer waits for what was measured.
        entropy.stop()
        done.wait()
    if failure:
        raise failure[0]
    return outcome[0]


@contextmanager
def entropy_progress() -> Iterator[Progress]:
    """Yield a progress bar on stderr, which appears with the first call."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    bar = Bar(*columns, TextColumn("left"), TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    task = bar.add_task("counting", total=None, detail="")

    def update(files: int, counted_bytes: int, wanted: int, measured: int) -> None:
        if not bar.live.is_started:
            bar.start()
        counted_text = f"{size(counted_bytes)} in {counted(files, 'file')}"
        if not wanted:
            bar.update(task, detail=counted_text)
        else:
            detail = f"{size(measured)} of {size(wanted)} ({counted_text})"
            bar.update(task, description="measuring", total=wanted, completed=min(measured, wanted), detail=detail)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()


@dataclass(frozen=True)
class Entropy:
    """Compressed size of data, as a share of its size; 1 is incompressible."""

    _report: EntropyDoc
    jobs: int = field(compare=False)
    """Threads that measured it."""
    seconds: float = field(compare=False)

    @property
    def archive(self) -> dict[str, float | None]:
        """Size of an archive of all data, as a share, by compressor; None if there was no data."""
        return {name: ratio["entropy"] for name, ratio in self._report["archive"].items()}

    @property
    def complete(self) -> bool:
        """Whether all requested data was measured: no interrupt ended it."""
        return not self._report["interrupted"]

    @property
    def frame(self) -> pl.DataFrame:
        """One row per size of chunk and compressor: chunk_bytes, compressor, entropy (mean of the chunks, each
        compressed alone), low and high of its 95 % interval (null if it is not a sample), and incompressible, the share
        of the data in chunks of 99 % and above."""
        numbers = ("entropy", "low", "high", "incompressible")
        schema = {"chunk_bytes": pl.Int64, "compressor": pl.String, **dict.fromkeys(numbers, pl.Float64)}
        rows = []
        for chunks in self._report["chunks"]:
            data, (low, high) = sum(chunks["histogram_bytes"]), chunks["interval"] or (None, None)
            rest = chunks["histogram_bytes"][-1] / data if data else None
            rows.append((chunks["size"], chunks["compressor"], chunks["mean"], low, high, rest))
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> EntropyDoc:
        """Return a copy of the output of `hotband measure entropy --json`, which `data=` of a run accepts as a file."""
        return copy.deepcopy(self._report)

    def __repr__(self) -> str:
        ratios = ", ".join(f"{name} {share(ratio)}" for name, ratio in self.archive.items())
        return f"<Entropy of {size(self._report['bytes_read'])}: {ratios or 'chunks alone'}>"
