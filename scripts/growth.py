"""How cost grows with size: instructions or processor seconds against eleven quantities, with the exponent of each.

    python scripts/growth.py             measures, compares with tests/budgets/growth.csv, draws out/growth.svg
    python scripts/growth.py --only depth --only drives
    python scripts/growth.py --save      records the exponents

An exponent of 1 is linear, 0 does not grow. It is the slope between two sizes on logarithmic axes, after the cost that
every run has is subtracted; the largest of them counts, and a knee is the size from which the slope exceeds that before
it by more than 0.3. Instructions are counted by callgrind and do not depend on the load of the computer; seconds of the
processor do, so run it on one that is idle.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench_waits import spent
from budget_paths import DISK, SSD, Budget, asking

from budgets import counted

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "budgets" / "growth.csv"
PICTURE = ROOT / "out" / "growth.svg"
KNEE = 0.3
"""Increase of the exponent from one pair of sizes to the next that is called a knee."""
TOLERANCE = 0.1
"""By how much an exponent of instructions may exceed the recorded one; seconds may by twice as much."""
POOL_DISK = "mg06sca-10tb"


class Axis(NamedTuple):
    """A quantity, its sizes, and the cost of a size; `base` is a size whose cost is subtracted as that of every run."""

    name: str
    sizes: Sequence[int]
    cost: Callable[[int, Path], float]
    base: int | None = None
    in_seconds: bool = False


def only(ios: int, depth: int = 16) -> str:
    """Return a load of random reads without a warm-up."""
    return (
        f"[load]\nclosed = {{ threads = 1, depth = {depth} }}\n"
        '[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
        f"[[phases]]\nios = {ios}\nmeasure = true\n"
    )


def instructions(folder: Path, machine: str, workload: Callable[[int], str], ios: int, *settings: str) -> float:
    """Return the instructions of a run."""
    with tempfile.TemporaryDirectory(dir=folder) as here:
        return counted(Budget("growth", machine, workload, set=settings), ios, Path(here), False).instructions


def each(folder: Path, machine: str, workload: Callable[[int], str], ios: int) -> float:
    """Return the instructions of an I/O: the difference of two runs by the I/Os between them."""
    two, one = (instructions(folder, machine, workload, times * ios) for times in (2, 1))
    return (two - one) / ios


def start(folder: Path, machine: str, *settings: str) -> float:
    """Return the instructions until the first I/O."""
    return instructions(folder, machine, only, 1, *settings)


def streams(number: int) -> Callable[[int], str]:
    """Return a load of several streams of random reads."""
    stream = '[[streams]]\nname = "s{0}"\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
    body = "[load]\nclosed = { threads = 1, depth = 16 }\n" + "".join(stream.format(n) for n in range(number))
    return lambda ios: f"{body}[[phases]]\nios = {ios}\nmeasure = true\n"


def events(number: int) -> Callable[[int], str]:
    """Return a load during which a disk's write cache is switched every millisecond, `number` times."""
    event = '[[events]]\nat = "{0} ms"\npart = "d0"\nset = {{ wce = "{1}" }}\n'
    body = "".join(event.format(n + 1, "off" if n % 2 else "on") for n in range(number))
    return lambda ios: f"{only(ios)}{body}"


def seconds(words: str, folder: Path) -> float:
    """Return the processor seconds of a command."""
    return spent(words, folder, 600)[0]


def sweep(points: int, folder: Path) -> float:
    """Return the cost of a sweep."""
    depths = ",".join(str(1 + n % 256) for n in range(min(points, 256)))
    return seconds(
        f"sweep fio-randread --on ent-10k --duration '0.1 s' --set qd={depths} --repeat {max(1, points // 256)}", folder
    )


def fleet(machines: int, folder: Path) -> float:
    """Return the cost of ten years of arrays of twelve disks, simulated ten times."""
    (folder / "fleet.toml").write_text(
        f'[[group]]\nname = "archive"\nmachines = {machines}\nmachine = "raid6:12x{POOL_DISK}"\nafr = "1.5 %"\n'
        'rebuild_time = "40 h"\n'
    )
    return seconds("fleet fleet.toml --repetitions 10", folder)


def records(number: int, folder: Path) -> float:
    """Return the cost of a query over a store of runs."""
    with tempfile.TemporaryDirectory(dir=folder) as store:
        words = f"sweep fio-randread --on ent-10k --duration '0.05 s' --repeat {number} --set qd=1 --into {store}/s"
        seconds(words, folder)
        return seconds(f"store query {store}/s 'select avg(read_iops) from runs'", folder)


def lines(number: int, folder: Path) -> float:
    """Return the cost of describing a trace."""
    draw, trace = random.Random(1), folder / f"{number}.csv"
    head = "number,submit_ns,stream,direction,offset_bytes,size_bytes,latency_ns,error,fua,volume\n"
    row = "{0},{1},main,read,{2},4096,100000,,false,8\n"
    rows = (row.format(n, n * 100_000, draw.randrange(244_140_625) * 4096) for n in range(number))
    trace.write_text(head + "".join(rows))
    cost = seconds(f"trace show {trace}", folder)
    trace.unlink()
    return cost


