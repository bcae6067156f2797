"""Rule group 1, Little's law: outstanding I/Os = IOPS x mean latency, against the declared concurrency.

A closed loop cannot exceed it; a factor of 1,000 is a wrong unit. Less means that something other than the target
limited the I/Os issued. Left out: open loops (`rate_iops`, think time), whose concurrency is not declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotband.base.text.numbers import counted, finite, number
from hotband.data.documents.record import side_of
from hotband.data.record.stats import OTHER_DIRECTIONS
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.finding import Finding, Number, Rows, listed
from hotband.inference.audit.tools import mixed_signs

TOLERANCE = 0.05
"""Share of the declared concurrency by which a closed loop may differ. I/Os in flight at both ends of the measured time
make mean latency / duration (below 1 % of any run of 100 latencies), submission time that completion latency leaves
out up to 2 % in 14 real runs of 15 minutes (tests/fio/test_fio_real_results.py). Rounding in print is added."""
HOST_NS = 20_000.0
"""Time a host may take for an I/O outside its latency, for each of a job's I/Os: a system call, an interrupt and a
switch of context take 2 to 20 us (estimate). A job does it for one I/O at a time, so for depth of them in a cycle."""
UNITS = ("s", "ms", "us", "ns")
_WORDS = {"seconds": "s", "second": "s", "sec": "s", "msec": "ms", "milliseconds": "ms", "usec": "us", "µs": "us"}
WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
IN_NS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
MOST_JOBS = 4096
"""Most jobs of fio (os/os.h: FIO_MAX_JOBS)."""
LEAST_BUSY = 0.05
"""Least share of its concurrency that a cell keeps after the correction: less explains nothing."""
WHOLE = 0.9
"""Least share of its concurrency for a unit that is too small: the factor must explain nearly all of it."""


@dataclass(frozen=True)
class Cell:
    """Outstanding I/Os of one run in its printed unit: least, as printed, and most within the rounding."""

    run: Audited
    declared: int
    least: float
    middle: float
    most: float
    iops: float
    latency_ns: float
    unit: str


def unit_of(text: str) -> str:
    """Return the usual form of a unit of time."""
    plain = text.strip().lower().removesuffix(".")
    return _WORDS.get(plain, plain)


def cells_of(runs: Sequence[Audited]) -> list[Cell]:
    """Return a cell for every closed loop with known IOPS and mean latency."""
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
        others = failed + outstanding_others(run)
        numbers = ((iops + sign * half_iops) * (latency + sign * half) / 1e9 for sign in (-1, 0, 1))
        least, middle, most = (number + others for number in numbers)
        if not failed and summary.get("errors") and run.duration_ns:
            # How long they took is not known: about as long as the others, or no time.
            most += (summary.get("errors") or 0) * latency / run.duration_ns
        cells.append(Cell(run, declared, least, middle, most, iops, latency, unit))
    return cells


def outstanding_of_failed(run: Audited) -> float:
    """Return outstanding I/Os that failed: rates and latencies of Hotband's records exclude them."""
    summary = run.summary()
    errors, latency = summary.get("errors"), summary.get("error_latency_mean_ns")
    return errors * latency / run.duration_ns if errors and latency and run.duration_ns else 0.0


def outstanding_others(run: Audited) -> float:
    """Return the flushes and trims in flight, in whose time a closed loop has fewer reads and writes in flight."""
    figures = [run.summary(direction) for direction in OTHER_DIRECTIONS]
    return sum(other["queue_depth_mean"] or 0.0 for other in figures if other)


def mixed(run: Audited) -> bool:
    """Return whether several jobs were reported as one group, whose concurrency is not that of its first job."""
    return bool(mixed_signs(run))


def factor_of(cell: Cell) -> int:
    """Return the power of a thousand by which the latency is too large (negative: too small); 0 if none explains it."""
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
    """Return all findings of the group; cells of one table are one finding."""
    cells = cells_of(runs)
    factors = {id(cell): factor_of(cell) for cell in cells}
    findings: list[Finding] = []
    wrong = [cell for cell in cells if factors[id(cell)]]
    for (_, unit, power), alike in grouped(wrong, lambda cell: (cell.run.origin, cell.unit, factors[id(cell)])):
        findings.append(_unit_finding(alike, unit, power))
    powers = {(cell.run.origin, cell.unit): factors[id(cell)] for cell in wrong}
    for cell in cells:
        unexplained = factors[id(cell)] == 0
        if unexplained and cell.least > (1 + TOLERANCE) * cell.declared and _edge_free(cell):
            findings.append(_impossible(cell))
    findings += [finding for run in runs if (finding := _by_depths(run)) is not None]
    idle = [(cell, powers.get((cell.run.origin, cell.unit), 0)) for cell in cells]
    short = [(cell, power) for cell, power in idle if is_idle(cell, power)]
    for origin, pairs in grouped(short, lambda pair: pair[0].run.origin if pair[0].run.printed else pair[0].run.name):
        findings.append(_idle_finding(pairs, sum(cell.run.origin == origin for cell in cells)))
    return findings


