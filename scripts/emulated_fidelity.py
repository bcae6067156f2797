"""Model against emulation: the same workloads in virtual time and through fio on the served drive.

    scripts/emulated_fidelity.py [--drive NAME ...] [--seconds 12] [--out FILE.json] [--only PATTERN]

7.2K, 15K, a SATA solid-state drive, and RAID 5 and RAID 10 of four 15K disks; random reads, random writes, 70:30 and
sequential reads; queue depth 1, 8, 32. For each: IOPS, mean and p99 of both, by how much they differ, and the emulation
delay. A cell that the host cannot serve (its result is INVALID) is counted apart, with the reason. Run it on a machine
that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from hotband.data.documents.run import RunSpec
from hotband.data.documents.serving import Serving
from hotband.execution.targets.emulated import emulate
from hotband.inference.beside import beside

DISKS = ("exos-x16-16tb", "exos-15e900-512n")
SSD = "s4500-960"
ARRAYS = ("raid5:4xexos-15e900-512n", "raid10:4xexos-15e900-512n")
DRIVES = (*DISKS, SSD, *ARRAYS)
DEPTHS = (1, 8, 32)
PATTERNS = {
    "random read": (100, 100, "4 KiB"),
    "random write": (0, 100, "4 KiB"),
    "70:30": (70, 100, "4 KiB"),
    "sequential read": (100, 0, "128 KiB"),
}
# Largest differences that are accepted, in percent (issues J and X): mean and p99 of reads and writes, rates.
LIMITS = {"IOPS": 5.0, "mean": 5.0, "p99": 10.0}
OF_SSD = {"IOPS": 10.0, "mean": 10.0}
OF_ARRAYS = {"p99": 20.0}


def workload(pattern: str, depth: int, warm_up: float) -> str:
    """A workload of one stream."""
    read, random, size = PATTERNS[pattern]
    return (
        f'title = "{pattern}"\nsource = "issue J"\n[load]\nclosed = {{ threads = 1, depth = {depth} }}\n'
        f'[[streams]]\nread_pct = {read}\nrandom_pct = {random}\nsize = "{size}"\n'
        f'[[phases]]\nname = "warm-up"\nduration = "{warm_up:g} s"\n'
        '[[phases]]\nname = "measure"\nduration = "60 s"\nmeasure = true\n'
    )


def cell(drive: str, pattern: str, depth: int, seconds: float) -> dict[str, Any]:
    """One workload on one drive, both ways."""
    text = workload(pattern, depth, 2.0)
    spec = RunSpec("cell", drive, "cell.toml", duration=f"{seconds:g} s", workload_text=text)
    both = emulate(spec, anyway=True)
    record: Any = both.fio.record
    serving = Serving.of(record["serving"])
    late = serving.lateness
    rows = beside(both.model.record, both.fio.record)
    return {
        "drive": drive,
        "pattern": pattern,
        "depth": depth,
        "not_served": list(both.invalid),
        "figures": {f"{one.direction} {one.figure}": [one.model, one.emulated, one.error_pct] for one in rows},
        "lateness_p50_ns": late.p50_ns if late else None,
        "lateness_p99_ns": late.p99_ns if late else None,
        "client": {kind.kind: kind.client.mean_ns for kind in serving.kinds if kind.client},
        "meant": {kind.kind: kind.model.mean_ns for kind in serving.kinds if kind.model},
    }


def limit_of(figure: str, drive: str) -> float | None:
    """The largest difference of a figure; None where there is none (p50)."""
    name = figure.split()[1]
    limits = {**LIMITS, **(OF_SSD if drive == SSD else OF_ARRAYS if drive in ARRAYS else {})}
    return limits.get(name)


def show(one: dict[str, Any]) -> str:
    """A cell in a line: differences in percent, those beyond their limit marked."""
    name = f"{one['drive']:26} {one['pattern']:16} QD{one['depth']:<3}"
    parts = []
    for figure, (_, _, error) in one["figures"].items():
        limit = limit_of(figure, one["drive"])
        if limit is not None:
            parts.append(f"{figure} {error:+.1f}{'!' if abs(error) > limit else ''}")
    late = one["lateness_p99_ns"] or 0
    invalid = f"; not served: {one['not_served'][0]}" if one["not_served"] else ""
    return f"{name} {', '.join(parts)}; late p99 {late / 1e3:.0f} us{invalid}"


def main() -> int:
    """Runs the cells that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", nargs="*", default=list(DRIVES))
    parser.add_argument("--depth", nargs="*", type=int, default=list(DEPTHS))
    parser.add_argument("--only", nargs="*", choices=list(PATTERNS), default=list(PATTERNS))
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    cells, beyond, total, began = [], 0, 0, time.monotonic()
    for drive in asked.drive:
        for pattern in asked.only:
            for depth in asked.depth:
                one = cell(drive, pattern, depth, asked.seconds)
                cells.append(one)
                print(show(one), flush=True)
                if not one["not_served"]:
                    limits = {figure: limit_of(figure, drive) for figure in one["figures"]}
                    total += sum(limit is not None for limit in limits.values())
                    beyond += sum(
                        limit is not None and abs(one["figures"][figure][2]) > limit for figure, limit in limits.items()
                    )
                if asked.out is not None:
                    asked.out.write_text(json.dumps(cells, indent=1))
    apart = sum(bool(one["not_served"]) for one in cells)
    served = f"{total} figures of {len(cells) - apart} cells, {beyond} beyond their limit"
    print(f"{served}; {apart} cells that this host cannot serve; {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
