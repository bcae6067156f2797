"""Sides compared: differences of IOPS and of percentiles with their 95 % intervals, and what they show.

A side is one run or several repeats of it; how intervals are had is in `difference`. Left out: several comparisons at
once raise more false alarms than one, and none is adjusted for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hotband.base.errors import UserError
from hotband.base.text.schema import to_object
from hotband.base.text.values import Json
from hotband.data.record.states import state_lines, states_of, unequal
from hotband.inference.audit.audited import Audited, Side
from hotband.inference.audit.comparability import DATA_TOLERANCE, data_of, data_text
from hotband.inference.audit.difference import FASTER, NONE, SLOWER, Difference, iops_difference, percentile_difference
from hotband.inference.audit.finding import kept
from hotband.inference.audit.orderstat import CONFIDENCE

SCHEMA, SCHEMA_VERSION = "hotband-compare", 2
PERCENTILES = (50.0, 90.0, 99.0, 99.9)


@dataclass(frozen=True)
class Comparison:
    """What is found of B against A. `unlike` lists what was not equal, `unsupported` what was not compared and why."""

    a: Side
    b: Side
    differences: list[Difference]
    verdict: str
    unlike: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)

    @property
    def deciding(self) -> Difference | None:
        """The difference that the verdict is of."""
        return deciding(self.a, self.b, self.differences)

    @property
    def unequal_state(self) -> list[str]:
        """What is not equal in the states of the drives, of all runs of both sides."""
        states = [(name, states_of(run.record)) for name, side in (("A", self.a), ("B", self.b)) for run in side.runs]
        return unequal(list({str(state): state for state in states}.values()))

    def data(self) -> dict[str, Json]:
        """As JSON has it; both ends of a difference are null where there is too little for an interval."""
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
                "unequal_state": self.unequal_state,
                "verdict": self.verdict,
                "differences": differences,
                "unlike": self.unlike,
                "unsupported": self.unsupported,
            }
        )


def state_of(side: Side) -> list[str]:
    """How the drives of its runs are set: once where that is the same."""
    return list(dict.fromkeys(line for run in side.runs for line in state_lines(states_of(run.record))))


def comparisons_data(found: Sequence[Comparison]) -> dict[str, Json]:
    """The whole result as `hotband compare --json` prints it: every further side against the first."""
    return to_object(
        {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "confidence": CONFIDENCE,
            "comparisons": [one.data() for one in found],
        }
    )


def compare(a: Side, b: Side, seed: int = 1, anyway: bool = False) -> Comparison:
    """B against A. Raises UserError where they were not asked the same, unless told to go on `anyway`."""
    for side in (a, b):
        _check_repeats(side)
    unlike = _unlike(a, b, anyway)
    found: list[Difference] = []
    unsupported: list[str] = []
    rate = iops_difference(a.runs, b.runs, seed)
    if rate is not None:
        found.append(rate)
    for pct in PERCENTILES:
        one = percentile_difference(a.runs, b.runs, pct, seed)
        if isinstance(one, Difference):
            found.append(one)
        else:
            unsupported.append(one)
    decides = deciding(a, b, found)
    return Comparison(a, b, found, NONE if decides is None else decides.verdict, unlike, unsupported)


def _check_repeats(side: Side) -> None:
    """A model repeats exactly: two of its runs with one seed are one. Raises UserError."""
    seeds = [str(run.record.get("seed")) for run in side.runs if run.is_model]
    twice = next((seed for index, seed in enumerate(seeds) if seed in seeds[:index]), None)
    if twice is not None:
        expected = "two repeats of a side have it, and a model repeats exactly; expected a seed of its own for each"
        raise UserError(side.name, "seed", twice, expected)


def _unlike(a: Side, b: Side, anyway: bool) -> list[str]:
    """What was asked of the first run of A and not of the others. Raises UserError, unless told to go on `anyway`."""
    first, *others = [*a.runs, *b.runs]
    found: list[str] = []
    for run in others:
        words = unlike_words(first, run)
        if words and not anyway:
            expected = f"{words[0]}; expected equal loads (question.anyway compares them)"
            raise UserError("compare", "", f"{first.name}, {run.name}", expected)
        found += [word for word in words if word not in found]
    return found


def deciding(a: Side, b: Side, found: Sequence[Difference]) -> Difference | None:
    """The difference that the verdict is of: of closed loops that of the rate. Of others the rate may have been given,
    so that it is the median's, or the rate's where that moved farther."""
    by = {one.metric: one for one in found}
    rate, median = by.get("IOPS"), by.get("p50")
    if rate is not None and median is not None and not (a.runs[0].concurrency and b.runs[0].concurrency):
        moved = [one for one in (median, rate) if one.verdict in (FASTER, SLOWER)]
        return max(moved, key=_distance) if moved else median
    return rate or median or next(iter(found), None)


def _distance(one: Difference) -> float:
    """How far B lies from A, as the logarithm of their ratio."""
    return abs(math.log(one.b / one.a)) if one.a > 0 and one.b > 0 else math.inf


def unlike_words(a: Audited, b: Audited) -> list[str]:
    """What was asked of one and not of the other."""
    found = []
    pairs: list[tuple[str, Any, Any]] = [("concurrency", a.concurrency, b.concurrency)]
    for name, key in (("size of an I/O", "block_bytes"), ("share of reads", "read_pct"), ("pattern", "pattern")):
        pairs.append((name, getattr(a.asked, key), getattr(b.asked, key)))
    pairs.append(("rate asked for", a.asked.rate_iops, b.asked.rate_iops))
    for name, one, other in pairs:
        if one != other and (None not in (one, other) or name == "rate asked for"):
            found.append(f"{name} differs: {one} and {other}")
    mine, theirs = data_of(a), data_of(b)
    for key in sorted(mine.keys() & theirs.keys()):
        low, high = sorted((mine[key], theirs[key]))
        if low < (1 - DATA_TOLERANCE) * high:
            found.append(f"{key} differs: {data_text(key, mine[key])} and {data_text(key, theirs[key])}")
    return found
