"""Is every planted fault found, by its rule, with its numbers, and by no other?"""

from __future__ import annotations

from collections import Counter

import pytest
from faulty import Fault
from planted import FAULTS

from hotband.inference.audit import findings
from hotband.inference.audit.finding import GROUPS

# Shapes are sampled at 2,000 points, and series have noise of 1 %.
TOLERANCE = 0.03


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.rule}: {fault.name}")
def test_a_planted_fault_is_found(fault: Fault) -> None:
    found = findings(fault.make(), fault.machine)
    # Most faults are planted by changing one figure of a result, which then contradicts others (test_contradictions).
    also = fault.also | ({"contradiction"} if fault.rule != "contradiction" else set())
    assert {one.rule for one in found} - also == {fault.rule}, [(one.rule, one.title) for one in found]
    own = next(one for one in found if one.rule == fault.rule)
    if fault.severity:
        assert own.severity == fault.severity
    for key, value in fault.numbers.items():
        expected = value if isinstance(value, str) else pytest.approx(value, rel=TOLERANCE)
        assert own.numbers[key] == expected, key
    assert own.title
    assert own.advice


def test_every_rule_has_three_planted_faults() -> None:
    counts = Counter(fault.rule for fault in FAULTS)
    assert {rule: counts[rule] for rule in GROUPS if counts[rule] < 3} == {}
