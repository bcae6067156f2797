"""Loads through fio's file engines: a job file from sections, its run, and the results of each group in the JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hotband.base.child import Told
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.program import Need, figure, latencies
from hotband.execution.programs.work import ProgramFailed, Work

NEEDS = (Need("fio", "fio"),)
PERCENTILES = (50, 95, 99)
SLACK_S = 300.0
LAY_OUT_S = 14400.0

Options = Mapping[str, str | int]
Section = tuple[str, Options]
"""A job: its name and its options."""


@dataclass(frozen=True)
class Side:
    """Reads or writes of a group of jobs."""

    count: int
    rate: float
    mean_ms: float | None
    percentiles_ms: Mapping[int, float]


@dataclass(frozen=True)
class Group:
    """Jobs that are reported together, by the name of the first."""

    name: str
    read: Side
    write: Side


def job_file(shared: Options, sections: Sequence[Section]) -> str:
    """The text of a job file (fio(1))."""
    ranks = ":".join(str(rank) for rank in PERCENTILES)
    # Of I/Os the total latency is wanted; engines that only name files have no other than the completion's.
    common: dict[str, str | int] = {
        "lat_percentiles": 1,
        "clat_percentiles": 1,
        "percentile_list": ranks,
        "group_reporting": 1,
    }
    # fio would flush every file that it makes; they are flushed together before the measured time.
    common["create_fsync"] = 0
    whole = [("global", {"thread": 1, **common, **shared}), *sections]
    return "\n".join(
        f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in options.items()) for name, options in whole
    )


def lay_out(work: Work, shared: Options, sections: Sequence[Section]) -> None:
    """Write the files of the jobs, so that this is not measured; they are then out of the host's memory."""
    jobs = work.temporary / "files.fio"
    jobs.write_text(job_file({**shared, "create_only": 1}, sections), encoding="utf-8")
    work.call(["fio", jobs], LAY_OUT_S)
    work.cold()


def measure(
    work: Work,
    shared: Options,
    sections: Sequence[Section],
    seconds: int,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run the jobs for the given time; return fio's JSON."""
    jobs, result = work.temporary / "measured.fio", work.temporary / "fio.json"
    timed = {"time_based": 1, "runtime": seconds, "randseed": work.count("seed")}
    jobs.write_text(job_file({**shared, **timed}, sections), encoding="utf-8")
    shown = ["--eta=always", f"--eta-newline={max(1, seconds // 10)}", "--output-format=json", f"--output={result}"]
    work.call(["fio", *shown, jobs], seconds + SLACK_S, tell=progress_to(work), environment=environment)
    return Path(result).read_text(encoding="utf-8")


def progress_to(work: Work) -> Told:
    """Report how far fio is."""
    return lambda line: work.tell(line.rpartition("\r")[2]) if "[eta" in line else None


def groups_of(text: str) -> tuple[str, dict[str, Group]]:
    """fio's version, and the groups of its JSON by name. Raises ProgramFailed if the text is not fio's
    JSON, or if a job failed."""
    try:
        document = json.loads(text[text.index("{") :])
        jobs = [(str(entry["jobname"]), int(entry["error"]), entry) for entry in document["jobs"]]
        for name, error, _ in jobs:
            if error:
                raise ProgramFailed("fio", f"job {name} ended with error {error}")
        groups = {name: Group(name, side(job, "read"), side(job, "write")) for name, _, job in jobs}
        return str(document["fio version"]), groups
    except (ValueError, KeyError, TypeError) as error:
        raise ProgramFailed("fio", f"printed no result: {error}") from None


def side(job: Any, which: Literal["read", "write"]) -> Side:
    """One direction of a job of the JSON: nanoseconds to milliseconds."""
    direction = job[which]
    latency = direction["lat_ns"] if direction["lat_ns"]["N"] else direction["clat_ns"]
    ranks = latency.get("percentile", {})
    percentiles = {rank: ranks[key] / 1e6 for rank in PERCENTILES if (key := f"{rank}.000000") in ranks}
    mean = latency["mean"] / 1e6 if latency["N"] else None
    return Side(int(direction["total_ios"]), float(direction["iops"]), mean, percentiles)


def side_figures(name: str, side_: Side) -> list[FigureDoc]:
    """Rate and latencies of a direction; none without I/Os."""
    if not side_.count:
        return []
    return [figure(f"{name}s", side_.rate, f"{name}s/s"), *latencies(name, side_.mean_ms, side_.percentiles_ms)]
