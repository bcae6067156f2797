"""Like SPEC SFS 2014: software builds (SWBUILD) or virtual desktops (VDI) that request a given rate of file operations.

The values are those of the workloads `specsfs-swbuild` and `specsfs-vdi` of the catalog, with their sources: mix, rate,
file size and commits of SWBUILD from SPECstorage Solution 2020's storage2020.yml; those of VDI (not verified) from the
SFS 2014 SP2 user's guide, its sizes of requests estimated. fio has no access, chmod or readdir: all that only looks at
a file is done as stat, mkdir as create. Left out: many folders (all files of a build lie in one), and that processes do
their operations one after the other: here every kind has a thread, and its rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hotband.base.text import numbers
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs import fio_files
from hotband.execution.programs.fio_files import Group, Options, Section
from hotband.execution.programs.program import Choice, Count, Outcome, Program, figure, latencies
from hotband.execution.programs.work import Work

COMMIT_EVERY = 3
"""Percent_write_commit of SWBUILD is 33: a third of the writes."""
SIZES = {4: 60, 8: 10, 16: 10, 32: 10, 64: 10}
"""Percent of a desktop's requests by size in KiB, estimated: mean 14.4 KiB, range 8 to 32 KiB."""


@dataclass(frozen=True)
class Mix:
    """Operations of one metric (a build, a desktop)."""

    metric: str
    per_second: int
    percent: Mapping[str, int]
    """Shares of the kinds of operations, which are the jobs."""
    file: int
    """Bytes of a file."""
    files: int
    """Default number of files of a metric here."""


MIXES = {
    # 70 stat, 6 access, 5 chmod, 2 readdir; 6 read_file; 7 write_file; 1 create, 1 mkdir; 2 unlink. A build has 25,000
    # files in each of twelve sets; a tenth of one here.
    "swbuild": Mix("build", 500, {"stat": 83, "read": 6, "write": 7, "create": 2, "delete": 2}, 16 << 10, 2500),
    # 1 access; 6 read, 20 rand_read, 9 write, 64 rand_write. Files of 500 MB, two processes; a tenth of that here.
    "vdi": Mix("desktop", 200, {"stat": 1, "read": 6, "rand-read": 20, "write": 9, "rand-write": 64}, 50 << 20, 2),
}


def run(work: Work) -> Outcome:
    """Write the files of all metrics, then issue the operations."""
    mix, metrics = MIXES[work.word("mix")], work.count("metrics")
    size, files = mix.file, work.count("files") or mix.files
    folder = work.folder("data")
    shared: Options = {"directory": str(folder), "filesize": size, "nrfiles": files, "openfiles": min(files, 64)}
    work.expect_space("metrics", metrics * files * size)
    work.tell(f"writing {metrics * files:,} files, {numbers.size(metrics * files * size)}")
    made = [(f"files{n}", {**named(n), "ioengine": "psync", "rw": "read", "bs": "16k"}) for n in range(metrics)]
    fio_files.lay_out(work, shared, made)
    direct: Options = {"direct": 1} if work.word("direct") == "on" else {}
    jobs = [job for kind in mix.percent for job in jobs_of(kind, mix, metrics, work.count("seconds"), size, direct)]
    text = fio_files.measure(work, shared, jobs, work.count("seconds"))
    version, groups = fio_files.groups_of(text)
    return Outcome(version, figures_of(groups, mix, metrics), text)


def named(metric: int, kind: str = "files") -> Options:
    """Return the names of the files of a metric."""
    return {"filename_format": f"{kind}.{metric}.$filenum"}


