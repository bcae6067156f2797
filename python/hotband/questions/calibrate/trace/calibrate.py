"""`hotband measure calibrate TRACE --like DISK`: fit to the first half of the trace, validate on the second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hotband.base.text.numbers import percent
from hotband.questions.calibrate.calibrate import MOST_MISFIT
from hotband.questions.calibrate.calibrated import TOLD, Calibrated, Check, Line, Value
from hotband.questions.calibrate.fit import TOLD as KNOWN
from hotband.questions.calibrate.trace.fit import Fit, Fitted
from hotband.questions.calibrate.trace.replay import FIRST, SECOND, Replays
from hotband.questions.calibrate.trace.unknowns import NORMAL_90, Number, Switch, unknowns_of, values_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hotband.data.documents.record_traces import ComparisonDoc
    from hotband.execution.experiment import Tick
    from hotband.questions.calibrate.model import Product

CLEAR = 2.0
"""Additional cost of every other option from which a switch counts as determined (half of two further terms of chi
square)."""
CHECKED = (50.0, 99.0)
"""Percentiles reported for the second half."""


def of_trace(
    trace: Path, like: Product, watch: Callable[[str], AbstractContextManager[Tick | None]], jobs: int | None
) -> tuple[Calibrated, int]:
    """Calibrate a disk from a trace; return also the number of fitted I/Os. Raises UserError, RunsInterrupted,
    OSError."""
    numbers, switches = unknowns_of(like)
    with Replays(trace, like, jobs) as replays:
        fit = Fit(replays, numbers, switches, None)
        fitted = fit.run(watch)
        values = [*_numbers(fitted, like), *_switches(fitted)]
        # Unknown values stay as in the product, so that the checks apply to the written file.
        point = {value.key: value.value for value in values if value.state != "unknown"}
        with watch("checking") as tick:
            [latency] = replays.latencies([point], fit.ios, tick)
            first, second = (replays.comparison(point, half) for half in (FIRST, SECOND))
            before = replays.comparison({}, SECOND)
        lines = [Line(FIRST, 1, 1e9 / first["mean_measured_ns"], fit.rest(latency))]
        notes = _notes(first, second, before, fitted.misfit)
        names, checks = (like.name, str(trace)), _checks(second, before)
        made = Calibrated(*names, values, checks, lines, fitted.misfit, None, notes=notes, comparison=second)
        made.runs = replays.runs
        return made, fit.ios


def _notes(first: ComparisonDoc, second: ComparisonDoc, before: ComparisonDoc, misfit: float) -> list[str]:
    now, was, fitted = (
        percent(comparison["demerit_pct"] or 0.0, signed=False) for comparison in (second, before, first)
    )
    notes = [
        f"demerit on the second half: {now} of the mean (with the product's own values: {was}; "
        f"on the first half, which was fitted: {fitted})",
        "a trace shows neither the phase of the spindle nor power",
    ]
    if misfit > MOST_MISFIT:
        notes.append("latencies are far from the fit: this may be another disk, or it shared its bus")
    return notes


def _checks(ours: ComparisonDoc, before: ComparisonDoc) -> list[Check]:
    """Return mean and percentiles of the second half: measured, replayed, and replayed with the original product."""
    mean = Check(SECOND, "mean", ours["mean_measured_ns"], ours["mean_replayed_ns"], before["mean_replayed_ns"])
    checks = [mean]
    for now, was in zip(ours["percentiles"], before["percentiles"], strict=True):
        if now["percentile"] in CHECKED:
            name = f"p{now['percentile']:g}"
            checks.append(Check(SECOND, name, now["measured_ns"], now["replayed_ns"], was["replayed_ns"]))
    return checks


def _numbers(fitted: Fitted, like: Product) -> list[Value]:
    values, ranges = values_of(like)
    made = []
    for number, coordinate, deviation in zip(fitted.numbers, fitted.places, fitted.deviations, strict=True):
        made.append(_value(number, float(coordinate), float(deviation), values, ranges))
    return made


def _value(
    number: Number, coordinate: float, deviation: float, values: dict[str, str], ranges: dict[str, tuple[str, str]]
) -> Value:
    stated = values.get(number.key, number.text(0.0))
    low, high = ranges.get(number.key, (number.text(-NORMAL_90), number.text(NORMAL_90)))
    is_known = deviation <= KNOWN
    ends = (coordinate - NORMAL_90 * deviation, coordinate + NORMAL_90 * deviation)
    return Value(
        number.key,
        "",
        stated,
        low,
        high,
        number.text(coordinate) if is_known else stated,
        number.text(ends[0]) if is_known else low,
        number.text(ends[1]) if is_known else high,
        "unknown" if not is_known else "told" if deviation <= TOLD else "narrowed",
        deviation if is_known else 1.0,
        at_edge=is_known and abs(coordinate) > 2.0,
    )


def _switches(fitted: Fitted) -> list[Value]:
    return [
        _switch(switch, option, fitted.tried[switch.key])
        for switch, option in zip(fitted.switches, fitted.options, strict=True)
    ]


def _switch(switch: Switch, option: int, costs: list[float]) -> Value:
    """Return the value of a switch; it is determined if every other option costs clearly more."""
    least = min(costs)
    shares = np.exp(-(np.array(costs) - least))
    shares /= shares.sum()
    left = tuple(choice for choice, cost in zip(switch.options, costs, strict=True) if cost < least + CLEAR)
    is_told = len(left) == 1
    return Value(
        switch.key,
        "",
        switch.options[0],
        switch.options[0],
        switch.options[-1],
        switch.options[option],
        switch.options[option],
        switch.options[option],
        "told" if is_told else "unknown",
        float(1 - shares.max()),
        float(shares[option]),
        left,
    )
