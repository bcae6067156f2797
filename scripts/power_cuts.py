"""Crashes file systems and databases on served machines, and looks what is left: `python scripts/power_cuts.py cuts`.

`cuts`: power goes off at a moment that is drawn, for ext4, xfs and PostgreSQL, on a volatile, no and a protected write
cache of a disk and on two solid-state drives, with flushes and with the kernel kept from sending them. `kills`: the
server is killed (SIGKILL) instead. Each trial leaves a line of JSON in the file of outcomes; what is there is not
repeated, so that it can be interrupted. `show`: a table of a file of outcomes. The exit code is 1 where something was
lost that must not be. Needs root.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from crash import database
from crash.host import clear, end_programs, missing
from crash.trials import CACHES, FILE_SYSTEMS, PROGRAMS, Outcome, Trial, moment, run, template

TRIAL_S = 180.0
"""A trial that takes longer hangs; the longest take 30 s beside others."""
# Seconds since a machine is served in which power goes off: a file system is there after half a second, a database that
# answers after one. Kills come sooner, and are counted from the first promise: they are a thousand.
CUT_S = {"ext4": (1.0, 4.0), "xfs": (1.0, 4.0), "postgresql": (1.5, 4.0)}
KILL_S = (0.02, 1.5)
# A log is gone through in the first tenths of a second.
AGAIN_S = (0.05, 0.8)


def cuts(each: int, seed: int, again: bool = False) -> Iterator[Trial]:
    """So many power cuts of each program on each cache, and half as many without flushes; with `again` in twos."""
    for number in range(each):
        for flushes in (True, False)[: 1 + (number < each // 2)]:
            for program in PROGRAMS:
                for cache in CACHES:
                    key = f"cut-{program}-{cache.replace(' ', '-')}-{'flushed' if flushes else 'unflushed'}-{number}"
                    at = moment(key, seed, *CUT_S[program])
                    trial = Trial(key, "power-off", program, below(program, number), cache, flushes, at)
                    yield twice(trial, seed) if again else trial


def kills(each: int, seed: int, again: bool = False) -> Iterator[Trial]:
    """So many kills of the server below each program; with `again` in twos."""
    for number in range(each):
        for program in PROGRAMS:
            key = f"kill-{program}-{number}"
            at = moment(key, seed, *KILL_S)
            trial = Trial(key, "kill", program, below(program, number), "volatile", True, at)
            yield twice(trial, seed) if again else trial


def twice(trial: Trial, seed: int) -> Trial:
    """The same with a second crash while the program recovers."""
    key = f"{trial.key}-again"
    return replace(trial, key=key, again_s=moment(key, seed, *AGAIN_S))


def below(program: str, number: int) -> str:
    """The file system of a trial: its own, or both in turns."""
    return program if program in FILE_SYSTEMS else FILE_SYSTEMS[number % 2]


def outcomes(file: Path) -> list[dict[str, Any]]:
    """Those that a file has, the last of each trial; a line that was begun is not among them."""
    lines = file.read_text().splitlines() if file.exists() else []
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        with suppress(json.JSONDecodeError):
            outcome = json.loads(line)
            found[outcome["trial"]["key"]] = outcome
    return list(found.values())


def one(trial: Trial, work: Path, file: Path) -> None:
    """A trial, in a process of its own."""
    signal.signal(signal.SIGTERM, interrupted)
    note(run(trial, work / trial.key, work / "templates"), file)


def note(outcome: Outcome, file: Path) -> None:
    """Adds a line to the file of outcomes."""
    with open(file, "ab", buffering=0) as out:
        out.write(json.dumps(outcome.told()).encode() + b"\n")


def interrupted(*_: object) -> None:
    """SIGTERM lets a trial clean up, as Ctrl-C does."""
    raise KeyboardInterrupt


@dataclass
class Running:
    """A trial that runs, and until when it may."""

    trial: Trial
    process: ForkProcess
    deadline: float

    def ended(self, work: Path, file: Path) -> bool:
        """Whether it has ended; one that hangs, or fails itself, is noted so."""
        if self.process.exitcode is None and time.monotonic() < self.deadline:
            return False
        hangs = self.process.exitcode is None
        if hangs:
            self.process.kill()
            self.process.join(5)
        if self.process.exitcode != 0:
            why = f"did not end in {TRIAL_S:.0f} s" if hangs else f"exit code {self.process.exitcode}"
            note(Outcome(self.trial, broken=why), file)
            end_programs(work / self.trial.key)
            clear(work / self.trial.key)
        return True


def run_all(trials: list[Trial], work: Path, file: Path, jobs: int, until: float) -> None:
    """Runs trials, so many at once, until all are done or the time is over."""
    fork = multiprocessing.get_context("fork")
    running: list[Running] = []
    left = list(reversed(trials))
    try:
        while running or (left and time.monotonic() < until):
            while left and len(running) < jobs and time.monotonic() < until:
                trial = left.pop()
                process = fork.Process(target=one, args=(trial, work, file))
                process.start()
                running.append(Running(trial, process, time.monotonic() + TRIAL_S))
            time.sleep(0.05)
            running = [one for one in running if not one.ended(work, file)]
    finally:
        for still in running:
            still.process.terminate()
            still.process.join(60)
            clear(work / still.trial.key)


def group(outcome: dict[str, Any]) -> tuple[str, str, str, str]:
    """The row of an outcome."""
    trial = outcome["trial"]
    flushes = "sent" if trial["flushes"] else "kept back"
    crash = trial["crash"] if trial.get("again_s") is None else f"{trial['crash']} twice"
    return crash, trial["program"], trial["cache"], flushes


COLUMNS = ("crash", "program", "cache", "flushes", "trials", "recovered", "with loss", "promised", "lost", "drive lost")


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """A table for a page: trials, those that recovered, those that lost something that was promised; what was promised,
    what of it is lost; writes that the model says the drive lost, in all trials."""
    rows: dict[tuple[str, ...], Counter[str]] = {}
    for outcome in found:
        if outcome["early"] or outcome["broken"]:
            continue
        row = rows.setdefault(group(outcome), Counter())
        row["trials"] += 1
        row["recovered"] += outcome["recovered"]
        row["with loss"] += not outcome["whole"]
        row["promised"] += outcome["acknowledged"]
        row["lost"] += outcome["lost"]
        row["drive lost"] += outcome["ledger"].get("lost_writes", 0)
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|{'---|' * 4}{'---:|' * 6}"
    order = {name: at for at, name in enumerate((*PROGRAMS, *CACHES))}
    for names in sorted(rows, key=lambda one: (one[0], one[3], order[one[1]], order[one[2]])):
        yield f"| {' | '.join([*names, *(f'{rows[names][name]:,}' for name in COLUMNS[4:])])} |"


def judged(found: list[dict[str, Any]]) -> list[str]:
    """What is not as it must be."""
    wrong = [f"{one['trial']['key']}: {one['broken'] or one['faults']}" for one in found if not one["expected"]]
    unflushed = [one for one in found if one["may_lose"] and not one["broken"] and not one["early"]]
    for program in PROGRAMS:
        of_it = [one for one in unflushed if one["trial"]["program"] == program]
        if of_it and all(one["whole"] for one in of_it):
            wrong.append(f"{program}: nothing was lost on a volatile cache without flushes: this test cannot fail")
    return wrong


def show(file: Path) -> int:
    """Prints the table, and what is wrong."""
    found = outcomes(file)
    print("\n".join(table(found)))
    early = sum(one["early"] for one in found)
    idle = sum(one["acknowledged"] == 0 for one in found) - early
    print(f"\n{len(found)} trials; {early} crashed before there was a file system, {idle} before anything was promised")
    wrong = judged(found)
    print("\n".join(wrong) if wrong else "Nothing was lost that must not be.")
    return 1 if wrong else 0


def main() -> int:
    """Does what the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["cuts", "kills", "show"])
    parser.add_argument("--out", type=Path, default=Path("out/crashes.jsonl"), help="file of outcomes")
    parser.add_argument("--each", type=int, default=24, help="trials of each combination")
    parser.add_argument("--again", action="store_true", help="a second crash while the program recovers")
    parser.add_argument("--jobs", type=int, default=2, help="trials at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="begins no trial after so many")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("out/crashes"),
        help="folder for stores; the user postgres must be able to reach it",
    )
    asked = parser.parse_args()
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    if asked.what == "show":
        return show(asked.out)
    lacking = missing("mkfs.ext4", "e2fsck", "mkfs.xfs", "xfs_repair") or database.missing()
    if lacking is not None:
        parser.error(lacking)
    until = time.monotonic() + 60 * asked.minutes
    done = {outcome["trial"]["key"] for outcome in outcomes(asked.out) if not outcome["broken"]}
    plan = (cuts if asked.what == "cuts" else kills)(asked.each, asked.seed, asked.again)
    trials = [trial for trial in plan if trial.key not in done]
    work = asked.work.resolve()
    for trial in trials:
        if trial.program == "postgresql":
            template(work / "templates", CACHES[trial.cache][0], trial.file_system)
    signal.signal(signal.SIGTERM, interrupted)
    with suppress(KeyboardInterrupt):
        run_all(trials, work, asked.out, asked.jobs, until)
    return show(asked.out)


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
