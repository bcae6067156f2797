"""Compare sides: differences of IOPS and of percentiles with their 95 % intervals, and the verdict.

A side is one run or several repeats of it; `difference` computes intervals. Left out: several comparisons at once
raise more false alarms than one, and none is adjusted for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hotband.base.errors import UserError
from hotband.base.text.schema import to_object
from hotband.base.text.values import Json
from hotband.data.record.durability import commit_share, tells_of_commits
from hotband.data.record.states import state_lines, states_of, unequal
from hotband.inference.audit.alike import alike_words, unlike_words
from hotband.inference.audit.audited import Side
from hotband.inference.audit.difference import FASTER, NONE, SLOWER, Difference, iops_difference, percentile_difference
from hotband.inference.audit.finding import kept
from hotband.inference.audit.orderstat import CONFIDENCE
from hotband.inference.audit.rules import contradicted, troubles
from hotband.inference.audit.trouble import overloaded

SCHEMA, SCHEMA_VERSION = "hotband-compare", 2
MOST_WORDS = 3
"""Differences that a refusal names."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
COMMIT_PERCENTILES = (50.0, 99.0)


@dataclass(frozen=True)
class Comparison:
    """B compared with A. `unlike` lists differences of the loads, `unsupported` metrics not compared and the
    reasons."""

    a: Side
    b: Side
    differences: list[Difference]
    verdict: str
    unlike: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)

    @property
    def deciding(self) -> Difference | None:
        """The difference that decides the verdict."""
        return deciding(self.a, self.b, self.differences)

    def difference(self, metric: str) -> Difference | None:
        """Return the difference in a metric; None if it was not compared."""
        return next((row for row in self.differences if row.metric == metric), None)

    @property
    def unequal_state(self) -> list[str]:
        """Differences between the states of the drives, and between events, over all runs of both sides."""
        sides = (("A", self.a), ("B", self.b))
        states = [(name, states_of(run.record)) for name, side in sides for run in side.runs]
        events = [(name, ", ".join(run.events) or "none") for name, side in sides for run in side.runs]
        shown = dict.fromkeys(f"{name} {text}" for name, text in events)
        differ = len({text for _, text in events}) > 1
        happened = [f"events of the runs differ: {'; '.join(shown)}"] if differ else []
        return [*unequal(list({str(state): state for state in states}.values())), *happened]

    @property
    def troubles(self) -> list[str]:
        """Reports of tools about failed I/Os and other trouble, for each run that has any."""
        return [words for side in (self.a, self.b) for run in side.runs for words in troubles(run.record, run.name)]

    @cached_property
    def contradicted(self) -> list[str]:
        """Why figures of a side cannot be right, for each run of which they cannot."""
        return [words for side in (self.a, self.b) for run in side.runs for words in contradicted(run)]

    def data(self) -> dict[str, Json]:
        """Return the comparison as JSON; both ends of a difference are null if the data are too few for an interval."""
        sides = {
            name: {"name": side.name, "runs": [run.name for run in side.runs], "state": state_of(side)}
            for name, side in (("a", self.a), ("b", self.b))
        }
        differences = [
            {key: kept(value) if isinstance(value, float) else value for key, value in vars(difference).items()}
            for difference in self.differences
        ]
        return to_object(
            {
                **sides,
                "troubles": self.troubles,
                "unequal_state": self.unequal_state,
                "verdict": self.verdict,
                "differences": differences,
                "unlike": self.unlike,
                "unsupported": self.unsupported,
            }
        )


def state_of(side: Side) -> list[str]:
    """Return the states of the drives of a side, equal lines once."""
    return list(dict.fromkeys(line for run in side.runs for line in state_lines(states_of(run.record))))


def comparisons_data(comparisons: Sequence[Comparison]) -> dict[str, Json]:
    """Return the whole result as `hotband compare --json` prints it: every further side against the first."""
    return to_object(
        {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "confidence": CONFIDENCE,
            "comparisons": [comparison.data() for comparison in comparisons],
        }
    )


def compare(a: Side, b: Side, seed: int = 1, anyway: bool = False) -> Comparison:
    """Compare B with A. Raises UserError if their loads differ, unless `anyway`."""
    for side in (a, b):
        _check_repeats(side)
    unlike = _unlike(a, b, anyway)
    differences: list[Difference] = []
    unsupported: list[str] = []
    rate = iops_difference(a.runs, b.runs, seed)
    if rate is not None:
        differences.append(rate)
    have_commits = all(run.commits() for side in (a, b) for run in side.runs)
    compared = [(pct, False) for pct in PERCENTILES] + [(pct, True) for pct in COMMIT_PERCENTILES if have_commits]
    for pct, of_commits in compared:
        difference = percentile_difference(a.runs, b.runs, pct, seed, of_commits=of_commits)
        if isinstance(difference, Difference):
            differences.append(difference)
        else:
            unsupported.append(difference)
    decides = deciding(a, b, differences)
    return Comparison(a, b, differences, NONE if decides is None else decides.verdict, unlike, unsupported)


def _check_repeats(side: Side) -> None:
    """Raise UserError for two model runs with one seed: a model repeats exactly, so they count once."""
    seeds = [str(run.record.get("seed")) for run in side.runs if run.is_model]
    twice = next((seed for index, seed in enumerate(seeds) if seed in seeds[:index]), None)
    if twice is not None:
        expected = "two repeats of a side use it, and a model repeats exactly; expected a different seed for each"
        raise UserError(side.name, "seed", twice, expected)


def _unlike(a: Side, b: Side, anyway: bool) -> list[str]:
    """Return the differences of load between the first run of A and the others. Raises UserError unless `anyway`."""
    first, *others = [*a.runs, *b.runs]
    unlike: list[str] = []
    for run in others:
        words = unlike_words(first, run)
        if words and not anyway:
            equal = alike_words(first, run)
            expected = f"{'; '.join(words[:MOST_WORDS])}{equal}; expected equal loads (question.anyway compares them)"
            raise UserError("compare", "", f"{first.name}, {run.name}", expected)
        unlike += [word for word in words if word not in unlike]
    return unlike


def deciding(a: Side, b: Side, differences: Sequence[Difference]) -> Difference | None:
    """Return the difference that decides the verdict: for closed loops that of IOPS. Other loops may fix the rate, so
    the median decides, that of commits where most I/Os are, or the rate if it moved farther or a side missed its rate.
    If these did not move, the one that moved farthest decides."""
    by = {difference.metric: difference for difference in differences}
    runs = [run for side in (a, b) for run in side.runs]
    of_commits = all(tells_of_commits(commit_share(run.record), None) for run in runs)
    rate, median = by.get("IOPS"), (by.get("commit p50") if of_commits else None) or by.get("p50")
    moved = [difference for difference in differences if difference.verdict in (FASTER, SLOWER)]
    is_closed = bool(a.runs[0].concurrency and b.runs[0].concurrency) or any(map(overloaded, runs))
    first = [difference for difference in ((rate,) if is_closed else (median, rate)) if difference in moved]
    chosen = [difference for difference in first if difference is not None] or moved
    if chosen:
        return max(chosen, key=_distance)
    return (rate if is_closed else median) or rate or median or next(iter(differences), None)


def _distance(difference: Difference) -> float:
    """Return the distance of B from A as the logarithm of their ratio."""
    return abs(math.log(difference.b / difference.a)) if difference.a > 0 and difference.b > 0 else math.inf
