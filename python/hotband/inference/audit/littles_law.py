"""Rule group 1, Little's law: I/Os outstanding = IOPS x mean latency, against the declared concurrency of a closed
loop.

More than declared is impossible; a factor of 1,000 is a wrong unit. Less means that something other than the target
kept I/Os from being issued. Left out: open loops (`rate_iops`, think time), whose concurrency is not declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotband.base.text.numbers import counted, number
from hotband.data.documents.record import side_of
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.finding import Finding, Number, Rows, listed
from hotband.inference.audit.tools import mixed_signs

TOLERANCE = 0.05
"""Share of the declared concurrency by which a closed loop may differ. I/Os in flight at both ends of the measured time
make mean latency / duration (below 1 % of any run of 100 latencies), submission time that completion latency leaves
out up to 2 % in 14 real runs of 15 minutes (tests/fio/test_fio_real_results.py). What printing rounds is added."""
HOST_NS = 20_000.0
"""Time a host may take for an I/O outside its latency, for each of a job's I/Os: a system call, an interrupt and a
switch of context take 2 to 20 us (estimate). A job does it for one I/O at a time, so for depth of them in a cycle."""
UNITS = ("s", "ms", "us", "ns")
_WORDS = {"seconds": "s", "second": "s", "sec": "s", "msec": "ms", "milliseconds": "ms", "usec": "us", "µs": "us"}
WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
IN_NS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
LEAST_BUSY = 0.05
"""With the factor taken out a cell must keep at least this share of its concurrency: less explains nothing."""
WHOLE = 0.9
"""Too little by a factor is called a unit only where the factor makes nearly all of the concurrency."""


@dataclass(frozen=True)
class Cell:
    """Outstanding I/Os of one run as its printed unit has them: least, as printed and most within the rounding."""

    run: Audited
    declared: int
    least: float
    middle: float
    most: float
    iops: float
    latency_ns: float
    unit: str


def unit_of(text: str) -> str:
    """A unit of time as written, in its usual form."""
    plain = text.strip().lower().removesuffix(".")
    return _WORDS.get(plain, plain)


def cells_of(runs: Sequence[Audited]) -> list[Cell]:
    """Every closed loop of which IOPS and mean latency are known."""
    cells = []
    for run in runs:
        declared, summary = run.concurrency, run.summary()
        iops, latency = summary.get("iops"), summary.get("latency_mean_ns")
        if not declared or not iops or not latency or mixed(run):
            continue
        printed = run.printed.get("latency")
        unit = "" if printed is None else unit_of(printed.unit)
        half_iops = run.printed["iops"].step / 2 if "iops" in run.printed else 0.0
        if printed is None or unit not in IN_NS:
            half, unit = 0.0, "ns"
        else:
            latency, half = printed.value * IN_NS[unit], printed.step / 2 * IN_NS[unit]
        failed = outstanding_of_failed(run)
        numbers = ((iops + sign * half_iops) * (latency + sign * half) / 1e9 for sign in (-1, 0, 1))
        least, middle, most = (number + failed for number in numbers)
        cells.append(Cell(run, declared, least, middle, most, iops, latency, unit))
    return cells


def outstanding_of_failed(run: Audited) -> float:
    """I/Os outstanding that failed in the end: they are in no rate and no latency of a record of ours."""
    summary = run.summary()
    errors, latency = summary.get("errors"), summary.get("error_latency_mean_ns")
    return errors * latency / run.duration_ns if errors and latency and run.duration_ns else 0.0


def mixed(run: Audited) -> bool:
    """Whether several jobs were reported as one group, whose concurrency is then not that of its first job."""
    return bool(mixed_signs(run))


def factor_of(cell: Cell) -> int:
    """Powers of a thousand by which the latency is too large (negative: too small); 0 where none explains it."""
    for power in (1, 2):
        scaled = 1e3**power
        if cell.least > (1 + TOLERANCE) * cell.declared and _fits(cell.least / scaled, cell.most / scaled, cell):
            return power
        if cell.most * scaled <= (1 + TOLERANCE) * cell.declared and cell.most * scaled >= WHOLE * cell.declared:
            return -power
    return 0


def _fits(least: float, most: float, cell: Cell) -> bool:
    return least <= (1 + TOLERANCE) * cell.declared and most >= LEAST_BUSY * cell.declared


def check(runs: Sequence[Audited]) -> list[Finding]:
    """All findings of the group; cells of one table are one finding."""
    cells = cells_of(runs)
    factors = {id(cell): factor_of(cell) for cell in cells}
    found: list[Finding] = []
    wrong = [cell for cell in cells if factors[id(cell)]]
    for (_, unit, power), alike in grouped(wrong, lambda cell: (cell.run.origin, cell.unit, factors[id(cell)])):
        found.append(_unit_finding(alike, unit, power))
    powers = {(cell.run.origin, cell.unit): factors[id(cell)] for cell in wrong}
    for cell in cells:
        own = factors[id(cell)] == 0
        if own and cell.least > (1 + TOLERANCE) * cell.declared and _edge_free(cell):
            found.append(_impossible(cell))
    idle = [(cell, powers.get((cell.run.origin, cell.unit), 0)) for cell in cells]
    short = [(cell, power) for cell, power in idle if is_idle(cell, power)]
    for place, pairs in grouped(short, lambda pair: pair[0].run.origin if pair[0].run.printed else pair[0].run.name):
        found.append(_idle_finding(pairs, sum(cell.run.origin == place for cell in cells)))
    return found


def _edge_free(cell: Cell) -> bool:
    """More than the I/Os in flight at both ends of the measured time explain."""
    return cell.least > (1 + TOLERANCE + _cut_off(cell)) * cell.declared


def _cut_off(cell: Cell, scale: float = 1) -> float:
    """The share of what is in flight that the ends of the measured time may cut off; zero where that is not known."""
    return cell.latency_ns / scale / cell.run.duration_ns if cell.run.duration_ns else 0.0


def is_idle(cell: Cell, power: int) -> bool:
    """Whether it keeps fewer I/Os outstanding than declared, even at the end of the rounding and with the host's
    time."""
    most, scale = cell.most / 1e3**power, 1e3**power
    most_seen = (1 - TOLERANCE - _cut_off(cell, scale)) * cell.declared
    if most >= most_seen or cell.run.asked.rate_iops:
        return False
    submission = submission_ns(cell.run)
    busy = most + cell.iops * submission / 1e9
    cycle_ns = cell.declared / cell.iops * 1e9
    outside_ns = cycle_ns - cell.latency_ns / scale - submission
    depth = cell.declared / max(1, cell.run.asked.jobs or (cell.declared if cell.run.printed else 1))
    return busy < most_seen and outside_ns > HOST_NS * depth


def submission_ns(run: Audited) -> float:
    """Mean submission time, where the latency of a fio result leaves it out."""
    sides = [side_of(stream, name) for stream in run.record["streams"] for name in ("read", "write")]
    known = [(side["count"], side.get("submission_mean_ns") or 0.0) for side in sides if side and side.get("count")]
    count = sum(number for number, _ in known)
    return sum(number * mean for number, mean in known) / count if count else 0.0


def _unit_finding(cells: Sequence[Cell], unit: str, power: int) -> Finding:
    worst = max(cells, key=lambda cell: cell.middle / cell.declared)
    real = UNITS[UNITS.index(unit) + power] if unit in UNITS and 0 <= UNITS.index(unit) + power < 4 else unit
    scaled = 1e3**power
    many = counted(len(cells), "result")
    label = "label" if len(cells) > 1 else "labels"
    what = (
        f"{many} {label} latency in {WORDS.get(unit, unit)}, but the values are {WORDS.get(real, real)}"
        if worst.run.printed
        else f"The latency of {many} is wrong by a factor of {number(1e3 ** abs(power))}"
    )
    rows: list[list[Number]] = [
        [
            cell.run.name,
            cell.iops,
            cell.latency_ns / IN_NS.get(unit, 1.0),
            cell.declared,
            cell.middle,
            cell.middle / scaled,
        ]
        for cell in cells
    ]
    return Finding(
        "latency-unit",
        "severe",
        tuple(cell.run.name for cell in cells),
        what,
        {
            "results": len(cells),
            "factor": scaled,
            "printed_unit": unit,
            "real_unit": real,
            "declared_concurrency": worst.declared,
            "most_outstanding_as_printed": max(cell.middle for cell in cells),
            "most_outstanding_corrected": max(cell.middle / scaled for cell in cells),
        },
        f"Read the column as {real}: IOPS x latency cannot exceed the {worst.declared} I/Os that were outstanding."
        if worst.run.printed
        else "Divide the latencies by the factor, and correct what wrote them.",
        Rows(
            ["result", "IOPS", f"latency as printed, {unit}", "declared", "outstanding as printed", "corrected"], rows
        ),
    )


def _impossible(cell: Cell) -> Finding:
    return Finding(
        "littles-law",
        "severe",
        (cell.run.name,),
        f"IOPS x latency makes {number(cell.middle)} I/Os outstanding, {cell.declared} were declared",
        {
            "outstanding": cell.middle,
            "outstanding_least": cell.least,
            "declared_concurrency": cell.declared,
            "iops": cell.iops,
            "latency_mean_ms": cell.latency_ns / 1e6,
        },
        "One of the three is wrong: IOPS and latency of the same I/Os over the same time, concurrency of all jobs "
        "together? No power of a thousand explains it.",
    )


def _idle_finding(pairs: Sequence[tuple[Cell, int]], of: int) -> Finding:
    rows: list[list[Number]] = []
    for cell, power in pairs:
        scale = 1e3**power
        rows.append([cell.run.name, cell.declared, cell.middle / scale, cell.least / scale, cell.most / scale])
    names = tuple(cell.run.name for cell, _ in pairs)
    first, power = pairs[0]
    least = min(cell.middle / 1e3**own / cell.declared for cell, own in pairs)
    whose = f"{len(pairs)} of {of} results kept" if first.run.printed else f"{listed(names)} kept"
    return Finding(
        "idle-concurrency",
        "warning",
        names,
        f"{whose} fewer I/Os in flight than the {first.declared} declared",
        {
            "results": len(pairs),
            "declared_concurrency": first.declared,
            "outstanding": first.middle / 1e3**power,
            "least_busy_pct": 100 * least,
        },
        "Look for what held the load back (processor, locks, a file system, one submitting thread, a slow client) "
        "before you blame the target, and quote the concurrency that was reached.",
        Rows(["result", "declared", "outstanding", "least", "most"], rows),
    )
