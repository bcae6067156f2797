"""sysbench fileio: random and sequential I/O of threads on a set of files."""

from __future__ import annotations

import re

from hotband.base.child import Told
from hotband.base.text import numbers
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.program import Choice, Count, Need, Outcome, Program, Size, figure, latencies
from hotband.execution.programs.work import ProgramFailed, Work

PERCENTILES = (50, 95, 99)
RATES = {"reads/s": "reads", "writes/s": "writes", "fsyncs/s": "flushes"}
VOLUMES = {"read, MiB/s": "data read", "written, MiB/s": "data written"}
CHUNK = 1 << 20
"""Bytes that the files are written with."""
SLACK_S = 120.0
SLOWEST_FILL = 2e6
"""Bytes per second below which filling the files is given up."""


def run(work: Work) -> Outcome:
    """Write the files, then let the threads run."""
    folder, size, seconds = work.folder("data"), work.count("total"), work.count("seconds")
    work.expect_space("total", size)
    files = ["sysbench", "fileio", f"--file-total-size={size}", f"--file-num={work.count('files')}"]
    work.tell(f"writing {work.count('files')} files, {numbers.size(size)}")
    # Not with direct I/O: it would write a block at a time.
    work.call([*files, f"--file-block-size={CHUNK}", "prepare"], SLACK_S + size / SLOWEST_FILL, folder=folder)
    work.cold()
    arguments = [
        f"--file-test-mode={work.word('mode')}",
        f"--file-block-size={work.count('block')}",
        f"--file-fsync-freq={work.count('flush_every')}",
        f"--threads={work.count('threads')}",
        f"--time={seconds}",
        f"--rand-seed={work.count('seed')}",
        f"--report-interval={max(1, seconds // 10)}",
        "--histogram=on",
        "--percentile=99",
    ]
    direct = ["--file-extra-flags=direct"] if work.word("direct") == "on" else []
    text = work.call([*files, *arguments, *direct, "run"], seconds + SLACK_S, folder=folder, tell=progress_to(work))
    return Outcome(version_of(text), figures_of(text), text)


def progress_to(work: Work) -> Told:
    """Report the lines of progress alone, not those of the histogram."""
    return lambda line: work.tell(line) if line.startswith("[") else None


def version_of(text: str) -> str:
    """The version, from the first line that it prints."""
    match = re.match(r"sysbench [\d.]+", text)
    return match[0] if match else "sysbench"


def figures_of(text: str) -> list[FigureDoc]:
    """Return the figures of sysbench's summary: rates, and latencies of all events, including flushes. Raises
    ProgramFailed if it is none."""
    figures = [figure(name, number(text, key), f"{name}/s") for key, name in RATES.items()]
    figures += [figure(name, number(text, key) * CHUNK / 1e6, "MB/s") for key, name in VOLUMES.items()]
    return figures + latencies("event", number(text, "avg"), percentiles_of(text))


def number(text: str, key: str) -> float:
    """The number after a key at the beginning of a line. Raises ProgramFailed if it is not there."""
    match = re.search(rf"^\s*{re.escape(key)}:\s+([\d.]+)", text, re.MULTILINE)
    if match is None:
        raise ProgramFailed("sysbench", f"printed no {key}")
    return float(match[1])


def percentiles_of(text: str) -> dict[int, float]:
    """Percentiles in ms from its histogram, which has one line per bucket: latency, bar, count."""
    lines = re.findall(r"^\s+([\d.]+) \|\**\s+(\d+)\s*$", text, re.MULTILINE)
    buckets = [(float(value), int(count)) for value, count in lines]
    total, below = sum(count for _, count in buckets), 0
    ranks: dict[int, float] = {}
    for value, count in buckets:
        below += count
        ranks |= {rank: value for rank in PERCENTILES if rank not in ranks and 100 * below >= rank * total}
    return ranks


PROGRAM = Program(
    name="sysbench",
    title="sysbench fileio: threads that read and write a set of files",
    asks="16 KiB random reads and writes from every thread, bypassing the host's memory; one flush per 100 I/Os",
    needs=(Need("sysbench", "sysbench"),),
    settings={
        "mode": Choice(
            ("rndrw", "rndrd", "rndwr", "seqrd", "seqwr", "seqrewr"), "what the threads do, in sysbench's terms"
        ),
        "threads": Count(8, "threads, each with one I/O in flight", 1, 1024),
        "total": Size("1 GiB", "of all files together"),
        "files": Count(16, "files", 1, 4096),
        "block": Size("16 KiB", "of one I/O", "512 B", "16 MiB"),
        "flush_every": Count(100, "writes between flushes, 0 for none", 0, 1_000_000),
        "direct": Choice(("on", "off"), "past the host's memory"),
        "seconds": Count(30, "measured seconds", 1, 86400),
        "seed": Count(1, "seed of sysbench's random numbers", 1, 2**31 - 1),
    },
    run=run,
)
