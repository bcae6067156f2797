"""Rates that a load requests: of open loops, bursts, arrivals, traces, pauses. They reveal little about the machine.

Under a load, a machine whose times are all twice as long reaches half the rate that the machine itself reaches under
the same load at double speed. Two runs therefore give the rates on a machine that is slower, and on one that is faster,
by the model error of rates. If the machine keeps up with the load, both are the requested rate; if it does not, the
ends are those of any other rate.

Left out: programs, scripts, events and power losses, whose times are not all the load's: their rates have the ends of
other rates. A trace replayed as fast as possible has no times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hotband.base.text.quantities import span_ns
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import OPEN, Load
from hotband.execution.experiment.ranges import renamed, workload_text
from hotband.execution.runs.run import refusal

RATES = ("iops", "bandwidth_bytes_per_s")
OTHERS = ("app", "scripts", "sequence", "events", "power_loss")
"""Parts of a workload that have times of their own."""
FAST = "as-fast-as-possible"
MOST = 1000.0
"""Times that a load is made faster or slower at most."""
NOTE = "the load sets its rate: the ends of IOPS and MB/s are the rates on a slower and on a faster machine"


def is_rate(figure: str) -> bool:
    """Return whether a figure of a run is one of these."""
    return figure.rpartition(".")[2] in RATES


def at_speed(spec: RunSpec, factor: float) -> RunSpec | None:
    """Return the run with all times of its load divided by a factor; None if the load has no times, or other loops as
    well (a closed loop without pauses issues as fast as I/Os complete)."""
    if not 1 / MOST <= factor <= MOST:
        return None
    load = Load(workload_text(spec), spec.workload)
    said = dict(spec.set)
    if any(key in load.table for key in OTHERS) or not _has_times(load, said):
        return None
    for place in _loops(load):
        _make_faster(place, factor)
    for trace in _timed(load, said):
        trace["speed"] = float(trace.get("speed", 1.0)) * factor
    for phase in _tables(load.table.get("phases")):
        _shorten(phase, factor)
    changes: dict[str, str] = {key: f"{float(said[key]) * factor!r}" for key in ("rate_iops", "speed") if key in said}
    if "think" in said:
        changes["think"] = _shorter(said["think"], factor)
    changed = replace(
        renamed(spec, f"at {factor:.6g} times the speed."),
        workload_text=load.text(),
        set=tuple({**said, **changes}.items()),
        duration=None if spec.duration is None else _shorter(spec.duration, factor),
    )
    return changed if refusal([changed]) is None else None


def _has_times(load: Load, said: Mapping[str, str]) -> bool:
    """Return whether anything of the load comes at a time, and not when something is answered."""
    loops = list(_loops(load))
    think = said.get("think")
    closed = [loop["closed"] for loop in loops if isinstance(loop.get("closed"), dict)]
    pauses = (span_ns(str(think or one.get("think", "0 s"))) for one in closed)
    if "rate_iops" in said:  # it replaces closed loops
        return True
    return any(set(OPEN) & set(loop) for loop in loops) or any(pauses) or bool(_timed(load, said))


def _make_faster(place: dict[str, Any], factor: float) -> None:
    """A loop with its times divided by the factor."""
    if "open" in place:
        place["open"]["rate_iops"] = float(place["open"]["rate_iops"]) * factor
    for kind, key in (("bursts", "every"), ("arrivals", "every"), ("closed", "think")):
        if key in place.get(kind, {}):
            place[kind][key] = _shorter(place[kind][key], factor)
    gaps = place.get("arrivals", {}).get("gaps")
    if gaps is not None:
        place["arrivals"]["gaps"] = {_shorter(gap, factor): share for gap, share in gaps.items()}


def _shorten(phase: dict[str, Any], factor: float) -> None:
    """A phase with its times divided by the factor; counts stay."""
    for key in ("duration", "round"):
        if key in phase:
            phase[key] = _shorter(phase[key], factor)
    ends = phase.get("until", [])
    if ends:
        phase["until"] = [_shorter(one, factor) for one in ([ends] if isinstance(ends, str) else ends)]


def _shorter(text: str, factor: float) -> str:
    """Return a time divided by the factor, and other values (a count of I/Os) unchanged."""
    time = span_ns(text)
    return text if time is None else f"{round(time / factor)} ns"


def _loops(load: Load) -> Iterator[dict[str, Any]]:
    """Loops that issue I/Os: the shared one and those of streams."""
    for place in (load.table, *_tables(load.table.get("streams"))):
        found = place.get("load")
        if isinstance(found, dict):
            yield found


def _timed(load: Load, said: Mapping[str, str]) -> list[dict[str, Any]]:
    """Traces whose I/Os come at recorded times, or a recorded time after an answer."""
    found = load.table.get("trace")
    traces = _tables([found] if isinstance(found, dict) else found)
    return [trace for trace in traces if said.get("issue", trace.get("issue")) != FAST]


def _tables(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def ends_of(
    predicted: float, base: float, at: Mapping[str, float], factors: Mapping[str, float]
) -> tuple[float, float]:
    """Return the log-ratios between which a rate lies: that of the load at each speed (`at`, by end) over its factor,
    over that of the unchanged load in a run as long (`base`). The upper end is at most the rate of the slower load,
    which is the requested one, unless more was `predicted`."""
    if not base or not all(at.values()):
        return 0.0, 0.0
    rates = {end: of / factors[end] for end, of in at.items()}
    low, high = (math.log(rates[end] / base) for end in ("low", "high"))
    return min(low, 0.0), max(min(high, math.log(rates["high"] / predicted)), 0.0)
