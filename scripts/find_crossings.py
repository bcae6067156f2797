"""How near `find` comes to true crossings: ten questions, each beside a fine sweep of what it varies.

    python scripts/find_crossings.py [NUMBER...]

The sweep knows nothing of the search: 25 values over the whole range find the crossing roughly, values 1 % apart (of
counts every one) around it find it finely; every value is run with three seeds that the search does not use, and twice
as many I/Os. The crossing of the mean is what `find` has to meet within 2 %.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import hotband as hb
from hotband.data.catalog.named import is_family
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import Load
from hotband.execution.experiment import Experiment, Point
from hotband.execution.experiment.ranges import workload_text
from hotband.execution.runs.drives import family
from hotband.execution.runs.scale import scaled
from hotband.questions.find.find import _ios_for
from hotband.questions.find.question import RATE, Condition, Question, read_question
from hotband.questions.find.trial import Wanted, of_finished
from hotband.questions.find.vary import drives, key

SEEDS = (101, 102, 103)
COARSE, FINE, REACH = 25, 0.01, 8


@dataclass(frozen=True)
class Case:
    """A question, and the range that the sweep looks at."""

    question: str
    workload: str
    machine: str
    low: float
    high: float
    set: dict[str, str] = field(default_factory=dict)
    range: str | None = None


CASES = (
    Case("IOPS at p99 < 20 ms", "fio-randread", "exos-15e900-512n", 20, 400),
    Case("IOPS at p99 < 20 ms", "fio-randread", "raid10:24xexos-15e900-512n", 500, 9000),
    Case("IOPS at mean < 10 ms", "fio-randread", "ent-10k", 20, 300),
    Case("IOPS at write.p99 < 100 ms", "iometer-database", "raid5:5xent-10k", 20, 600),
    Case("MB/s at p99.9 < 1 ms", "iometer-4k-rand-70-30", "7450-pro-3840", 100_000, 900_000),
    Case("IOPS at p50 < 0.2 ms", "fio-randread", "s4500-960", 5_000, 90_000),
    Case("queue depth for 90 % of the most", "fio-randread", "exos-15e900-512n", 1, 256),
    Case("drives for 3000 IOPS at p99 < 30 ms", "iometer-database", "raid10:{n}xexos-15e900-512n", 4, 64),
    Case("bs for 100 MB/s", "fio-randread", "exos-15e900-512n", 4096, 1 << 20, {"qd": "32"}),
    Case("think for mean < 20 ms", "fio-randread", "exos-15e900-512n", 0.02, 0.3, {"qd": "16"}, "1 ms..300 ms"),
)


def sweep(case: Case, question: Question, values: Sequence[float]) -> list[float]:
    """Of each value how well the conditions hold, on the mean of seeds: above zero where they do."""
    run = runs_of(case, question)
    ios = 2 * _ios_for(question)
    wanted = {(value, seed): run(value, seed, ios) for value in values for seed in SEEDS}
    points = [Point(replace(one.spec, id=f"{n}")) for n, one in enumerate(wanted.values())]
    finished = {done.spec.id: done for done in Experiment(points).run().finished}
    trials = {at: of_finished(one, finished[f"{n}"], question) for n, (at, one) in enumerate(wanted.items())}
    means: list[float] = []
    for value in values:
        of = [trials[value, seed] for seed in SEEDS]
        scores = []
        for condition in question.conditions:
            if question.offered is condition:
                continue
            figure = sum(one.figures[condition.figure] or 0.0 for one in of) / len(of)
            if not isinstance(condition, Condition):
                means.append(figure)
                continue
            scores.append(figure / condition.bound - 1 if condition.is_goal else condition.bound / figure - 1)
        if of[0].wanted.rate is not None:
            kept = sum(one.kept_up for one in of) / len(of)
            scores.append(kept / 0.99 - 1 if kept < 0.99 else math.inf)
        if scores:
            means.append(min(scores))
    shares = [one for one in question.conditions if not isinstance(one, Condition)]
    return (
        [value / (shares[0].share * MOST.setdefault(case.question, max(means))) - 1 for value in means]
        if shares
        else means
    )


MOST: dict[str, float] = {}


def runs_of(case: Case, question: Question) -> Callable[[float, int, int], Wanted]:
    """The run of a value with a seed and so many I/Os."""
    of = family(case.machine) if is_family(case.machine) else None
    machine = case.machine if of is None else of.machine(of.first)
    spec = RunSpec("run", machine, case.workload, tuple(case.set.items()), in_use=True)
    spec = scaled(replace(spec, workload_text=workload_text(spec)))
    load = Load(str(spec.workload_text), case.workload)

    def run(value: float, seed: int, ios: int) -> Wanted:
        if question.varied == RATE:
            text = load.with_open_loop(value, "poisson").with_ios(ios).text()
            return Wanted(replace(spec, workload_text=text, seed=seed), value, "", value)
        rate = None if question.offered is None else question.offered.bound
        asked = load if rate is None else load.with_open_loop(rate, "poisson")
        low, _, high = (case.range or "").partition("..")
        varied = drives(of, None, 0.02) if of else key(question.varied, spec, (low, high) if low else None, 0.02)
        base = replace(spec, workload_text=asked.with_ios(ios).text(), seed=seed)
        return Wanted(varied.run(base, varied.axis.snap(value)), value, "", rate)

    return run


def crossing(values: Sequence[float], scores: Sequence[float], counts: bool) -> float:
    """Where scores change their sign first: between values, by a line; of counts the value that holds."""
    for place in range(1, len(values)):
        (a, b), (x, y) = scores[place - 1 : place + 1], values[place - 1 : place + 1]
        if (a > 0) != (b > 0):
            if counts:
                return y if b > 0 else x
            share = 0.5 if math.isinf(a) or math.isinf(b) else a / (a - b)
            return x + share * (y - x)
    raise SystemExit("the sweep shows no crossing")


def truth(case: Case, question: Question) -> float:
    """The crossing that a sweep shows."""
    counts = question.varied in ("qd", "drives", "span")
    step = 2 if question.varied == "drives" else 1
    ratio = case.high / case.low
    coarse = [case.low * ratio ** (n / (COARSE - 1)) for n in range(COARSE)]
    if counts:
        coarse = sorted({case.low + round((value - case.low) / step) * step for value in coarse})
    at = crossing(coarse, sweep(case, question, coarse), counts)
    fine = [at * (1 + FINE * n) for n in range(-REACH, REACH + 1)]
    if counts:
        near = [value for value in coarse if value < at][-1:] + [value for value in coarse if value > at][:1]
        fine = [float(value) for value in range(round(near[0]), round(near[-1]) + 1, step)]
    return crossing(fine, sweep(case, question, fine), counts)


def main(numbers: Sequence[str]) -> None:
    """Prints a line a case; ends with an error where one is missed."""
    missed = 0
    for number, case in enumerate(CASES, 1):
        if numbers and str(number) not in numbers:
            continue
        began = time.monotonic()
        found = hb.find(case.question, case.workload, on=case.machine, set=case.set, range=case.range, progress=False)
        took = time.monotonic() - began
        answer = found.answers[0]
        true = truth(case, read_question(case.question))
        off = (answer.value or 0.0) / true - 1
        missed += abs(off) > 0.02 or len(answer.trials) > 12
        print(f"{number:2} {case.question} | {case.workload} on {case.machine} | found {answer.value:,.5g} in "
              f"{len(answer.trials)} runs, {took:.1f} s | sweep {true:,.5g} | off {off:+.2%}", flush=True)  # fmt: skip
    if missed:
        raise SystemExit(f"{missed} missed")


if __name__ == "__main__":
    main(sys.argv[1:])
