"""Findings of the audit, their severity, and their JSON (schema `hotband-audit`, version 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hotband.base.text.order import natural
from hotband.base.text.schema import to_object
from hotband.base.text.values import Json

SCHEMA, SCHEMA_VERSION = "hotband-audit", 1
Severity = Literal["severe", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("severe", "warning", "note")
"""severe: the figure is misleading; warning: it may be; note: state it where the figure is quoted."""
Number = float | str
# Digits of a finding's numbers: more than any source prints, fewer than floating point noise.
DIGITS = 15
LONG = 60
"""Characters from which only one name (a cell of a table, mostly) fits into a line."""


@dataclass(frozen=True)
class Rows:
    """A small table with the numbers of every run of a finding."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Number]]


@dataclass(frozen=True)
class Finding:
    """A finding of one rule: its runs, the numbers it rests on, and advice.

    The names of `numbers` end in their unit. `table` has the numbers of every run if there are several.
    """

    rule: str
    severity: Severity
    subject: tuple[str, ...]
    title: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    advice: str = ""
    table: Rows | None = None

    def data(self) -> dict[str, Json]:
        """Return the finding as JSON."""
        values = {"group": GROUPS[self.rule], **{key: value for key, value in vars(self).items() if key != "table"}}
        values["numbers"] = {key: kept(value) for key, value in self.numbers.items()}
        if self.table is not None:
            values["table"] = Rows(self.table.columns, [[kept(value) for value in row] for row in self.table.rows])
        return to_object({"rule": self.rule, **values})


RULES = (
    (
        "contradiction",
        "failed-ios",
        "no-storage",
        "percentile-cut",
        "guessed-reading",
        "overload",
        "tool-warning",
        "invalid-emulation",
    ),
    ("littles-law", "latency-unit", "idle-concurrency"),
    ("bandwidth", "bandwidth-unit"),
    ("cache-served", "below-half-revolution", "faster-than-link"),
    ("replayed-offsets",),
    ("short-run", "shorter-than-others", "percentile-support", "out-of-sequence"),
    ("no-steady-state", "warm-up-measured", "drift", "not-preconditioned", "stall", "jobs-ended-apart"),
    ("working-set-in-cache",),
    ("unequal-concurrency", "unequal-data", "one-repeat", "within-interval", "copied-result"),
    ("averaged-percentiles", "mixed-jobs", "tool-version"),
    ("cache-exhausted", "thermal-throttling", "interference", "processor-bound"),
)
GROUPS = {rule: group for group, rules in enumerate(RULES) for rule in rules}
"""Group of each rule (docs/guides/audit.md); those of group 0 need nothing but the result itself."""


def kept(value: Number) -> Number:
    """Return a number without floating point noise; whole numbers as integers."""
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 10**15:
        return int(value)
    return float(f"{value:.{DIGITS}g}")


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Sort findings by severity, the severest first, then by rule."""
    places = {rule: index for index, rule in enumerate(GROUPS)}
    return sorted(
        findings,
        key=lambda finding: (
            SEVERITIES.index(finding.severity),
            places[finding.rule],
            [natural(x) for x in finding.subject],
        ),
    )


def audit_data(names: Sequence[str], findings: Sequence[Finding]) -> dict[str, Json]:
    """Return the whole result as `hotband audit --json` prints it."""
    counts = {severity: sum(finding.severity == severity for finding in findings) for severity in SEVERITIES}
    return to_object(
        {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "subjects": list(names),
            "counts": counts,
            "findings": [finding.data() for finding in findings],
        }
    )


def listed(names: Sequence[str], most: int = 4) -> str:
    """Join names in a line: at most `most` of them, one if they are long, then `and 3 more`."""
    most = 1 if max(map(len, names), default=0) > LONG else most
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
