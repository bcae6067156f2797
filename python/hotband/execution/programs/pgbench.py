"""pgbench, PostgreSQL's own: like TPC-B, simple updates, or reads only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hotband.base.child import Told
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.postgres import BUFFERS, COUNTED, DATABASE, NEEDS, RESET, Server, page_figures, server
from hotband.execution.programs.program import Choice, Count, Outcome, Program, figure, latencies, percentile
from hotband.execution.programs.work import ProgramFailed, Work

MIXES = {"tpcb": "tpcb-like", "update": "simple-update", "read": "select-only"}
"""Our words for pgbench's built-in scripts."""
PERCENTILES = (50, 95, 99)
SCALE_BYTES = 20e6
"""Size of a unit of scale: 15 MB of tables and indexes, and their growth (measured at scale 50)."""
LEAST_BYTES = 120e6
"""Size of an empty cluster, 40 MB, and of its log: segments of 16 MB, four or more at once (measured)."""
LOAD_S = 14400.0
SLACK_S = 300.0
"""Time that a run may take beyond the requested one: a slow transaction in progress, and the last checkpoint."""


def run(work: Work) -> Outcome:
    """Load the tables, start the server again, run the clients."""
    work.expect_space("scale", work.count("scale") * SCALE_BYTES + LEAST_BYTES)
    made = server(work, work.count("clients"))
    load(made, work.count("scale"))
    made.restart_cold()
    script = ["-b", MIXES[work.word("mix")]]
    text, log = measure(made, work, script)
    return outcome(made, work, text, log)


def load(made: Server, scale: int) -> None:
    """pgbench's tables: 100,000 accounts a unit of scale, some 15 MB."""
    made.work.tell(f"loading {scale * 100_000:,} accounts")
    made.work.call(made.client("pgbench", "-i", "-q", "-s", str(scale), DATABASE), LOAD_S, tell=loading(made.work))


def loading(work: Work) -> Told:
    """Report how much is loaded."""
    return lambda line: work.tell(line) if "tuples" in line else None


def measure(made: Server, work: Work, script: list[str]) -> tuple[str, list[str]]:
    """Run clients for the requested time; return the output of pgbench and the lines of its log of transactions."""
    clients, seconds = work.count("clients"), work.count("seconds")
    made.ask(RESET)
    prefix = work.temporary / "transactions"
    threads = min(clients, 2)
    arguments = ["-c", str(clients), "-j", str(threads), "-T", str(seconds), "-P", str(max(1, seconds // 10)), "-n"]
    logged = ["-l", "--log-prefix", str(prefix), "--random-seed", str(work.count("seed"))]
    command = made.client("pgbench", *arguments, *logged, *script, DATABASE)
    work.tell(f"{clients} clients for {seconds} s")
    text = work.call(command, seconds + SLACK_S, tell=progress_to(work))
    return text, [line for file in sorted(Path(prefix).parent.glob("transactions.*")) for line in file.open()]


def progress_to(work: Work) -> Told:
    """Report the lines of progress alone."""
    return lambda line: work.tell(line) if line.startswith("progress:") else None


def outcome(made: Server, work: Work, text: str, log: Iterable[str]) -> Outcome:
    """The figures of a run."""
    made.ask("CHECKPOINT")
    pages = page_figures(made.ask(COUNTED), work.count("seconds"))
    version = made.ask("SHOW server_version")
    figures = [*figures_of(text), *latencies("transaction", None, percentiles_of(log)), *pages]
    return Outcome(f"PostgreSQL {version}", figures, text)


def figures_of(text: str) -> list[FigureDoc]:
    """Return the figures of pgbench's summary. Raises ProgramFailed if it is none."""
    rate = re.search(r"^tps = ([\d.]+) \(without", text, re.MULTILINE)
    count = re.search(r"^number of transactions actually processed: (\d+)", text, re.MULTILINE)
    if rate is None or count is None:
        raise ProgramFailed("pgbench", "printed no summary")
    figures = [figure("transactions", float(rate[1]), "transactions/s")]
    figures.append(figure("processed", int(count[1]), "transactions"))
    failed = re.search(r"^number of failed transactions: (\d+)", text, re.MULTILINE)
    if failed is not None:
        figures.append(figure("failed", int(failed[1]), "transactions"))
    mean = re.search(r"^latency average = ([\d.]+) ms", text, re.MULTILINE)
    return figures + latencies("transaction", float(mean[1]) if mean else None, {})


def percentiles_of(log: Iterable[str]) -> dict[int, float]:
    """Percentiles in ms of a log of transactions: client, number, time in us, script, seconds, microseconds
    (pgbench(1), "Per-Transaction Logging"). Failed ones have a word in place of the time."""
    columns = (line.split() for line in log)
    ordered = sorted(int(column[2]) / 1000 for column in columns if len(column) >= 6 and column[2].isdigit())
    return {rank: percentile(ordered, rank) for rank in PERCENTILES} if ordered else {}


CLIENTS = Count(8, "clients, each with one transaction in progress", 1, 1000)
SECONDS = Count(30, "measured seconds", 1, 86400)
SEED = Count(1, "seed of pgbench's random numbers", 0, 2**31 - 1)

PROGRAM = Program(
    name="pgbench",
    title="PostgreSQL under pgbench: like TPC-B, simple updates, or reads only",
    asks="8 KiB random reads, one flushed log write per commit, writes of pages at checkpoints",
    needs=NEEDS,
    settings={
        "mix": Choice(tuple(MIXES), "transactions: like TPC-B, an update and an insert, or a read"),
        "clients": CLIENTS,
        "scale": Count(50, "units of 100,000 accounts, some 15 MB each", 1, 100_000),
        "seconds": SECONDS,
        "buffers": BUFFERS,
        "seed": SEED,
    },
    stands_for={"postgres-oltp": "", "mysql-oltp": ""},
    run=run,
    volumes=("data", "log"),
)
