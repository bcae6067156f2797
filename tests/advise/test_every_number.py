"""Is what is recommended the best of every number of drives, of which the search tries a few?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms import sized
from hotband.data.inputs.specify import Named
from hotband.execution.experiment.watch import watch
from hotband.questions.advise import between
from hotband.questions.advise import search as searching
from hotband.questions.advise.asked import AdviseQuestion, needs_of
from hotband.questions.advise.between import fewest
from hotband.questions.advise.candidates import Candidate, candidates_of, legal_counts, space_of
from hotband.questions.advise.finalists import point_of
from hotband.questions.advise.front import Tried, read_figures
from hotband.questions.advise.measure import Bench, loads_from
from hotband.questions.advise.objective import misses
from hotband.questions.advise.prices import Price, Prices
from hotband.questions.advise.search import search

PROBLEMS = [
    ("iometer-database", "p99 < 120 ms", "3 TB", "drives=ent-10k,ent-15k,layouts=raid5,raid10"),
    ("vdbench-8k-random", "p99 < 80 ms", "9 TB", "drives=exos-x18-18tb,ent-10k,layouts=raid5,raid10"),
    ("fio-randread", "p99 < 40 ms", "1 TB", "drives=ent-10k,layouts=raid5,raid6"),
    ("fio-randread", "900 IOPS and p99 < 40 ms", "1 TB", "drives=ent-15k,ent-10k,layouts=raid5"),
    ("fio-randwrite", "p99 < 200 ms", "2 TB", "drives=ent-10k,layouts=raid10,raid5"),
    ("iometer-fileserver", "p99 < 400 ms", "20 TB", "drives=exos-x18-18tb,mg06sca-10tb,layouts=raid10"),
    ("iometer-webserver", "p99 < 150 ms", "20 TB", "drives=exos-x18-18tb,layouts=raid5,raid50"),
    ("vdbench-8k-random", "p99 < 30 ms", "1 TB", "drives=ent-15k,layouts=raid10"),
    ("iometer-4k-rand-70-30", "p99 < 60 ms", "1 TB", "drives=ent-10k,ent-15k,layouts=raid10"),
    ("iometer-database", "p99 < 1 ms", "3 TB", "drives=ent-15k,layouts=raid10"),
]
"""Workload, objective, capacity and candidates; of the last nothing is enough."""
PRICES = Prices({"ent-10k": Price(200, 200, 200), "ent-15k": Price(260, 260, 260)})
CASES = [
    (problem, priced)
    for problem in sized(PROBLEMS[2:3], PROBLEMS)
    for priced in sized((True,), (False, True))
    if not priced or "exos" not in problem[3]
]
"""Problems without and with prices, where their drives have one."""
MOST = sized(20, 64)


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "ROUNDS", (200, 600, 1_800))
    monkeypatch.setattr(between, "ROUNDS", (200, 600, 1_800))
    monkeypatch.setattr(between, "MOST_DRIVES", MOST)


@pytest.mark.sized
@pytest.mark.parametrize(("problem", "priced"), CASES)
def test_the_best_is_that_of_every_number_of_drives(problem: tuple[str, str, str, str], priced: bool) -> None:
    workload, slo, capacity, space_text = problem
    question = AdviseQuestion(workloads=[Named(workload)], slo=slo, capacity=capacity, protect="one failure")
    needs, space = needs_of(question), space_of(space_text, 1)
    prices = PRICES if priced else Prices()
    listed = candidates_of(space, needs, prices)
    bench = Bench(
        loads_from([Named(workload)], listed.candidates[0].machine), read_figures(needs), duty=1.0, seed=1,
        watch=lambda title: watch(title, False), say=lambda _: None,
    )  # fmt: skip

    def is_sure(tried: Tried) -> bool:
        return point_of(tried, needs, 90.0).surely

    def best(good: list[Tried]) -> tuple[float, int] | None:
        sure = [one for one in good if is_sure(one) and not one.candidate.is_volatile]
        keys = [key(one.candidate) for one in sure or good if not one.candidate.is_volatile]
        return min(keys, default=None)

    found = search(listed.candidates, needs, bench)
    fewest(found, listed, needs, prices, bench, is_sure)
    run = bench.runs
    counts = sorted({n for layout in space.layouts for n in range(legal_counts(layout)[0], MOST + 1)})
    every = candidates_of(replace(space, counts=counts), needs, prices).candidates
    measured = bench.measure([(one, workload) for one in every], 1_800, "everything")
    tried = [Tried(one, {workload: measured[one.name, workload]}) for one in every if (one.name, workload) in measured]
    good = [one for one in tried if not any(misses(one, needs, needs.slo, surely=False))]
    assert best(found.good) == best(good)
    assert run < len(every)


def key(candidate: Candidate) -> tuple[float, int]:
    cost = candidate.static.cost
    return (0.0 if cost is None else cost[0], candidate.count)
