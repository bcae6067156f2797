"""`hotband calibrate` on the terminal: the plan before it is measured, then what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.cells import counted, four_digits, time_shown
from hotband.questions.calibrate.calibrated import worst
from hotband.questions.calibrate.fit import TOLD

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.questions.calibrate.calibrate import Planned
    from hotband.questions.calibrate.calibrated import Calibrated, Check, Value
    from hotband.questions.calibrate.loads import Measurement

MOST_NAMED = 12
USES = {True: "the check", False: "the fit"}
"""What a load is for, by whether it is held out."""


def loads_table(loads: Sequence[Measurement], counts: Sequence[int]) -> Table:
    """What will be measured."""
    from rich.table import Table

    table = Table(title="What is measured", title_justify="left")
    for name in ("load", "times", "seconds", "for"):
        table.add_column(name, justify="right" if name in ("times", "seconds") else "left")
    for load, count in zip(loads, counts, strict=True):
        if count:
            table.add_row(load.name, str(count), f"{count * load.time:.0f}", USES[load.held_out])
    return table


def plan_views(planned: Planned) -> list[Table | Text | str]:
    """What will be measured, how long it takes, and what it is expected to tell."""
    numbers = zip(planned.unknowns.numbers, planned.plan.expected, strict=True)
    told = [number.name for number, share in numbers if share <= TOLD]
    expected = f"{_time(planned.plan.seconds)} in all. Expected to be narrowed: {', '.join(told) or 'nothing'}"
    return [loads_table(planned.loads, planned.counts), expected]


def views(of: Calibrated) -> list[Table | Text | str]:
    """What is printed of a calibration."""
    narrowed, told = of.told, [one for one in of.values if one.state == "told"]
    found: list[Table | Text | str] = [
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
        found.append(f"Unknown, as the product has them: {', '.join(one.key for one in of.unknown)}")
    found += [f"  {one.key} is at the edge of its range: is it a wider one?" for one in of.told if one.at_edge]
    if of.best_next is not None:
        help_ = of.best_next
        found.append(
            f"One more measurement that would help most: {help_.load} "
            f"(variance of {help_.value} {100 * help_.value_share:.0f} % less)"
        )
    elif of.comparison is None:
        found.append("No further measurement of these loads would tell more")
    far = worst([one for one in of.checks if one.figure in ("IOPS", "p99")])
    if far is not None:
        found.append(f"Farthest off of rates and 99th percentiles: {far.load}, {far.figure}: {far.error_pct:+.1f} %")
    found += [f"  {line}" for line in of.notes]
    return found


def values_table(values: Sequence[Value]) -> Table:
    """The values that were found."""
    from rich.table import Table

    table = Table(title="Values", title_justify="left")
    for name in ("value", "before", "found", "90 %", "deviation left"):
        table.add_column(name, justify="left" if name == "value" else "right")
    for one in values:
        if one.options:
            interval, left = " or ".join(one.options), f"probability {one.probability or 0.0:.2f}"
        else:
            interval, left = f"{one.low} to {one.high}", f"{100 * one.left:.0f} %"
        table.add_row(one.key, f"{one.prior} ({one.prior_low} to {one.prior_high})", one.value, interval, left)
    return table


def checks_table(checks: Sequence[Check]) -> Table:
    """Loads that the fit did not use."""
    from rich.table import Table

    table = Table(title="Loads that the fit did not use", title_justify="left")
    for name in ("load", "figure", "measured", "predicted", "error", "before"):
        table.add_column(name, justify="left" if name in ("load", "figure") else "right")
    for one in checks:
        if one.figure == "IOPS":
            values = [four_digits(one.measured), four_digits(one.predicted)]
        else:
            values = [time_shown(value / 1e9) for value in (one.measured, one.predicted)]
        table.add_row(one.load, one.figure, *values, f"{one.error_pct:+.1f} %", f"{one.before_pct:+.1f} %")
    return table


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
