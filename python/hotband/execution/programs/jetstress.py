"""Like Exchange Jetstress: databases that are read and written at random, their logs, and background maintenance.

The values are those of the workload `exchange-jetstress` of the catalog, with their sources: transactions half reads
and half writes (an evaluation's description of Jetstress 2013), pages of 32 KiB (Exchange 2010 and later), a log write
of 8 KiB to ten I/Os of the databases (8:1 to 12:1 and 6 to 8 KB stated, 2007), maintenance that reads each database
from front to back, 256 KiB four times per second (not verified; range 4 to 20). Left out: that Jetstress adds threads
until a target is reached, its check of all pages at the end, and the engine's own cache.
"""

from __future__ import annotations

from hotband.base.text.numbers import size
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs import fio_files
from hotband.execution.programs.fio_files import Group, Options, Section
from hotband.execution.programs.program import Choice, Count, Outcome, Program, Size, figure
from hotband.execution.programs.work import Work

READ_PCT = 50
PAGE = "32k"
LOG_BLOCK = "8k"
PER_LOG_WRITE = 10
MAINTENANCE_BLOCK = "256k"
MAINTENANCE_PER_S = 4
LIMITS_MS = {"database read": 20.0, "log write": 10.0}
"""Mean latencies above which Jetstress fails a test (2007, console output; taken to be the same since)."""
LOG_SHARE = 24
"""A log stream of a 24th of its database: 3 % to 72 % of the drive in the workload of the catalog."""
LEAST_LOG = 1 << 20
FLOW_SLEEP_US = 100
"""Sleep of a job that is ahead of the others: without it fio takes all of the processor (800 IOPS in place of
16,000 on a loop device); ten times as long halves the IOPS."""


def run(work: Work) -> Outcome:
    """Write databases and logs, then run them."""
    shared: Options = {"ioengine": "libaio", "direct": 1, "fallocate": "none", "overwrite": 1}
    databases, logs = sections(work, str(work.folder("data")), str(work.folder("log")))
    maintained = maintenance(work, str(work.folder("data"))) if work.word("maintenance") == "on" else []
    total = work.count("databases") * work.count("size")
    work.expect_space("size", total * (1 + 1 / LOG_SHARE))
    work.tell(f"writing {work.count('databases')} databases, {size(total)}")
    fio_files.lay_out(work, shared, [*databases, *logs])
    text = fio_files.measure(work, shared, [*databases, *logs, *maintained], work.count("seconds"))
    version, groups = fio_files.groups_of(text)
    figures = figures_of(groups)
    return Outcome(version, figures, text, verdicts(figures))


def sections(work: Work, data: str, log: str) -> tuple[list[Section], list[Section]]:
    """Jobs of the databases, and of their logs; flow control (fio(1), `flow`) keeps ten I/Os to a log write."""
    count, size = work.count("databases"), work.count("size")
    numbers = range(1, count + 1)
    pages: Options = {"rw": "randrw", "rwmixread": READ_PCT, "bs": PAGE, "size": size, "iodepth": work.count("depth")}
    # The storage engine opens its files with write-through.
    through: Options = {"sync": "dsync", "flow_id": 1, "flow_sleep": FLOW_SLEEP_US}
    databases: list[Section] = [
        (f"db{n}", {"directory": data, "filename": f"db{n}.edb", **pages, **through, "flow": PER_LOG_WRITE})
        for n in numbers
    ]
    lines: Options = {"rw": "write", "bs": LOG_BLOCK, "size": max(LEAST_LOG, size // LOG_SHARE)}
    logs: list[Section] = [
        (f"log{n}", {"directory": log, "filename": f"db{n}.log", **lines, **through, "flow": 1}) for n in numbers
    ]
    logs[0] = (logs[0][0], {"new_group": 1, **logs[0][1]})
    return databases, logs


def maintenance(work: Work, data: str) -> list[Section]:
    """Jobs that read every database from front to back."""
    reads: Options = {"rw": "read", "bs": MAINTENANCE_BLOCK, "rate_iops": MAINTENANCE_PER_S, "size": work.count("size")}
    numbers = range(1, work.count("databases") + 1)
    sections: list[Section] = [
        (f"maintenance{n}", {"directory": data, "filename": f"db{n}.edb", **reads}) for n in numbers
    ]
    return [(sections[0][0], {"new_group": 1, **sections[0][1]}), *sections[1:]]


def figures_of(groups: dict[str, Group]) -> list[FigureDoc]:
    """Transactional I/O, that of the logs, and maintenance."""
    databases, logs = groups["db1"], groups["log1"]
    rate = databases.read.rate + databases.write.rate
    figures = [figure("transactional I/O", rate, "IOPS")]
    figures += fio_files.side_figures("database read", databases.read)
    figures += fio_files.side_figures("database write", databases.write)
    figures += fio_files.side_figures("log write", logs.write)
    if logs.write.rate:
        figures.append(figure("database I/Os per log write", rate / logs.write.rate, "to 1"))
    if "maintenance1" in groups:
        figures += fio_files.side_figures("maintenance read", groups["maintenance1"].read)
    return figures


def verdicts(figures: list[FigureDoc]) -> list[str]:
    """Return Jetstress's verdicts on the mean latencies."""
    values = {figure_["name"]: figure_["value"] for figure_ in figures}
    means = [(operation, limit, values.get(f"{operation} latency mean")) for operation, limit in LIMITS_MS.items()]
    return [
        f"{operation}: {mean:.2f} ms, Jetstress's limit of {limit:g} ms is {'met' if mean < limit else 'missed'}"
        for operation, limit, mean in means
        if mean is not None
    ]


PROGRAM = Program(
    name="jetstress",
    title="Like Exchange Jetstress: databases, logs and background maintenance, through fio",
    asks="32 KiB random reads and writes, half each, direct; 8 KiB log writes; 256 KiB sequential reads",
    needs=fio_files.NEEDS,
    settings={
        "databases": Count(4, "databases, each with its log", 1, 64),
        "depth": Count(2, "I/Os in flight for each database", 1, 256),
        "size": Size("256 MiB", "of a database", "2 MiB"),
        "maintenance": Choice(("on", "off"), "background maintenance"),
        "seconds": Count(30, "measured seconds", 1, 86400),
        "seed": Count(1, "seed of fio's random numbers", 1, 2**31 - 1),
    },
    run=run,
    volumes=("data", "log"),
)
