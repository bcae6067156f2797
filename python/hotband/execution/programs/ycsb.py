"""YCSB's core workloads A to F by go-ycsb, on the store badger, whose writes are on the drive before they are answered.

The workloads are those of Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010, table 2, records of
ten fields of 100 bytes (section 4). go-ycsb 1.0.1 knows no time limit, so it is asked to end when the time is over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from hotband.base.child import Told
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.processes import ProgramFailed
from hotband.execution.programs.program import Choice, Count, Need, Outcome, Program, figure, latencies
from hotband.execution.programs.work import Work

VERSION = "1.0.1"
"""Version that `make programs` builds; the program does not print it."""
WORKLOADS: Mapping[str, Mapping[str, str]] = {
    "a": {"readproportion": "0.5", "updateproportion": "0.5"},
    "b": {"readproportion": "0.95", "updateproportion": "0.05"},
    "c": {"readproportion": "1", "updateproportion": "0"},
    "d": {
        "readproportion": "0.95",
        "updateproportion": "0",
        "insertproportion": "0.05",
        "requestdistribution": "latest",
    },
    "e": {"scanproportion": "0.95", "insertproportion": "0.05", "readproportion": "0", "updateproportion": "0"},
    "f": {"readproportion": "0.5", "readmodifywriteproportion": "0.5", "updateproportion": "0"},
}
"""Their shares; keys are picked by Zipf's law by default."""
RECORD_BYTES = 3000
"""Size of a record, 1.1 KB, with older versions of it and compaction (measured: 331 MB of 20,000 records after a minute
of updates; a longer run needs more)."""
LEAST_BYTES = 100e6
ENDLESS = 10**12
LOAD_S = 14400.0
OPERATIONS = {
    "TOTAL": "operation",
    "READ": "read",
    "UPDATE": "update",
    "INSERT": "insert",
    "SCAN": "scan",
    "READ_MODIFY_WRITE": "read-modify-write",
}


def run(work: Work) -> Outcome:
    """Load the records, then run one workload on them."""
    work.expect_space("records", work.count("records") * RECORD_BYTES + LEAST_BYTES)
    store = work.folder("data") / "store"
    store.mkdir()
    work.tell(f"loading {work.count('records'):,} records")
    # The load is not what is measured: it is flushed at its end alone.
    work.call(command(work, "load", store, {"badger.sync_writes": "false"}), LOAD_S)
    work.cold()
    seconds = work.count("seconds")
    shares = {"requestdistribution": "zipfian", **WORKLOADS[work.word("workload")]}
    timed = {"operationcount": f"{ENDLESS}", "measurement.interval": f"{max(1, seconds // 10)}"}
    arguments = command(work, "run", store, {"badger.sync_writes": "true", **shares, **timed})
    text = work.run_for(arguments, seconds, tell=progress_to(work))
    return Outcome(f"go-ycsb {VERSION}", figures_of(text), text)


def command(work: Work, what: str, store: Path, properties: Mapping[str, str]) -> list[str | Path]:
    """The command that loads or runs."""
    shared = {
        "workload": "core",
        "recordcount": f"{work.count('records')}",
        "threadcount": f"{work.count('threads')}",
        "badger.dir": f"{store}",
        "badger.valuedir": f"{store}",
    }
    words = [word for key, value in {**shared, **properties}.items() for word in ("-p", f"{key}={value}")]
    return ["go-ycsb", what, "badger", *words]


def progress_to(work: Work) -> Told:
    """Report the lines of all operations together."""
    return lambda line: work.tell(line.partition(", Min")[0]) if line.startswith("TOTAL") else None


def figures_of(text: str) -> list[FigureDoc]:
    """Return the final rate and latencies of each operation. Raises ProgramFailed if there are none."""
    _, finished, last = text.rpartition("Run finished")
    lines = re.findall(
        r"^(\w+)\s+- Takes\(s\): [\d.]+, Count: (\d+), OPS: ([\d.]+), Avg\(us\): (\d+),(.*)$", last, re.MULTILINE
    )
    if not finished or not lines:
        raise ProgramFailed("go-ycsb", "printed no result")
    figures: list[FigureDoc] = []
    for name, _, rate, mean, rest in sorted(lines, key=lambda line: line[0] != "TOTAL"):
        if name in OPERATIONS:
            operation = OPERATIONS[name]
            ranks = {int(rank): int(value) / 1000 for rank, value in re.findall(r" (50|95|99)th\(us\): (\d+)", rest)}
            figures.append(figure(f"{operation}s", float(rate), f"{operation}s/s"))
            figures += latencies(operation, int(mean) / 1000, ranks)
    errors = sum(int(count) for name, count, *_ in lines if name.endswith("_ERROR"))
    return [*figures, figure("errors", errors, "operations")]


PROGRAM = Program(
    name="ycsb",
    title="YCSB's workloads A to F on badger, a store of keys and values",
    asks="flushed writes of a log of values, random reads of it through the host's memory; concurrent compaction",
    needs=(Need("go-ycsb", ""),),
    settings={
        "workload": Choice(tuple(WORKLOADS), "half updates, few, none, newest read, scans, or read-modify-write"),
        "threads": Count(8, "threads, each with one operation in progress", 1, 1000),
        "records": Count(100_000, "records of some 1.1 KB", 100, 1_000_000_000),
        "seconds": Count(30, "measured seconds", 1, 86400),
    },
    stands_for={"ycsb-a-large": "workload=a", **{f"ycsb-{letter}": f"workload={letter}" for letter in WORKLOADS}},
    run=run,
)
