"""The tests by their names in `--test`: runs on benches, figures, and the sentence of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from hotband.base.text.numbers import ABSENT, number, percent, rate, share, span
from hotband.data.documents.pts import CellDoc, FigureDoc, LoopDoc, MomentDoc, TestDoc
from hotband.questions.suites.bench import Bench, each_once
from hotband.questions.suites.cells import cell_name
from hotband.questions.suites.pts import iops, latency, over_time, spec, throughput
from hotband.questions.suites.pts.loops import Followed, cell_in, run_loop
from hotband.questions.suites.pts.over_time import last_minutes, lines, mean_bandwidth, mean_iops

Open = Callable[[str, float, int], Bench]
"""A function that opens a bench on a purged drive: the test's name, how often the drive is filled first, and the block
size."""


@dataclass
class Result:
    """Result of a test, before it is a document."""

    loops: list[LoopDoc] = field(default_factory=list)
    moments: list[MomentDoc] = field(default_factory=list)
    figures: list[FigureDoc] = field(default_factory=list)
    answer: str = ""
    notes: list[str] = field(default_factory=list)
    histogram: list[list[float]] = field(default_factory=list)
    demand: str = ""


@dataclass(frozen=True)
class Test:
    """A test: its title, its section of the specification, and what it does."""

    title: str
    section: str
    run: Callable[[spec.Plan, Open], Result]


def run_iops(plan: spec.Plan, bench: Open) -> Result:
    """Section 7."""
    found = iops.loops(plan, bench("iops", plan.fills, spec.FILL_BLOCK))
    read, mixed, write = (cell_in(found[0]["means"], cell_name(mix, 4096)) for mix in (100, 65, 0))
    figures = [
        figure("4 KiB random reads", read, "iops"),
        figure("4 KiB random 65/35", mixed, "iops"),
        figure("4 KiB random writes", write, "iops"),
    ]
    said = [
        f"{name} {number(one['iops'])}" for name, one in (("reads", read), ("65/35", mixed), ("writes", write)) if one
    ]
    answer = f"4 KiB random IOPS at {plan.demand.text()}: {', '.join(said)}."
    return Result(found, figures=figures, answer=answer, demand=plan.demand.text())


def run_throughput(plan: spec.Plan, bench: Open) -> Result:
    """Section 8."""
    found, figures, said = [], [], []
    for size in spec.THROUGHPUT_SIZES:
        loop = throughput.loop(plan, bench(f"throughput-{size // 1024}", plan.fills, size), size)
        found.append(loop)
        read, write = loop["means"]
        for name, one in (("reads", read), ("writes", write)):
            figures.append(figure(f"{size // 1024} KiB sequential {name}", one, "bandwidth_bytes_per_s"))
        both = f"reads {rate(read['bandwidth_bytes_per_s'])}, writes {rate(write['bandwidth_bytes_per_s'])}"
        said.append(f"{size // 1024} KiB {both}")
    return Result(found, figures=figures, answer=f"Sequential: {'; '.join(said)}.", demand=spec.SEQUENTIAL.text())


def run_latency(plan: spec.Plan, bench: Open) -> Result:
    """Section 9."""
    on = bench("latency", plan.fills, spec.FILL_BLOCK)
    found = latency.loops(plan, on)
    long, histogram = latency.distribution(plan, on, spec.SINGLE)
    read, write = (cell_in(found[0]["means"], cell_name(mix, 4096)) for mix in (100, 0))
    figures = [
        figure("4 KiB reads, mean", read, "latency_mean_ns"),
        figure("4 KiB writes, mean", write, "latency_mean_ns"),
    ]
    figures.append({"name": "4 KiB writes, 99.999 %", "value": long["latency_p99_999_ns"], "unit": "ns"})
    figures.append({"name": "4 KiB writes, longest", "value": long["latency_max_ns"], "unit": "ns"})
    five = span(long["latency_p99_999_ns"]) if long["latency_p99_999_ns"] else "not known (too few I/Os)"
    means = ", ".join(
        f"{name} {span(one['latency_mean_ns'])}" for name, one in (("reads", read), ("writes", write)) if one
    )
    answer = f"One 4 KiB I/O at a time: {means}; writes 99.999 % {five}, longest {span(long['latency_max_ns'])}."
    return Result(found, figures=figures, answer=answer, histogram=histogram, demand=spec.SINGLE.text())


def run_saturation(plan: spec.Plan, bench: Open) -> Result:
    """Section 10."""
    on = bench("write-saturation", 0.0, 0)
    moments, last = over_time.saturate(plan, on)
    _, histogram = latency.distribution(plan, on, plan.demand)
    fresh, end, fills = moments[0]["cell"]["iops"], fmean(last[-5:]), moments[-1]["fills"]
    figures: list[FigureDoc] = [
        {"name": "first minute", "value": fresh, "unit": "IOPS"},
        {"name": "at the end", "value": end, "unit": "IOPS"},
        {"name": "written", "value": fills, "unit": "capacities"},
    ]
    lost = f"{share(1 - end / fresh)} less" if fresh and end < fresh else "no less"
    answer = f"4 KiB random writes begin at {number(fresh)} IOPS and end at {number(end)}, {lost}"
    answer += f", after {number(fills)} capacities."
    notes = [] if fills >= 1.0 else ["less than the drive's capacity was written: it is still new"]
    return Result([], moments, figures, answer, notes, histogram, plan.demand.text())


def run_idle(plan: spec.Plan, bench: Open) -> Result:
    """Section 11."""
    on = bench("idle-recovery", 0.0, 0)
    cells = [over_time.writes(plan, n, plan.seconds(spec.MINUTE)) for n in range(1, over_time.minutes_of(plan) + 1)]
    loop = run_loop(on, "before", cells, [Followed("0/100 4 KiB", lambda one: last_minutes([one])[0])], "IOPS")
    moments = over_time.rest(plan, on, [])
    steady = fmean(loop["tracked"][0]["rounds"][-5:])
    figures: list[FigureDoc] = [{"name": "steady", "value": steady, "unit": "IOPS"}]
    for line, of in lines(moments).items():
        if line.startswith("after"):
            figures.append({"name": line, "value": mean_iops(of), "unit": "IOPS"})
    best = max((one["value"] or 0.0) for one in figures[1:])
    gain = 100 * (best / steady - 1) if steady else 0.0
    answer = (
        f"4 KiB random writes after rests: at most {number(best)} IOPS, {percent(gain)} on the steady {number(steady)}."
    )
    return Result([loop], moments, figures, answer, demand=plan.demand.text())


def run_cross(plan: spec.Plan, bench: Open) -> Result:
    """Section 12."""
    moments = over_time.cross(plan, bench("cross-stimulus", 0.0, 0))
    by_line = lines(moments)
    ends = {line: mean_bandwidth(of[-5:]) for line, of in by_line.items()}
    figures: list[FigureDoc] = [
        {"name": f"end of {line}", "value": value, "unit": "B/s"} for line, value in ends.items()
    ]
    first, *_, again = ends.values()
    after = list(by_line.values())[-1]
    back = recovered(after, first or 0.0)
    figures.append({"name": "back at 95 % of before", "value": back, "unit": "s"})
    if back is None:
        said = f"then {rate(again)}, not back at 95 % of that"
    else:
        said = f"back at 95 % of that {f'after {span(back * 1e9)}' if back else 'at once'}"
    answer = f"Sequential writes {rate(first)} before random ones; {said}."
    return Result([], moments, figures, answer, demand=spec.SEQUENTIAL.text())


def recovered(after: Sequence[MomentDoc], level: float) -> float | None:
    """Seconds until the rate is at 95 % of a level and stays there; None if it never does."""
    below = [n for n, one in enumerate(after) if one["cell"]["bandwidth_bytes_per_s"] < RECOVERED * level]
    first = below[-1] + 1 if below else 0
    return None if first >= len(after) else after[first]["at_s"] - after[0]["at_s"]


RECOVERED = 0.95
"""Share of the rate before that counts as recovered. The specification leaves it to the plots; ours."""

TESTS: dict[str, Test] = {
    "iops": Test("IOPS", "7", run_iops),
    "throughput": Test("Throughput", "8", run_throughput),
    "latency": Test("Latency", "9", run_latency),
    "write-saturation": Test("Write saturation", "10", run_saturation),
    "idle-recovery": Test("Host idle recovery", "11", run_idle),
    "cross-stimulus": Test("Cross stimulus recovery", "12", run_cross),
}


RANDOM = ("iops", "write-saturation", "idle-recovery")
"""Those whose threads and depth are the operator's."""