AXES = (
    Axis("I/Os", (5_000, 10_000, 20_000, 40_000), lambda n, to: instructions(to, DISK, only, n), 1),
    Axis("depth", (1, 8, 64, 512, 4_096), lambda n, to: each(to, DISK, asking(n, 100), max(2_000, 2 * n))),
    Axis("drives, each I/O", (4, 16, 64, 256), lambda n, to: each(to, f"raid10:{n}x{DISK}", asking(16, 100), 2_000)),
    Axis("drives, start", (32, 128, 512), lambda n, to: start(to, f"raid10:{n}x{DISK}"), 4),
    Axis(
        "capacity written, SSD",
        (1, 2, 4),
        lambda n, to: start(to, SSD, f"scale={512 // n}", "state=preconditioned"),
    ),
    Axis("daemons, each I/O", (12, 48, 192, 768), lambda n, to: each(to, f"replicated:{n}x{POOL_DISK}", only, 1_000)),
    Axis("daemons, start", (96, 384, 1_536), lambda n, to: start(to, f"replicated:{n}x{POOL_DISK}"), 3),
    Axis("streams", (1, 8, 64, 512), lambda n, to: each(to, DISK, streams(n), 4_000)),
    Axis("events", (16, 64, 256, 1_024), lambda n, to: instructions(to, DISK, events(n), 1_000), 0),
    Axis("points of a sweep", (64, 128, 256, 512), sweep, 1, True),
    Axis("machines of a fleet", (1_000, 10_000, 100_000), fleet, 10, True),
    Axis("records of a store", (250, 500, 1_000), records, 1, True),
    Axis("lines of a trace", (250_000, 500_000, 1_000_000, 2_000_000), lines, 1, True),
)


def exponents(sizes: Sequence[int], costs: Sequence[float], base: float) -> list[float]:
    """Return the slopes between neighbouring sizes on logarithmic axes, of costs without that of every run."""
    left = [max(cost - base, 1e-9) for cost in costs]
    pairs = zip(pairwise(sizes), pairwise(left), strict=True)
    return [math.log(after / before) / math.log(larger / smaller) for (smaller, larger), (before, after) in pairs]


def knee(sizes: Sequence[int], slopes: Sequence[float]) -> int | None:
    """Return the size from which cost grows faster than before."""
    return next((size for size, (a, b) in zip(sizes[1:], pairwise(slopes), strict=False) if b > a + KNEE), None)


def recorded() -> dict[str, float]:
    """Return the recorded exponents, by quantity."""
    with TABLE.open(newline="") as text:
        return {row["quantity"]: float(row["exponent"]) for row in csv.DictReader(text)}


def draw(measured: dict[str, tuple[Sequence[int], Sequence[float]]]) -> None:
    """Draw costs over sizes, each relative to its smallest, both axes logarithmic."""
    from hotband.base.heavy import alt, pl, vl_convert

    rows = [
        {"quantity": name, "size": size / sizes[0], "cost": cost / costs[0]}
        for name, (sizes, costs) in measured.items()
        for size, cost in zip(sizes, costs, strict=True)
    ]
    chart = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("size:Q", title="size, times the smallest", scale=alt.Scale(type="log")),
        y=alt.Y("cost:Q", title="cost, times that of the smallest", scale=alt.Scale(type="log")),
        color=alt.Color("quantity:N", title=None),
    )
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(
        vl_convert.vegalite_to_svg(chart.mark_line(point=True).properties(width=480, height=360).to_dict())
    )


def main() -> int:
    """Measure the requested quantities. The exit code is 1 if one grows faster than recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="quantities with this word")
    parser.add_argument("--save", action="store_true", help="record the exponents")
    asked = parser.parse_args()
    chosen = [axis for axis in AXES if not asked.only or any(word in axis.name for word in asked.only)]
    if not chosen:
        parser.error(f"--only {asked.only[0]}: expected a word of one of {', '.join(axis.name for axis in AXES)}")
    budgets = recorded() if TABLE.exists() else {}
    found: dict[str, float] = {}
    measured: dict[str, tuple[Sequence[int], Sequence[float]]] = {}
    over = 0
    for axis in chosen:
        with tempfile.TemporaryDirectory() as name:
            base = axis.cost(axis.base, Path(name)) if axis.base is not None else 0.0
            costs = [axis.cost(size, Path(name)) for size in axis.sizes]
        slopes = exponents(axis.sizes, costs, base)
        found[axis.name], measured[axis.name] = max(slopes), (axis.sizes, costs)
        unit = "s" if axis.in_seconds else "M instructions" if min(costs) > 1e6 else "instructions"
        shown = [
            f"{cost:.2f}" if axis.in_seconds else f"{cost / (1e6 if unit[0] == 'M' else 1):,.0f}" for cost in costs
        ]
        bend = knee(axis.sizes, slopes)
        most = budgets.get(axis.name, math.inf) + TOLERANCE * (2 if axis.in_seconds else 1)
        is_over = max(slopes) > most
        over += is_over
        print(f"{axis.name}: exponent {max(slopes):.2f}{f', over {most:.2f}' if is_over else ''}", end="")
        print(f"{f', knee at {bend:,}' if bend else ''}")
        print(
            "  " + ", ".join(f"{size:,}: {cost}" for size, cost in zip(axis.sizes, shown, strict=True)),
            unit,
            flush=True,
        )
    if asked.save:
        with TABLE.open("w", newline="") as text:
            rows = [(name, f"{value:.2f}") for name, value in (budgets | found).items()]
            csv.writer(text, lineterminator="\n").writerows([("quantity", "exponent"), *rows])
    draw(measured)
    print(PICTURE.relative_to(ROOT))
    return min(over, 1)


if __name__ == "__main__":
    sys.exit(main())
