"""One load, asked for in three ways: `emulated:`, `real:nbd+unix://` of the same served drive, and fio by hand.

    scripts/real_fidelity.py [--drive NAME] [--seconds 10] [--repeats 2] [--out FILE.json]

Each way is repeated, each time on a drive that was just served. Printed is by how much `real:` and fio by hand differ
from `emulated:`, and by how much the repeats of a way differ from one another: a difference within that is none. On a
machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from hotband.data.documents.run import RunSpec
from hotband.data.importers.fio.importer import read
from hotband.execution.experiment import Experiment, Point
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets.emulated import emulate
from hotband.execution.targets.fio_child import find_fio
from hotband.execution.targets.on_device import How
from hotband.execution.targets.target import executor_of

PATTERNS = {"random read": (100, "4 KiB", 8), "70:30": (70, "8 KiB", 8)}
FIGURES = {"IOPS": "iops", "mean": "latency_mean_ns", "p50": "latency_p50_ns", "p99": "latency_p99_ns"}
Figures = dict[str, float]


def spec_of(pattern: str, seconds: float) -> RunSpec:
    """The run of a load, on no machine yet."""
    share, size, depth = PATTERNS[pattern]
    text = (
        f'title = "{pattern}"\nsource = "issue K"\n[load]\nclosed = {{ threads = 1, depth = {depth} }}\n'
        f'[[streams]]\nread_pct = {share}\nrandom_pct = 100\nsize = "{size}"\n'
        '[[phases]]\nname = "warm-up"\nduration = "2 s"\n'
        f'[[phases]]\nname = "measure"\nduration = "{seconds:g} s"\nmeasure = true\n'
    )
    return RunSpec(pattern, "", pattern, workload_text=text)


def figures_of(record: Any) -> Figures:
    """Of each direction that did anything."""
    found: Figures = {}
    for direction in ("read", "write"):
        block = record["summary"][direction]
        if block and block["count"]:
            found |= {f"{direction} {name}": float(block[key]) for name, key in FIGURES.items()}
    return found


def emulated(spec: RunSpec, drive: str) -> Figures:
    """By the name of the machine."""
    return figures_of(emulate(replace(spec, machine=drive), anyway=True).fio.record)


def real(spec: RunSpec, drive: str) -> tuple[Figures, str]:
    """By the socket of the served drive; and the job file that fio was given."""
    with Served(ServeSpec(drive, anyway=True)) as served:
        uri = str(served.volumes["d0"].uri)
        executor = executor_of(f"real:{uri}", writes=True, erase=uri, how=How(product="none", probe_s=1.0))
        point = Point(replace(spec, machine=f"real:{uri}"))
        [finished] = Experiment([point]).run(executor=executor).finished
    return figures_of(finished.record), str(finished.record["job"])


def by_hand(job: str, drive: str) -> Figures:
    """The same job file, run as anybody runs one."""
    with Served(ServeSpec(drive, anyway=True)) as served, tempfile.TemporaryDirectory() as folder:
        lines = [f"uri={served.volumes['d0'].uri}" if one.startswith("uri=") else one for one in job.splitlines()]
        (Path(folder) / "job.fio").write_text("\n".join(lines) + "\n")
        command = [find_fio(), "--output-format=json+", "--output=fio.json", "job.fio"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        [imported] = read([Path(folder)])
    return figures_of(imported.record)


def spread(of: list[Figures], name: str) -> float:
    """By how much repeats differ from one another, in percent of their mean."""
    values = [one[name] for one in of]
    return 100 * (max(values) - min(values)) / mean(values)


def cell(pattern: str, drive: str, seconds: float, repeats: int) -> dict[str, list[Figures]]:
    """All ways of one load, in turn, so that what the machine does else meets each alike."""
    spec = spec_of(pattern, seconds)
    found: dict[str, list[Figures]] = {"emulated": [], "real": [], "by hand": []}
    for _ in range(repeats):
        found["emulated"].append(emulated(spec, drive))
        measured, job = real(spec, drive)
        found["real"].append(measured)
        found["by hand"].append(by_hand(job, drive))
    return found


def lines_of(found: dict[str, list[Figures]]) -> list[str]:
    """A line a figure."""
    lines = []
    for name in found["emulated"][0]:
        base = mean(one[name] for one in found["emulated"])
        noise = max(spread(of, name) for of in found.values())
        off = {way: 100 * (mean(one[name] for one in of) / base - 1) for way, of in found.items()}
        ways = f"real {off['real']:+6.2f} %, by hand {off['by hand']:+6.2f} %"
        lines.append(f"  {name:11} {ways}; repeats {noise:.2f} %")
    return lines


def main() -> int:
    """Runs the cells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", default="exos-15e900-512n")
    parser.add_argument("--only", nargs="*", choices=list(PATTERNS), default=list(PATTERNS))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    kept = {}
    for pattern in asked.only:
        kept[pattern] = cell(pattern, asked.drive, asked.seconds, asked.repeats)
        print(f"{pattern} on {asked.drive}, {asked.repeats} repeats of {asked.seconds:g} s; differences to emulated:")
        print("\n".join(lines_of(kept[pattern])), flush=True)
        if asked.out is not None:
            asked.out.write_text(json.dumps(kept, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
