"""Instructions of one I/O on each path of the engine, counted by callgrind, against a committed table.

    python scripts/budgets.py            compares with tests/budgets/instructions.csv; exit code 1 where more are spent
    python scripts/budgets.py --save     writes the table

An I/O's instructions are those of a run of 2 n I/Os less those of a run of n, by n: reading specs, building the machine
and preconditioning are in both. Counts do not depend on what else the computer does, but on the compiler: the table
names it, and is compared only under the same one.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "budgets" / "instructions.csv"
PROGRAM = ROOT / "target" / "release" / "simulate"
TOLERANCE = 0.02
"""Share by which a count may differ: seen between two builds of the same source in different folders, below 0.5 %."""

DISK = "exos-15e900-512n"
RAID10 = "raid10:24xexos-15e900-512n"
RAID5 = "raid5:6xexos-15e900-512n"
SSD = "s4500-960"
COMPRESSING = "nytro-1351-960"
NVME = "pm9a3-3840"


class Load(NamedTuple):
    """A machine and a load on it."""

    name: str
    machine: str
    depth: int
    read_pct: int
    random_pct: int = 100
    size: str = "4 KiB"
    ios: int = 20_000
    set: tuple[str, ...] = ()


WORN = ("scale=512", "state=preconditioned")

PATHS = (
    Load("disk-qd1-read", DISK, 1, 100, ios=40_000),
    Load("disk-qd32-read", DISK, 32, 100),
    Load("disk-qd32-write", DISK, 32, 0),
    Load("disk-sequential-read", DISK, 16, 100, 0, "128 KiB"),
    Load("raid10-read", RAID10, 64, 100),
    Load("raid10-mixed", RAID10, 64, 70),
    Load("raid10-write", RAID10, 64, 0),
    Load("raid5-read", RAID5, 16, 100),
    Load("raid5-write", RAID5, 16, 0),
    Load("ssd-read", SSD, 32, 100, set=WORN),
    Load("ssd-write", SSD, 32, 0, set=WORN),
    Load("nvme-read", NVME, 256, 100, set=WORN),
    Load("ssd-compressing-write", COMPRESSING, 32, 0, set=("scale=128", "state=preconditioned")),
)


def workload(path: Load, ios: int) -> str:
    """The load as a workload file, measured for `ios` I/Os."""
    return (
        f"[load]\nclosed = {{ threads = 1, depth = {path.depth} }}\n"
        f'[[streams]]\nread_pct = {path.read_pct}\nrandom_pct = {path.random_pct}\nsize = "{path.size}"\n'
        f'[[phases]]\nname = "warm-up"\nios = 1000\n[[phases]]\nios = {ios}\nmeasure = true\n'
    )


def instructions(path: Load, ios: int, folder: Path) -> int:
    """Instructions of a whole run. Raises SystemExit with valgrind's words where it fails."""
    file = folder / f"{path.name}-{ios}.toml"
    file.write_text(workload(path, ios))
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}.out"]
    command += [str(PROGRAM), path.machine, str(file), *path.set]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{path.name}: {done.stderr[-1000:]}")
    return int(found[1])


def measure(paths: tuple[Load, ...]) -> dict[str, float]:
    """Instructions of an I/O on every path."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        ask = [pool.submit(instructions, p, n * p.ios, Path(folder)) for p in paths for n in (1, 2)]
        counts = [job.result() for job in ask]
    pairs = zip(paths, counts[::2], counts[1::2], strict=True)
    return {path.name: (twice - once) / path.ios for path, once, twice in pairs}


def compiler() -> str:
    """The compiler's version, as the table names it."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


class Row(NamedTuple):
    """A row of the table: compiler, budget, and what the path took at commit 151238e, before the seven ideas."""

    rustc: str
    budget: float
    before: str


def read_table() -> dict[str, Row]:
    """The table, by path."""
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["path"]: Row(row["rustc"], float(row["instructions_per_io"]), row["at_151238e"]) for row in rows}


def save(counts: dict[str, float]) -> None:
    """Writes the table; paths that were not measured keep their rows."""
    old = read_table() if TABLE.exists() else {}
    before = {name: row.before for name, row in old.items()}
    rows = old | {name: Row(compiler(), count, before.get(name, "")) for name, count in counts.items()}
    lines = ["path,rustc,instructions_per_io,at_151238e"]
    known = [(path.name, rows[path.name]) for path in PATHS if path.name in rows]
    lines += [f"{name},{row.rustc},{row.budget:.0f},{row.before}" for name, row in known]
    TABLE.write_text("\n".join(lines) + "\n")


def compare(counts: dict[str, float]) -> int:
    """Prints each path beside its budget; the number that spend more."""
    table, over = read_table(), 0
    print(f"{'instructions an I/O':<24}{'counted':>9}{'budget':>9}{'':>9}")
    for name, count in counts.items():
        budget = table[name].budget
        is_over = count > budget * (1 + TOLERANCE)
        over += is_over
        print(
            f"{name:<24}{count:>9.0f}{budget:>9.0f}{count / budget - 1:>+9.1%}{'  over its budget' if is_over else ''}"
        )
    return over


def main() -> int:
    """What the module's text says."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--save", action="store_true", help="write the table")
    asked.add_argument("--only", action="append", default=[], help="a path of the table; may be repeated")
    options = asked.parse_args()
    for missing in [tool for tool in ("valgrind", "rustc") if not shutil.which(tool)]:
        print(f"instructions are not counted: {missing} is not installed")
        return 0
    if not PROGRAM.exists():
        sys.exit("first: cargo build --release --locked -p hotband-engine --bin simulate")
    known = [path.name for path in PATHS]
    if unknown := [name for name in options.only if name not in known]:
        sys.exit(f"--only {unknown[0]}: expected one of {', '.join(known)}")
    paths = tuple(path for path in PATHS if not options.only or path.name in options.only)
    if options.save:
        save(measure(paths))
        return 0
    budgets = read_table()
    other = {row.rustc for row in budgets.values()} - {compiler()}
    if other:
        print(f"instructions are not compared: the table is of rustc {', '.join(sorted(other))}, this is {compiler()}")
        return 0
    return min(compare(measure(paths)), 1)


if __name__ == "__main__":
    sys.exit(main())
