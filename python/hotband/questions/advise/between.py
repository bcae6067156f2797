"""Numbers of drives that the search leaves out: the fewest of each family that are what was asked for.

A family is a drive in a layout with a setting of its write cache. The search tries a few numbers of drives of each; the
fewest that is enough lies between one that is not and the next, or beyond the most. Only numbers that would come before
the best so far are tried, all families together, each by bisection.

What it leaves out: a family in which more drives do worse. It is bisected as if they did better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.execution.runs.drives import MOST_DRIVES
from hotband.questions.advise.candidates import legal_counts, with_count
from hotband.questions.advise.front import Tried, front_of, shown_figure
from hotband.questions.advise.search import ROUNDS, Searched, run_round

if TYPE_CHECKING:
    from hotband.questions.advise.asked import Needs
    from hotband.questions.advise.candidates import Candidate, Listed
    from hotband.questions.advise.measure import Bench
    from hotband.questions.advise.prices import Prices

Judge = Callable[[Tried], bool]
"""Whether a candidate that holds is sure to."""
Key = tuple[float, int]
"""What counts first of a candidate: cost where there are prices, then drives."""


@dataclass
class _Family:
    """A family by one of its candidates, and the numbers of drives that may be enough, from the fewest; `known` is
    whether the next larger number is enough."""

    example: Candidate
    options: list[int]
    known: bool

    def key(self, count: int) -> Key:
        """Return the key of so many drives."""
        cost = self.example.static.cost
        return (math.inf if cost is None else cost[0] / self.example.count * count, count)

    def before(self, best: Key) -> None:
        """Keep numbers that come before the best so far."""
        before = [count for count in self.options if self.key(count) < best]
        self.known &= len(before) == len(self.options)
        self.options = before

    def next(self, needs: Needs, prices: Prices) -> Candidate | None:
        """Return what is tried next: the most, then the middle. Of numbers that draw too much power fewer are left."""
        while self.options:
            place = len(self.options) // 2 if self.known else -1
            candidate = with_count(self.example, self.options[place], needs, prices)
            if candidate is not None:
                return candidate
            self.options = self.options[:place]
        return None

    def learn(self, count: int, is_enough: bool) -> None:
        """Keep numbers below one that is enough, or above one that is not."""
        place = self.options.index(count)
        self.options = self.options[:place] if is_enough else self.options[place + 1 :]
        self.known |= is_enough


def fewest(found: Searched, listed: Listed, needs: Needs, prices: Prices, bench: Bench, is_sure: Judge) -> None:
    """Add the fewest drives of each family that come before the best so far. Raises UserError, OSError,
    RunsInterrupted."""
    # Volatile caches are not recommended.
    good = [one for one in found.good if not one.candidate.is_volatile]
    sure = [one for one in good if is_sure(one)]
    # Where none is sure those that hold are compared.
    judge = is_sure if sure else lambda _: True
    holding = {one.name for one in found.good if judge(one)}
    families = _families(listed.candidates, holding)
    best = min((families[_name(one.candidate)].key(one.candidate.count) for one in sure or good), default=NONE)
    while True:
        tried: list[Tried] = []
        for family in families.values():
            family.before(best)
            candidate = family.next(needs, prices)
            tried += [] if candidate is None else [Tried(candidate)]
        if not tried:
            break
        listed.candidates += [one.candidate for one in tried]
        held = run_round(tried, needs, bench, ROUNDS[-1], "numbers of drives between", found, surely=False)
        found.good += held
        enough = {one.name for one in held if judge(one)}
        for one in tried:
            family = families[_name(one.candidate)]
            family.learn(one.candidate.count, one.name in enough)
            best = min(best, family.key(one.candidate.count)) if one.name in enough else best
    found.front = front_of(found.good, shown_figure(needs))


NONE: Key = (math.inf, MOST_DRIVES + 1)
"""The key of no candidate."""
Name = tuple[str, str, str]


def _name(candidate: Candidate) -> Name:
    return candidate.drive.name, candidate.layout, candidate.cache


def _families(candidates: Sequence[Candidate], holding: Collection[str]) -> dict[Name, _Family]:
    """Return the families of candidates, of which those that are enough are named."""
    members: dict[Name, list[Candidate]] = {}
    for one in candidates:
        members.setdefault(_name(one), []).append(one)
    return {name: _family(of, holding) for name, of in members.items()}


def _family(members: Sequence[Candidate], holding: Collection[str]) -> _Family:
    """Return the numbers between the most that is not enough and the fewest that is."""
    enough = [one.count for one in members if one.name in holding]
    above = min(enough, default=MOST_DRIVES + 1)
    below = max((one.count for one in members if one.count < above), default=above)
    step = legal_counts(members[0].layout)[1]
    # No more volatile caches are tried.
    counts = [] if members[0].is_volatile else list(range(below + step, above, step))
    return _Family(members[0], counts, bool(enough))
