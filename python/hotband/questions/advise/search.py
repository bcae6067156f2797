"""The search: bounds, short runs, longer runs of the remaining candidates, and the Pareto front.

No candidate that could still reach the front is dropped. A candidate is dropped if even the better ends of its metrics
by chance miss the objective, or if another one is better in everything (`hotband.questions.advise.front`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.questions.advise.front import Tried, cannot_reach, front_of, order, shown_figure
from hotband.questions.advise.objective import OVER_POWER, Miss, furthest, misses

if TYPE_CHECKING:
    from hotband.questions.advise.asked import Needs
    from hotband.questions.advise.candidates import Candidate
    from hotband.questions.advise.measure import Bench

ROUNDS = (2_000, 6_000, 20_000)
"""Measured I/Os of a run, three times as many in each round: 20, 60 and 200 lie beyond the 99th percentile."""
WORSE = "worse than another in everything"
"""Reason why a candidate that meets the requirements is not on the front."""

MIRROR = "raid1"
"""Layout whose rate of writes and wear do not depend on its number of drives."""


@dataclass
class Searched:
    """The result of the search: candidates that meet the requirements (`good`), those of them on the front, the nearest
    of the others with its largest miss, and the reasons of the others. Good candidates that are not on the front are
    only counted, in `gone`: which they are changes as `good` grows."""

    good: list[Tried]
    front: list[Tried]
    nearest: tuple[Tried, Miss] | None
    left_out: Counter[str] = field(default_factory=Counter)
    rounds: list[tuple[int, int]] = field(default_factory=list)

    @property
    def gone(self) -> Counter[str]:
        """Return how many tried candidates are not on the front, by reason."""
        return self.left_out + Counter({WORSE: len(self.good) - len(self.front)})

    def leave_out(self, entry: Tried, miss: Miss) -> None:
        """Count a candidate that misses the requirements; the one whose largest miss is smallest is the nearest."""
        self.left_out[miss.reason] += 1
        if self.nearest is None or miss.factor < self.nearest[1].factor:
            self.nearest = (entry, miss)


def search(candidates: Sequence[Candidate], needs: Needs, bench: Bench) -> Searched:
    """Run the candidates, and return those that remain. Raises UserError, OSError, RunsInterrupted."""
    searched = Searched([], [], None)
    flash = [Tried(candidate) for candidate in candidates if candidate.drive.is_flash]
    disks = [Tried(candidate) for candidate in candidates if not candidate.drive.is_flash]
    tried: list[Tried] = []
    last = ROUNDS[-1]
    ready: list[Tried] = []
    disks = without_hopeless(disks, needs, bench, ROUNDS[0], "largest arrays of disks", searched)
    for ios in ROUNDS:
        what = "disks" if ios == last else f"disks, {ios:,} I/Os"
        disks = run_round(disks, needs, bench, ios, what, searched, surely=ios != last)
        if flash and ios == ROUNDS[0]:
            _say_best(disks, needs, bench, f"after {ios:,} I/Os of each array of disks")
            # Flash is preconditioned before every run, which takes longer than any run of this length: one round, after
            # the fastest disks.
            flash = without_hopeless(flash, needs, bench, last, "largest arrays of solid-state drives", searched)
            ready = run_round(flash, needs, bench, last, "solid-state drives", searched, surely=False)
            _say_best([*ready, *disks], needs, bench, "with solid-state drives")
        tried = [*ready, *disks]
        if ios != last:
            gone = cannot_reach(tried, needs, shown_figure(needs))
            searched.left_out[WORSE] += sum(disk.name in gone for disk in disks)
            disks = [disk for disk in disks if disk.name not in gone]
    searched.good = tried
    searched.front = front_of(tried, shown_figure(needs))
    return searched


def without_hopeless(
    tried: list[Tried], needs: Needs, bench: Bench, ios: int, what: str, searched: Searched
) -> list[Tried]:
    """Run the largest array of each family; return the candidates without those arrays that miss the requirements, and
    without their families if fewer drives surely miss them, too. Fewer of the same drives are slower and wear out
    sooner, but draw less power; a mirror writes no faster and wears no less with more."""
    families: dict[tuple[str, str, str], list[Tried]] = {}
    for entry in tried:
        families.setdefault((entry.candidate.drive.name, entry.candidate.layout, entry.candidate.cache), []).append(
            entry
        )
    largest = {name: max(members, key=lambda entry: entry.candidate.count) for name, members in families.items()}
    several = [entry for name, entry in largest.items() if len(families[name]) > 1]
    remaining = {entry.name for entry in run_round(several, needs, bench, ios, what, searched, surely=True)}
    dropped = set()
    for family, entry in largest.items():
        if len(families[family]) == 1 or entry.name in remaining:
            continue
        dropped.add(entry.name)
        sure = [miss for miss in misses(entry, needs, needs.slo, surely=True) if miss.reason != OVER_POWER]
        if entry.measured and sure and entry.candidate.layout != MIRROR:
            searched.left_out[max(sure, key=lambda miss: miss.factor).reason] += len(families[family]) - 1
            dropped |= {member.name for member in families[family]}
    return [entry for entry in tried if entry.name not in dropped]


def _say_best(tried: Sequence[Tried], needs: Needs, bench: Bench, when: str) -> None:
    """Print the best candidate so far that meets the objectives."""
    good = [each for each in tried if not each.candidate.is_volatile and furthest(each, needs, needs.slo) is None]
    if good:
        best = min(good, key=lambda each: order(each, shown_figure(needs)))
        bench.say(f"so far, {when}: {best.name}")


def run_round(
    tried: list[Tried], needs: Needs, bench: Bench, ios: int, what: str, searched: Searched, *, surely: bool
) -> list[Tried]:
    """Run a round; return the candidates that meet the requirements or, with `surely`, those that still may."""
    searched.rounds.append((ios, len(tried)))
    if not tried:
        return tried
    try:
        # The largest arrays may have run for as many I/Os already.
        pairs = [(entry.candidate, name) for entry in tried if entry.ios != ios for name in bench.loads]
        measured = {
            (entry.name, name): run for entry in tried if entry.ios == ios for name, run in entry.measured.items()
        }
        measured |= bench.measure(pairs, ios, what) if pairs else {}
    except RunsInterrupted:
        _tell_best(_holding(tried, needs, bench, ios), needs, bench)
        raise
    remaining = []
    for one in tried:
        mine = {name: measured.get((one.name, name)) for name in bench.loads}
        if any(measured is None for measured in mine.values()):
            searched.left_out["that the model refuses"] += 1
            continue
        one.measured, one.ios = {name: measured for name, measured in mine.items() if measured is not None}, ios
        miss = furthest(one, needs, needs.slo)
        if miss is None or not any(misses(one, needs, needs.slo, surely=surely)):
            remaining.append(one)
        else:
            searched.leave_out(one, miss)
    _tell_best(remaining, needs, bench)
    return remaining


def _holding(tried: Sequence[Tried], needs: Needs, bench: Bench, ios: int) -> list[Tried]:
    """Return the candidates of an interrupted round that ran under every workload and meet the requirements."""
    whole = [entry for entry in tried if all((entry.name, name) in bench.partial for name in bench.loads)]
    for entry in whole:
        entry.measured, entry.ios = {name: bench.partial[entry.name, name] for name in bench.loads}, ios
    return [entry for entry in whole if furthest(entry, needs, needs.slo) is None]


def _tell_best(remaining: Sequence[Tried], needs: Needs, bench: Bench) -> None:
    """Show the best candidate so far in the bench's next progress bars."""
    figure = shown_figure(needs)
    ranked = [(order(entry, figure), entry.name) for entry in remaining]
    bench.best = min([*ranked, *([bench.best] if bench.best else [])], default=None)
