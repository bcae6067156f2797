"""How many I/Os a second of a core traces are read with: writes a large one in every format and times its reading.

    python scripts/trace_speed.py [--ios N] [--folder DIR]

One process, one thread; the time is this process's (user and system). Prints a line a format: I/Os a second, MB of text
a second, and the most memory that any reading took so far.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hotband import _core
from hotband.data.traces.files import make_rows
from hotband.inference.traces.convert import asked_of, convert_trace

SEED = "0x9e3779b97f4a7c15"


def source(path: Path, ios: int) -> None:
    """A trace of reads and writes at random places of 1 TB, one every 100 us, each answered after up to 1 ms."""
    state = int(SEED, 16)
    with path.open("w", encoding="utf-8") as file:
        file.write("number,submit_ns,stream,direction,offset_bytes,size_bytes,latency_ns,error,fua,volume\n")
        for number in range(ios):
            state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
            block, latency = (state >> 33) % 244_140_625, 50_000 + (state >> 20) % 950_000
            name = "read" if state >> 63 else "write"
            file.write(f"{number},{number * 100_000},main,{name},{block * 4096},4096,{latency},,false,8\n")


def read(path: Path, folder: Path) -> tuple[float, int]:
    """Processor seconds for all of it, and the most memory in MB."""
    rows = folder / "rows"
    rows.unlink(missing_ok=True)
    asked = asked_of(path, {})
    # Libraries are loaded once for all traces.
    import numpy
    import pyarrow.parquet  # noqa: F401

    numpy.zeros(1)
    begin = time.process_time()
    make_rows(path, asked, str(path), rows)
    spent = time.process_time() - begin
    rows.unlink()
    # The most of this process: getrusage counts the one that started it, too.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return spent, int(status.split("VmHWM:")[1].split()[0]) // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ios", type=int, default=2_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one is not None:
        spent, memory = read(asked.one, asked.one.parent)
        print(f"{spent} {memory}")
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        first = folder / "io-log-csv"
        source(first, asked.ios)
        print(f"{'format':18} {'I/Os a s':>12} {'MB/s':>8} {'memory':>8}")
        formats = ["io-log", *_core.trace_targets()]
        for target in [*formats, "spc.gz", "spc.zst"]:
            path = folder / target
            if path != first:
                convert_trace(first, path, target.split(".")[0], {})
            size = path.stat().st_size
            # Each in a process of its own, so that the memory is its own.
            done = subprocess.run(
                [sys.executable, __file__, "--one", str(path)], check=True, capture_output=True, text=True
            )
            taken, most = (float(word) for word in done.stdout.split())
            print(f"{target:18} {asked.ios / taken:12,.0f} {size / taken / 1e6:8.0f} {most:5.0f} MB", flush=True)
            if path != first:
                path.unlink()


if __name__ == "__main__":
    main()
