"""Instructions and cache misses of one I/O on each path of the engine, counted by callgrind, against committed tables.

    python scripts/budgets.py            compares with tests/budgets/*.csv; exit code 1 where more are spent
    python scripts/budgets.py --short    instructions alone, without the long paths: `make test`
    python scripts/budgets.py --save     writes the tables

An I/O's instructions are those of a run of 2 n I/Os less those of a run of n, by n: reading specs, building the machine
and preconditioning are in both. Counts do not depend on what else the computer does, but on the compiler: the tables
name it, and are compared only under the same one.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from budget_paths import PATHS, Budget, trace_rows

ROOT = Path(__file__).resolve().parents[1]
INSTRUCTIONS = ROOT / "tests" / "budgets" / "instructions.csv"
MISSES = ROOT / "tests" / "budgets" / "misses.csv"
TABLES = {
    INSTRUCTIONS: {"instructions_per_io": ("instructions", 0)},
    MISSES: {"near_misses_per_io": ("near", 2), "far_misses_per_io": ("far", 2)},
}
"""The tables, with the field of `Count` and the digits of each of their columns."""
OLDER = ["with_fat_lto", "at_151238e"]
"""Columns of instructions that stay: of a919a7f4 with link-time optimisation, and of what came before the budgets."""
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "simulate"
TOLERANCE = 0.02
"""Share by which a count may differ: seen between two builds of the same source in different folders, below 0.5 %."""
MISSES_TOLERANCE = 0.05
MISSES_MORE = {"near_misses_per_io": 7.0, "far_misses_per_io": 0.25}
"""Misses depend on where a build has its code and data: two builds of one source in different folders differed by up to
6.2 near and 0.21 far ones an I/O on paths with few, by up to 3.4 % on those with many."""

EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
"""What callgrind counts, in its order."""
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")
"""Of every computer: 32 KiB and 8 MiB, so that misses do not depend on whose they are."""


class Count(NamedTuple):
    """Of one I/O: instructions, and data that were not in the nearest cache and in none."""

    instructions: float
    near: float
    far: float


def callgrind(path: Budget, ios: int, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs it in a folder of its own under `folder`. Raises SystemExit with valgrind's words where it fails. Names and
    variables are as long in every folder: they lie on the stack, and where that begins moves misses."""
    here = folder / f"{path.name}-{ios}"
    here.mkdir()
    (here / "load.toml").write_text(path.workload(ios))
    shutil.copy(PROGRAM, here / "simulate")
    machine = path.machine
    if machine.endswith(".toml"):
        machine = shutil.copy(machine, here / "machine.toml").name
    env = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
    if path.is_trace:
        (here / "rows").write_bytes(trace_rows(ios))
        env["TRACE"] = "rows"
    command = ["valgrind", "--tool=callgrind", *options, "./simulate", machine, "load.toml", *path.set]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=here)
    if done.returncode:
        sys.exit(f"{path.name}: {done.stderr[-1000:]}")
    return done


def counted(path: Budget, ios: int, folder: Path, with_misses: bool) -> Count:
    """What a whole run takes. The caches are simulated where misses are asked for, which takes half again as long."""
    simulated = ["--cache-sim=yes", *CACHES] if with_misses else []
    done = callgrind(path, ios, folder, "--callgrind-out-file=/dev/null", *simulated)
    printed = re.search(r"Collected : ([\d ]+)", done.stderr)
    if not printed:
        sys.exit(f"{path.name}: {done.stderr[-1000:]}")
    events = dict.fromkeys(EVENTS, 0) | dict(zip(EVENTS, map(int, printed[1].split()), strict=False))
    return Count(events["Ir"], events["D1mr"] + events["D1mw"], events["DLmr"] + events["DLmw"])


def measure(paths: tuple[Budget, ...], with_misses: bool = True) -> dict[str, Count]:
    """What an I/O takes on every path. The longest begin first."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        ask = {
            p.name: [pool.submit(counted, p, n * p.ios, Path(folder), with_misses) for n in (1, 2)]
            for p in reversed(paths)
        }
        counts = {name: [job.result() for job in jobs] for name, jobs in ask.items()}
    ios = {path.name: path.ios for path in paths}
    an_io = {name: [(b - a) / ios[name] for a, b in zip(*pair, strict=True)] for name, pair in counts.items()}
    return {path.name: Count(*an_io[path.name]) for path in paths}


def compiler() -> str:
    """The compiler's version, as the tables name it."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def read_table(file: Path) -> dict[str, dict[str, str]]:
    """A table, by path."""
    if not file.exists():
        return {}
    with file.open(newline="") as text:
        return {row["path"]: row for row in csv.DictReader(text)}


