"""The question `advise`: its options as text, and the requirements in numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.guess import Guess
from hotband.base.question import Question, asks, capacity, fresh, jobs, out, seed
from hotband.base.text.nearest import repeated
from hotband.base.text.quantities import (
    SIZE_EXPECTED,
    WATTS_EXPECTED,
    YEARLY_EXPECTED,
    share,
    size_bytes,
    watts,
    yearly_share,
)
from hotband.data.inputs.kinds import KeyValues, Workloads
from hotband.execution.experiment import expect_out
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.fields import draws, level
from hotband.questions.advise import YEARS
from hotband.questions.find.question import Condition
from hotband.questions.slo import slo_of

NUMBERS = {"no": 0, "none": 0, "one": 1, "a": 1, "two": 2, "three": 3}
MOST_TOLERATED = 3
"""RAID-Z3 survives three failed drives; nobody should buy a mirror of more than four."""


@dataclass(frozen=True, kw_only=True)
class AdviseQuestion(Question):
    """Say what to buy: drives, layouts, numbers and caches that meet an objective, none of them worse in everything.

    Machines must meet `slo` ("p99 < 5 ms and IOPS > 2000") under each of `workloads`, run alone. `candidates` may be a
    dict of lists; other dimensions are searched whole. `capacity` is usable after `years` of `grow`.

    The result has `recommended` and `runner_up`, `front` (a `Point` each: `cost`, `watts`, `latency` in seconds,
    `rebuild` in hours, `loss` as a chance, with `low` and `high`), `answer`, `why`, `frame`, `to_dict()` and
    `write_html(path)`. If no candidate meets the objective, `recommended` is None and `nearest` comes nearest. Raises
    UserError for a mistake, KeyboardInterrupt if it is stopped, OSError.
    """

    name = "advise"
    schema = "hotband-advice"
    answers = "hotband.questions.advise.advice:Advice"
    runs = True
    has_page = True
    in_rounds = True

    workloads: Workloads = asks(
        "Catalog names, TOML files, job files; the objective must hold for each alone.",
        metavar="WORKLOAD...",
        positional=True,
    )
    slo: str = asks('The objective, such as "p99 < 5 ms".', metavar="CONDITIONS")
    capacity: str = capacity('Usable, such as "50 TB".')
    protect: str = asks('Failures of any drives to survive, such as "two failures".', metavar="FAILURES")
    candidates: KeyValues = asks(
        "Drives, layouts, counts and caches to search. May be repeated.", default="", metavar="KEY=VALUES"
    )
    prices: Path | None = asks(
        "Prices and watts, CSV or TOML. Default: price classes of the catalog.", default=None, metavar="FILE"
    )
    power: str | None = asks('Power limit of the drives, such as "500 W".', default=None, metavar="POWER", unit="W")
    grow: str | None = asks('Growth of the data, such as "30 %/year".', default=None, metavar="SHARE")
    years: float = asks("Years of use.", default=YEARS, metavar="YEARS")
    duty: str | None = asks(
        "Share of time that the workloads run, for endurance. Default: 100 %.", default=None, metavar="SHARE"
    )
    slo_degraded: str | None = asks("The objective while a drive has failed.", default=None, metavar="CONDITIONS")
    interval: float = level()
    draws: int = draws(DRAWS_OF_MANY)
    seed: int = seed()
    jobs: int | None = jobs()
    out: Path | None = out()
    fresh: bool = fresh()
    every: bool = asks("Print every point of the Pareto front.", default=False, called="all", hidden=True)

    def __post_init__(self) -> None:
        """Refuse to start over without a folder, too. Raises UserError."""
        super().__post_init__()
        expect_out(self.fresh, self.out)

    def guesses(self) -> list[Guess]:
        """Return the prices that the table lacks."""
        from hotband.questions.advise.prices import guesses_about, read_prices

        return [] if self.prices is None else guesses_about(read_prices(self.prices))


@dataclass(frozen=True)
class Needs:
    """The requirements in numbers: conditions for every workload (and for every workload with a drive failed), bytes
    today and at the end, failures to survive, the limits of watts and hours, and the share of the time in which the
    workloads run."""

    slo: tuple[Condition, ...]
    degraded: tuple[Condition, ...]
    bytes_today: float
    bytes_at_end: float
    tolerated: int
    watts: float | None
    years: float
    duty: float

    @property
    def limits(self) -> tuple[Condition, ...]:
        """Return the conditions that bound a latency from above."""
        return tuple(condition for condition in self.slo if not condition.is_goal)


def needs_of(question: AdviseQuestion) -> Needs:
    """Return the requirements in numbers. Raises UserError for the first mistake."""
    if not question.workloads:
        raise UserError("question.workload", "", "", "missing: expected at least one workload")
    twice = repeated(workload.name for workload in question.workloads)
    if twice is not None:
        raise UserError("question.workload", "", twice, "is given twice; expected each workload once")
    if isinstance(question.years, bool) or not isinstance(question.years, int | float) or not 0 < question.years <= 50:
        raise UserError("question.years", "", str(question.years), "expected a number of years above 0 and up to 50")
    today = size_bytes(question.capacity)
    if today is None:
        raise UserError(
            "question.capacity", "", question.capacity, f"expected {SIZE_EXPECTED.replace('256 MB', '50 TB')}"
        )
    growth = 0.0 if question.grow is None else growth_of(question.grow)
    return Needs(
        _conditions_of_ios(question.slo, "question.slo"),
        () if question.slo_degraded is None else _conditions_of_ios(question.slo_degraded, "question.slo_degraded"),
        today,
        today * (1.0 + growth) ** question.years,
        tolerated_of(question.protect),
        None if question.power is None else watts_of(question.power, "question.power", ""),
        float(question.years),
        1.0 if question.duty is None else duty_of(question.duty),
    )


def _conditions_of_ios(text: str, where: str) -> tuple[Condition, ...]:
    """Return the conditions of an objective. Raises UserError for those of transactions, which an array that stands for
    a larger one does not have in proportion."""
    conditions = slo_of(text, where)
    for condition in conditions:
        if condition.figure.is_of_script:
            accepted = 'is of transactions, which find and sweep judge; expected I/Os, such as "commit.p99 < 1 ms"'
            raise UserError(where, "", condition.text, accepted)
    return conditions


def tolerated_of(text: str) -> int:
    """Return how many drives may fail without a loss: `two failures`, `1 failure`, `none`."""
    match = re.fullmatch(
        r"(?:any\s+)?(\w+)(?:\s+(?:drive\s+|disk\s+)?(?:failures?|drives?|disks?))?", text.strip().lower()
    )
    count = None if match is None else int(match[1]) if match[1].isdigit() else NUMBERS.get(match[1])
    if count is None or count > MOST_TOLERATED:
        raise UserError(
            "question.protect", "", text, 'expected "no failure", "one failure", "two failures" or "three failures"'
        )
    return count


def watts_of(text: str, where: str, key: str) -> float:
    """Read a power above zero, in watts. Raises UserError."""
    value = watts(text)
    if not value:
        raise UserError(where, key, text, f"expected {WATTS_EXPECTED}")
    return value


def growth_of(text: str) -> float:
    """Return the share by which data grows in a year: `30 %/year`. Raises UserError."""
    value = yearly_share(text)
    if value is None:
        raise UserError("question.grow", "", text, f"expected {YEARLY_EXPECTED}")
    return value


def duty_of(text: str) -> float:
    """Return the share of the time that the workloads run: `30 %`."""
    value = share(text)
    if value is None or "%" not in text or not 0 < value <= 1:
        raise UserError(
            "question.duty", "", text, 'expected a share of the time of more than 0 % and up to 100 %, such as "30 %"'
        )
    return value
