"""The axis of a question on one machine, and the run of each value."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.base.text.numbers import number
from hotband.base.text.table import BYTES, IOPS, LATENCY, MBS, PLAIN, TPS, Unit
from hotband.data import catalog
from hotband.data.documents.run import RunSpec
from hotband.data.jobs.form import bytes_text
from hotband.execution.experiment.ranges import machine_text, workload_text
from hotband.execution.runs.drives import MOST_DRIVES, Family
from hotband.questions.find.axis import Axis
from hotband.questions.find.question import DEPTH, DRIVES, RATE

MOST_DEPTH = 256
"""Default limit of outstanding I/Os: testers draw curves up to it (docs/guides/review.md)."""
REACH = 16.0
"""A key without a range goes from a sixteenth of its current value to sixteen times as much."""
MOST_STEPS = 1_000_000
"""Steps into which the range of a number with a unit is divided."""
BLOCK = 512
"""Step between sizes in bytes; from 4 KiB on, the step is 4 KiB."""
KINDS = {"a size": "size", "a time": "time", "a rate": "rate", "a speed": "speed", "a power": "power"}
"""How descriptions of a key's accepted values begin, and the quantity of each."""
DEFAULTS = {"bs": (4096.0, float(1 << 20)), "qd": (1.0, 256.0), "depth": (1.0, 256.0), "threads": (1.0, 256.0)}
"""Ranges of well-known keys."""


@dataclass(frozen=True)
class Varied:
    """An axis, and the run of a value on it."""

    axis: Axis
    run: Callable[[RunSpec, float], RunSpec]