def save(counts: dict[str, Count], new_only: bool) -> None:
    """Writes the tables; paths that were not measured keep their rows, with `new_only` those that are there, too."""
    for file, columns in TABLES.items():
        old = read_table(file)
        rows = dict(old)
        for name, count in counts.items():
            if new_only and name in old:
                continue
            values = {column: f"{getattr(count, field):.{digits}f}" for column, (field, digits) in columns.items()}
            rows[name] = old.get(name, {}) | {"path": name, "rustc": compiler()} | values
        names = ["path", "rustc", *columns, *(OLDER if file == INSTRUCTIONS else [])]
        lines = [[rows[path.name].get(column, "") for column in names] for path in PATHS if path.name in rows]
        file.write_text("\n".join(",".join(line) for line in [names, *lines]) + "\n")


def compare(counts: dict[str, Count], tables: Iterable[Path]) -> int:
    """Prints each path beside its budgets in these tables; the number of counts that are over theirs."""
    over = 0
    for file, columns in ((file, TABLES[file]) for file in tables):
        table = read_table(file)
        for column, (field, digits) in columns.items():
            print(f"{column.replace('_', ' '):<28}{'counted':>10}{'budget':>10}")
            for name, count in counts.items():
                found, row = getattr(count, field), table.get(name)
                if row is None:
                    print(f"{name:<28}{found:>10.{digits}f}{'none':>10}")
                    continue
                budget = float(row[column])
                is_over = found > limit(budget, column)
                over += is_over
                change = f"{found / budget - 1:>+9.1%}" if budget else " " * 9
                print(f"{name:<28}{found:>10.{digits}f}{budget:>10.{digits}f}{change}{'  over' if is_over else ''}")
    return over


def limit(budget: float, column: str) -> float:
    """The most that a path may take."""
    if column == "instructions_per_io":
        return budget * (1 + TOLERANCE)
    return budget * (1 + MISSES_TOLERANCE) + MISSES_MORE[column]


def parsed() -> argparse.Namespace:
    """What was asked for. Raises SystemExit for a path that there is not."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--save", action="store_true", help="write the tables")
    asked.add_argument("--save-new", action="store_true", help="write rows of paths that the tables lack")
    asked.add_argument("--short", action="store_true", help="instructions alone, without the long paths")
    asked.add_argument("--only", action="append", default=[], help="a path of the table; may be repeated")
    options = asked.parse_args()
    known = [path.name for path in PATHS]
    if unknown := [name for name in options.only if name not in known]:
        sys.exit(f"--only {unknown[0]}: expected one of {', '.join(known)}")
    return options


def main() -> int:
    """What the module's text says."""
    options = parsed()
    for missing in [tool for tool in ("valgrind", "rustc") if not shutil.which(tool)]:
        print(f"instructions are not counted: {missing} is not installed")
        return 0
    if not PROGRAM.exists():
        sys.exit("first: cargo build --release --locked -p hotband-engine --bin simulate")
    chosen = (path for path in PATHS if not (options.short and path.is_long))
    paths = tuple(path for path in chosen if not options.only or path.name in options.only)
    if options.save_new:
        paths = tuple(path for path in paths if any(path.name not in read_table(file) for file in TABLES))
    if options.save or options.save_new:
        save(measure(paths), options.save_new)
        return 0
    other = {row["rustc"] for file in TABLES for row in read_table(file).values()} - {compiler()}
    if other:
        print(f"instructions are not compared: the table is of rustc {', '.join(sorted(other))}, this is {compiler()}")
        return 0
    tables = [INSTRUCTIONS] if options.short else list(TABLES)
    return min(compare(measure(paths, with_misses=MISSES in tables), tables), 1)


if __name__ == "__main__":
    sys.exit(main())
