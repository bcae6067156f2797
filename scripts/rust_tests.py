"""Run the Rust tests that cargo has compiled, two programs at a time, and record what each took.

    rust_tests.py [CARGO OPTIONS ...]     for instance: rust_tests.py --workspace --exclude hotband-benches

Cargo runs its test programs one after the other and says nothing of processor time. This compiles what is missing
(`cargo test --no-run`), runs the programs as cargo would (in their crate's folder), and prints what failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import stage_times

STAGE = "rust test"
SHORT_CASES = "48"
"""Examples per property. PROPTEST_CASES also overrides the number that a property names; `make test-long` draws that
number, 256 by default."""


class Program(NamedTuple):
    """A test program: its crate and target, where it lies and the folder of its crate."""

    name: str
    executable: str
    folder: Path


class Outcome(NamedTuple):
    """What a program printed, its exit code and its cost."""

    program: Program
    output: str
    code: int
    row: stage_times.Row


def programs(options: list[str]) -> list[Program]:
    """Compile the tests and return their programs. Raises SystemExit with cargo's exit code where that fails."""
    command = ["cargo", "test", "--no-run", "--locked", "--quiet", "--message-format=json-render-diagnostics", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    tests = [one for one in messages if one.get("executable") and one["profile"]["test"]]
    return [
        Program(
            f"{Path(one['manifest_path']).parent.name} {one['target']['name']}",
            one["executable"],
            Path(one["manifest_path"]).parent,
        )
        for one in tests
    ]


def outcome(program: Program) -> Outcome:
    """Run one program."""
    env = os.environ | {"CARGO_MANIFEST_DIR": str(program.folder), "CARGO": "cargo"}
    is_long = env.get("HOTBAND_LONG") == "1"
    if not is_long:
        env["PROPTEST_CASES"] = SHORT_CASES
    began = time.monotonic()
    with subprocess.Popen(
        [program.executable, "--quiet", *(["--include-ignored"] if is_long else [])],
        cwd=program.folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as running:
        assert running.stdout is not None
        output = running.stdout.read()
        # Of this program and what it started: the processor time of the pool's other program is not its own.
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    row = stage_times.Row(STAGE, program.name, time.monotonic() - began, used.ru_utime + used.ru_stime)
    return Outcome(program, output, running.returncode, row)


def main(options: list[str]) -> int:
    """Do what the module's text says; return 1 where a test failed."""
    found = programs(options)
    # The largest begin first, so that none is left alone at the end.
    found.sort(key=lambda program: Path(program.executable).stat().st_size, reverse=True)
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for job in as_completed([pool.submit(outcome, program) for program in found]):
            done = job.result()
            stage_times.append([done.row])
            failed += done.code != 0
            results = [line for line in done.output.splitlines() if line.startswith("test result")]
            print(f"{done.program.name}: {results[-1] if results else f'ended with {done.code}'}")
            if done.code:
                print(done.output)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
