"""Does the search of `advise` find the front that running everything finds?

    python scripts/advise_exhaustive.py [--whole] [--drives a,b] [--layouts ...] [--counts ...] [--out FILE.json]

Every candidate of the same question is run at the length of the search's last round, none left out on the way, and the
front is made of all of them. `--whole` runs solid-state drives as whole arrays, where the search has smaller ones for
them: minutes a candidate. A point of the exhaustive front is *found* where it is on the search's front, too, and *stood
for* where one of those is within its interval, or better, in every figure (watts: the catalog's ranges; latency: 90 %;
rebuild and loss: their ends; drives and cost have none). Exit code 1 where a point is neither.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from hotband.data.inputs.specify import Named
from hotband.inference.interval import LEVEL
from hotband.questions.advise.advice import Point
from hotband.questions.advise.asked import AdviseQuestion, Needs, needs_of
from hotband.questions.advise.candidates import Candidate, candidates_of, space_of
from hotband.questions.advise.finalists import point_of
from hotband.questions.advise.front import Tried, front_of, read_figures, shown_figure
from hotband.questions.advise.measure import Bench, loads_from
from hotband.questions.advise.objective import furthest
from hotband.questions.advise.prices import Prices
from hotband.questions.advise.search import ROUNDS, search

DRIVES = (
    "exos-x16-16tb,exos-x18-18tb,exos-x20-20tb,exos-x24-24tb,toshiba-mg08-16tb,toshiba-mg10-20tb,wd-hc550-18tb,"
    "mg06sca-10tb,exos-10e2400-512e,pm9a3-3840,7450-pro-3840,pm893-3840,cm7-r-7680,6500-ion-30720,p5520-3840"
)
LAYOUTS, COUNTS = "raid5,raid6,raid10,raid50,raid60,raidz2", "8,12,16,24"
WORKLOADS = "vdbench-8k-random,iometer-database,iometer-fileserver"


def bench_of(asked: AdviseQuestion, needs: Needs, candidates: list[Candidate], whole: bool) -> Bench:
    """A bench that says nothing."""
    return Bench(
        loads_from(asked.workloads, candidates[0].machine), read_figures(needs), needs.duty, asked.seed,
        watch=lambda _: nullcontext(), say=print, whole=whole,
    )  # fmt: skip


def everything(candidates: list[Candidate], needs: Needs, bench: Bench) -> list[Tried]:
    """The front of all candidates, each run under every workload."""
    pairs = [(one, name) for one in candidates for name in bench.loads]
    runs = bench.measure(pairs, ROUNDS[-1], "everything")
    tried = [
        Tried(one, {name: runs[one.name, name] for name in bench.loads}, ROUNDS[-1])
        for one in candidates
        if all((one.name, name) in runs for name in bench.loads)
    ]
    good = [one for one in tried if furthest(one, needs, needs.slo) is None]
    print(f"everything: {len(tried)} run, {len(good)} hold")
    return front_of(good, shown_figure(needs))


def stands_for(one: Point, wanted: Point) -> bool:
    """Whether a point is within the other's interval, or better, in every figure."""
    pairs = [(one.watts, wanted.watts), (one.latency, wanted.latency), (one.rebuild, wanted.rebuild)]
    pairs += [(one.loss, wanted.loss), (one.cost, wanted.cost)]
    within = (
        of is not None and of.value <= (to.value if to.high is None else to.high) for of, to in pairs if to is not None
    )
    return one.drives <= wanted.drives and all(within)


def main() -> int:
    """Both fronts, compared."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--whole", action="store_true")
    for name, usual in (("drives", DRIVES), ("layouts", LAYOUTS), ("counts", COUNTS), ("workloads", WORKLOADS)):
        parser.add_argument(f"--{name}", default=usual)
    for name, usual in (("slo", "p99 < 80 ms"), ("capacity", "50 TB"), ("protect", "one failure"), ("duty", "5 %")):
        parser.add_argument(f"--{name}", default=usual)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    space_text = f"drives={given.drives},layouts={given.layouts},counts={given.counts}"
    workloads = [Named(name) for name in given.workloads.split(",")]
    asked = AdviseQuestion(
        workloads=tuple(workloads), slo=given.slo, capacity=given.capacity, protect=given.protect,
        candidates=space_text, duty=given.duty,
    )  # fmt: skip
    needs = needs_of(asked)
    listed = candidates_of(space_of(space_text, needs.tolerated), needs, Prices())
    print(f"{len(listed.candidates)} of {listed.of} candidates hold the data and survive")
    begun = time.process_time()
    found = search(listed.candidates, needs, bench_of(asked, needs, listed.candidates, False)).front
    searched = time.process_time()
    print(f"the search: {len(found)} points, {searched - begun:.0f} s of processor time")
    wanted = everything(listed.candidates, needs, bench_of(asked, needs, listed.candidates, given.whole))
    print(f"everything: {len(wanted)} points, {time.process_time() - searched:.0f} s of processor time")
    return compared(found, wanted, needs, given.out)


def compared(found: list[Tried], wanted: list[Tried], needs: Needs, out: Path | None) -> int:
    """Prints how the fronts lie to each other; 1 where a point is missing."""
    points = [point_of(one, needs, LEVEL) for one in found]
    names = {one.name for one in points}
    missing, stood = [], 0
    for one in (point_of(tried, needs, LEVEL) for tried in wanted):
        if one.name in names:
            continue
        if any(stands_for(other, one) for other in points):
            stood += 1
        else:
            missing.append(one.name)
    same = len(wanted) - stood - len(missing)
    print(f"of {len(wanted)} points {same} are found, {stood} stood for, {len(missing)} missing: {missing}")
    print(f"{len(names - {one.name for one in wanted})} points of the search are not on the exhaustive front")
    if out is not None:
        sides = {"found": points, "exhaustive": [point_of(one, needs, LEVEL) for one in wanted]}
        table = {side: [one.document() for one in of] for side, of in sides.items()}
        out.write_text(json.dumps(table, indent=1), encoding="utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
