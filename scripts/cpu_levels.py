"""Is a run the same, bit for bit, whatever processor the engine is compiled for? `python scripts/cpu_levels.py`.

Compiles `simulate` for x86-64 and for x86-64-v3 (AVX2, fused multiply-add), each in a folder of its own, runs drives of
every mechanism under workloads that draw on most of the engine, and compares the records. Compiling takes minutes.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEVELS = ("x86-64", "x86-64-v3")
RUNS = [
    ("ent-15k", "fio-randread", ()),
    ("exos-x18-18tb", "iometer-database", ()),
    ("st8000as0002", "iometer-4k-rand-50-50", ()),
    ("raid5:5xexos-15e900-512e", "iometer-database", ()),
    ("raid10:4xent-10k", "vdbench-8k-random", ()),
    ("s4500-960", "fio-randwrite", ("scale=64", "warm_up=100 ms")),
    ("nytro-1351-960", "iometer-4k-rand-70-30", ("scale=64", "data=0.5")),
    ("980-pro-1tb", "fio-randwrite", ("scale=64", "warm_up=100 ms")),
    ("ent-15k", "ycsb-a", ("app.records=100000",)),
]


def built(level: str, folder: Path, extra: list[str]) -> Path:
    """The program, compiled for a level."""
    environment = os.environ | {"RUSTFLAGS": f"-C target-cpu={level}", "CARGO_TARGET_DIR": str(folder / level)}
    command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "hotband-engine",
        "--bin",
        "simulate",
        *extra,
    ]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return folder / level / "release" / "simulate"


def record(program: Path, machine: str, workload: str, pairs: tuple[str, ...]) -> str:
    """What a run leaves; the first line says how fast the host was."""
    asked = [str(program), machine, workload, *pairs]
    done = subprocess.run(asked, env=os.environ | {"PARTS": "1"}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{machine} under {workload}: {done.stderr}")
    return done.stdout.partition("\n")[2]


def main() -> int:
    """Compares; exit code 1 where two differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "target/levels")
    parser.add_argument("cargo", nargs="*", help="more for cargo build")
    asked = parser.parse_args()
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8") if platform.machine() == "x86_64" else ""
    if "avx2" not in flags or "fma" not in flags:
        print("this processor is no x86-64-v3: nothing was compared")
        return 0
    programs = [built(level, asked.folder, asked.cargo) for level in LEVELS]
    differ = 0
    for machine, workload, pairs in RUNS:
        first, second = (record(program, machine, workload, pairs) for program in programs)
        assert len(first) > 1000, "a record was printed"
        differ += first != second
        print(f"{machine} under {workload}: {'the same' if first == second else 'DIFFERS'}, {len(first):,} bytes")
    print(f"{len(RUNS)} runs, {differ} differ between {' and '.join(LEVELS)}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
