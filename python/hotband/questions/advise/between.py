"""Drive counts between those that the search tries: the fewest drives of each family that meet the requirements.

A family is a drive in a layout with a setting of its write cache. The search tries a few drive counts of each family;
the fewest drives that are enough lie between a count that is not enough and the next larger one, or beyond the largest.
Only counts that would rank before the best candidate so far are tried, all families together, each by bisection.

Left out: a family in which more drives do worse. It is bisected as if they did better.
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
"""Whether a candidate that meets the requirements surely does, over its whole interval."""
Key = tuple[float, int]
"""Sort key of a candidate: cost if there are prices, then drives."""


@dataclass
class _Family:
    """A family, represented by one of its candidates, and the drive counts that may be enough, in ascending order;
    `known` is True if the next larger count is enough."""

    example: Candidate
    options: list[int]
    known: bool

    def key(self, count: int) -> Key:
        """Return the key of a number of drives."""
        cost = self.example.static.cost
        return (math.inf if cost is None else cost[0] / self.example.count * count, count)

    def before(self, best: Key) -> None:
        """Drop drive counts that do not rank before the best so far."""
        before = [count for count in self.options if self.key(count) < best]
        self.known &= len(before) == len(self.options)
        self.options = before

    def next(self, needs: Needs, prices: Prices) -> Candidate | None:
        """Return the next candidate: the largest drive count, then the middle. Drop counts that draw too much power."""
        while self.options:
            index = len(self.options) // 2 if self.known else -1
            candidate = with_count(self.example, self.options[index], needs, prices)
            if candidate is not None:
                return candidate
            self.options = self.options[:index]
        return None

    def learn(self, count: int, is_enough: bool) -> None:
        """Keep the counts below one that is enough, or above one that is not."""
        index = self.options.index(count)
        self.options = self.options[:index] if is_enough else self.options[index + 1 :]
        self.known |= is_enough


def fewest(searched: Searched, listed: Listed, needs: Needs, prices: Prices, bench: Bench, is_sure: Judge) -> None:
    """Add the fewest drives of each family that rank before the best so far. Raises UserError, OSError,
    RunsInterrupted."""
    # Volatile caches are not recommended.
    good = [tried for tried in searched.good if not tried.candidate.is_volatile]
    sure = [tried for tried in good if is_sure(tried)]
    # If none surely meets the requirements, those that meet them at all are compared.
    judge = is_sure if sure else lambda _: True
    holding = {tried.name for tried in sure or good}
    families = _families(listed.candidates, holding)
    best = min((families[_name(tried.candidate)].key(tried.candidate.count) for tried in sure or good), default=NONE)
    while True:
        candidates: list[Candidate] = []
        for family in families.values():
            family.before(best)
            candidate = family.next(needs, prices)
            candidates += [] if candidate is None else [candidate]
        if not candidates:
            break
        listed.candidates += candidates
        runs = [Tried(candidate) for candidate in candidates]
        held = run_round(runs, needs, bench, ROUNDS[-1], "numbers of drives between", searched, surely=False)
        searched.good += held
        enough = {tried.name for tried in held if judge(tried)}
        for candidate in candidates:
            family = families[_name(candidate)]
            family.learn(candidate.count, candidate.name in enough)
            best = min(best, family.key(candidate.count)) if candidate.name in enough else best
    searched.front = front_of(searched.good, shown_figure(needs))


NONE: Key = (math.inf, MOST_DRIVES + 1)
"""Sort key that comes after every candidate."""
Name = tuple[str, str, str]


def _name(candidate: Candidate) -> Name:
    return candidate.drive.name, candidate.layout, candidate.cache


def _families(candidates: Sequence[Candidate], holding: Collection[str]) -> dict[Name, _Family]:
    """Return the families of the candidates; `holding` names the candidates that are enough."""
    members: dict[Name, list[Candidate]] = {}
    for candidate in candidates:
        members.setdefault(_name(candidate), []).append(candidate)
    return {name: _family(alike, holding) for name, alike in members.items()}


def _family(members: Sequence[Candidate], holding: Collection[str]) -> _Family:
    """Return the drive counts between the largest that is not enough and the smallest that is."""
    enough = [candidate.count for candidate in members if candidate.name in holding]
    above = min(enough, default=MOST_DRIVES + 1)
    below = max((candidate.count for candidate in members if candidate.count < above), default=above)
    step = legal_counts(members[0].layout)[1]
    # No more counts with volatile caches are tried.
    counts = [] if members[0].is_volatile else list(range(below + step, above, step))
    return _Family(members[0], counts, bool(enough))
