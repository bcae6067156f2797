"""The figures of an array as plain data: what `hotband reliability --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hotband.base.errors import UserError
from hotband.inference.reliability import cycles
from hotband.inference.reliability.array import HOURS_PER_YEAR, Array, Conditions
from hotband.inference.reliability.asked import ReliabilityQuestion, Subject, subject_of
from hotband.inference.reliability.chain import Chain, build, loss_within, mean_time_to_loss
from hotband.inference.reliability.estimate import Estimate
from hotband.inference.reliability.mission import simulate
from hotband.inference.reliability.result import Reliability
from hotband.inference.reliability.textbook import approximate

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.data.documents.reliability import (
        DifferenceDoc,
        EstimateDoc,
        GivenDoc,
        LayoutDoc,
        MissionDoc,
        MttdlDoc,
        ReliabilityDoc,
        TextbookDoc,
    )

# Limits of the arrays simulated drive by drive: a tenth of the cycles, and the drives that take about a second.
MISSION_SHARE, MISSION_DRIVES = 10, 2_000_000
LEAST_ARRAYS = 1000
# "third failure" is one more than RAID 6 tolerates.
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

SECTOR_ERROR = "unreadable block in a rebuild"
"""The cause of losses by blocks that cannot be read when no redundancy is left: at least one of them."""


def answer(question: ReliabilityQuestion, way: Way) -> Reliability:
    """Return how long an array keeps its data. Raise UserError for the first mistake."""
    return Reliability(assess(question))


def assess(question: ReliabilityQuestion) -> ReliabilityDoc:
    """Return the figures of a question as a document. Raise UserError for the first mistake."""
    if not 0 < question.years <= 1000:
        raise UserError(
            "question.years", "", f"{question.years:g}", "expected a number of years above 0 and up to 1000"
        )
    subject = subject_of(question)
    array, conditions = subject.array, subject.conditions
    chain = build(array, conditions.exponential())
    return {
        "schema": "hotband-reliability",
        "version": 1,
        "machine": question.on.name,
        "layout": described(subject),
        "given": given(question, subject),
        "mttdl": mttdl(question, subject, chain),
        "mission": mission(question, subject, chain),
    }


def described(subject: Subject) -> LayoutDoc:
    """Return the layout and its drives as data."""
    array = subject.array
    return {
        "name": subject.name,
        "kind": array.kind,
        "drives": array.drives,
        "failures_tolerated": array.tolerated,
        "usable_bytes": array.usable_bytes,
        "member_bytes": array.member_bytes,
    }


def given(question: ReliabilityQuestion, subject: Subject) -> GivenDoc:
    """Return the values that the figures were computed from, with their sources."""
    array, conditions = subject.array, subject.conditions
    return {
        "mtbf_hours": conditions.mtbf,
        "rebuild_hours": conditions.rebuild if array.tolerated else None,
        "bits_per_error": conditions.bits_per_error,
        "rebuild_error_chance": conditions.error_chance(array) if array.tolerated else 0.0,
        "spares": conditions.spares,
        "replacement_hours": conditions.replacement,
        "one_rebuild_at_a_time": conditions.one_rebuild,
        "distribution": question.distribution,
        "shape": conditions.shape,
        "rebuild_distribution": question.rebuild_distribution,
        "seed": str(question.seed),
        "sources": subject.sources,
    }


def causes_of(array: Array, shares: Any) -> dict[str, float]:
    """Return the shares by the name of the cause."""
    ordinal = ORDINALS[array.tolerated] if array.tolerated < len(ORDINALS) else f"{array.tolerated + 1}th"
    return {f"{ordinal} failure": float(shares[0]), SECTOR_ERROR: float(shares[1])}


def estimated(estimate: Estimate) -> EstimateDoc:
    """Return an estimate as data."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def against(estimate: Estimate | None, closed: float | None) -> DifferenceDoc:
    """Return the difference of an estimate from the closed form, and whether its interval contains that."""
    if estimate is None or closed is None:
        return {"difference_pct": None, "within_interval": None}
    difference = (estimate.value / closed - 1.0) * 100.0
    return {"difference_pct": difference, "within_interval": estimate.low <= closed <= estimate.high}


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return the random generator of one simulation."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, stream])))


