"""`hotband measure calibrate` on the terminal: the plan before the measurements, then the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, percent, share, span
from hotband.base.text.table import CHANGE, IOPS, MS, OF_ROW, SHARE, Table, View, column, numeric
from hotband.questions.calibrate.calibrated import Calibrated, Check, Value, worst
from hotband.questions.calibrate.fit import TOLD
from hotband.questions.calibrate.loads import USES, Measurement
from hotband.views.text.bars import bar, bar_column
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden

if TYPE_CHECKING:
    from hotband.questions.calibrate.asked import CalibrateQuestion
    from hotband.questions.calibrate.calibrate import Planned
    from hotband.questions.calibrate.run import CalibrationPlan

BAR = 8
MOST_NAMED = 6
MOST_ROWS = 14
MOST_REMARKS = 3


def loads_table(loads: Sequence[Measurement], counts: Sequence[int]) -> Table:
    """Return the planned measurements."""
    table = Table("What is measured", [column("load"), numeric("times"), numeric("seconds"), column("for")])
    for load, count in zip(loads, counts, strict=True):
        if count:
            table.add(load.name, count, count * load.time, USES[load.held_out])
    return table


def plan_views(planned: Planned) -> list[View]:
    """Return the planned measurements, their time, and the values they are expected to narrow."""
    return [
        loads_table(planned.loads, planned.counts),
        f"{span(1e9 * planned.plan.seconds)} in all. {_expected(planned)}",
    ]


def _expected(planned: Planned) -> str:
    numbers = zip(planned.unknowns.numbers, planned.plan.expected, strict=True)
    names = [number.name for number, share in numbers if share <= TOLD]
    return f"Expected to be narrowed: {', '.join(names) or 'nothing'}"


def terminal(result: Calibrated, question: CalibrateQuestion) -> Screen:
    """Return what the terminal shows of a calibration."""
    fitted = [value for value in result.values if value.state == "told"]
    narrowed = [value for value in result.told if value.state != "told"]
    parts = [f"{len(narrowed)} narrowed"] if narrowed else []
    parts += [f"{len(result.unknown)} {'is' if len(result.unknown) == 1 else 'are'} unknown"] if result.unknown else []
    be = "is" if len(fitted) == 1 else "are"
    return Screen(
        answer=f"{counted(len(fitted), 'value')} of {result.like} {be} found{''.join(f', {part}' for part in parts)}.",
        verdict="yes" if not result.unknown else "likely" if result.told else "no",
        body=[shortened(_found_table(result.told), MOST_ROWS, "more value")] if result.told else [],
        state=[*_unknown(result), *_farthest(result), *_next_measurement(result)],
        remarks=with_hidden(
            [
                *(
                    f"{value.key} is at the end of its range: check the range."
                    for value in result.told
                    if value.at_edge
                ),
                *result.notes,
            ],
            MOST_REMARKS,
        ),
        next=question,
        details=views(result),
    )


def _found_table(values: Sequence[Value]) -> Table:
    """Return a row per value: before, after with its interval, and the remaining share of its range as a bar."""
    columns = [column(""), column("before"), column("now"), column("90 % interval")]
    table = screen_table([*columns, numeric("range left", SHARE), bar_column(BAR)])
    for value in values:
        between = " or ".join(value.options) if value.options else f"{value.low} to {value.high}"
        left = None if value.options else value.left
        table.add(value.key, value.prior, value.value, between, left, bar(left, 1.0, BAR))
    return table


def _unknown(result: Calibrated) -> list[str]:
    """Return the values that the calibration left unchanged."""
    names = with_hidden([value.key for value in result.unknown], MOST_NAMED, "more value")
    return [f"Unknown, as the product has them: {', '.join(names)}"] if names else []


def _farthest(result: Calibrated) -> list[str]:
    """Return the validation rate or 99th percentile with the largest error."""
    far = worst([check for check in result.checks if check.figure in ("IOPS", "p99")])
    if far is None:
        return []
    return [f"Largest error of rates and 99th percentiles: {far.load}, {far.figure}: {percent(far.error_pct)}"]


def _next_measurement(result: Calibrated) -> list[str]:
    """Return the further measurement that would narrow the values most."""
    if result.best_next is not None:
        less = f"(variance of {result.best_next.value} {share(result.best_next.value_share)} less)"
        return [f"One more measurement that would help most: {result.best_next.load} {less}"]
    return [] if result.comparison is not None else ["No further measurement of these loads would narrow the values."]


def plan_terminal(plan: CalibrationPlan, question: CalibrateQuestion) -> Screen:
    """Return what the terminal shows of a plan."""
    loads = plan.rows
    seconds = sum(each for _, _, each, _ in loads)
    table = shortened(loads_table(plan.loads, plan.counts), MOST_ROWS, "more load")
    table.title, table.borderless = "", True
    return Screen(
        answer=f"{counted(len(loads), 'load')} would be measured in {span(1e9 * seconds)}.",
        body=[table],
        state=[] if plan.planned is None else [_expected(plan.planned)],
        next=question,
        details=[loads_table(plan.loads, plan.counts)] if plan.planned is None else plan_views(plan.planned),
    )


def views(result: Calibrated) -> list[View]:
    """Return the printed lines of a calibration."""
    narrowed, determined = result.told, [value for value in result.values if value.state == "told"]
    printed: list[View] = [
        marked(
            "[bold]{told} of {like} determined, {narrowed} narrowed, {unknown} unknown[/]",
            told=counted(len(determined), "value"),
            like=result.like,
            narrowed=len(narrowed) - len(determined),
            unknown=len(result.unknown),
        )
    ]
    if narrowed:
        printed.append(values_table(narrowed))
    if result.checks:
        printed.append(checks_table(result.checks))
    if result.unknown:
        printed.append(f"Unknown, unchanged: {', '.join(value.key for value in result.unknown)}")
    printed += [
        f"  {value.key} is at the edge of its range: is the range too narrow?" for value in result.told if value.at_edge
    ]
    printed += [*_next_measurement(result), *_farthest(result)]
    printed += [f"  {line}" for line in result.notes]
    return printed


def values_table(values: Sequence[Value]) -> Table:
    """Return the fitted values."""
    columns = [*map(column, ("value", "before", "found", "90 %")), numeric("deviation left", SHARE)]
    chances = any(value.options for value in values)
    table = Table("Values", [*columns, *([numeric("probability", SHARE)] if chances else [])])
    for entry in values:
        fitted = " or ".join(entry.options) if entry.options else f"{entry.low} to {entry.high}"
        left = None if entry.options else entry.left
        chance = [entry.probability if entry.options else None] if chances else []
        table.add(
            entry.key, f"{entry.prior} ({entry.prior_low} to {entry.prior_high})", entry.value, fitted, left, *chance
        )
    return table


def checks_table(checks: Sequence[Check]) -> Table:
    """Return the figures of the validation loads."""
    figures = [
        numeric("measured", OF_ROW),
        numeric("predicted", OF_ROW),
        numeric("error", CHANGE),
        numeric("before", CHANGE),
    ]
    table = Table("Loads that the fit did not use", [column("load"), column("figure"), *figures])
    for check in checks:
        values = (check.measured, check.predicted, check.error_pct, check.before_pct)
        table.add(check.load, check.figure, *values, unit=IOPS if check.figure == "IOPS" else MS)
    return table
