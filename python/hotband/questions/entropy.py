"""How far real data compresses: measured by the extension, shown as a table with histograms."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import hotband._core as _core
from hotband.base.arguments import public
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.base.text.numbers import counted, share, size
from hotband.base.text.table import BYTES, SHARE, Range, Table, column, interval, numeric
from hotband.data.inputs.specify import expect_seed, texts

if TYPE_CHECKING:
    import polars as pl

MOST_JOBS = 1024
Progress = Callable[[int, int, int, int], None]
"""Called with files and bytes counted, bytes to measure (0 while counting) and bytes measured."""


class RatioDoc(TypedDict):
    """A ratio with its interval; None where there was no data."""

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
    """How the sample was drawn."""

    asked_bytes: int
    extent_bytes: int
    extents: int
    extents_chosen: int
    extents_read: int
    confidence: float
    seed: str


class SkippedDoc(TypedDict):
    """What was left out: counts by why, and the length of the holes of sparse files."""

    links: int
    symbolic_links: int
    hard_links: int
    special: int
    mounts: int
    holes_bytes: int


class EntropyDoc(TypedDict):
    """What `hotband entropy --json` prints (`Report` of crates/entropy)."""

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


@dataclass(frozen=True)
class Asked:
    """What is measured: `compressors` and `chunks` are all where none is named, `sample` is a size or "all"."""

    paths: tuple[Path, ...]
    compressors: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    sample: str | None = None
    seed: int = 1
    jobs: int | None = None
    one_file_system: bool = False


@dataclass(frozen=True)
class Measured:
    """The report (as text and parsed), and what it cost: no part of it, since that differs from time to time."""

    text: str
    report: EntropyDoc
    jobs: int
    seconds: float
    compressing_s: float


def measure(asked: Asked, progress: Progress | None = None) -> Measured | None:
    """Measures on all cores; `progress` is called about ten times a second.

    Ctrl-C ends it with what was measured so far (`report["interrupted"]`), with None where that is nothing. Raises
    UserError.
    """
    try:
        entropy = _core.Entropy(
            list(asked.paths),
            compressors=list(asked.compressors),
            chunks=list(asked.chunks),
            sample=asked.sample,
            seed=asked.seed,
            jobs=asked.jobs,
            one_file_system=asked.one_file_system,
        )
        left = _in_thread(entropy, progress)
    except _core.SpecError as error:
        raise user_error(error) from None
    if left is None:
        return None
    report = left["report"]
    return Measured(report, json.loads(report), left["jobs"], left["measuring_s"], left["compressing_s"])


def _in_thread(entropy: _core.Entropy, progress: Progress | None) -> _core.EntropyMeasured | None:
    """Runs it beside this thread, which stays free to show progress and to be interrupted."""
    outcome: list[_core.EntropyMeasured | None] = []
    failure: list[BaseException] = []
    # Not Thread.join: interrupted, it takes a thread that goes on for one that ended (CPython 3.11, threading.py,
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
    """A progress bar on stderr; it appears with the first call."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    bar = Bar(*columns, TextColumn("left"), TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    task = bar.add_task("counting", total=None, detail="")

    def update(files: int, counted_bytes: int, wanted: int, measured: int) -> None:
        if not bar.live.is_started:
            bar.start()
        there = f"{size(counted_bytes)} in {counted(files, 'file')}"
        if not wanted:
            bar.update(task, detail=there)
        else:
            detail = f"{size(measured)} of {size(wanted)} ({there})"
            bar.update(task, description="measuring", total=wanted, completed=min(measured, wanted), detail=detail)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()


