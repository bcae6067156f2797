"""Measures what a cluster of Ray costs beside the cores of this computer: `python scripts/ray_rate.py`.

A sweep of short runs (20,000 I/Os each) is run by the command, each kept in a folder: local, Ray, local, Ray. Printed
are runs a second of the whole command, and of the time between the first run that is kept and the last, which leaves
out what starts before; processor time; and how many bytes a run takes in the journal and on its way back.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hotband.data.documents.run import RunSpec
from hotband.data.results.sweep_journal import FRAME_FILE, JOURNAL_FILE, line_of
from hotband.data.results.sweep_rows import entry_of, row_of_run
from hotband.execution.experiment.parcel import Line, Returned, unpacked
from hotband.execution.experiment.ray_task import build, run_lines

IOS = 20_000
WORKLOAD = f"""
title = "random reads, so many"
source = "made up for this measurement"

[load]
closed = {{ threads = 1, depth = 8 }}

[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"

[[phases]]
name = "measure"
ios = {IOS}
measure = true
"""
MACHINE = "exos-15e900-512n"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
LOOKED_EVERY_S = 0.2


@dataclass(frozen=True)
class Timed:
    """One sweep: seconds of the whole command and between first and last run, how many runs came between, processor
    seconds of all its processes in that time, and its frame."""

    whole: float
    between: float
    counted: int
    processor: float
    frame: bytes

    @property
    def rate(self) -> float:
        """Runs a second between the first and the last."""
        return self.counted / self.between


def sweep(folder: Path, runs: int, executor: str) -> Timed:
    """Runs the sweep and watches its journal."""
    out = folder / executor.replace("/", "_")
    depths = ",".join(map(str, DEPTHS))
    command = [sys.executable, "-m", "hotband", "sweep", str(folder / "short.toml"), "--on", MACHINE]
    command += ["--set", f"qd={depths}", "--repeat", str(runs // len(DEPTHS)), "--out", str(out), "--json", "--fresh"]
    journal = out / JOURNAL_FILE
    shutil.rmtree(out, ignore_errors=True)
    begin, first, last, size, at_first = time.monotonic(), 0.0, 0.0, 0, 0
    used: dict[int, int] = {}
    before: dict[int, int] = {}
    process = subprocess.Popen([*command, "--executor", executor], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        used |= ticks_of(process.pid)
        now = journal.stat().st_size if journal.is_file() else 0
        if now > size:
            last = time.monotonic()
            if not first and lines(journal):
                first, at_first, before = last, lines(journal), dict(used)
            size = now
        time.sleep(LOOKED_EVERY_S)
    assert process.returncode == 0
    whole = time.monotonic() - begin
    seconds = (sum(used.values()) - sum(before.values())) / os.sysconf("SC_CLK_TCK")
    return Timed(whole, last - first, lines(journal) - at_first, seconds, (out / FRAME_FILE).read_bytes())


def ticks_of(pid: int) -> dict[int, int]:
    """Ticks of the processor that a process used, and all that it started, by process (proc_pid_stat(5))."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
        used[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return {one: used[one] for one in found if one in used}


def lines(journal: Path) -> int:
    """Runs in a journal."""
    return max(journal.read_bytes().count(b"\n") - 1, 0)


@dataclass(frozen=True)
class Back:
    """Of the answer of a task of 25 runs: bytes a run, and milliseconds of the driver's processor for one."""

    bytes_each: int
    driver_ms: float


def returned() -> tuple[Back, Back, int]:
    """What comes back of rows and of whole records; bytes of a record as text."""
    specs = [
        RunSpec(f"{n}", MACHINE, "short", seed=n, workload_text=WORKLOAD, set=(("qd", "8"),), in_use=True)
        for n in range(25)
    ]
    packed = [Line((spec,)) for spec in specs]
    rows, records = (run_lines(build(), packed, read) for read in (row_of_run, Returned.of))

    def keep_rows() -> None:
        for told in unpacked(rows).told:
            line_of(entry_of("0" * 64, told.runs[0], None))

    def read_records() -> None:
        for spec, told in zip(specs, unpacked(records).told, strict=True):
            told.runs[0].finished(spec)

    text = len(unpacked(records).told[0].runs[0].text)
    by_rows, by_records = (
        Back(len(answer) // len(specs), milliseconds(work) / len(specs))
        for answer, work in ((rows, keep_rows), (records, read_records))
    )
    return by_rows, by_records, text


def milliseconds(work: Callable[[], None], times: int = 10) -> float:
    """Of the processor, in the mean."""
    work()
    begin = time.process_time()
    for _ in range(times):
        work()
    return 1000 * (time.process_time() - begin) / times


def main() -> None:
    """Measures in turn, and says what it saw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--turns", default="local,ray,local,ray", help="executors in turn")
    asked = parser.parse_args()
    runs = asked.runs // len(DEPTHS) * len(DEPTHS)
    seen: dict[bool, list[Timed]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "short.toml").write_text(WORKLOAD)
        for executor in asked.turns.split(","):
            one = sweep(folder, runs, executor)
            seen[executor == "local"].append(one)
            print(
                f"{executor}: {runs:,} runs in {one.whole:.1f} s, between first and last {one.rate:.2f} a second, "
                f"{1000 * one.processor / one.counted:.2f} ms of the processor each; "
                f"frame {hashlib.sha256(one.frame).hexdigest()[:12]}",
                flush=True,
            )
            journal = (folder / executor.replace("/", "_") / JOURNAL_FILE).stat().st_size / runs
    row, record, text = returned()
    print(f"a run: {journal:.0f} bytes in the journal, a record has {text:,}")
    for name, one in (("row", row), ("record", record)):
        print(f"a {name} from a worker: {one.bytes_each:,} bytes, {one.driver_ms:.3f} ms of the driver")
    if seen[True] and seen[False]:
        assert len({one.frame for of in seen.values() for one in of}) == 1, "the frames differ"
        rate, used = (
            statistics.mean(map(key, seen[False])) / statistics.mean(map(key, seen[True]))
            for key in (lambda one: one.rate, lambda one: one.processor / one.counted)
        )
        print(f"Ray beside local: {rate:.3f} of the rate, {used:.3f} times the processor time; frames are the same")


if __name__ == "__main__":
    main()
