"""Flushes of fio over NBD, once each.

fio 3.33 issues a flush into every free slot until the first has completed (io_u.c, `should_fsync`), which its engine
for NBD does not wait for. The server completes repeated ones at once (`ServeSpec.for_fio`), so that fio goes on with
other I/Os during a flush, as the model does; their numbers and latencies are then those of the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc, SummaryDoc
from hotband.data.documents.serving import Serving
from hotband.data.jobs import flushes
from hotband.data.jobs.loss import Fate
from hotband.data.jobs.tables import NOT_PRECONDITIONED
from hotband.execution.targets.fio_run import FioRun

Run = TypeVar("Run", bound=FioRun)
ENOUGH = 2
"""Writes from one flush to the next, as a multiple of the depth, from which one job leaves none out (tried: 3.33 with
a depth of 8 and a flush after 2, 4, 8 and 16 writes left out 48, 15, 1 and 0 %)."""
OF_A_JOB = {"rate_iops", "number_ios", "io_size", "thinktime", "flow"}
"""Options that limit a job, and would limit each of its clones."""
CONNECTIONS = 64
"""NBD connections that a served machine accepts at once (`Limits`, crates/serve/src/nbd/listener.rs)."""


def as_served(fio_run: Run) -> Run:
    """Return the run without the losses that a served machine makes up for: it completes repeated flushes at once, so
    that fio issues other I/Os during a flush, as the model does; and its drives are preconditioned as the workload
    requires."""
    losses = []
    made_up = (flushes.WAITS, flushes.REPEATS, NOT_PRECONDITIONED)
    for loss in fio_run.converted.losses:
        why = [part for part in loss.why.split("; ") if part not in made_up]
        if why:
            losses.append(replace(loss, why="; ".join(why)))
        else:
            losses.append(loss if not loss.why else replace(loss, fate=Fate.KEPT, why=""))
    return replace(fio_run, converted=replace(fio_run.converted, losses=tuple(losses)))


def slots_as_jobs(job: str) -> str:
    """Return a job whose random writes with flushes close together come from clones with one I/O outstanding: fio 3.33
    issues no flush if no write has completed since the last one, so that a job with a depth leaves flushes out. The
    job is unchanged if its clones would need more connections than a served machine accepts."""
    sections = []
    for section in job.split("\n["):
        options = dict(line.split("=", 1) for line in section.splitlines() if "=" in line)
        depth, every = int(options.get("iodepth", "1")), int(options.get("fsync", "0"))
        if (
            depth > 1
            and 0 < every < ENOUGH * depth
            and options["rw"] in ("randwrite", "randrw")
            and not OF_A_JOB & set(options)
        ):
            jobs = int(options.get("numjobs", "1"))
            section = section.replace(f"\niodepth={depth}\n", "\niodepth=1\n")
            section = section.replace(f"\nnumjobs={jobs}\n", f"\nnumjobs={jobs * depth}\n")
        sections.append(section)
    cloned = "\n[".join(sections)
    return cloned if most_connections(cloned) <= CONNECTIONS else job


def most_connections(job: str) -> int:
    """Return how many jobs of a job file run at once, each with an NBD connection."""
    most = running = 0
    for section in job.split("\n["):
        lines = section.splitlines()
        options = dict(line.split("=", 1) for line in lines if "=" in line)
        if "rw" not in options:
            continue
        running = (0 if "stonewall" in lines else running) + int(options.get("numjobs", "1"))
        most = max(most, running)
    return most


def expect_connections(workload: str, job: str) -> None:
    """Raise UserError for a job file with more parallel jobs than a served machine accepts connections."""
    if (jobs := most_connections(job)) > CONNECTIONS:
        accepted = f"needs an NBD connection for each of {jobs} threads: a served machine takes {CONNECTIONS}"
        raise UserError(workload, "load", "", accepted)


def flush_notes(records: Sequence[RecordDoc], served: SummaryDoc, serving: Serving) -> list[list[str]]:
    """Return the notes of each run on flushes that fio repeated. For one run, replace them in its summary
    (`flushes_once`) and drop those of its streams, which the server cannot distinguish; for several runs, only note
    that the counts include them."""
    if not serving.repeated_flushes:
        return [[] for _ in records]
    if len(records) == 1:
        for stream in records[0]["streams"]:
            stream.pop("flush", None)
        summary = records[0]["summary"]
        return [[flushes_once(summary, served, serving)] if "flush" in summary else []]
    words = "fio repeats flushes in free slots: its number of flushes includes the repeated ones"
    return [[words] if "flush" in record["summary"] else [] for record in records]


def flushes_once(summary: SummaryDoc, served: SummaryDoc, serving: Serving) -> str:
    """Replace the flushes that fio counted by those that the machine completed, as many per write; return a note.

    fio's engine for NBD repeats a flush in every free slot until the first has completed, and counts all of them.
    """
    writes, flush, times = summary["write"]["count"] or 0, served["flush"], serving.kind("flush")
    client = None if times is None else times.client
    assert client is not None, "a flush is repeated after another"
    counted = summary["flush"]["count"] or 0
    count = round((flush["count"] or 0) * writes / (served["write"]["count"] or 1))
    seconds = writes / (summary["write"]["iops"] or 1.0)
    summary["flush"] = {
        **flush,
        "count": count,
        "iops": count / seconds if seconds else 0.0,
        "latency_mean_ns": client.mean_ns,
        "latency_p50_ns": round(client.p50_ns),
        "latency_p99_ns": round(client.p99_ns),
        "latency_p999_ns": round(client.p99_9_ns),
        "latency_max_ns": round(client.max_ns),
        "queue_depth_mean": count * client.mean_ns / (1e9 * seconds) if seconds else 0.0,
    }
    # Times in the parts of the model make the latency of the model, not that of the client.
    summary["flush"].pop("times_mean_ns", None)
    return (
        f"fio counted {counted:,} flushes: it repeats them in free slots. The {count:,} shown here are those of the "
        "server, with its latencies"
    )