def figure(name: str, cell: CellDoc | None, key: str) -> FigureDoc:
    """One figure of a cell."""
    if cell is None:
        return {"name": name, "value": None, "unit": ""}
    if key == "iops":
        return {"name": name, "value": cell["iops"], "unit": "IOPS"}
    if key == "bandwidth_bytes_per_s":
        return {"name": name, "value": cell["bandwidth_bytes_per_s"], "unit": "B/s"}
    return {"name": name, "value": cell["latency_mean_ns"], "unit": "ns"}


def document(name: str, test: Test, result: Result, benches: Sequence[Bench]) -> TestDoc:
    """Return a test as in the JSON document."""
    steady = all(loop["steady"] for loop in result.loops) if result.loops else None
    cells = [cell for loop in result.loops for round_ in loop["rounds"] for cell in round_]
    cells += [moment["cell"] for moment in result.moments]
    failed = sum(cell["errors"] for cell in cells)
    notes = [*result.notes, *each_once([note for bench in benches for note in bench.notes])]
    notes += [
        f"no steady state in {len(loop['rounds'])} rounds: {loop['name']}"
        for loop in result.loops
        if not loop["steady"]
    ]
    made: TestDoc = {
        "id": name,
        "title": test.title,
        "section": test.section,
        "demand": result.demand or ABSENT,
        "steady": steady,
        "loops": result.loops,
        "moments": result.moments,
        "figures": result.figures,
        "answer": result.answer,
        "notes": [*dict.fromkeys(notes), *([f"{failed:,} I/Os failed"] if failed else [])],
        "runs": sum(bench.kept + bench.ran for bench in benches),
        "runs_kept": sum(bench.kept for bench in benches),
        "measured_s": sum(cell["seconds"] for cell in cells),
    }
    return {**made, "histogram": result.histogram} if result.histogram else made
