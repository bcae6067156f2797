"""Do a drive's own figures move its values from what the other families teach towards what was measured?"""

from __future__ import annotations

import math

import pytest

from hotband.questions.datasheet.assumed import with_class
from hotband.questions.datasheet.learned import (
    OWN_FIGURES,
    SSD_RULES,
    Evidence,
    Learned,
    shipped_evidence,
    shipped_rules,
)
from hotband.questions.datasheet.lines import Answers

MEASURED = [(each.family, each) for each in shipped_evidence() if each.kind != "hdd" and each.observed]


def sheet_of(evidence: Evidence) -> Answers:
    return with_class(evidence.kind, evidence.stated)[0]


@pytest.mark.parametrize(("family", "evidence"), MEASURED[::4])
def test_a_fitted_value_lies_between_the_other_families_and_the_figures(family: str, evidence: Evidence) -> None:
    fitted, others = shipped_rules().fitted_to(family), shipped_rules().without(family)
    alone = Learned(others.families, (evidence,))
    sheet = sheet_of(evidence)
    before, after = others.expected(evidence.kind, sheet), alone.expected(evidence.kind, sheet)
    assert fitted.families == others.families
    assert evidence in fitted.measured
    for rule in SSD_RULES:
        name = rule.quantity
        prior, value = before[name], after[name]
        if name not in alone.fitted() or others.value(rule, evidence.kind, sheet) is None:
            continue
        if name == "write_stream_after_cache" and before["slc_cache"].value == 0:
            continue
        ends = sorted((prior.value, evidence.observed[name]))
        assert ends[0] * 0.999 <= value.value <= ends[1] * 1.001, name
        assert value.high / value.low < prior.high / prior.low, name
        assert value.why.startswith(OWN_FIGURES)


def test_a_family_without_figures_is_expected_as_by_the_others() -> None:
    rules = shipped_rules()
    assert rules.fitted_to("no such family") == Learned(rules.families)
    assert rules.fitted_to("no such family").fitted() == frozenset()


def test_sizes_of_a_family_count_once() -> None:
    family = next(name for name, each in MEASURED if "read_time" in each.observed)
    own = [each for name, each in MEASURED if name == family and "read_time" in each.observed][:1]
    others = shipped_rules().without(family).families
    once, twice = Learned(others, tuple(own)), Learned(others, tuple(own * 2))
    rule = next(rule for rule in SSD_RULES if rule.quantity == "read_time")
    values = [each.value(rule, own[0].kind, sheet_of(own[0])) for each in (once, twice)]
    assert values[0]
    assert values[1]
    assert math.isclose(values[0].high, values[1].high)
