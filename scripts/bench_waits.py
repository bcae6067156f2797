"""What people wait for: processor seconds and peak memory of whole commands, each in a process of its own.

    python scripts/bench_waits.py              every command that takes at most half a minute (`make bench-waits`)
    python scripts/bench_waits.py --all        the others, too
    python scripts/bench_waits.py --only find  those whose name contains a word
    python scripts/bench_waits.py --save       records the figures in tests/budgets/waits.csv

Commands run in a folder of their own with an empty cache folder; inputs are made there. A row that is the cost of one
more point is the difference of two commands, by the points between them. Instructions of an I/O are in `make budgets`.
Processor time is that of all threads and children, user and system; compare before and after in one sitting.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "budgets" / "waits.csv"
HOTBAND = f"{shlex.quote(sys.executable)} -c 'from hotband.faces.cli import app; app()'"


def no_input(folder: Path) -> None:
    """The command reads nothing."""


def prices(folder: Path) -> None:
    """Prices of six SSDs and four disks, made up."""
    drives = "7450-pro-3840 pm9a3-3840 p4510-4tb s4500-960 exos-x18-18tb toshiba-mg08-16tb exos-15e900-512n ent-10k"
    rows = [f"{name},{200 + 40 * number},EUR" for number, name in enumerate(drives.split())]
    (folder / "prices.csv").write_text("\n".join(["drive,price,currency", *rows, ""]))


def fio_results(folder: Path) -> None:
    """500 results of fio that differ in their rate alone."""
    sample = json.loads((ROOT / "tests/fio/samples/fio-2.1-usec.json").read_text())
    (folder / "fio").mkdir()
    for number in range(500):
        sample["jobs"][0]["read"]["iops"] = 1000 + number
        (folder / "fio" / f"{number:03}.json").write_text(json.dumps(sample))


def records(folder: Path) -> None:
    """500 records of one short run with other seeds."""
    import hotband as hb

    sweep = hb.sweep("fio-randread", on="ent-10k", duration="0.2 s", repeat=500, progress=False)
    sweep.save(folder / "records")


def trace(folder: Path) -> None:
    """A trace of 4 million I/Os."""
    from trace_speed import source

    source(folder / "trace.csv", 4_000_000)


class Wait(NamedTuple):
    """A command, what it waits for, and the seconds to reach; with `base` and `points` the cost of a point more."""

    name: str
    words: str
    to_reach: float
    made: Callable[[Path], None] = no_input
    base: str = ""
    points: int = 1
    is_long: bool = False


SSD_SWEEP = "sweep fio-randread --on 7450-pro-3840 --duration '0.01 s' --set qd="
WAITS = (
    Wait("advise", "advise iometer-database --slo 'p99 < 30 ms' --capacity '20 TB' --protect 'two failures' "
         "--prices prices.csv", 20, prices, is_long=True),
    Wait("find-ssd", "find 'drives for 3000 IOPS at p99 < 30 ms' -w iometer-database --on 'raid5:{n}x7450-pro-3840'", 5,
         is_long=True),
    Wait("find-disk", "find 'drives for 3000 IOPS at p99 < 30 ms' -w iometer-database "
         "--on 'raid10:{n}xexos-15e900-512n'", 1.7),
    Wait("sweep-ssd-point", f"{SSD_SWEEP}1,2,3,4,5,6,7,8,9,10,11", 0.05, base=f"{SSD_SWEEP}1", points=10),
    Wait("run-ssd", "run fio-randread --on 7450-pro-3840 --set qd=32", 1.0),
    Wait("serve-ssd", "serve 7450-pro-3840 --anyway --set state=preconditioned --run true", 5),
    Wait("interval-disk", "run fio-randread --on exos-15e900-512n --interval 90", 0.8),
    Wait("interval-ssd", "run fio-randread --on s4500-960 --interval 90", 3),
    Wait("page", "sweep fio-randread --on ent-10k --duration '0.1 s' --set qd=1 -o page.html", 0.7),
    Wait("audit", f"audit {ROOT}/tests/fio/samples/fio-2.1-usec.json", 0.4),
    Wait("report-500", "report records -o report.html", 5, records, is_long=True),
    Wait("import-500", "import fio fio --out imported", 1.2, fio_results),
    Wait("pool-800", "run fio-randread --on replicated:800xmg06sca-10tb --duration '0.01 s'", 0.2),
    Wait("raid6-24-ssd", "run fio-randwrite --on raid6:24x7450-pro-3840 --duration '0.01 s'", 25, is_long=True),
    Wait("study-durawrite", "study run durawrite --out study", 30, is_long=True),
    Wait("study-exos", "study run exos-15e900 --out study", 40, is_long=True),
    Wait("study-mach2-ceph", "study run mach2-ceph --out study", 20, is_long=True),
    Wait("raid5-new", "run fio-randwrite --on raid5:4x7450-pro-3840 --set state=fob --set qd=32 --duration '1 s'", 14),
    Wait("trace-fit", "trace fit trace.csv", 5, trace, is_long=True),
)  # fmt: skip


def spent(words: str, folder: Path, seconds: int) -> tuple[float, float]:
    """Processor seconds of a command and the peak of its memory in MB. Raises SystemExit with its words if it fails."""
    with tempfile.TemporaryDirectory(dir=folder) as cache, (folder / "said").open("w+") as said:
        env = os.environ | {"XDG_CACHE_HOME": cache}
        # Users' modules are compiled once.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        command = ["timeout", str(seconds), "sh", "-c", f"exec {HOTBAND} {words}"]
        child = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        said.seek(0)
        # 1 is an answer, too: a finding, or a condition that is not met.
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"{words}: {said.read()[-1000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measured(wait: Wait, seconds: int) -> tuple[float, float]:
    """Processor seconds and peak memory of a row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wait.made(folder)
        time, memory = spent(wait.words, folder, seconds)
        if wait.base:
            time = (time - spent(wait.base, folder, seconds)[0]) / wait.points
        return time, memory


def saved() -> dict[str, dict[str, str]]:
    """The recorded figures, by name."""
    with TABLE.open(newline="") as text:
        return {row["name"]: row for row in csv.DictReader(text)}


def save(figures: dict[str, tuple[float, float]]) -> None:
    """Records figures; rows that were not measured stay."""
    rows = saved() if TABLE.exists() else {}
    for name, (time, memory) in figures.items():
        rows[name] = {"name": name, "seconds": f"{time:.2f}", "memory_mb": f"{memory:.0f}"}
    with TABLE.open("w", newline="") as text:
        writer = csv.DictWriter(text, ["name", "seconds", "memory_mb"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[wait.name] for wait in WAITS if wait.name in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also commands of over half a minute")
    parser.add_argument("--only", default="", metavar="NAME", help="commands whose name contains it")
    parser.add_argument("--save", action="store_true", help="record the figures")
    parser.add_argument("--seconds", type=int, default=900, help="longest time of one command")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    before, figures = saved() if TABLE.exists() else {}, {}
    print(f"{'':18}{'seconds':>9}{'recorded':>10}{'to reach':>10}{'MB':>8}")
    for wait in WAITS:
        if asked.only not in wait.name or (wait.is_long and not (asked.all or asked.only)):
            continue
        time, memory = figures[wait.name] = measured(wait, asked.seconds)
        recorded = before.get(wait.name, {}).get("seconds", "-")
        print(f"{wait.name:18}{time:>9.2f}{recorded:>10}{wait.to_reach:>10.4g}{memory:>8.0f}", flush=True)
    if asked.save:
        save(figures)


if __name__ == "__main__":
    main()