def drives(family: Family, bounds: tuple[str, str] | None, within: float) -> Varied:
    """Vary the number of drives of a machine."""
    low, high = (family.first, MOST_DRIVES) if bounds is None else (_whole(bound, bounds) for bound in bounds)
    first = family.first + max(0, -(-(low - family.first) // family.step)) * family.step
    if first > high or high < family.first:
        some = f"{family.first}, {family.first + family.step} ..."
        accepted = f"expected LOW..HIGH with a number of drives that {family.text} takes: {some}"
        raise UserError("question.range", "", f"{low}..{high}", accepted)
    last = first + (high - first) // family.step * family.step
    axis = Axis("drives", first, last, family.step, _whole_text, within, exact=True)

    def run(spec: RunSpec, value: float) -> RunSpec:
        return replace(spec, machine=family.machine(round(value)))

    return Varied(axis, run)


def key(name: str, spec: RunSpec, bounds: tuple[str, str] | None, within: float) -> Varied:
    """Vary a key of `set` whose value is a number. Raises UserError for any other key."""
    keys = {entry["key"]: entry for entry in _keys(spec)}
    if name not in keys:
        near = hint(name, list(keys))
        accepted = f"{near}expected drives or a key that takes numbers, such as {', '.join(list(keys)[:8])}"
        raise UserError("question.question", "", name, f"{accepted}; hotband keys lists all")
    if any(setting == name for setting, _ in spec.set):
        raise UserError("question.settings", name, dict(spec.set)[name], "is what the question varies: leave it out")
    axis = _axis(name, keys[name]["value"], keys[name]["accepted"], bounds, within)

    def run(run_spec: RunSpec, value: float) -> RunSpec:
        return replace(run_spec, set=(*run_spec.set, (name, exactly(axis, value))))

    return Varied(axis, run)


def exactly(axis: Axis, value: float) -> str:
    """Format a value as `set` accepts it."""
    return axis.text(value).replace(",", "")


def _keys(spec: RunSpec) -> list[_core.SetKey]:
    with mistakes_of(spec.machine):
        return _core.set_keys(
            catalog.CATALOG_DIR,
            spec.workload,
            spec.machine,
            workload_text=workload_text(spec),
            machine_text=machine_text(spec),
            set=list(spec.set),
        )


def _axis(name: str, today: str | None, accepted: str, bounds: tuple[str, str] | None, within: float) -> Axis:
    """Return the axis of a key, by the values that it accepts."""
    counted = re.match(r"a whole number from (\d+) to (\d+)", accepted)
    if counted:
        least, most = float(counted[1]), float(counted[2])
        low, high = _range(name, today, (least, most), bounds, _number)
        return Axis(name, low, high, 1.0, _whole_text, within, exact=True)
    if accepted.startswith("a percentage"):
        low, high = _range(name, "", (0.0, 100.0), bounds, _percent)
        return Axis(name, low, high, 1.0, _whole_text, within, exact=True)
    kind = next((kind for begin, kind in KINDS.items() if accepted.startswith(begin)), None)
    if accepted.startswith("a share"):
        return _shares(name, accepted, bounds, within)
    if kind is None:
        raise UserError("question.question", "", name, f"takes {accepted}; a question varies numbers")
    low, high = _range(name, today, (0.0, float("inf")), bounds, lambda text: _core.quantity(kind, text))
    if kind == "size":
        step = 4096.0 if low >= 4096 and low % 4096 == 0 else float(BLOCK)
        low = max(step, low // step * step)
        return Axis(name, low, high, step, _size, within)
    step = high / MOST_STEPS
    return Axis(name, low, high, step, TEXTS[kind], within)


def _shares(name: str, accepted: str, bounds: tuple[str, str] | None, within: float) -> Axis:
    """Return the axis of a share of the target, or of a size if the bounds are sizes."""
    if not accepted.startswith("a share such as"):
        raise UserError("question.question", "", name, f"takes {accepted}; a question varies numbers")
    if bounds is not None and not all(bound.strip().endswith("%") for bound in bounds):
        low, high = _range(name, None, (0.0, float("inf")), bounds, lambda text: _core.quantity("size", text))
        return Axis(name, low, high, float(1 << 20), _size, within)
    low, high = _range(name, "100", (1.0, 100.0), bounds, _percent)
    return Axis(name, low, high, 1.0, _share, within, exact=True)


def _range(
    name: str,
    today: str | None,
    least_most: tuple[float, float],
    bounds: tuple[str, str] | None,
    read: Callable[[str], float],
) -> tuple[float, float]:
    """Return the range: the one given, that of a well-known key, or one around the current value."""
    if bounds is not None:
        try:
            low, high = (read(bound.strip()) for bound in bounds)
        except ValueError as error:
            raise UserError(
                "question.range", "", "..".join(bounds), f"expected LOW..HIGH of {name}, each {error}"
            ) from None
        if not least_most[0] <= low < high <= least_most[1]:
            accepted = f"expected LOW..HIGH of {name}, the lower one first"
            accepted += f", from {least_most[0]:g} to {least_most[1]:g}" if least_most[1] < float("inf") else ""
            raise UserError("question.range", "", "..".join(bounds), accepted)
        return low, high
    if name in DEFAULTS:
        return DEFAULTS[name]
    if least_most[1] <= 100:
        return least_most
    try:
        value = read(today or "")
    except ValueError:
        value = 0.0
    if value <= 0:
        accepted = "has no current value to start from: expected question.range LOW..HIGH with the question"
        raise UserError("question.question", "", name, accepted)
    return max(least_most[0], value / REACH), min(least_most[1], value * REACH)


def _percent(text: str) -> float:
    return _number(text.strip().rstrip("%"))


def _number(text: str) -> float:
    """Read a number without a unit. Raises ValueError with the accepted form."""
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number without a unit") from None


def _whole(text: str, bounds: tuple[str, str]) -> int:
    if not re.fullmatch(r"\s*\d{1,5}\s*", text):
        raise UserError("question.range", "", "..".join(bounds), "expected LOW..HIGH, whole numbers of drives")
    return int(text)


def _time(value: float) -> str:
    """Format a time to the nanosecond."""
    return f"{round(value * 1e9)} ns" if value < 1e-3 else f"{value * 1e3:.6f} ms"


def _rate(value: float) -> str:
    return f"{value / 1e6:.6f} MB/s"


def unit_of(axis: Axis) -> Unit:
    """Return the unit of the varied value: I/Os or transactions per second, ms, MB/s, bytes, or that of a count."""
    written = axis.text(axis.low)
    if axis.name == RATE:
        return TPS if written.endswith(TPS.name) else IOPS
    kinds = {" ns": LATENCY, " ms": LATENCY, " MB/s": MBS, "B": BYTES}
    return next((unit for ending, unit in kinds.items() if written.endswith(ending)), PLAIN)


def value_text(axis: Axis, value: float) -> str:
    """Format a value for people."""
    unit = unit_of(axis)
    if axis.name == RATE:
        return number(value)
    return axis.text(value) if unit is PLAIN else unit.shown(value)


def value_shown(axis: Axis, value: float) -> str:
    """Format a value with its unit, or after the name of its axis."""
    text = value_text(axis, value)
    if axis.name == RATE:
        return f"{text} a second"
    if axis.name == DRIVES:
        return f"{text} drives"
    return f"queue depth {text}" if axis.name == DEPTH else f"{axis.name} {text}"


def _whole_text(value: float) -> str:
    return f"{value:.0f}"


def _share(value: float) -> str:
    return f"{value:.0f} %"


def _size(value: float) -> str:
    return bytes_text(round(value))


def _with_unit(unit: str, value: float) -> str:
    return f"{value:.6g} {unit}"


TEXTS: dict[str, Callable[[float], str]] = {
    "time": _time,
    "rate": _rate,
    "speed": partial(_with_unit, "rpm"),
    "power": partial(_with_unit, "W"),
}
"""Functions, which can be pickled, that format a value of a kind as `set` accepts it."""
