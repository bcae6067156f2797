"""What is asked of an advice, as text from options, and what it means in numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.quantities import (
    SIZE_EXPECTED,
    WATTS_EXPECTED,
    YEARLY_EXPECTED,
    share,
    size_bytes,
    watts,
    yearly_share,
)
from hotband.inference.interval import DRAWS_OF_MANY, LEVEL, check_level
from hotband.questions.advise import YEARS
from hotband.questions.find.question import Condition, conditions

if TYPE_CHECKING:
    from hotband.data.inputs.specify import Named

NUMBERS = {"no": 0, "none": 0, "one": 1, "a": 1, "two": 2, "three": 3}
MOST_TOLERATED = 3
"""RAID-Z3 lives with three failed drives; a mirror of many is no array that anybody is advised to buy."""
SLO_FORM = 'expected conditions such as "p99 < 5 ms" or "p99 < 5 ms and IOPS > 2000"'


@dataclass(frozen=True)
class Asked:
    """What is asked: quantities are text with their unit. `candidates` is DRIVES, LAYOUTS, COUNTS and CACHES as text,
    `cost` a table of prices and watts."""

    workloads: Sequence[Named]
    slo: str
    capacity: str
    protect: str
    candidates: str = ""
    cost: Path | None = None
    power: str | None = None
    grow: str | None = None
    years: float = YEARS
    duty: str | None = None
    slo_degraded: str | None = None
    level: float = LEVEL
    draws: int = DRAWS_OF_MANY
    seed: int = 1
    jobs: int | None = None
    out: Path | None = None
    fresh: bool = False


@dataclass(frozen=True)
class Needs:
    """The same in numbers: conditions that every workload is to meet (also with a drive failed), bytes today and at the
    end, failures that are survived, watts at most, hours, and the share of the time that the workloads run."""

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
        """Latencies that are to stay below a bound."""
        return tuple(one for one in self.slo if not one.is_goal)


def needs_of(asked: Asked) -> Needs:
    """What is needed, in numbers. Raises UserError for the first mistake."""
    if not asked.workloads:
        raise UserError("question.workload", "", "", "missing: expected at least one workload")
    names = [one.name for one in asked.workloads]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError("question.workload", "", twice, "is given twice; expected each workload once")
    check_level(asked.level, "question.interval")
    if isinstance(asked.years, bool) or not isinstance(asked.years, int | float) or not 0 < asked.years <= 50:
        raise UserError("question.years", "", str(asked.years), "expected a number of years above 0 and up to 50")
    today = size_bytes(asked.capacity)
    if today is None:
        raise UserError("question.capacity", "", asked.capacity, f"expected {SIZE_EXPECTED.replace('256 MB', '50 TB')}")
    growth = 0.0 if asked.grow is None else growth_of(asked.grow)
    return Needs(
        slo_of(asked.slo, "question.slo"),
        () if asked.slo_degraded is None else slo_of(asked.slo_degraded, "question.slo_degraded"),
        today,
        today * (1.0 + growth) ** asked.years,
        tolerated_of(asked.protect),
        None if asked.power is None else watts_of(asked.power, "question.power", ""),
        float(asked.years),
        1.0 if asked.duty is None else duty_of(asked.duty),
    )


def slo_of(text: str, option: str) -> tuple[Condition, ...]:
    """The conditions of a text. Raises UserError in the option's name."""
    if not text.strip():
        raise UserError(option, "", "", f"is empty: {SLO_FORM}")
    try:
        found = conditions(" ".join(text.split()))
    except UserError as error:
        raise UserError(option, "", error.value, error.accepted) from None
    kept = tuple(one for one in found if isinstance(one, Condition))
    if len(kept) < len(found):
        raise UserError(option, "", text, f"a share of the most is no promise to anybody: {SLO_FORM}")
    return kept


def tolerated_of(text: str) -> int:
    """How many drives may fail without a loss: `two failures`, `1 failure`, `none`."""
    found = re.fullmatch(
        r"(?:any\s+)?(\w+)(?:\s+(?:drive\s+|disk\s+)?(?:failures?|drives?|disks?))?", text.strip().lower()
    )
    count = None if found is None else int(found[1]) if found[1].isdigit() else NUMBERS.get(found[1])
    if count is None or count > MOST_TOLERATED:
        raise UserError(
            "question.protect", "", text, 'expected "no failure", "one failure", "two failures" or "three failures"'
        )
    return count


def watts_of(text: str, where: str, key: str) -> float:
    """Watts of a power above zero with its unit. Raises UserError."""
    found = watts(text)
    if not found:
        raise UserError(where, key, text, f"expected {WATTS_EXPECTED}")
    return found


def growth_of(text: str) -> float:
    """The share by which data grows in a year: `30 %/year`. Raises UserError."""
    found = yearly_share(text)
    if found is None:
        raise UserError("question.grow", "", text, f"expected {YEARLY_EXPECTED}")
    return found


def duty_of(text: str) -> float:
    """The share of the time that the workloads run: `30 %`."""
    found = share(text)
    if found is None or "%" not in text or not 0 < found <= 1:
        raise UserError(
            "question.duty", "", text, 'expected a share of the time of more than 0 % and up to 100 %, such as "30 %"'
        )
    return found