def _edge_free(cell: Cell) -> bool:
    """Return whether it exceeds what I/Os in flight at both ends of the measured time explain."""
    return cell.least > (1 + TOLERANCE + _cut_off(cell)) * cell.declared


def _cut_off(cell: Cell, scale: float = 1) -> float:
    """Return the share of I/Os in flight that the ends of the measured time may cut off; zero if unknown."""
    return cell.latency_ns / scale / cell.run.duration_ns if cell.run.duration_ns else 0.0


def is_idle(cell: Cell, power: int) -> bool:
    """Return whether it keeps fewer I/Os outstanding than declared, even with all rounding and the host's time."""
    most, scale = cell.most / 1e3**power, 1e3**power
    most_seen = (1 - TOLERANCE - _cut_off(cell, scale)) * cell.declared
    if max(most, cell.run.deepest) >= most_seen or cell.run.asked.rate_iops:
        return False
    submission = submission_ns(cell.run)
    busy = most + cell.iops * submission / 1e9
    cycle_ns = cell.declared / cell.iops * 1e9
    others_ns = outstanding_others(cell.run) / cell.iops * 1e9
    outside_ns = cycle_ns - cell.latency_ns / scale - submission - others_ns
    depth = cell.declared / max(1, cell.run.asked.jobs or (cell.declared if cell.run.printed else 1))
    return busy < most_seen and outside_ns > _host_ns(cell) * depth


def _host_ns(cell: Cell) -> float:
    """Return the time that the host may take for an I/O outside its latency: at most the processor time that the tool
    states of a job, else an estimate."""
    used_pct = finite(cell.run.source.get("job_cpu_pct")) if cell.run.source else None
    # Of several entries the record has the lowest share.
    if used_pct is None or len(cell.run.record["streams"]) > 1:
        return HOST_NS
    jobs = cell.run.asked.jobs or 1
    return min(HOST_NS, used_pct / 100 * jobs / cell.iops * 1e9)


def submission_ns(run: Audited) -> float:
    """Return the mean submission time (ns), which the latency of a fio result excludes."""
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
        f"IOPS x latency implies {number(cell.middle)} outstanding I/Os, but {cell.declared} were declared",
        {
            "outstanding": cell.middle,
            "outstanding_least": cell.least,
            "declared_concurrency": cell.declared,
            "iops": cell.iops,
            "latency_mean_ms": cell.latency_ns / 1e6,
        },
        "One of the three is wrong. Check that IOPS and latency cover the same I/Os and time, and the concurrency all "
        "jobs together. No power of a thousand explains it.",
    )


def _by_depths(run: Audited) -> Finding | None:
    """Find more I/Os in flight than fio's largest number of jobs allows, in results without the options: fio's
    distribution of depths is known for each job."""
    depth = run.source.get("job_depth_at_most") if run.source else None
    iops, latency = run.summary().get("iops"), run.summary().get("latency_mean_ns")
    if not depth or not iops or not latency:
        return None
    outstanding = iops * latency / 1e9
    jobs = outstanding / ((1 + TOLERANCE) * depth)
    if jobs <= MOST_JOBS:
        return None
    return Finding(
        "littles-law",
        "severe",
        (run.name,),
        f"IOPS x latency implies {number(outstanding)} outstanding I/Os, but a job had at most {depth} in flight, and "
        f"fio has at most {MOST_JOBS:,} jobs",
        {"outstanding": outstanding, "job_depth": depth, "iops": iops, "latency_mean_ms": latency / 1e6},
        "One of the figures is wrong: check the unit of the latency, and what wrote the file.",
    )


def _idle_finding(pairs: Sequence[tuple[Cell, int]], checked: int) -> Finding:
    rows: list[list[Number]] = []
    for cell, power in pairs:
        scale = 1e3**power
        rows.append([cell.run.name, cell.declared, cell.middle / scale, cell.least / scale, cell.most / scale])
    names = tuple(cell.run.name for cell, _ in pairs)
    first, power = pairs[0]
    least = min(cell.middle / 1e3**exponent / cell.declared for cell, exponent in pairs)
    whose = f"{len(pairs)} of {checked} results kept" if first.run.printed else f"{listed(names)} kept"
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
