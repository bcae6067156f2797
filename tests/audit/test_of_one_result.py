"""Does the screen of an audit count other results, and only those?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hotband.inference.audit.finding import Finding
from hotband.views.audit import _lines_of
from hotband.views.text.screen import text_of


def line(subjects: Sequence[tuple[str, ...]], several: bool) -> str:
    group = [Finding("cache-served", "severe", subject, f"finding {n}") for n, subject in enumerate(subjects)]
    return text_of(_lines_of(group, several)[0])


@pytest.mark.parametrize(
    ("subjects", "several", "ending"),
    [
        ([("a",)], False, "finding 0"),
        ([("a",), ("a",)], False, "finding 0 (and 1 more)"),
        ([("a",), ("a",), ("b",)], True, "a: finding 0; also in 1 other result"),
        ([("a",), ("b",), ("b",), ("c",)], True, "a: finding 0; also in 2 other results"),
        ([("a", "b"), ("b",)], True, "finding 0 (and 1 more)"),
    ],
)
def test_findings_of_one_rule_count_other_results_once(
    subjects: list[tuple[str, ...]], several: bool, ending: str
) -> None:
    assert line(subjects, several) == f"SEVERE   {ending}"