def spark(histogram: Sequence[int], cells: int = 25) -> str:
    """A histogram as a line of blocks, the highest one full; a cell with anything in it is never blank."""
    width = len(histogram) // cells
    sums = [sum(histogram[cell * width : (cell + 1) * width]) for cell in range(cells)]
    highest = max(sums) or 1
    return "".join(" ▁▂▃▄▅▆▇█"[-(-8 * value // highest)] for value in sums)


def ends_of(interval: Sequence[float] | None) -> Range | None:
    """An interval; None where it is a single value."""
    return None if interval is None or interval[0] == interval[1] else Range(*interval)


def chunks_table(report: EntropyDoc) -> Table:
    """A row a size of chunks and compressor."""
    sampled = bool(report["sample"] or report["interrupted"])
    shares = [*([interval("95 % interval", SHARE)] if sampled else []), numeric("incompressible", SHARE)]
    columns = [numeric("chunk", BYTES), column("compressor"), numeric("entropy", SHARE), *shares]
    table = Table("Chunks, each compressed alone", [*columns, column("data by ratio, 0 to 100 %", width=25)])
    for of in report["chunks"]:
        data = sum(of["histogram_bytes"])
        ends = [ends_of(of["interval"])] if sampled else []
        # Of the last bin, 99 % and above: there a drive gains nothing.
        incompressible = of["histogram_bytes"][-1] / data if data else None
        table.add(of["size"], of["compressor"], of["mean"], *ends, incompressible, spark(of["histogram_bytes"]))
    return table


def histogram_lines(report: EntropyDoc) -> list[str]:
    """The histogram of the smallest chunks with deflate, or what comes nearest, in ten bars."""
    if not report["chunks"]:
        return []
    smallest = report["chunks"][0]["size"]
    of = next(
        (one for one in report["chunks"] if (one["size"], one["compressor"]) == (smallest, "deflate")),
        report["chunks"][0],
    )
    data = sum(of["histogram_bytes"])
    if not data:
        return []
    shares = [sum(of["histogram_bytes"][ten : ten + 10]) / data for ten in range(0, 100, 10)]
    title = f"Data by ratio, {of['compressor']} in chunks of {size(smallest)}"
    bars = (
        f"  {ten:3} to {ten + 10:3} %  {share(part):>6}  " for ten, part in zip(range(0, 100, 10), shares, strict=True)
    )
    return ["", title, *(bar + "█" * round(60 * part) for bar, part in zip(bars, shares, strict=True))]


def summary_lines(report: EntropyDoc) -> list[str]:
    """What there is, what was read of it and the archive ratio, in a few lines."""
    skipped, sample = report["skipped"], report["sample"]
    lines = [f"{size(report['bytes'])} in {counted(report['files'], 'file')}"]
    if sample:
        part = share(report["bytes_read"] / (report["bytes"] or 1))
        drawn = f"{sample['extents_read']:,} of {sample['extents']:,} extents, seed {sample['seed']}"
        lines.append(f"a sample of {size(report['bytes_read'])} was read ({part}: {drawn})")
    left_out = [
        counted(skipped["symbolic_links"], "symbolic link"),
        counted(skipped["hard_links"], "further name") + " of files",
        counted(skipped["special"], "special file"),
        counted(skipped["mounts"], "mounted file system"),
    ]
    left_out = [text for text in left_out if not text.startswith("0 ")]
    if skipped["holes_bytes"]:
        left_out.append(f"{size(skipped['holes_bytes'])} of holes")
    if left_out:
        lines.append(f"left out: {', '.join(left_out)}")
    if report["unreadable"]:
        lines.append(f"unreadable: {report['unreadable']:,}, such as {report['unreadable_examples'][0]}")
    if report["changed"]:
        lines.append(f"{counted(report['changed'], 'file')} became shorter meanwhile")
    if report["links_forgotten"]:
        lines.append(f"{counted(report['links_forgotten'], 'file')} with several names may count more than once")
    if report["interrupted"]:
        lines.append(f"interrupted: only {size(report['bytes_read'])} measured, intervals hold whatever the rest is")
    for compressor, of in report["archive"].items():
        ends = ends_of(of["interval"])
        between = "" if ends is None else f" (95 % interval {SHARE.ends(ends)})"
        lines += ["", f"Archive entropy: {share(of['entropy'])}{between} ({compressor}, as tgz and zip)", ""]
    return lines


@dataclass(frozen=True)
class Entropy:
    """How far data compresses: shares of one, of which 1 is data that does not."""

    _report: EntropyDoc

    @property
    def archive(self) -> dict[str, float | None]:
        """By compressor, what an archive of all of it would have of its size; None where there was no data."""
        return {name: of["entropy"] for name, of in self._report["archive"].items()}

    @property
    def complete(self) -> bool:
        """Whether all that was asked for was measured: no interrupt ended it."""
        return not self._report["interrupted"]

    @property
    def frame(self) -> pl.DataFrame:
        """A row a size of chunk and compressor: chunk_bytes, compressor, entropy (mean of the chunks, each compressed
        alone), low and high of its 95 % interval (null where it is not a sample), and incompressible, the share of the
        data in chunks of 99 % and above."""
        import polars as pl

        numbers = ("entropy", "low", "high", "incompressible")
        schema = {"chunk_bytes": pl.Int64, "compressor": pl.String, **dict.fromkeys(numbers, pl.Float64)}
        rows = []
        for of in self._report["chunks"]:
            data, (low, high) = sum(of["histogram_bytes"]), of["interval"] or (None, None)
            rest = of["histogram_bytes"][-1] / data if data else None
            rows.append((of["size"], of["compressor"], of["mean"], low, high, rest))
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> EntropyDoc:
        """All that `hotband entropy --json` prints, which `data=` of a run takes as a file; a copy."""
        return copy.deepcopy(self._report)

    def __repr__(self) -> str:
        said = ", ".join(f"{name} {share(ratio)}" for name, ratio in self.archive.items())
        return f"<Entropy of {size(self._report['bytes_read'])}: {said or 'chunks alone'}>"


@public
def entropy(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    compressor: str | Sequence[str] = (),
    chunk: str | Sequence[str] = (),
    sample: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    one_file_system: bool = False,
) -> Entropy:
    """Measures how far the data of files and folders compresses: the entropy that an SSD with compression would see.

    `compressor` is "lz4", "deflate" or "zstd", `chunk` "4 KiB" to "64 KiB" or "none", all where none is said. About as
    much is read, at random by `seed`, as `sample` says ("1 GB", or "all"). `jobs` limits the threads;
    `one_file_system` leaves out what is mounted in the tree. Ctrl-C ends it with what was measured (`complete` is
    False). The result has `archive` and a `frame`. Raises UserError, KeyboardInterrupt where nothing was measured.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not given:
        raise UserError("question.paths", "", "[]", "expected a file or a folder")
    expect_seed(seed)
    if jobs is not None and not 1 <= jobs <= MOST_JOBS:
        raise UserError("question.jobs", "", str(jobs), f"expected a whole number from 1 to {MOST_JOBS}")
    names, chunks = texts(compressor, "compressor"), texts(chunk, "chunk")
    try:
        found = measure(Asked(tuple(map(Path, given)), names, chunks, sample, seed, jobs, one_file_system))
    except UserError as error:
        where = {"compressors": "compressor", "chunks": "chunk"}.get(error.where, error.where)
        raise UserError(where, error.key, error.value, error.accepted) from None
    if found is None:
        raise KeyboardInterrupt
    return Entropy(found.report)