def jobs_of(kind: str, mix: Mix, metrics: int, seconds: int, size: int, direct: Options) -> list[Section]:
    """The jobs of one kind of operation, one a metric; they are one group."""
    rate = max(1, mix.per_second * mix.percent[kind] // 100)
    whole = mix.metric == "build"
    split = ":".join(f"{kib}k/{percent}" for kib, percent in SIZES.items())
    # A file is read or written as a whole; of desktops' disks parts are.
    sizes: Options = {"bs": min(size, 1 << 20)} if whole else {"bssplit": split, "blockalign": 4096}
    anywhere: Options = {"norandommap": 1, "file_service_type": "random:1"}
    commit: Options = {"fsync": COMMIT_EVERY} if whole else {}
    # So many files are made or deleted in the time, and some more.
    listed: Options = {"bs": size, "nrfiles": rate * seconds * 2, "fallocate": "none"}
    options: dict[str, Options] = {
        "stat": {"ioengine": "filestat", "rw": "read", "bs": size, "fallocate": "none"},
        "read": {"ioengine": "psync", "rw": "randread" if whole else "read", **sizes, **anywhere, **direct},
        "rand-read": {"ioengine": "psync", "rw": "randread", **sizes, **anywhere, **direct},
        "write": {
            "ioengine": "psync",
            "rw": "randwrite" if whole else "write",
            **sizes,
            **anywhere,
            **commit,
            **direct,
        },
        "rand-write": {"ioengine": "psync", "rw": "randwrite", **sizes, **anywhere, **direct},
        "create": {"ioengine": "filecreate", "rw": "write", **listed},
        "delete": {"ioengine": "filedelete", "rw": "write", **listed},
    }
    # fio paces bytes, and takes each I/O to have the smallest size.
    mean = sum(kib * percent for kib, percent in SIZES.items()) / 100
    paced = rate if whole or kind == "stat" else round(rate * mean / min(SIZES))
    folder_kind = kind if kind in ("create", "delete") else "files"
    return [
        (
            kind if n == 0 else f"{kind}{n}",
            {"rate_iops": paced, **named(n, folder_kind), **options[kind], **new_group(n)},
        )
        for n in range(metrics)
    ]


def new_group(number: int) -> Options:
    """The first job of a kind begins a group."""
    return {"new_group": 1} if number == 0 else {}


def figures_of(groups: Mapping[str, Group], mix: Mix, metrics: int) -> list[FigureDoc]:
    """Operations requested and done, their mean response time, and each kind."""
    sides = {kind: groups[kind].read if groups[kind].read.count else groups[kind].write for kind in mix.percent}
    done = sum(side.rate for side in sides.values())
    times = [(side.count, side.mean_ms) for side in sides.values() if side.mean_ms is not None]
    counted = sum(count for count, _ in times)
    mean = sum(count * each for count, each in times) / counted if counted else None
    requested = metrics * sum(max(1, mix.per_second * percent // 100) for percent in mix.percent.values())
    figures = [figure("operations asked for", requested, "operations/s"), figure("operations", done, "operations/s")]
    figures += latencies("operation", mean, {})
    for kind, side in sides.items():
        figures.append(figure(kind, side.rate, "operations/s"))
        figures += latencies(kind, side.mean_ms, side.percentiles_ms)
    return figures


PROGRAM = Program(
    name="specsfs",
    title="Like SPEC SFS 2014: builds or desktops that request file operations at a given rate, through fio",
    asks="what the file system makes of them: reads of whole small files and of its own tables, writes, commits",
    needs=fio_files.NEEDS,
    settings={
        "mix": Choice(tuple(MIXES), "software builds, or virtual desktops"),
        "metrics": Count(1, "builds of 500 operations/s, or desktops of 200", 1, 1000),
        "files": Count(0, "files of a build (16 KiB) or desktop (50 MiB); 0 is 2,500 or 2", 0, 1_000_000),
        "direct": Choice(("off", "on"), "past the host's memory, reads and writes of desktops"),
        "seconds": Count(30, "measured seconds", 1, 86400),
        "seed": Count(1, "seed of fio's random numbers", 1, 2**31 - 1),
    },
    stands_for={f"specsfs-{mix}": f"mix={mix}" for mix in MIXES},
    run=run,
)