def mttdl(question: ReliabilityQuestion, subject: Subject, chain: Chain) -> MttdlDoc:
    """Return the mean time to data loss: simulated, exact, and by the textbook."""
    array, conditions = subject.array, subject.conditions
    textbook = approximate(array, conditions)
    in_years: TextbookDoc = {
        "formula": textbook.formula,
        "years": textbook.both / HOURS_PER_YEAR,
        "failure_years": textbook.failure / HOURS_PER_YEAR,
        "sector_years": None if textbook.sector is None else textbook.sector / HOURS_PER_YEAR,
        "source": textbook.source,
    }
    closed, shares = mean_time_to_loss(chain)
    if not conditions.is_markov:
        # With aging drives the figure does not exist. With constant rebuilds it does, but a chain does not give it.
        ages = conditions.shape != 1.0
        reason = "the chance of loss changes with age" if ages else "a Markov chain has no constant rebuilds"
        if question.method != "auto":
            raise UserError(
                "question.method",
                "",
                question.method,
                "expected auto: these distributions are simulated drive by drive",
            )
        textbook_of = None if ages else in_years
        return {"simulated": None, "closed_form": None, "reason": f"{reason}, see the mission", "textbook": textbook_of}
    estimate = simulated(question, array, chain, closed)
    years = None if estimate.hours is None else estimate.hours.scaled(1.0 / HOURS_PER_YEAR)
    return {
        "simulated": None if years is None else {**estimated(years), "causes": causes_of(array, estimate.shares)},
        "method": estimate.method,
        "count": estimate.count,
        "array_years": estimate.hours_simulated / HOURS_PER_YEAR,
        "closed_form": {"value": closed / HOURS_PER_YEAR, "causes": causes_of(array, shares)},
        **against(years, closed / HOURS_PER_YEAR),
        "reason": None if years is not None else "no cycle ended in loss: more arrays are needed",
        "textbook": in_years,
    }


def simulated(question: ReliabilityQuestion, array: Array, chain: Chain, closed: float) -> cycles.LossTime:
    """Return the mean time to loss by the requested method; arrays without redundancy need no bias."""
    rng = generator(question.seed, 0)
    if question.method == "direct" or (question.method == "auto" and array.tolerated == 0):
        return cycles.direct(chain, rng, question.arrays, closed)
    return cycles.by_cycles(chain, rng, question.arrays)


def mission(question: ReliabilityQuestion, subject: Subject, chain: Chain) -> MissionDoc:
    """Return the chance of loss within the mission, and the bytes lost per usable terabyte."""
    array, conditions = subject.array, subject.conditions
    hours = question.years * HOURS_PER_YEAR
    count = max(LEAST_ARRAYS, min(question.arrays // MISSION_SHARE, MISSION_DRIVES // array.drives))
    estimate = simulate(array, conditions, hours, generator(question.seed, 1), count)
    per_tb = estimate.bytes_lost.scaled(1e12 / array.usable_bytes)
    total = estimate.loss.value
    shares = (estimate.failure.value / total, estimate.sector.value / total) if total > 0 else (0.0, 0.0)
    closed = loss_within(chain, hours) if conditions.is_markov else None
    loss = None if closed is None else float(closed.sum())
    return {
        "years": question.years,
        "loss": {**estimated(estimate.loss), "causes": causes_of(array, shares)},
        "count": count,
        "closed_form": loss,
        "closed_form_bytes_lost_per_tb": None if closed is None else bytes_lost(array, conditions, closed),
        **against(estimate.loss, loss),
        "bytes_lost_per_tb": estimated(per_tb),
    }


def bytes_lost(array: Array, conditions: Conditions, chances: Any) -> float:
    """Return the bytes lost per usable terabyte, from the chance of each cause."""
    lost = chances[0] * array.group_bytes + chances[1] * conditions.sector_loss_bytes(array)
    return float(lost) * 1e12 / array.usable_bytes
