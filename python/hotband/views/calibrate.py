"""`hotband measure calibrate` on the terminal: the plan before it is measured, then what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, percent, share, span
from hotband.base.text.table import CHANGE, IOPS, MS, OF_ROW, SHARE, Table, View, column, numeric
from hotband.questions.calibrate.calibrated import Calibrated, Check, Value, worst
from hotband.questions.calibrate.fit import TOLD
from hotband.questions.calibrate.loads import USES, Measurement

if TYPE_CHECKING:
    from hotband.questions.calibrate.asked import CalibrateQuestion
    from hotband.questions.calibrate.calibrate import Planned
    from hotband.questions.calibrate.run import CalibrationPlan

MOST_NAMED = 12


def loads_table(loads: Sequence[Measurement], counts: Sequence[int]) -> Table:
    """What will be measured."""
    table = Table("What is measured", [column("load"), numeric("times"), numeric("seconds"), column("for")])
    for load, count in zip(loads, counts, strict=True):
        if count:
            table.add(load.name, count, count * load.time, USES[load.held_out])
    return table


def plan_views(planned: Planned) -> list[View]:
    """What will be measured, how long it takes, and what it is expected to tell."""
    numbers = zip(planned.unknowns.numbers, planned.plan.expected, strict=True)
    told = [number.name for number, share in numbers if share <= TOLD]
    expected = f"{span(1e9 * planned.plan.seconds)} in all. Expected to be narrowed: {', '.join(told) or 'nothing'}"
    return [loads_table(planned.loads, planned.counts), expected]


def terminal(of: Calibrated, _: CalibrateQuestion) -> list[View]:
    """What the command prints."""
    return views(of)


def plan_terminal(of: CalibrationPlan, _: CalibrateQuestion) -> list[View]:
    """What it prints before it measures."""
    return [loads_table(of.loads, of.counts)] if of.planned is None else plan_views(of.planned)


def views(of: Calibrated) -> list[View]:
    """What is printed of a calibration."""
    narrowed, told = of.told, [value for value in of.values if value.state == "told"]
    found: list[View] = [
        marked(
            "[bold]{told} of {like} told, {narrowed} narrowed, {unknown} unknown[/]",
            told=counted(len(told), "value"),
            like=of.like,
            narrowed=len(narrowed) - len(told),
            unknown=len(of.unknown),
        )
    ]
    if narrowed:
        found.append(values_table(narrowed))
    if of.checks:
        found.append(checks_table(of.checks))
    if of.unknown:
        found.append(f"Unknown, unchanged: {', '.join(one.key for one in of.unknown)}")
    found += [f"  {one.key} is at the edge of its range: is it a wider one?" for one in of.told if one.at_edge]
    if of.best_next is not None:
        help_ = of.best_next
        found.append(
            f"One more measurement that would help most: {help_.load} "
            f"(variance of {help_.value} {share(help_.value_share)} less)"
        )
    elif of.comparison is None:
        found.append("No further measurement of these loads would tell more")
    far = worst([check for check in of.checks if check.figure in ("IOPS", "p99")])
    if far is not None:
        found.append(f"Farthest off of rates and 99th percentiles: {far.load}, {far.figure}: {percent(far.error_pct)}")
    found += [f"  {line}" for line in of.notes]
    return found


def values_table(values: Sequence[Value]) -> Table:
    """The values that were found."""
    columns = [*map(column, ("value", "before", "found", "90 %")), numeric("deviation left", SHARE)]
    chances = any(value.options for value in values)
    table = Table("Values", [*columns, *([numeric("probability", SHARE)] if chances else [])])
    for one in values:
        found = " or ".join(one.options) if one.options else f"{one.low} to {one.high}"
        left = None if one.options else one.left
        chance = [one.probability if one.options else None] if chances else []
        table.add(one.key, f"{one.prior} ({one.prior_low} to {one.prior_high})", one.value, found, left, *chance)
    return table


def checks_table(checks: Sequence[Check]) -> Table:
    """Loads that the fit did not use."""
    figures = [
        numeric("measured", OF_ROW),
        numeric("predicted", OF_ROW),
        numeric("error", CHANGE),
        numeric("before", CHANGE),
    ]
    table = Table("Loads that the fit did not use", [column("load"), column("figure"), *figures])
    for one in checks:
        values = (one.measured, one.predicted, one.error_pct, one.before_pct)
        table.add(one.load, one.figure, *values, unit=IOPS if one.figure == "IOPS" else MS)
    return table
