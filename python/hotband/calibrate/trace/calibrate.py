"""`hotband calibrate TRACE --like DISK`: fitted to the first half of the trace, checked on the second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hotband.calibrate.calibrate import MOST_MISFIT
from hotband.calibrate.calibrated import TOLD, Calibrated, Check, Line, Value
from hotband.calibrate.fit import TOLD as KNOWN
from hotband.calibrate.trace.fit import Fit, Fitted
from hotband.calibrate.trace.replay import Replays
from hotband.calibrate.trace.unknowns import NORMAL_90, Number, Switch, unknowns_of, values_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from hotband.calibrate.model import Product
    from hotband.experiment import Tick

    Numbers = NDArray[np.float64]

CLEAR = 2.0
"""An option is told where every other costs so much more (half of what two more terms of chi square would)."""
SECOND = "second half"


def of_trace(
    trace: Path, like: Product, watch: Callable[[str], AbstractContextManager[Tick | None]], jobs: int | None
) -> tuple[Calibrated, int]:
    """What the trace tells of the disk, and of how many I/Os. Raises UserError, RunsInterrupted, OSError."""
    numbers, switches = unknowns_of(like)
    with Replays(trace, like, jobs) as replays:
        fit = Fit(replays, numbers, switches, None)
        found = fit.run(watch)
        values = [*_numbers(found, like), *_switches(found)]
        # What nothing tells stays as the product has it: what is checked is what is written.
        point = {one.key: one.value for one in values if one.state != "unknown"}
        with watch("checking") as tick:
            ours, before = replays.latencies([point, {}], len(replays.measured.latency_ms), tick)
            comparison = replays.comparison(point)
        measured, half = replays.measured.latency_ms, replays.measured.half
        checks = _checks(measured[half:], ours[half:], before[half:])
        lines = [Line("first half", 1, 1e3 / float(measured[:half].mean()), fit.rest(ours[:half]))]
        notes = _notes(measured, ours, before, half, found.misfit)
        names = (like.name, str(trace))
        made = Calibrated(*names, values, checks, lines, found.misfit, None, notes=notes, comparison=comparison)
        made.runs = replays.runs
        return made, half


def _notes(measured: Numbers, ours: Numbers, before: Numbers, half: int, misfit: float) -> list[str]:
    second, was, first = (
        demerit(measured[part], of[part])
        for part, of in ((slice(half, None), ours), (slice(half, None), before), (slice(half), ours))
    )
    notes = [
        f"demerit on the second half: {second:.1f} % of the mean (of the product as it was: {was:.1f} %; "
        f"on the first half, which was fitted: {first:.1f} %)",
        "a trace does not tell where the spindle stood, nor power",
    ]
    if misfit > MOST_MISFIT:
        notes.append("latencies lie far off the fit: this may be no such disk, or it was not alone on its bus")
    return notes


def demerit(measured: Numbers, found: Numbers) -> float:
    """RMS horizontal distance of two distributions, in percent of the measured mean."""
    distance = np.sort(found) - np.sort(measured)
    return float(100.0 * np.sqrt(np.mean(distance**2)) / measured.mean())


def _checks(measured: Numbers, ours: Numbers, before: Numbers) -> list[Check]:
    found = []
    for name, of in (("mean", np.mean), ("p50", np.median), ("p99", lambda values: np.quantile(values, 0.99))):
        figures = [float(of(values)) * 1e6 for values in (measured, ours, before)]
        found.append(Check(SECOND, name, *figures))
    return found


def _numbers(found: Fitted, like: Product) -> list[Value]:
    values, ranges = values_of(like)
    made = []
    for number, place, deviation in zip(found.numbers, found.places, found.deviations, strict=True):
        made.append(_value(number, float(place), float(deviation), values, ranges))
    return made


def _value(
    number: Number, place: float, deviation: float, values: dict[str, str], ranges: dict[str, tuple[str, str]]
) -> Value:
    own = values.get(number.key, number.text(0.0))
    low, high = ranges.get(number.key, (number.text(-NORMAL_90), number.text(NORMAL_90)))
    is_known = deviation <= KNOWN
    ends = (place - NORMAL_90 * deviation, place + NORMAL_90 * deviation)
    return Value(
        number.key,
        "",
        own,
        low,
        high,
        number.text(place) if is_known else own,
        number.text(ends[0]) if is_known else low,
        number.text(ends[1]) if is_known else high,
        "unknown" if not is_known else "told" if deviation <= TOLD else "narrowed",
        deviation if is_known else 1.0,
        at_edge=is_known and abs(place) > 2.0,
    )


def _switches(found: Fitted) -> list[Value]:
    return [
        _switch(switch, option, found.tried[switch.key])
        for switch, option in zip(found.switches, found.options, strict=True)
    ]


def _switch(switch: Switch, option: int, costs: list[float]) -> Value:
    """A way of working: told where every other option costs clearly more."""
    least = min(costs)
    shares = np.exp(-(np.array(costs) - least))
    shares /= shares.sum()
    left = tuple(one for one, cost in zip(switch.options, costs, strict=True) if cost < least + CLEAR)
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
