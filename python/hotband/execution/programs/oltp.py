"""Brokerage-like OLTP on PostgreSQL: ten transactions, of which a quarter write, and 9.7 pages read a page written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from hotband.data.documents.program import FigureDoc
from hotband.execution.programs import brokerage, pgbench
from hotband.execution.programs.postgres import BUFFERS, NEEDS, server
from hotband.execution.programs.program import Count, Outcome, Program, figure, latencies, percentile
from hotband.execution.programs.work import Work

CUSTOMER_BYTES = 200e3
"""Size of a customer: 130 kB of tables and indexes, and half as much again for their log (measured at 4,000)."""
TRIES = 3
"""Attempts at a transaction that another one has locked out."""


def run(work: Work) -> Outcome:
    """Load the market, start the server again, run the clients."""
    customers = work.count("customers")
    work.expect_space("customers", customers * CUSTOMER_BYTES + pgbench.LEAST_BYTES)
    made = server(work, work.count("clients"))
    work.tell(f"loading {customers * brokerage.ACCOUNTS * brokerage.TRADES:,} trades of {customers:,} customers")
    load = work.temporary / "market.sql"
    load.write_text(brokerage.schema(customers), encoding="utf-8")
    made.run_file(load)
    made.restart_cold()
    arguments = [word for key, value in brokerage.variables(customers).items() for word in ("-D", f"{key}={value}")]
    for name, text in brokerage.scripts().items():
        script = work.temporary / f"{name}.sql"
        script.write_text(text, encoding="utf-8")
        arguments += ["-f", f"{script}@{brokerage.WEIGHTS[name]}"]
    text, log = pgbench.measure(made, work, [*arguments, "--max-tries", str(TRIES)])
    done = pgbench.outcome(made, work, text, log)
    return Outcome(done.version, [*done.figures, *of_transactions(log)], text)


def of_transactions(log: Iterable[str]) -> list[FigureDoc]:
    """Return the rate, mean and p99 of each transaction from a log of transactions."""
    times: dict[int, list[float]] = defaultdict(list)
    for line in log:
        columns = line.split()
        if len(columns) >= 6 and columns[2].isdigit():
            times[int(columns[3])].append(int(columns[2]) / 1000)
    figures: list[FigureDoc] = []
    for number, name in enumerate(brokerage.WEIGHTS):
        ordered = sorted(times[number])
        if ordered:
            figures.append(figure(f"{name} run", len(ordered), "transactions"))
            figures += latencies(name, sum(ordered) / len(ordered), {99: percentile(ordered, 99)})
    return figures


PROGRAM = Program(
    name="oltp",
    title="Brokerage-like OLTP on PostgreSQL: ten transactions, data and log on volumes of their own",
    asks="8 KiB random reads, 9.7 per page written; on volume log one flushed write per commit",
    needs=NEEDS,
    settings={
        "clients": pgbench.CLIENTS,
        "customers": Count(4000, "customers, some 130 kB each", 100, 1_000_000),
        "seconds": pgbench.SECONDS,
        "buffers": BUFFERS,
        "seed": pgbench.SEED,
    },
    stands_for={"oltp": "", "oltp-one-ssd": ""},
    run=run,
    volumes=("data", "log"),
)
