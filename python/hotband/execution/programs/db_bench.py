"""db_bench, RocksDB's own: random reads of a filled store, and writes of which each is on the drive before the next."""

from __future__ import annotations

import re
from pathlib import Path

from hotband.base.child import Told
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.program import Choice, Count, Need, Outcome, Program, Size, figure, latencies
from hotband.execution.programs.work import ProgramFailed, Work

TESTS = {"readrandom": "read", "fillsync": "write"}
SLACK_S = 120.0
FILL_S = 7200.0
KEY_BYTES = 16
SPARE = 2.2
"""Space that a store needs per byte of its data: compaction writes a new copy of a level next to the old one."""
FILLSYNC_SHARE = 1000
"""`fillsync` uses a thousandth of the keys (RocksDB, tools/db_bench_tool.cc: `num_ /= 1000`)."""


def run(work: Work) -> Outcome:
    """Fill a store and read it; then write another one, each write flushed."""
    data, log = work.folder("data"), work.folder("log")
    tests = [test_name for test_name in TESTS if work.word("tests") in ("both", test_name)]
    texts: list[str] = []
    for test in tests:
        if test == "readrandom":
            work.expect_space("keys", SPARE * work.count("keys") * (work.count("value") + KEY_BYTES))
            fill(work, data / "filled")
        command = command_of(work, test, data / ("filled" if test == "readrandom" else "written"), log)
        work.tell(f"running {test}")
        texts.append(work.call(command, work.count("seconds") + SLACK_S, tell=progress_to(work)))
    text = "\n".join(texts)
    version = re.search(r"^RocksDB:\s+version ([\d.]+)", text, re.MULTILINE)
    figures = [figure_ for test in tests for figure_ in figures_of(text, test)]
    return Outcome(f"RocksDB {version[1]}" if version else "RocksDB", figures, text)


def fill(work: Work, folder: Path) -> None:
    """Put every key into a new store, in random order, and wait until it is compacted."""
    work.tell(f"filling {work.count('keys'):,} keys")
    tests = "--benchmarks=fillrandom,flush,waitforcompaction"
    once = [f"--num={work.count('keys')}", "--threads=1", "--disable_wal=1", "--progress_reports=0"]
    work.call([*base(work, folder), tests, *once], FILL_S)
    work.cold()


def command_of(work: Work, test: str, folder: Path, log: Path) -> list[str | Path]:
    """The command of one test."""
    seconds, threads, keys = work.count("seconds"), work.count("threads"), work.count("keys")
    timed = [f"--duration={seconds}", f"--stats_interval_seconds={max(1, seconds // 10)}", f"--threads={threads}"]
    if test == "readrandom":
        return [*base(work, folder), f"--benchmarks={test}", *timed, f"--num={keys}", "--use_existing_db=1"]
    logged = [f"--wal_dir={log / 'wal'}", f"--num={keys * FILLSYNC_SHARE}", "--sync=1"]
    return [*base(work, folder), f"--benchmarks={test}", *timed, *logged]


def base(work: Work, folder: Path) -> list[str | Path]:
    """Return options of all tests: direct I/O, so that only the block cache serves reads from memory."""
    shape = [
        f"--db={folder}",
        f"--value_size={work.count('value')}",
        f"--key_size={KEY_BYTES}",
        "--compression_type=none",
    ]
    direct = ["--use_direct_reads=1", "--use_direct_io_for_flush_and_compaction=1"]
    rest = [f"--cache_size={work.count('cache')}", f"--seed={work.count('seed')}", "--histogram=1"]
    return ["db_bench", *shape, *direct, *rest]


def progress_to(work: Work) -> Told:
    """Report the progress of the first thread alone."""
    return lambda line: work.tell(line) if " thread 0:" in line else None


def figures_of(text: str, test: str) -> list[FigureDoc]:
    """Return the figures of one test from its line and histogram. Raises ProgramFailed if there are none."""
    line = re.search(rf"^{test}\s*:\s+[\d.]+ micros/op ([\d.]+) ops/sec.*", text, re.MULTILINE)
    if line is None:
        raise ProgramFailed("db_bench", f"printed no result of {test}")
    what = TESTS[test]
    figures = [figure(f"{what}s", float(line[1]), f"{what}s/s")]
    below = text[line.end() :]
    mean = re.search(r"^Count: \d+ Average: ([\d.]+)", below, re.MULTILINE)
    ranks = re.search(r"^Percentiles: (.*)", below, re.MULTILINE)
    values = dict(re.findall(r"P([\d.]+): ([\d.]+)", ranks[1])) if ranks else {}
    percentiles = {rank: float(values[f"{rank}"]) / 1000 for rank in (50, 99) if f"{rank}" in values}
    return figures + latencies(what, float(mean[1]) / 1000 if mean else None, percentiles)


PROGRAM = Program(
    name="db_bench",
    title="RocksDB under db_bench: random reads, and flushed writes",
    asks="4 KiB random reads that bypass the host's memory; small flushed log writes; concurrent compaction",
    needs=(Need("db_bench", "rocksdb-tools"),),
    settings={
        "tests": Choice(("both", *TESTS), "reads of a filled store, flushed writes, or one after the other"),
        "threads": Count(4, "threads", 1, 1024),
        "keys": Count(1_000_000, "keys in the store", 1000, 10_000_000_000),
        "value": Size("400 B", "of a value; keys have 16 bytes", "1 B", "1 MiB"),
        "cache": Size("8 MiB", "memory for blocks of the store (RocksDB's own is 8 MiB)", "64 KiB", "1 TiB"),
        "seconds": Count(20, "measured seconds of each test", 1, 86400),
        "seed": Count(1, "seed of db_bench's random numbers", 1, 2**31 - 1),
    },
    run=run,
    volumes=("data", "log"),
)
