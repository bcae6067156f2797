"""Fuzzes the parsers, the readers and the two servers with coverage: `python scripts/fuzz.py --minutes 60`.

Targets take turns, a slice of some minutes each, the one that has run the shortest first. Inputs that reach new
code are kept in FOLDER/TARGET/corpus, what breaks something in FOLDER/TARGET/found, what was done in
FOLDER/TARGET/done.jsonl: started again, it goes on from there. `--minutes 0` prints the table alone, and `--keep` moves
what was done into fuzz/done.csv, which is committed: the table counts what was done in other checkouts, too. Each
slice reads all of its corpus first: `--smaller` leaves of it what reaches code that the rest does not.

Targets in Rust need cargo-fuzz and the nightly toolchain, those in Python atheris, which is installed into
FOLDER/venv; where one of them is not to be had, this says so and goes on with the rest.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from own_venv import NotToBeHad, interpreter_with

ROOT = Path(__file__).resolve().parent.parent
ATHERIS = "atheris==3.0.0"
RUST = {"spec": "spec", "logs": "logs", "nbd": "nbd", "traces": "traces", "trace-columns": "trace-columns"}
PYTHON = {
    **{"fio_reader": "fio", "result_readers": "results"},
    **dict.fromkeys(("page", "job_files", "records", "commands")),
}
"""Targets, and the folder of fuzz/corpus that they start from; None where `--seeds` of the target makes it."""
INTERRUPTED, TIMEOUT = 72, 70
"""Exit codes of libFuzzer when it is interrupted, and for an input that takes longer than MOST_S."""
LATE = -1
"""What is kept instead of the exit code of a slice that did not end in time, and was ended here: an input that takes
long ends it before, so that it was the corpus, on a machine that had other work."""
IN_ORDER = (0, LATE, INTERRUPTED, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGALRM)
"""Exit codes of slices that nothing broke off; the fourth of Python's when it is interrupted, the fifth of one that was
interrupted before it began, the last of one whose alarm rang when Python had ended by an interrupt: libFuzzer's own
handler tells of inputs that take long by TIMEOUT."""
MOST_S = 10
LIMITS = [f"-timeout={MOST_S}", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1"]
KEPT = ROOT / "fuzz/done.csv"
"""What was done in all checkouts: day, commit, target, seconds of the processor, inputs, slices of time
that an input broke off."""
STARTS_S = 300
"""Beyond its slice, a target may take this long to read its corpus and to end."""


class Slice(NamedTuple):
    """A target at work."""

    target: str
    process: subprocess.Popen[bytes]
    log: Path
    begin: float


class Target:
    """What is kept of a target."""

    def __init__(self, name: str, folder: Path, start: list[str], seeds: list[Path]) -> None:
        self.name, self.folder, self.start, self.seeds = name, folder / name, start, seeds
        for one in ("corpus", "found"):
            (self.folder / one).mkdir(parents=True, exist_ok=True)
        self.done = self.folder / "done.jsonl"

    def slices(self) -> list[dict[str, float]]:
        """What was done so far."""
        return [json.loads(line) for line in self.done.read_text().splitlines()] if self.done.is_file() else []

    def cpu_s(self) -> float:
        """Seconds of processor time so far."""
        return sum(one["cpu_s"] for one in self.slices())

    def ran_s(self) -> float:
        """Seconds on the wall so far: servers wait for their clients, and would always be next by processor time."""
        return sum(one.get("ran_s", one["cpu_s"]) for one in self.slices())

    def broke(self) -> int:
        """How many slices broke off, for an input that broke something."""
        return sum(one["exit"] not in IN_ORDER for one in self.slices())

    def found(self) -> list[Path]:
        """Inputs that broke something; libFuzzer keeps slow ones there, too, which broke nothing."""
        return sorted(one for one in (self.folder / "found").iterdir() if not one.name.startswith("slow-unit-"))

    def begin(self, seconds: int) -> Slice:
        """Starts a slice."""
        log = self.folder / "log"
        # Whole paths: commands are run in folders of their own.
        command = [*self.start, str(self.folder / "corpus"), *map(str, self.seeds), f"-max_total_time={seconds}"]
        command += [*LIMITS, f"-artifact_prefix={self.folder / 'found'}/"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, cwd=self.folder, stdout=out, stderr=out, env=environment(), start_new_session=True
            )
        return Slice(self.name, process, log, time.monotonic())

    def make_corpus_smaller(self) -> None:
        """Leaves of the corpus what reaches code that the rest of it does not; all of it where that breaks off."""
        corpus, smaller = self.folder / "corpus", self.folder / "corpus.smaller"
        shutil.rmtree(smaller, ignore_errors=True)
        smaller.mkdir()
        with (self.folder / "log.smaller").open("wb") as out:
            command = [*self.start, "-merge=1", str(smaller), str(corpus), *LIMITS]
            subprocess.run(command, cwd=self.folder, stdout=out, stderr=out, env=environment())
        before, after = (sum(1 for _ in one.iterdir()) for one in (corpus, smaller))
        if after:
            shutil.rmtree(corpus)
            smaller.rename(corpus)
        print(f"{self.name}: {before:,} inputs, {after or before:,} are left", flush=True)

    def still_slow(self) -> bool:
        """Whether an input takes too long of the processor, too: libFuzzer counts seconds on the wall, in which other
        work may have had it. Those that do not are taken out of what was found."""
        nothing = self.folder / "nothing"
        nothing.touch()
        for path in self.folder.glob("found/timeout-*"):
            (_, starts_s), (code, cpu_s) = self.alone(nothing), self.alone(path)
            if code == 0 and cpu_s - starts_s < MOST_S:
                path.unlink()
        return any(self.folder.glob("found/timeout-*"))

    def alone(self, path: Path) -> tuple[int, float]:
        """Exit code of the target with one input, and seconds of the processor, those of its start among them."""
        command = [*self.start, str(path), f"-timeout={60 * MOST_S}"]
        with (self.folder / "log.timeout").open("wb") as log:
            process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=environment())
            _, status, usage = os.wait4(process.pid, 0)
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime

    def end(self, code: int, cpu_s: float, ran_s: float, log: Path) -> None:
        """Keeps what a slice did."""
        text = log.read_text(errors="replace")
        if code == TIMEOUT and not self.still_slow():
            code = 0
        # Atheris and libFuzzer say the number at the end; one that broke off says it with its last line.
        counts = re.findall(r"number_of_executed_units:\s*(\d+)", text) or re.findall(r"^#(\d+)\t", text, re.MULTILINE)
        line = {
            "cpu_s": round(cpu_s, 1),
            "ran_s": round(ran_s),
            "executions": int(counts[-1]) if counts else 0,
            "exit": code,
        }
        with self.done.open("a") as out:
            out.write(json.dumps(line) + "\n")
        if code not in IN_ORDER:
            (self.folder / f"log.{len(self.slices())}").write_text(text)


def environment() -> dict[str, str]:
    """What targets run with: Hotband from this folder, the probe's clients, one thread for libraries."""
    from probe.worker import THREADS

    paths = os.pathsep.join([str(ROOT / "python"), str(ROOT / "scripts")])
    return {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": paths, "ASAN_OPTIONS": "detect_leaks=0"}


def rust_targets(names: list[str], folder: Path) -> list[Target]:
    """Built, or none with a word why."""
    if not names:
        return []
    have = shutil.which("cargo-fuzz") and shutil.which("rustup")
    if not have or subprocess.run(["cargo", "+nightly", "--version"], capture_output=True).returncode:
        print(
            "left out: " + ", ".join(names) + " (cargo install --locked cargo-fuzz; rustup toolchain install nightly)",
            file=sys.stderr,
        )
        return []
    built = folder / "target"
    print("compiling the targets in Rust: two minutes the first time", file=sys.stderr)
    subprocess.run(
        ["cargo", "+nightly", "fuzz", "build", "-O"],
        cwd=ROOT,
        check=True,
        env={**os.environ, "CARGO_TARGET_DIR": str(built)},
        stdout=subprocess.DEVNULL,
        stderr=(folder / "build.log").open("wb"),
    )
    host = re.search(r"host: (\S+)", subprocess.run(["rustc", "-vV"], capture_output=True, text=True).stdout)
    binaries = built / (host[1] if host else "") / "release"
    # What runs is a copy: a build beside a long fuzzing must not pull it away.
    made = []
    for name in names:
        copy = folder / name / "binary"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        shutil.copy2(binaries / name, copy)
        made.append(Target(name, folder, [str(copy)], [ROOT / "fuzz/corpus" / RUST[name]]))
    return made


def python_targets(names: list[str], folder: Path) -> list[Target]:
    """With an interpreter that has atheris, or none with a word why."""
    if not names:
        return []
    try:
        python = interpreter_with("atheris", folder / "venv", ["-r", str(ROOT / "requirements.lock"), ATHERIS])
    except NotToBeHad as error:
        print(f"left out: {', '.join(names)} ({ATHERIS} cannot be installed: {error})", file=sys.stderr)
        return []
    made = []
    for name in names:
        script = str(ROOT / f"fuzz/{name}.py")
        corpus = PYTHON[name]
        seeds = ROOT / "fuzz/corpus" / corpus if corpus else folder / name / "seeds"
        if corpus is None:
            subprocess.run([str(python), script, "--seeds", str(seeds)], check=True, env=environment())
        # Its first line looks there for Python; to make a corpus smaller, libFuzzer starts the script by its name.
        path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
        made.append(Target(name, folder, ["env", f"PATH={path}", script], [seeds]))
    return made


def ended(running: list[Slice], seconds: int) -> list[tuple[Slice, int, float]]:
    """Waits until a slice ends: with its exit code and its seconds of the processor."""
    late: list[Slice] = []
    while True:
        over = []
        for one in running:
            number, status, usage = os.wait4(one.process.pid, os.WNOHANG)
            if number:
                code = LATE if one in late else os.waitstatus_to_exitcode(status)
                over.append((one, code, usage.ru_utime + usage.ru_stime))
            elif time.monotonic() - one.begin > seconds + STARTS_S:
                late.append(one)
                os.killpg(one.process.pid, signal.SIGKILL)
        if over:
            return over
        time.sleep(0.5)


def how_it_went(done: dict[str, float]) -> str:
    """What a slice did."""
    said = f"{done['executions']:,} inputs in {done['cpu_s']:,.0f} s of the processor"
    if done["exit"] == LATE:
        return f"{said}, its corpus was not read in time (--smaller)"
    return said if done["exit"] in IN_ORDER else f"{said}, ended with {done['exit']} (see its found/ and logs)"


def fuzz(targets: dict[str, Target], minutes: float, slice_s: int, jobs: int) -> None:
    """Slices until the time is over, or an interrupt: what runs then ends in order and is kept."""
    until = time.monotonic() + 60 * minutes
    running: list[Slice] = []

    def take(over: list[tuple[Slice, int, float]]) -> None:
        for one, code, cpu_s in over:
            running.remove(one)
            targets[one.target].end(code, cpu_s, time.monotonic() - one.begin, one.log)
            print(f"{one.target}: {how_it_went(targets[one.target].slices()[-1])}", flush=True)

    try:
        while True:
            left = until - time.monotonic()
            busy = {one.target for one in running}
            idle = [one for one in targets.values() if one.name not in busy]
            if left > 0 and idle and len(running) < jobs:
                least = min(idle, key=Target.ran_s)
                running.append(least.begin(max(1, round(min(slice_s, left)))))
            elif running:
                take(ended(running, slice_s))
            else:
                return
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        for one in running:
            os.killpg(one.process.pid, signal.SIGINT)
        while running:
            take(ended(running, 0))


def kept() -> list[dict[str, str]]:
    """What other checkouts did, and this one before."""
    if not KEPT.is_file():
        return []
    with KEPT.open(newline="") as file:
        return list(csv.DictReader(file))


def keep(targets: list[Target]) -> None:
    """Moves what was done into the file that is committed."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    rows = kept()
    for one in targets:
        if not (slices := one.slices()):
            continue
        row = {"day": f"{datetime.date.today()}", "commit": commit.stdout.strip(), "target": one.name}
        row |= {"cpu_s": f"{one.cpu_s():.0f}", "inputs": f"{sum(each['executions'] for each in slices):.0f}"}
        rows.append(row | {"broke": str(one.broke())})
    if not rows:
        return
    new = KEPT.with_suffix(".new")
    with new.open("w", newline="") as file:
        out = csv.DictWriter(file, list(rows[-1]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    new.replace(KEPT)
    for one in targets:
        one.done.unlink(missing_ok=True)


def table(targets: list[Target]) -> str:
    """A line a target."""
    lines = [f"{'target':15} {'CPU hours':>9} {'inputs':>13} {'broke something':>16}"]
    rows = kept()
    hours = inputs = broke = 0.0
    for one in targets:
        before = [row for row in rows if row["target"] == one.name]
        row = (
            (one.cpu_s() + sum(float(each["cpu_s"]) for each in before)) / 3600,
            sum(each["executions"] for each in one.slices()) + sum(float(each["inputs"]) for each in before),
            one.broke() + sum(int(row["broke"]) for row in before),
        )
        lines.append(f"{one.name:15} {row[0]:9.2f} {row[1]:13,.0f} {row[2]:16}")
        hours, inputs, broke = hours + row[0], inputs + row[1], broke + row[2]
    return "\n".join([*lines, f"{'all':15} {hours:9.2f} {inputs:13,.0f} {broke:16.0f}"])


def main(given: list[str] | None = None) -> int:
    """Fuzzes as long as asked; exit code 1 where something broke."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="how long; 0 prints what was done")
    parser.add_argument("--slice", type=int, default=300, metavar="SECONDS", help="how long a target runs at a time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once")
    parser.add_argument("--targets", default=",".join([*RUST, *PYTHON]), help="of these alone")
    parser.add_argument("--folder", type=Path, default=ROOT / "out/fuzz")
    parser.add_argument("--smaller", action="store_true", help="first leave of a corpus what reaches new code")
    parser.add_argument("--keep", action="store_true", help="move what was done into fuzz/done.csv")
    asked = parser.parse_args(given)
    folder: Path = asked.folder.resolve()
    names = asked.targets.split(",")
    for name in names:
        if name not in RUST and name not in PYTHON:
            parser.error(f"no target {name!r}; there are {', '.join([*RUST, *PYTHON])}")
    # A shell starts what it puts into the background with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    folder.mkdir(parents=True, exist_ok=True)
    if asked.minutes > 0:
        made = rust_targets([one for one in names if one in RUST], folder)
        made += python_targets([one for one in names if one in PYTHON], folder)
        for one in made if asked.smaller else []:
            one.make_corpus_smaller()
        fuzz({one.name: one for one in made}, asked.minutes, asked.slice, asked.jobs)
    targets = [Target(one, folder, [], []) for one in names]
    if asked.keep:
        keep(targets)
    print(table(targets))
    found = [str(path) for one in targets for path in one.found()]
    print("\n".join(found) if found else "nothing broke")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
